"""Pages of families: the first one, coming in by an invitation, and the way to the list."""

from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.types import ControllerRouterHandler

from potluck.apps.shopping.pages.around import APP, HOME, AnyRequest, back_to, tried
from potluck.apps.shopping.pages.files import file_address
from potluck.apps.shopping.service import Shopping
from potluck.people.authentication import Principal
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.forms import Again, Line, blank, form
from potluck.web.layout import page
from potluck.web.people.carrying import carried, dropped
from potluck.web.people.showing import led_on, to_sign_in

__all__ = ["PAGES", "remembered", "remembering"]

# Which of several families this browser looked at last; it opens nothing, and is looked up like any other.
LAST_FAMILY = "shopping-family"
REMEMBERED_FOR = 400 * 24 * 3600


class NewFamily(Body):
    name: Line


def remembering(request: AnyRequest, door: Door, family_id: UUID) -> Cookie:
    """The cookie by which /shopping leads to the family that was looked at last."""
    return Cookie(
        key=LAST_FAMILY,
        value=str(family_id),
        max_age=REMEMBERED_FOR,
        path=HOME,
        httponly=True,
        secure=door.secure(request),
        samesite="lax",
    )


def remembered(request: AnyRequest) -> str:
    return request.cookies.get(LAST_FAMILY, "")


@get(HOME, include_in_schema=False)
async def home(request: AnyRequest, visitor: Principal | None, shopping: Shopping) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    families = await shopping.families.all(visitor)
    if not families:
        return _first(visitor, blank(NewFamily))
    last = remembered(request)
    return back_to(next((each.family_id for each in families if str(each.family_id) == last), families[0].family_id))


@post(f"{HOME}/families", include_in_schema=False)
async def start(request: AnyRequest, caller: Principal, shopping: Shopping) -> Response[Any]:
    filled = await form(NewFamily, request)
    made = await tried(filled, lambda given: shopping.families.create(caller, given.name))
    if isinstance(made, Again):
        return _first(caller, made.form, made.status)
    return back_to(made.family_id)


@post(f"{HOME}/invitation", include_in_schema=False)
async def come_in(request: AnyRequest, caller: Principal, shopping: Shopping, door: Door) -> Response[Any]:
    joined = await shopping.members.accept(caller, carried(request, door))
    return led_on(f"{HOME}/{joined.family_id}?joined=yes", dropped(request, door))


def _first(caller: Principal, filled: Any, status: int = 200) -> Response[Any]:
    return page("shopping/first.html", caller, status=status, app=APP, here="Shopping", form=filled, file=file_address)


PAGES: list[ControllerRouterHandler] = [home, start, come_in]
