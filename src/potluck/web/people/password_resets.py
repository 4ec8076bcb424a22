"""Forgotten passwords: the operator makes a link and hands it over, and its holder chooses a new password, once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.people.email_addresses import account_with
from potluck.people.entities import Account, IdentityOfUser, PasswordReset, PasswordResetOfUser
from potluck.people.errors import AccountGone, PasswordsOff, ResetInvalid
from potluck.people.fields import NewPassword, Secret
from potluck.people.identities import hash_of_issuer, identities_of, still_linked, unlinking
from potluck.people.resets import ending_resets
from potluck.people.secrets import SecretKind, hash_of, kind_of, new_secret
from potluck.people.sessions import tidy_sessions
from potluck.people.tokens import tidy_tokens
from potluck.table import absent, check, delete, present, put, the, update
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.people.access import AddressOnly, Newcomer, Operator, must_have_passwords
from potluck.web.people.accounts import PEOPLE
from potluck.web.unit_of_work import UnitOfWork
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

RESET_LASTS = timedelta(hours=24)


class PasswordChoice(Input):
    token: Secret
    new: NewPassword


class ResetMade(Struct, rename="camel", frozen=True, kw_only=True):
    token: str
    """Shown once."""
    expires_at: datetime


password_resets: Actions[Any] = Actions(Newcomer, api="/password-resets", page="/reset", tag=PEOPLE)


@password_resets.command()
async def issue_reset(at: Operator, of: AddressOnly) -> Writes[str]:
    """The secret of a new reset, which ends the earlier ones; AccountGone if no account has the address."""
    account_and_row = await account_with(at.store, of.email)
    if account_and_row is None:
        raise AccountGone
    made = await new_reset(at, account_and_row[0].user_id)
    return made.answering(made.answer.token)


async def new_reset(at: UnitOfWork, user_id: UUID) -> Writes[ResetMade]:
    """A new reset for this person, which ends the earlier ones; PasswordsOff where it would be of no use."""
    must_have_passwords(at.core)
    secret, now = new_secret(SecretKind.PASSWORD_RESET), at.now
    until = now + RESET_LASTS
    ttl = int(until.timestamp())
    reset = PasswordReset(hash=hash_of(secret), user_id=user_id, created_at=now, ttl=ttl)
    return Writes(
        ResetMade(token=secret, expires_at=until),
        or_raise(check(Account.by_id(user_id), when=present), AccountGone),
        put(reset, when=absent),
        put(PasswordResetOfUser(user_id=user_id, hash=reset.hash, ttl=ttl), when=absent),
        *await ending_resets(at.store, user_id),
    )


@password_resets.create(ResetInvalid, PasswordsOff, frees_room=True)
async def choose_password(at: Newcomer, choice: PasswordChoice) -> Writes[None]:
    """Set a new password with the secret of a reset link.

    Sessions and API tokens end, and identities are unlinked: an intruder may have made any of them.
    """
    must_have_passwords(at.core)
    reset = account = None
    if kind_of(choice.token) is SecretKind.PASSWORD_RESET:
        reset = await at.store.get(PasswordReset.by_hash(hash_of(choice.token)))
    if reset is not None:
        account = await at.store.get(Account.by_id(reset.user_id))
    if reset is None or account is None:
        raise ResetInvalid
    user_id, epoch = account.user_id, account.session_epoch + 1
    change = update(
        Account.by_id(user_id),
        the(Account.password_hash).becomes(await at.core.people.passwords.hash(choice.new)),
        the(Account.session_epoch).becomes(epoch),
        the(Account.tokens_since).becomes(epoch),
        the(Account.updated_at).becomes(at.now),
        when=the(Account.session_epoch) == account.session_epoch,
        keep_version=True,
    )

    async def tidy() -> None:
        await tidy_sessions(at.store, user_id, epoch)
        await tidy_tokens(at.store, user_id, epoch)

    return Writes(
        None,
        or_raise(delete(PasswordReset.by_hash(reset.hash), when=present), ResetInvalid),
        delete(PasswordResetOfUser.by_hash(user_id, reset.hash)),
        or_retry(change),
        *await _unlinking_all(at, user_id),
        *await ending_resets(at.store, user_id, but=reset.hash),
        of=user_id,
        after=tidy,
    )


async def _unlinking_all(at: Newcomer, user_id: UUID) -> list[Outcome]:
    """Unlinks every identity of this person; worked out again if one was linked meanwhile."""
    linked = await identities_of(at.store, user_id)
    unlinked = [write for identity in linked for write in unlinking(identity, when=still_linked(identity))]
    writes = [*map(or_retry, unlinked)]
    provider = at.core.people.provider
    if provider is not None and all(identity.issuer != provider.issuer for identity in linked):
        none = IdentityOfUser.by_issuer(user_id, hash_of_issuer(provider.issuer))
        writes.append(or_retry(check(none, when=absent)))
    return writes
