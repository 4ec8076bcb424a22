"""Pages of the people of a family: who is in it and as what, invitations, leaving; and the family itself."""

from typing import Any, Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.types import ControllerRouterHandler

from potluck.apps.shopping.errors import LastAdmin
from potluck.apps.shopping.pages.around import (
    FAMILY,
    HOME,
    AnyRequest,
    back_to,
    family_page,
    tried,
)
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import FamilyShown
from potluck.people.authentication import Principal
from potluck.people.errors import NoSuchInvitation, Stale
from potluck.people.invitations import MadeInvitation
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.forms import Again, Form, Line, Seen, blank, form
from potluck.web.layout import initials
from potluck.web.people.showing import led_on, to_sign_in

__all__ = ["PAGES"]

MEMBERS = f"{FAMILY}/members"
MEMBER = f"{MEMBERS}/{{member_id:str}}"
INVITATIONS = f"{FAMILY}/invitations"
PATH = "/members"


class Role(Body):
    role: Literal["admin", "member"]
    version: Seen


class Inviting(Body):
    role: Literal["admin", "member"] = "member"
    email: Line = ""


class Name(Body):
    name: Line
    version: Seen


class Ending(Body):
    sure: bool = False


@get(MEMBERS, include_in_schema=False)
async def members(
    family_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
    door: Door,
    said: FromQuery[str] = "",
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    return await _shown(request, visitor, family_id, shopping, door, said=said)


async def _shown(
    request: AnyRequest,
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    door: Door,
    *,
    status: int = 200,
    said: str = "",
    wrong: str = "",
    inviting: Form[Any] | None = None,
    naming: Form[Any] | None = None,
    clash: FamilyShown | None = None,
    made: MadeInvitation | None = None,
) -> Template:
    family = await shopping.families.one(caller, family_id)
    people = await shopping.members.all(caller, family_id)
    open_ones = await shopping.members.invitations(caller, family_id) if family.role == "admin" else []
    return family_page(
        "members",
        caller,
        family,
        "members",
        status=status,
        members=[(each, initials(each.name)) for each in people],
        admins=sum(each.role == "admin" for each in people),
        families=await shopping.families.all(caller),
        invitations=open_ones,
        you=caller.user_id,
        inviting=inviting or blank(Inviting, {"role": "member"}),
        naming=naming or blank(Name, {"name": family.name, "version": str(family.version)}),
        clash=clash,
        made=made,
        link="" if made is None else f"{door.clients.origin_of(request.scope)}/invitation#{made.secret}",
        said=said,
        wrong=wrong,
    )


# --- people ----------------------------------------------------------------------------------------------------------


@post(f"{MEMBER}/role", include_in_schema=False)
async def change_role(
    family_id: FromPath[UUID],
    member_id: FromPath[UUID],
    request: AnyRequest,
    caller: Principal,
    shopping: Shopping,
    door: Door,
) -> Response[Any]:
    given = (await form(Role, request)).value
    try:
        await shopping.members.change_role(caller, family_id, member_id, given.version, role=given.role)
    except (LastAdmin, Stale) as refusal:
        return await _shown(request, caller, family_id, shopping, door, status=409, wrong=str(refusal))
    return back_to(family_id, PATH, said="role")


@post(f"{MEMBER}/remove", include_in_schema=False)
async def remove(
    family_id: FromPath[UUID],
    member_id: FromPath[UUID],
    request: AnyRequest,
    caller: Principal,
    shopping: Shopping,
    door: Door,
) -> Response[Any]:
    """An admin removes somebody, or somebody leaves."""
    try:
        await shopping.members.remove(caller, family_id, member_id)
    except LastAdmin as refusal:
        return await _shown(request, caller, family_id, shopping, door, status=409, wrong=str(refusal))
    return led_on(HOME) if member_id == caller.user_id else back_to(family_id, PATH, said="removed")


# --- invitations -----------------------------------------------------------------------------------------------------


@post(INVITATIONS, include_in_schema=False)
async def invite(
    family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping, door: Door
) -> Response[Any]:
    """The one form that is not answered with another address: its link is shown in no address and only now."""
    filled = await form(Inviting, request)
    made = await tried(
        filled,
        lambda given: shopping.members.invite(caller, family_id, given.role, given.email.strip() or None),
    )
    if isinstance(made, Again):
        return await _shown(request, caller, family_id, shopping, door, status=made.status, inviting=made.form)
    return await _shown(request, caller, family_id, shopping, door, made=made)


@post(f"{INVITATIONS}/{{invitation_id:str}}/withdraw", include_in_schema=False)
async def withdraw(
    family_id: FromPath[UUID], invitation_id: FromPath[UUID], caller: Principal, shopping: Shopping
) -> Response[Any]:
    try:
        await shopping.members.withdraw(caller, family_id, invitation_id)
    except NoSuchInvitation:
        return back_to(family_id, PATH, said="too-late")
    return back_to(family_id, PATH, said="withdrawn")


# --- the family itself -----------------------------------------------------------------------------------------------


@post(f"{FAMILY}/name", include_in_schema=False)
async def rename(
    family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping, door: Door
) -> Response[Any]:
    filled = await form(Name, request)
    done = await tried(
        filled, lambda given: shopping.families.rename(caller, family_id, given.version, name=given.name)
    )
    if isinstance(done, Again):
        return await _shown(
            request, caller, family_id, shopping, door, status=done.status, naming=done.form, clash=done.clash
        )
    return back_to(family_id, PATH, said="name")


@post(f"{FAMILY}/delete", include_in_schema=False)
async def delete(
    family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping, door: Door
) -> Response[Any]:
    if not (await form(Ending, request)).value.sure:
        wrong = "Tick the box first: what the family has is then gone for everyone"
        return await _shown(request, caller, family_id, shopping, door, status=422, wrong=wrong)
    await shopping.families.delete(caller, family_id)
    return led_on(HOME)


PAGES: list[ControllerRouterHandler] = [
    members, change_role, remove, invite, withdraw, rename, delete,
]  # fmt: skip
