"""The JSON door of families: who is in them, and who is invited."""

from datetime import datetime
from typing import Any
from uuid import UUID

from litestar import Request, Response, delete, get, patch, post
from litestar.params import FromPath, JSONBody
from msgspec import Struct

from potluck.apps.shopping.answering import gone, listed, one, told
from potluck.apps.shopping.bodies import (
    FamilyChange,
    FamilyId,
    InvitationId,
    MemberId,
    NewFamily,
    NewInvitation,
    RoleChange,
)
from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.live_routes import live_routes
from potluck.apps.shopping.ordering import Place, by_name
from potluck.apps.shopping.problems import LAST_ADMIN
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import FamilyShown, InvitationShown, MemberShown, member_shown
from potluck.people.authentication import Principal
from potluck.people.invitations import MadeInvitation
from potluck.web.callers import Door
from potluck.web.cursors import Listed, Part
from potluck.web.errors import FORBIDDEN, TOO_MANY
from potluck.web.live import Live
from potluck.web.once import Made, Once, Told
from potluck.web.versions import etag, expected, seen

__all__ = ["FAMILY", "ROUTES", "TAGS"]

AnyRequest = Request[Any, Any, Any]

TAGS = ["Shopping"]
FAMILY = "/families/{family_id:str}"
MEMBERS = f"{FAMILY}/members"
MEMBER = f"{MEMBERS}/{{member_id:str}}"
INVITATIONS = f"{FAMILY}/invitations"


class InvitationMade(Struct, rename="camel", frozen=True, kw_only=True):
    """A new invitation; what opens it is told only now."""

    id: UUID
    token: str
    url: str
    """A link to hand over; its secret stands after the #, where no server sees it."""
    expires_at: datetime


# --- families --------------------------------------------------------------------------------------------------------


@post("/families", tags=TAGS)
async def create_family(
    data: JSONBody[NewFamily], caller: Principal, shopping: Shopping, once: Once
) -> Response[FamilyShown]:
    """Make a family. The caller is its first admin."""
    return await once(
        lambda alongside: shopping.families.create(caller, data.name, alongside),
        lambda family: told(family, made=family.family_id),
        account_checked=True,
    )


@get("/families", tags=TAGS)
async def own_families(caller: Principal, shopping: Shopping, part: Part) -> Listed[FamilyShown]:
    """The families that the caller is in, by name."""
    return listed(await shopping.families.all(caller), by_name, part)


@get(FAMILY, tags=TAGS)
async def one_family(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, request: AnyRequest
) -> Response[FamilyShown | None]:
    """A family that the caller is in, and as what."""
    return one(request, await shopping.families.one(caller, family_id))


@patch(FAMILY, tags=TAGS, opt={"problems": [FORBIDDEN]})
async def change_family(
    family_id: FromPath[FamilyId],
    data: JSONBody[FamilyChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[FamilyShown]:
    """Give a family another name. Its admins may."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.families.rename(caller, family_id, version, name=data.name, alongside=alongside),
        told,
        may=shopping.sees(caller, family_id),
    )


@delete(FAMILY, tags=TAGS, opt={"if_match": True, "problems": [FORBIDDEN]})
async def delete_family(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, once: Once, request: AnyRequest
) -> Response[None]:
    """Delete a family with everything in it. Its admins may."""
    version = expected(request)
    return await once(lambda alongside: shopping.families.delete(caller, family_id, version, alongside), gone)


# --- members ---------------------------------------------------------------------------------------------------------


@get(MEMBERS, tags=TAGS)
async def members(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, part: Part, live: Live
) -> Listed[MemberShown]:
    """Who is in the family, by name."""
    position = await live.position(Member.all_of_family(family_id))
    return listed(await shopping.members.all(caller, family_id), by_name, part, position)


@patch(MEMBER, tags=TAGS, opt={"problems": [FORBIDDEN, LAST_ADMIN]})
async def change_role(
    family_id: FromPath[FamilyId],
    member_id: FromPath[MemberId],
    data: JSONBody[RoleChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[MemberShown]:
    """Make a member an admin, or an admin a member. Admins may; the last one stays."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.members.change_role(
            caller, family_id, member_id, version, role=data.role, alongside=alongside
        ),
        lambda member: Told(body=member, headers={"etag": etag(member.version)}),
        may=shopping.sees(caller, family_id),
    )


@delete(MEMBER, tags=TAGS, opt={"if_match": True, "problems": [FORBIDDEN, LAST_ADMIN]})
async def remove_member(
    family_id: FromPath[FamilyId],
    member_id: FromPath[MemberId],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[None]:
    """Leave, or remove somebody. Admins remove, anyone leaves; the last admin stays."""
    version = expected(request)
    return await once(
        lambda alongside: shopping.members.remove(caller, family_id, member_id, version, alongside=alongside), gone
    )


# --- invitations -----------------------------------------------------------------------------------------------------


@post(INVITATIONS, tags=TAGS, opt={"problems": [FORBIDDEN, TOO_MANY]})
async def invite(
    family_id: FromPath[FamilyId],
    data: JSONBody[NewInvitation],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    door: Door,
    request: AnyRequest,
) -> Response[InvitationMade]:
    """Invite somebody: whoever is given the secret comes in, once. Admins may."""
    origin = door.clients.origin_of(request.scope)

    def tell(made: MadeInvitation) -> Told[InvitationMade]:
        shown = InvitationMade(
            id=made.invitation_id,
            token=made.secret,
            url=f"{origin}/invitation#{made.secret}",
            expires_at=made.expires_at,
        )
        return Made(shown, made.invitation_id, secret=True)

    return await once(
        lambda alongside: shopping.members.invite(caller, family_id, data.role, data.email, alongside),
        tell,
        account_checked=True,
        may=shopping.sees(caller, family_id),
    )


@get(INVITATIONS, tags=TAGS, opt={"problems": [FORBIDDEN]})
async def invitations(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, part: Part
) -> Listed[InvitationShown]:
    """Who has been invited and has not come yet, the latest first. Admins may look."""
    return listed(await shopping.members.invitations(caller, family_id), latest_first, part)


@delete(f"{INVITATIONS}/{{invitation_id:str}}", tags=TAGS, opt={"problems": [FORBIDDEN]})
async def withdraw_invitation(
    family_id: FromPath[FamilyId],
    invitation_id: FromPath[InvitationId],
    caller: Principal,
    shopping: Shopping,
    once: Once,
) -> Response[None]:
    """Withdraw an invitation: it opens nothing from now on. Admins may."""
    return await once(lambda alongside: shopping.members.withdraw(caller, family_id, invitation_id, alongside), gone)


def latest_first(invitation: InvitationShown) -> Place:
    return -int(invitation.created_at.timestamp()), f"{2**128 - 1 - invitation.id.int:032x}"


ROUTES = [
    create_family,
    own_families,
    one_family,
    change_family,
    delete_family,
    members,
    change_role,
    remove_member,
    invite,
    invitations,
    withdraw_invitation,
    *live_routes(
        MEMBERS,
        "Members",
        "who is in the family",
        Member.all_of_family,
        lambda shopping: lambda member: member_shown(member) if member.status == "active" else None,
    ),
]
