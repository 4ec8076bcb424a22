"""Invitations: what one is to, and joining by it; to a place, each app makes and withdraws its own."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from msgspec import Struct, to_builtins

from potluck.people.errors import InvitationInvalid, OwnInvitation, TooMany
from potluck.people.fields import Secret
from potluck.people.invitations import NEWCOMER, OPERATOR, POTLUCK
from potluck.web.access import Anyone, SignedIn
from potluck.web.actions import Actions
from potluck.web.inputs import Input
from potluck.web.invitations import accepted
from potluck.web.people.access import Operator
from potluck.web.people.accounts import PEOPLE
from potluck.web.people.context import PeopleContext
from potluck.web.writes import Writes


class InvitationSecret(Input):
    token: Secret


class OpenInvitationView(Struct, rename="camel", frozen=True, kw_only=True):
    app: str
    place: str | None
    """The name of the place, if its app shows it to the invited person."""
    role: str
    invited_by: str | None
    """The name of the person who invites; null for an invitation by the operator."""
    expires_at: datetime


invitations: Actions[Any] = Actions(Anyone, api="/invitations", page="/invitation", tag=PEOPLE)


@invitations.action("POST", "/look", InvitationInvalid, idempotent=False)
async def look(at: Anyone, sent: InvitationSecret) -> Writes[OpenInvitationView]:
    """Show what an invitation is for. This does not use it up."""
    context: PeopleContext = at.context
    invitation = await at.core.people.invitations.look(sent.token)
    return Writes(
        OpenInvitationView(
            app=invitation.app,
            place=await context.place_name(invitation.app, invitation.place),
            role=invitation.role,
            invited_by=await at.core.people.invitations.inviter(invitation),
            expires_at=datetime.fromtimestamp(invitation.ttl, UTC),
        )
    )


@invitations.action("POST", "/accept", InvitationInvalid, OwnInvitation, TooMany)
async def accept(at: SignedIn, sent: InvitationSecret) -> Writes[dict[str, UUID]]:
    """Accept an invitation. The answer has the id of what you joined, under the name its app uses."""
    context: PeopleContext = at.context
    joining = await accepted(at, sent.token, context.join_of)
    return joining.answering(_ids(joining.answer))


@invitations.command()
async def invite_newcomer(at: Operator) -> Writes[str]:
    """The secret of an invitation to register, by the operator."""
    invitation, writes = await at.core.people.invitations.prepare(POTLUCK, POTLUCK, NEWCOMER, OPERATOR)
    return Writes(invitation.secret, *writes)


def _ids(joined: Struct) -> dict[str, UUID]:
    ids: dict[str, UUID] = to_builtins(joined, builtin_types=[UUID])
    return ids
