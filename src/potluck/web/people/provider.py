"""Signing in with the identity provider: what people come back with makes a session, an account or a link to one."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Struct

from potluck.people.authentication import must_be_active
from potluck.people.email_normal_form import is_same_mailbox
from potluck.people.entities import Account, Identity, IdentityOfUser
from potluck.people.errors import IdentityLinked, IdentityNeeded, IdentityTaken, SignInFailed
from potluck.people.fields import AnyPassword, Email, Name, Secret
from potluck.people.identities import account_of, identities_of, linking, still_linked, unlinking
from potluck.people.sessions import OpenedSession, opening
from potluck.table import check, the
from potluck.validation.field_types import Text
from potluck.web.actions import Actions
from potluck.web.cookies import SealedCookie
from potluck.web.errors import NotFound
from potluck.web.inputs import Input
from potluck.web.people.access import CONFIRMED_SECONDS, AccountOwner, Newcomer, OwnAccount
from potluck.web.people.accounts import PEOPLE, begin_account
from potluck.web.people.sessions import recording_sign_in
from potluck.web.views import View
from potluck.web.writes import Writes, or_raise, or_retry

if TYPE_CHECKING:
    from potluck.people.identity_provider import Authorization, IdentityProvider
    from potluck.web.access import Visitor
    from potluck.web.app import Core

Purpose = Literal["sign-in", "link", "confirm"]

PENDING_SECONDS = 600
SEAT_SECONDS = 1800
# Both are for the pages of signing in alone.
PENDING = SealedCookie("potluck-with-provider", path="/sign-in", days=PENDING_SECONDS / 86_400)
"""The sign-in that this browser has begun. What comes back counts in this browser, for this person."""
SEAT = SealedCookie("potluck-new-seat", path="/sign-in", days=SEAT_SECONDS / 86_400)
"""Who the provider says that someone is who has no account yet."""


class PendingSignIn(Struct, frozen=True, array_like=True):
    """What a browser keeps of a sign-in until it comes back."""

    purpose: Purpose
    state: str
    nonce: str
    verifier: str
    next: str
    begun_at: float

    @classmethod
    def of(cls, purpose: Purpose, authorization: Authorization, next: str, now: datetime) -> PendingSignIn:
        began = authorization
        return cls(purpose, began.state, began.nonce, began.verifier, next, now.timestamp())

    @classmethod
    def held_by(cls, visitor: Visitor, now: datetime) -> PendingSignIn | None:
        """The sign-in that this browser has begun; None without one, or if that was too long ago."""
        held = PENDING.value(visitor)
        pending = msgspec.json.decode(held, type=cls) if held else None
        return pending if pending is not None and 0 <= now.timestamp() - pending.begun_at < PENDING_SECONDS else None


class Proven(Input):
    """What the provider has proven of someone; no caller can send it."""

    issuer: str
    subject: str
    name: str
    email: str
    email_verified: bool


class Seat(Struct, frozen=True, array_like=True):
    """Someone who has proven who they are and has no account yet."""

    proven: Proven
    next: str
    until: float

    @classmethod
    def held_by(cls, visitor: Visitor, now: datetime) -> Seat | None:
        held = SEAT.value(visitor)
        seat = msgspec.json.decode(held, type=cls) if held else None
        return seat if seat is not None and now.timestamp() < seat.until else None


class SeatTaken(Input):
    """What someone chooses who comes for the first time."""

    name: Name
    email: Email
    invitation: Secret = ""


class Linking(Input):
    password: AnyPassword = ""


class Confirming(Input):
    next: Annotated[str, Text(0, 2000, kind="raw")] = ""


class Unlinking(Input):
    issuer: Annotated[str, Text(1, 2000, kind="raw")]


class IdentityView(View[IdentityOfUser]):
    issuer: str
    subject: str
    created_at: datetime


arrivals: Actions[Any] = Actions(Newcomer, tag=PEOPLE)
identities = Actions(AccountOwner, view=IdentityView, api="/me/identities", page="/account/identities", tag=PEOPLE)


def provider_of(core: Core) -> IdentityProvider:
    """The identity provider; NotFound if the operator has configured none."""
    if core.people.provider is None:
        raise NotFound
    return core.people.provider


# --- coming back from the provider ------------------------------------------------------------------------------------


@arrivals.command()
async def come_in(at: Newcomer, proven: Proven) -> Writes[OpenedSession | None]:
    """A session of the account that has this identity; None if there is none. An e-mail address opens no account."""
    account, identity = await account_of(at.store, proven.issuer, proven.subject)
    if account is None or identity is None:
        return Writes(None)
    must_be_active(account)
    session, rows = opening(
        account.user_id,
        account.session_epoch,
        at.now,
        user_agent=at.visitor.user_agent,
        by_provider=True,
    )
    still_theirs = the(Identity.user_id) == account.user_id
    return Writes(
        session,
        or_retry(recording_sign_in(account, at.now)),
        or_retry(check(Identity.by_subject(identity.issuer_hash, identity.subject), when=still_theirs)),
        *rows,
    )


@arrivals.command()
async def link(at: AccountOwner, proven: Proven) -> Writes[None]:
    """Link an identity to the caller's account, so that it signs in there too."""
    caller, provider = await at.caller(), provider_of(at.core)
    _, identity = await account_of(at.store, proven.issuer, proven.subject)
    if identity is not None and identity.user_id == caller.user_id:
        return Writes(None)
    by_subject, of_user = linking(caller.user_id, proven.issuer, proven.subject, at.now)
    same_epoch = the(Account.session_epoch) == caller.session_epoch
    return Writes(
        None,
        or_retry(check(Account.by_id(caller.user_id), when=same_epoch)),
        or_raise(by_subject, IdentityTaken(provider.name)),
        or_raise(of_user, IdentityLinked(provider.name)),
    )


