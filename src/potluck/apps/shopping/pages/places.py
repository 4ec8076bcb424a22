"""Pages of stores and storage locations: everyone sees them, admins manage them."""

from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.types import ControllerRouterHandler

from potluck.apps.shopping.errors import NameTaken
from potluck.apps.shopping.pages.around import (
    FAMILY,
    AnyRequest,
    back_to,
    family_page,
    tried,
)
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import LocationShown, StoreShown
from potluck.people.authentication import Principal
from potluck.web.bodies import Body
from potluck.web.forms import Again, Form, Line, Seen, blank, form
from potluck.web.people.showing import to_sign_in

__all__ = ["PAGES"]

STORES = f"{FAMILY}/stores"
LOCATIONS = f"{FAMILY}/locations"
STORE = f"{STORES}/{{store_id:str}}"
LOCATION = f"{LOCATIONS}/{{location_id:str}}"
PATH = "/stores"

Place = StoreShown | LocationShown

BESIDE: dict[type[Exception], str] = {NameTaken: "name"}


class NewStore(Body):
    name: Line
    address: Line = ""


class EditedStore(NewStore, kw_only=True):
    version: Seen


class NewLocation(Body):
    name: Line
    description: Line = ""


class EditedLocation(NewLocation, kw_only=True):
    version: Seen


@get(STORES, include_in_schema=False)
async def stores(
    family_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
    said: FromQuery[str] = "",
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    return await _shown(visitor, family_id, shopping, said=said)


async def _shown(
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    *,
    status: int = 200,
    store_form: Form[Any] | None = None,
    location_form: Form[Any] | None = None,
    said: str = "",
) -> Template:
    family = await shopping.families.one(caller, family_id)
    things = await shopping.inventory.all(caller, family_id, status="active")
    listed = await shopping.shopping_list.all(caller, family_id, status="pending")
    return family_page(
        "stores",
        caller,
        family,
        "stores",
        status=status,
        stores=await shopping.stores.all(caller, family_id),
        locations=await shopping.locations.all(caller, family_id),
        to_buy={each.store_id: each.pending for each in listed.groups},
        kept_at=_counted(each.location_id for each in things),
        store_form=store_form or blank(NewStore),
        location_form=location_form or blank(NewLocation),
        said=said,
    )


def _counted(ids: Any) -> dict[UUID, int]:
    counted: dict[UUID, int] = {}
    for each in ids:
        counted[each] = counted.get(each, 0) + 1
    return counted


# --- stores ----------------------------------------------------------------------------------------------------------


@post(STORES, include_in_schema=False)
async def add_store(
    family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    filled = await form(NewStore, request)
    made = await tried(
        filled,
        lambda given: shopping.stores.add(caller, family_id, given.name, address=given.address or None),
        BESIDE,
    )
    if isinstance(made, Again):
        return await _shown(caller, family_id, shopping, status=made.status, store_form=made.form)
    return back_to(family_id, PATH, said="store")


@get(STORE, include_in_schema=False)
async def store(
    family_id: FromPath[UUID],
    store_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    found = await shopping.stores.one(visitor, family_id, store_id)
    return await _place_page(visitor, family_id, shopping, found, blank(EditedStore, _values(found)))


@post(STORE, include_in_schema=False)
async def edit_store(
    family_id: FromPath[UUID], store_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    filled = await form(EditedStore, request)
    done = await tried(
        filled,
        lambda given: shopping.stores.edit(
            caller, family_id, store_id, given.version, name=given.name, address=given.address or None
        ),
        BESIDE,
    )
    if isinstance(done, Again):
        found = done.clash or await shopping.stores.one(caller, family_id, store_id)
        return await _place_page(caller, family_id, shopping, found, done.form, status=done.status, clash=done.clash)
    return back_to(family_id, PATH, said="changed")


@post(f"{STORE}/delete", include_in_schema=False)
async def delete_store(
    family_id: FromPath[UUID], store_id: FromPath[UUID], caller: Principal, shopping: Shopping
) -> Response[Any]:
    await shopping.stores.delete(caller, family_id, store_id)
    return back_to(family_id, PATH, said="store-deleted")


# --- storage locations -----------------------------------------------------------------------------------------------


@post(LOCATIONS, include_in_schema=False)
async def add_location(
    family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    filled = await form(NewLocation, request)
    made = await tried(
        filled,
        lambda given: shopping.locations.add(caller, family_id, given.name, description=given.description or None),
        BESIDE,
    )
    if isinstance(made, Again):
        return await _shown(caller, family_id, shopping, status=made.status, location_form=made.form)
    return back_to(family_id, PATH, said="location")


@get(LOCATION, include_in_schema=False)
async def location(
    family_id: FromPath[UUID],
    location_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    found = await shopping.locations.one(visitor, family_id, location_id)
    return await _place_page(visitor, family_id, shopping, found, blank(EditedLocation, _values(found)))


@post(LOCATION, include_in_schema=False)
async def edit_location(
    family_id: FromPath[UUID], location_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    filled = await form(EditedLocation, request)
    done = await tried(
        filled,
        lambda given: shopping.locations.edit(
            caller, family_id, location_id, given.version, name=given.name, description=given.description or None
        ),
        BESIDE,
    )
    if isinstance(done, Again):
        found = done.clash or await shopping.locations.one(caller, family_id, location_id)
        return await _place_page(caller, family_id, shopping, found, done.form, status=done.status, clash=done.clash)
    return back_to(family_id, PATH, said="changed")


@post(f"{LOCATION}/delete", include_in_schema=False)
async def delete_location(
    family_id: FromPath[UUID], location_id: FromPath[UUID], caller: Principal, shopping: Shopping
) -> Response[Any]:
    await shopping.locations.delete(caller, family_id, location_id)
    return back_to(family_id, PATH, said="location-deleted")


# --- one of either ---------------------------------------------------------------------------------------------------


def _values(found: Place) -> dict[str, str]:
    """The place as its form has it."""
    if isinstance(found, StoreShown):
        more = {"address": found.address or ""}
    else:
        more = {"description": found.description or ""}
    return {"name": found.name, **more, "version": str(found.version)}


async def _place_page(
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    found: Place,
    filled: Form[Any],
    *,
    status: int = 200,
    clash: Place | None = None,
) -> Template:
    things = await shopping.inventory.all(caller, family_id)
    kind: dict[str, Any]
    if isinstance(found, StoreShown):
        store_id = found.store_id
        listed = await shopping.shopping_list.all(caller, family_id)
        kind = {
            "kind": "store",
            "place_id": store_id,
            "on_list": sum(each.store_id == store_id for each in listed.items),
            "at_home": sum(store_id in (each.preferred_store_id, *each.alternate_store_ids) for each in things),
        }
    else:
        kind = {
            "kind": "location",
            "place_id": found.location_id,
            "on_list": 0,
            "at_home": sum(each.location_id == found.location_id for each in things),
        }
    return family_page(
        "place",
        caller,
        await shopping.families.one(caller, family_id),
        "stores",
        status=status,
        place=found,
        form=filled,
        clash=clash,
        theirs=None if clash is None else _values(clash),
        **kind,
    )


PAGES: list[ControllerRouterHandler] = [
    stores, add_store, store, edit_store, delete_store,
    add_location, location, edit_location, delete_location,
]  # fmt: skip
