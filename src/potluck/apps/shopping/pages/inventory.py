"""Pages of the inventory: what runs low on top, the rest below, and each thing for whoever changes it."""

from contextlib import suppress
from typing import Annotated, Any, cast
from uuid import UUID

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from potluck.apps.shopping.errors import DuplicateItem
from potluck.apps.shopping.fields import MOST
from potluck.apps.shopping.pages.around import (
    FAMILY,
    Amount,
    AnyRequest,
    back_to,
    family_page,
    person,
    tried,
)
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import InventoryItemShown, ShoppingItemShown
from potluck.people.authentication import Principal
from potluck.store import all_done
from potluck.web.bodies import Body
from potluck.web.forms import Again, Form, Line, Seen, blank, form
from potluck.web.people.showing import to_sign_in

__all__ = ["PAGES"]

INVENTORY = f"{FAMILY}/inventory"
ITEM = f"{INVENTORY}/{{item_id:str}}"
PATH = "/inventory"


class NewThing(Body):
    name: Line
    quantity: Amount = 0
    threshold: Amount = 0
    unit: Line = ""
    location_id: Line = ""
    preferred_store_id: Line = ""


class Thing(NewThing, kw_only=True):
    version: Seen


class Step(Body):
    by: Annotated[int, Meta(ge=-MOST, le=MOST)]


class Listing(Body):
    quantity: Annotated[int, Meta(ge=1, le=MOST)] | None = None
    allow_duplicate: bool = False


class Keeping(Body):
    version: Seen
    status: Line


# --- all of it -------------------------------------------------------------------------------------------------------