@arrivals.command()
async def confirm(at: AccountOwner, proven: Proven) -> Writes[str]:
    """What the browser keeps of a fresh sign-in by the caller's own identity; SignInFailed for another's."""
    _, identity = await account_of(at.store, proven.issuer, proven.subject)
    if identity is None or identity.user_id != at.principal.user_id:
        raise SignInFailed(provider_of(at.core).name)
    return Writes(f"{at.principal.hash} {int(at.now.timestamp()) + CONFIRMED_SECONDS}")


async def take_seat(at: Newcomer, seat: Seat, sent: SeatTaken) -> Writes[OpenedSession | None]:
    """Make an account for an identity that has none. EmailTaken if another has the address, verified or not.

    None while the account waits for approval.
    """
    proven = seat.proven
    there = await come_in(at, proven)
    if there.answer is not None:
        # The form was sent twice.
        return there
    verified = proven.email_verified and is_same_mailbox(sent.email, proven.email)
    begun = await begin_account(at, sent.email, sent.name, sent.invitation, verified=verified)
    by_subject, of_user = linking(begun.account.user_id, proven.issuer, proven.subject, at.now)
    taken = IdentityTaken(provider_of(at.core).name)
    return Writes(begun.session, or_raise(by_subject, taken), of_user, *begun.writes)


# --- one's identities -------------------------------------------------------------------------------------------------


@identities.list()
async def own_identities(at: AccountOwner) -> list[IdentityOfUser]:
    """List the identities you can sign in with."""
    return await identities_of(at.store, at.principal.user_id)


async def unlink(at: OwnAccount, sent: Unlinking) -> Writes[None]:
    """Unlink an identity, if there is another way to sign in."""
    provider = at.core.people.provider
    found = next((one for one in await identities_of(at.store, at.account.user_id) if one.issuer == sent.issuer), None)
    if found is None:
        # Unlinked already, in another window.
        return Writes(None)
    # A password, once chosen, is never taken away, so nothing has to be checked in the write.
    has_password = at.account.password_hash is not None and at.core.settings.passwords
    if not has_password and provider is not None and provider.issuer == found.issuer:
        raise IdentityNeeded
    return Writes(None, *map(or_retry, unlinking(found, when=still_linked(found))))
