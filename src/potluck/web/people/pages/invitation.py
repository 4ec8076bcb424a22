"""The page of an invitation: what it is to, and a field for its secret."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from potluck.people.errors import InvitationInvalid
from potluck.people.fields import Secret
from potluck.people.invitations import POTLUCK
from potluck.web.access import Anyone
from potluck.web.actions import Show
from potluck.web.inputs import Input
from potluck.web.invitations import CARRIED_INVITATION
from potluck.web.people.context import PeopleContext
from potluck.web.people.invitations import invitations
from potluck.web.writes import Writes


class HeldInvitation(Input):
    invitation: Secret


class Held(Struct, frozen=True):
    invitation: str


@invitations.page("", "people/invitation.html")
async def invitation_page(at: Anyone, show: Show) -> dict[str, Any]:
    """What the invitation in the cookie is to; without one, a form to enter one."""
    context: PeopleContext = at.context
    people, form = at.core.people, show.form(HeldInvitation)
    try:
        if form.all_errors:
            raise InvitationInvalid
        invitation = await people.invitations.look(CARRIED_INVITATION.value(at.visitor))
    except InvitationInvalid:
        # There is none, or it was used up or withdrawn meanwhile: there is a field for another.
        return {"form": form, "invitation": None}
    return {
        "invitation": invitation,
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
