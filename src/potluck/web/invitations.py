"""Invitations, for every app that invites people: making one, withdrawing it, and joining by it.

An app says what joining writes, as a function of the caller and the invitation that returns `Writes`:

    async def join(at: SignedIn, invitation: Invitation) -> Writes[Joined]: ...

No writes mean that the caller is there already, and the invitation stays valid.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import Account, Invitation, InvitationOfPlace
from potluck.people.errors import AccountGone, InvitationInvalid, NoSuchInvitation
from potluck.people.invitations import withdrawing
from potluck.table import check, present, the
from potluck.web.access import SignedIn
from potluck.web.views import View, computed
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

Join = Callable[[SignedIn, Invitation], Awaitable[Writes[Struct]]]
"""What joining by an invitation writes; the answer has the id of the place. InvitationInvalid if it opens nothing."""


class InvitationMade(Struct, rename="camel", frozen=True, kw_only=True):
    """A new invitation; its secret is shown only now."""

    id: UUID
    token: str
    url: str
    """A link to pass on. Its secret comes after the #, which browsers send to no server."""
    expires_at: datetime


class InvitationView(View[InvitationOfPlace]):
    """An open invitation, without its secret."""

    @computed
    def id(invitation: InvitationOfPlace) -> UUID:
        return invitation.invitation_id

    role: str
    email: str | None
    invited_by: UUID
    created_at: datetime

    @computed
    def expires_at(invitation: InvitationOfPlace) -> datetime:
        return datetime.fromtimestamp(invitation.ttl, invitation.created_at.tzinfo)


def latest_first(invitation: InvitationView) -> tuple[Any, ...]:
    """The order of open invitations."""
    return -int(invitation.created_at.timestamp()), f"{2**128 - 1 - invitation.id.int:032x}"


async def invite(
    at: SignedIn, app: str, place: str, role: str, email: str | None = None, *others: Outcome
) -> Writes[InvitationMade]:
    """A new invitation, for the first person who uses its secret; `others` are written with it."""
    by = at.principal.user_id
    made, writes = await at.core.people.invitations.prepare(app, place, role, by, email)
    answer = InvitationMade(
        id=made.invitation_id,
        token=made.secret,
        url=f"{at.visitor.origin}/invitation#{made.secret}",
        expires_at=made.expires_at,
    )
    account = or_raise(check(Account.by_id(by), when=present), AccountGone)
    return Writes(answer, account, *others, *writes, made=made.invitation_id)


async def withdraw(at: SignedIn, app: str, place: str, invitation_id: UUID) -> Writes[None]:
    """Make an invitation invalid, at once; NoSuchInvitation if it was used."""
    invitation = await at.store.get(InvitationOfPlace.by_id(app, place, invitation_id))
    if invitation is None:
        raise NoSuchInvitation
    # If someone joins by it meanwhile, the retry does not find it.
    return Writes(None, *map(or_retry, withdrawing(invitation, when=present)))


async def accepted(at: SignedIn, secret: str, join_of: Callable[[str], Join | None]) -> Writes[Struct]:
    """Join by an invitation, which uses it up. `join_of` gives what joining an app writes; None if it is not served."""
    opened = await at.core.people.invitations.open(secret, at.principal.user_id)
    join = join_of(opened.invitation.app)
    if join is None:
        raise InvitationInvalid
    joining = await join(at, opened.invitation)
    if not joining.operations:
        return joining
    used = (or_raise(each, InvitationInvalid) for each in opened.operations)
    return joining.together_with(*used)


def account_as_read(account: Account) -> Outcome:
    """A check that the account whose name is copied has not changed; later changes follow by the stream."""
    return or_retry(check(Account.by_id(account.user_id), when=the(Account.version).still(account.version)))
