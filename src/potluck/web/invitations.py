"""Invitations, for every app that invites people: making one, withdrawing it, and joining by it.

An app says what joining writes, as a function of the caller and the invitation that returns `Writes`:

    async def join(at: SignedIn, invitation: InvitationOfPlace) -> Writes[Joined] | None: ...

No writes mean that the caller is there already, and the invitation stays valid; None, that it is no longer valid.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.people.entities import Account, InvitationOfPlace
from potluck.people.errors import AccountGone, InvitationInvalid, NoSuchInvitation
from potluck.people.invitations import withdrawing
from potluck.table import check, present
from potluck.web.access import Access, SignedIn
from potluck.web.cookies import SealedCookie
from potluck.web.views import View, computed
from potluck.web.writes import Outcome, Writes, or_raise, or_retry

Join = Callable[[SignedIn, InvitationOfPlace], Awaitable[Writes[Any] | None]]
"""What joining by an invitation writes; the answer has the id of the place. None if it is no longer valid."""

# An hour is long enough to sign up in between.
CARRIED_INVITATION = SealedCookie("potluck-invitation", days=1 / 24)


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


class Invitations:
    """The invitations of one app: `links = Invitations("journal")`. A place is a text that the app chooses."""

    cookie = CARRIED_INVITATION
    """The cookie that keeps the secret of an invitation until its holder joins."""

    def __init__(self, app: str) -> None:
        self.app = app

    async def invite(
        self, at: SignedIn, place: str, role: str, email: str | None = None, *others: Outcome
    ) -> Writes[InvitationMade]:
        """A new invitation, for the first person who uses its secret; `others` are written with it."""
        by = at.principal.user_id
        invitation, writes = await at.core.people.invitations.prepare(self.app, place, role, by, email)
        answer = InvitationMade(
            id=invitation.invitation_id,
            token=invitation.secret,
            url=f"{at.visitor.origin}/invitation#{invitation.secret}",
            expires_at=invitation.expires_at,
        )
        account = or_raise(check(Account.by_id(by), when=present), AccountGone)
        return Writes(answer, account, *others, *writes, made=invitation.invitation_id)

    async def of_place(self, at: Access, place: str) -> list[InvitationOfPlace]:
        """The invitations to a place that are not used yet, latest first."""
        return await at.core.people.invitations.of_place(self.app, place)

    async def withdraw(self, at: Access, place: str, invitation_id: UUID) -> Writes[None]:
        """Make an invitation invalid, at once; NoSuchInvitation if it was used."""
        invitation = await at.store.get(InvitationOfPlace.by_id(self.app, place, invitation_id))
        if invitation is None:
            raise NoSuchInvitation
        return Writes(None, *self.withdrawing(invitation))

    def withdrawing(self, invitation: InvitationOfPlace) -> list[Outcome]:
        """The writes that make an invitation invalid; if someone joins by it meanwhile, the rule runs again."""
        return [*map(or_retry, withdrawing(invitation, when=present))]

    async def withdraw_all(self, at: Access, place: str) -> None:
        """Withdraw every invitation to a place that is deleted; for `Writes(after=…)`."""
        await at.core.people.invitations.withdraw_all(self.app, place)

    async def join(self, at: SignedIn, join: Join) -> Writes[Struct]:
        """Join by the invitation in the caller's browser, for an app whose form asks something first."""
        return await accepted(at, self.cookie.value(at.visitor), {self.app: join}.get)


async def accepted(at: SignedIn, secret: str, join_of: Callable[[str], Join | None]) -> Writes[Struct]:
    """Join by an invitation, which uses it up. `join_of` gives what joining an app writes; None if it is not served."""
    opened = await at.core.people.invitations.open(secret, at.principal.user_id)
    join = join_of(opened.invitation.app)
    joining = None if join is None else await join(at, opened.invitation)
    if joining is None:
        raise InvitationInvalid
    if not joining.operations:
        return joining
    used = (or_raise(operation, InvitationInvalid) for operation in opened.operations)
    return joining.together_with(*used)