@get(INVENTORY, include_in_schema=False)
async def inventory(
    family_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
    said: FromQuery[str] = "",
    of: FromQuery[str] = "",
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    return await _shown(visitor, family_id, shopping, said=said, of=of)


async def _shown(
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    *,
    status: int = 200,
    filled: Form[Any] | None = None,
    said: str = "",
    of: str = "",
    duplicate: tuple[InventoryItemShown, ShoppingItemShown] | None = None,
) -> Template:
    family = await shopping.families.one(caller, family_id)
    things = await shopping.inventory.all(caller, family_id)
    listed = await shopping.shopping_list.all(caller, family_id, status="pending")
    active = [each for each in things if each.status == "active"]
    return family_page(
        "inventory",
        caller,
        family,
        "inventory",
        status=status,
        low=[each for each in active if each.low],
        enough=[each for each in active if not each.low],
        archived=[each for each in things if each.status == "archived"],
        on_list={each.item_id for each in listed.items if each.item_id is not None},
        form=filled or blank(NewThing, {"quantity": "1", "threshold": "0"}),
        told=next((each for each in things if str(each.item_id) == of), None),
        said=said,
        duplicate=duplicate,
        person=person(caller),
        most=MOST,
        **await _choices(caller, family_id, shopping),
    )


async def _choices(caller: Principal, family_id: UUID, shopping: Shopping) -> dict[str, Any]:
    """Where things are bought and kept, for a form to choose from."""
    stores = await shopping.stores.all(caller, family_id)
    locations = await shopping.locations.all(caller, family_id)
    return {
        "stores": [("", "Any store"), *((str(each.store_id), each.name) for each in stores)],
        "locations": [("", "Anywhere"), *((str(each.location_id), each.name) for each in locations)],
    }


@post(INVENTORY, include_in_schema=False)
async def add(family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping) -> Response[Any]:
    filled = await form(NewThing, request)
    made = await tried(
        filled,
        lambda given: shopping.inventory.add(
            caller,
            family_id,
            given.name,
            quantity=given.quantity,
            threshold=given.threshold,
            unit=given.unit or None,
            location_id=given.location_id or None,
            preferred_store_id=given.preferred_store_id or None,
        ),
    )
    if isinstance(made, Again):
        return await _shown(caller, family_id, shopping, status=made.status, filled=made.form)
    return back_to(family_id, PATH, said="added", of=made.item_id)


# --- what is done in the list ----------------------------------------------------------------------------------------


@post(f"{ITEM}/adjust", include_in_schema=False)
async def adjust(
    family_id: FromPath[UUID], item_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    given = (await form(Step, request)).value
    await shopping.inventory.adjust(caller, family_id, item_id, given.by)
    return back_to(family_id, PATH)


@post(f"{ITEM}/to-list", include_in_schema=False)
async def to_list(
    family_id: FromPath[UUID], item_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    given = (await form(Listing, request)).value
    try:
        await shopping.shopping_list.add(
            caller,
            family_id,
            item_id=item_id,
            quantity=given.quantity,
            allow_duplicate=given.allow_duplicate,
        )
    except DuplicateItem as refusal:
        thing = await shopping.inventory.one(caller, family_id, item_id)
        existing = cast("ShoppingItemShown", refusal.existing)
        return await _shown(caller, family_id, shopping, status=409, duplicate=(thing, existing))
    return back_to(family_id, PATH, said="listed", of=item_id)


@post(f"{INVENTORY}/low-to-list", include_in_schema=False)
async def low_to_list(family_id: FromPath[UUID], caller: Principal, shopping: Shopping) -> Response[Any]:
    """Everything that runs low and is not on the list."""
    low = await shopping.inventory.all(caller, family_id, low_stock=True)

    async def put_there(thing: InventoryItemShown) -> None:
        # On it already is what was wanted.
        with suppress(DuplicateItem):
            await shopping.shopping_list.add(caller, family_id, item_id=thing.item_id)

    await all_done([put_there(each) for each in low])
    return back_to(family_id, said="low")


# --- one thing -------------------------------------------------------------------------------------------------------


@get(ITEM, include_in_schema=False)
async def thing(
    family_id: FromPath[UUID],
    item_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    found = await shopping.inventory.one(visitor, family_id, item_id)
    return await _thing_page(visitor, family_id, shopping, found, blank(Thing, _values(found)))


@post(ITEM, include_in_schema=False)
async def edit(
    family_id: FromPath[UUID], item_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    filled = await form(Thing, request)
    done = await tried(
        filled,
        lambda given: shopping.inventory.edit(
            caller,
            family_id,
            item_id,
            given.version,
            name=given.name,
            quantity=given.quantity,
            threshold=given.threshold,
            unit=given.unit or None,
            location_id=given.location_id or None,
            preferred_store_id=given.preferred_store_id or None,
        ),
    )
    if isinstance(done, Again):
        found = done.clash or await shopping.inventory.one(caller, family_id, item_id)
        return await _thing_page(caller, family_id, shopping, found, done.form, status=done.status, clash=done.clash)
    return back_to(family_id, PATH, said="changed", of=item_id)


@post(f"{ITEM}/keep", include_in_schema=False)
async def keep(
    family_id: FromPath[UUID], item_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping
) -> Response[Any]:
    """Into the archive, or back from it."""
    given = (await form(Keeping, request)).value
    archived = given.status == "archived"
    await shopping.inventory.edit(
        caller, family_id, item_id, given.version, status="archived" if archived else "active"
    )
    return back_to(family_id, PATH, said="archived" if archived else "kept", of=item_id)


@post(f"{ITEM}/delete", include_in_schema=False)
async def delete(
    family_id: FromPath[UUID], item_id: FromPath[UUID], caller: Principal, shopping: Shopping
) -> Response[Any]:
    await shopping.inventory.delete(caller, family_id, item_id)
    return back_to(family_id, PATH, said="deleted")


def _values(found: InventoryItemShown) -> dict[str, str]:
    """The thing as its form has it."""
    return {
        "name": found.name,
        "quantity": str(found.quantity),
        "threshold": str(found.threshold),
        "unit": found.unit or "",
        "locationId": str(found.location_id or ""),
        "preferredStoreId": str(found.preferred_store_id or ""),
        "version": str(found.version),
    }


async def _thing_page(
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    found: InventoryItemShown,
    filled: Form[Any],
    *,
    status: int = 200,
    clash: InventoryItemShown | None = None,
) -> Template:
    listed = await shopping.shopping_list.all(caller, family_id)
    choices = await _choices(caller, family_id, shopping)
    return family_page(
        "thing",
        caller,
        await shopping.families.one(caller, family_id),
        "inventory",
        status=status,
        thing=found,
        form=filled,
        clash=clash,
        theirs=None if clash is None else _values(clash),
        linked=sum(each.item_id == found.item_id for each in listed.items),
        **choices,
    )


PAGES: list[ControllerRouterHandler] = [
    inventory, add, adjust, to_list, low_to_list, thing, edit, keep, delete,
]  # fmt: skip
