"""The page of an invitation: what it is to, and a field for its secret."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from potluck.people.errors import InvitationInvalid
from potluck.people.fields import Secret
from potluck.people.invitations import ADDRESSED, POTLUCK
from potluck.web.access import Anyone, SignedIn
from potluck.web.actions import Show
from potluck.web.inputs import Input
from potluck.web.invitations import CARRIED_INVITATION, accepted
from potluck.web.people.context import PeopleContext
from potluck.web.people.invitations import invitations
from potluck.web.translation import _
from potluck.web.writes import Writes, or_raise


class HeldInvitation(Input):
    invitation: Secret


class Held(Struct, frozen=True):
    invitation: str


@invitations.page("", "people/invitation.html")
async def invitation_page(at: Anyone, show: Show) -> dict[str, Any]:
    """What the invitation in the cookie is to; without one, a form to enter one."""
    context: PeopleContext = at.context
    people, form = at.core.people, show.form(HeldInvitation)
    user_id = None if at.principal is None else at.principal.user_id
    # On the home page, the person it is addressed to follows a link with its id.
    addressed = f"{ADDRESSED}{show.query['id']}" if "id" in show.query else ""
    try:
        if form.all_errors:
            raise InvitationInvalid
        invitation = await people.invitations.look(addressed or CARRIED_INVITATION.value(at.visitor), user_id)
    except InvitationInvalid:
        # There is none, or it was used up or withdrawn meanwhile: there is a field for another.
        return {"form": form, "invitation": None}
    if addressed:
        show.set(CARRIED_INVITATION, addressed)
    return {
        "invitation": invitation,
        "addressed": addressed,
        "place": await context.place_name(invitation.app, invitation.place),
        "role": context.role_in_words(invitation.app, invitation.role),
        "invited_by": await people.invitations.inviter(invitation),
        "own": at.principal is not None and at.principal.user_id == invitation.invited_by,
        "until": datetime.fromtimestamp(invitation.ttl, UTC),
        "potluck": POTLUCK,
        "registration": at.core.settings.registration,
        "provider_name": None if at.core.people.provider is None else at.core.people.provider.name,
    }


@invitations.form("", on=invitation_page, then="/invitation", sets={CARRIED_INVITATION: "invitation"}, frees_room=True)
async def hold(at: Anyone, sent: HeldInvitation) -> Writes[Held]:
    """Carry an invitation in this browser, while its holder signs in or up."""
    await at.core.people.invitations.look(sent.invitation)
    return Writes(Held(sent.invitation))


class JoinedHere(Struct, frozen=True):
    to: str


@invitations.form("/accept", on=invitation_page, then=lambda _, joined: joined.to, drops=CARRIED_INVITATION)
async def accept_here(at: SignedIn, sent: HeldInvitation) -> Writes[JoinedHere]:
    """Join by an invitation that is addressed to the caller, from their home page."""
    context: PeopleContext = at.context
    invitation = await at.core.people.invitations.look(sent.invitation, at.principal.user_id)
    joining = await accepted(at, sent.invitation, context.join_of)
    return joining.answering(JoinedHere(context.joined_page(invitation.app, joining.answer)))


@invitations.form("/decline", on=invitation_page, then="/", flash=_("Invitation declined."), drops=CARRIED_INVITATION)
async def decline(at: SignedIn, sent: HeldInvitation) -> Writes[None]:
    """Take an invitation that is addressed to the caller off their home page. The inviter does not see it."""
    declining = await at.core.people.invitations.declining(sent.invitation, at.principal.user_id)
    return Writes(None, or_raise(declining, InvitationInvalid))
