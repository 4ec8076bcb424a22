"""Password resets: a link that the operator makes and hands over, valid once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from potluck.people.authentication import Also, nothing_else
from potluck.people.email_addresses import account_with
from potluck.people.entities import Account, PasswordReset, PasswordResetOfUser
from potluck.people.errors import AccountGone, ResetInvalid
from potluck.people.passwords import Passwords
from potluck.people.secrets import Random, SecretKind, hash_of, kind_of, new_secret, system_random
from potluck.people.sessions import Sessions
from potluck.people.tokens import tidy_tokens
from potluck.people.validation import all_valid, checked_email, checked_password
from potluck.store import Clock, Store
from potluck.table import ConditionFailed, NotFound, Unavailable, absent, check, delete, present, put, the, update
from potluck.table.operations import Operation

RESET_LASTS = timedelta(hours=24)
# How often a reset is retried because the account changed in between.
ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedReset:
    """A secret, shown only once, that lets its holder choose the account's password once."""

    user_id: UUID
    secret: str
    expires_at: datetime


class Resets:
    """Makes and redeems password resets; a newer one ends the earlier ones."""

    def __init__(
        self, store: Store, clock: Clock, passwords: Passwords, sessions: Sessions, random: Random = system_random
    ) -> None:
        self._store = store
        self._clock = clock
        self._passwords = passwords
        self._sessions = sessions
        self._random = random

    async def issue(self, email: str) -> IssuedReset:
        """Make a reset, for the operator; AccountGone if no account has the address."""
        (email,) = all_valid(checked_email(email))
        found = await account_with(self._store, email)
        if found is None:
            raise AccountGone
        user_id = found[0].user_id
        secret = new_secret(SecretKind.PASSWORD_RESET, self._random)
        now = self._clock().replace(microsecond=0)
        expires_at = now + RESET_LASTS
        ttl = int(expires_at.timestamp())
        reset = PasswordReset(hash=hash_of(secret), user_id=user_id, created_at=now, ttl=ttl)
        try:
            await self._store.transact(
                check(Account.by_id(user_id), when=present),
                put(reset, when=absent),
                put(PasswordResetOfUser(user_id=user_id, hash=reset.hash, ttl=ttl), when=absent),
                *await ending_resets(self._store, user_id),
            )
        except NotFound as refusal:
            raise AccountGone from refusal
        return IssuedReset(user_id=user_id, secret=secret, expires_at=expires_at)

    async def redeem(self, secret: str, new: str, also: Also[UUID] = nothing_else) -> UUID:
        """Set a new password; every session, API token and other reset of the account ends in the same transaction."""
        (new,) = all_valid(checked_password(new, "new"))
        reset = await self._valid(secret)
        password_hash = await self._passwords.hash(new)
        epoch = the(Account.session_epoch)
        for _ in range(ATTEMPTS):
            account = await self._store.get(Account.by_id(reset.user_id))
            if account is None:
                raise ResetInvalid
            now = self._clock().replace(microsecond=0)
            try:
                await self._store.transact(
                    delete(PasswordReset.by_hash(reset.hash), when=present),
                    delete(PasswordResetOfUser.by_hash(reset.user_id, reset.hash)),
                    update(
                        Account.by_id(reset.user_id),
                        the(Account.password_hash).becomes(password_hash),
                        epoch.becomes(account.session_epoch + 1),
                        the(Account.tokens_since).becomes(account.session_epoch + 1),
                        the(Account.updated_at).becomes(now),
                        when=epoch == account.session_epoch,
                        keep_version=True,
                    ),
                    *await ending_resets(self._store, reset.user_id, but=reset.hash),
                    *also(reset.user_id),
                )
            except (NotFound, ConditionFailed) as refusal:
                if isinstance(refusal.current, Account):
                    continue
                if refusal.position not in (0, 2):
                    raise
                raise ResetInvalid from refusal
            await self._sessions.tidy(reset.user_id, account.session_epoch + 1)
            await tidy_tokens(self._store, reset.user_id, account.session_epoch + 1)
            return reset.user_id
        raise Unavailable("password reset: the account was changed again and again")

    async def _valid(self, secret: str) -> PasswordReset:
        if kind_of(secret) is not SecretKind.PASSWORD_RESET:
            raise ResetInvalid
        reset = await self._store.get(PasswordReset.by_hash(hash_of(secret)))
        if reset is None:
            raise ResetInvalid
        return reset


def dropping_reset(reset: PasswordResetOfUser) -> list[Operation]:
    """Deletes a reset: both of its rows."""
    return [delete(PasswordReset.by_hash(reset.hash)), delete(PasswordResetOfUser.by_hash(reset.user_id, reset.hash))]


async def ending_resets(store: Store, user_id: UUID, but: str | None = None) -> list[Operation]:
    """Deletes every reset of this person."""
    found = await store.all(PasswordResetOfUser.all_of_user(user_id))
    return [row for reset in found if reset.hash != but for row in dropping_reset(reset)]
