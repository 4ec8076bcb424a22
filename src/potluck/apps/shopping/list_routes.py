"""The JSON door of the shopping list."""

from typing import Annotated, Any
from uuid import UUID

from litestar import Request, Response, delete, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Struct

from potluck.apps.shopping.answering import gone, listed, one, told
from potluck.apps.shopping.bodies import (
    FamilyId,
    ItemStatusText,
    NewShoppingItem,
    PastedLines,
    Restock,
    ShoppingItemChange,
    ShoppingItemId,
    StatusChange,
    StoreChoice,
    Undo,
)
from potluck.apps.shopping.entities import ShoppingListItem
from potluck.apps.shopping.family_routes import FAMILY, TAGS
from potluck.apps.shopping.live_routes import live_routes
from potluck.apps.shopping.ordering import by_store
from potluck.apps.shopping.problems import ALREADY_RESTOCKED, DUPLICATE_ITEM, NOT_RESTOCKABLE
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import Cleared, Group, Restocked, ShoppingItemShown
from potluck.people.authentication import Principal
from potluck.web.cursors import Part
from potluck.web.errors import ALREADY_EXISTS, EXPIRED, TOO_MANY
from potluck.web.live import Live
from potluck.web.once import Once, Told
from potluck.web.versions import expected, seen

__all__ = ["ROUTES"]

AnyRequest = Request[Any, Any, Any]

LIST = f"{FAMILY}/shopping-list"
ITEM = f"{LIST}/{{shopping_item_id:str}}"
UNASSIGNED = "unassigned"


class ShoppingListPart(Struct, rename="camel", frozen=True, kw_only=True):
    """A part of the list, and how much there is for each store on the whole of it."""

    items: list[ShoppingItemShown]
    groups: list[Group]
    next_cursor: str | None
    """What to ask for the next part with; null if this is the last."""
    position: str | None
    """Where live updates of this list go on from."""


class ShoppingItems(Struct, rename="camel", frozen=True, kw_only=True):
    """Several things on the list."""

    items: list[ShoppingItemShown]


@post(LIST, tags=TAGS, opt={"problems": [DUPLICATE_ITEM, ALREADY_EXISTS, TOO_MANY]})
async def add_to_list(
    family_id: FromPath[FamilyId], data: JSONBody[NewShoppingItem], caller: Principal, shopping: Shopping, once: Once
) -> Response[ShoppingItemShown]:
    """Put something on the list. What is linked to the inventory and there already is answered with 409, and with it as
    `existing`, unless `allowDuplicate` is true."""
    return await once(
        lambda alongside: shopping.shopping_list.add(
            caller,
            family_id,
            name=data.name,
            item_id=data.item_id,
            store_id=data.store_id,
            quantity=data.quantity,
            unit=data.unit,
            notes=data.notes,
            shopping_item_id=data.shopping_item_id or None,
            allow_duplicate=data.allow_duplicate,
            alongside=alongside,
        ),
        lambda item: told(item, made=item.shopping_item_id),
        may=shopping.sees(caller, family_id),
    )


@post(f"{LIST}/bulk", tags=TAGS)
async def add_lines(
    family_id: FromPath[FamilyId], data: JSONBody[PastedLines], caller: Principal, shopping: Shopping, once: Once
) -> Response[ShoppingItems]:
    """Put several things on the list, as they were typed or pasted. All of them or none."""
    return await once(
        lambda alongside: shopping.shopping_list.add_lines(caller, family_id, data.lines, alongside),
        lambda items: Told(body=ShoppingItems(items=items), status=201),
        may=shopping.sees(caller, family_id),
    )


@get(LIST, tags=TAGS)
async def shopping_list(
    family_id: FromPath[FamilyId],
    caller: Principal,
    shopping: Shopping,
    part: Part,
    live: Live,
    store_id: Annotated[
        StoreChoice | None, QueryParameter(name="storeId", description="The id of a store, or `unassigned`.")
    ] = None,
    status: FromQuery[ItemStatusText | None] = None,
) -> ShoppingListPart:
    """The list, or what is for one store, or what is pending or purchased. By store name and unassigned last, pending
    first, newest first; `groups` count all of it, whichever part is asked for."""
    whole = store_id is None and status is None
    read_by = None if whole else ShoppingListItem.by_store(family_id, None)
    position = await live.position(ShoppingListItem.all_of_family(family_id), read_by=read_by)
    where = UUID(store_id) if store_id not in (None, UNASSIGNED) else store_id
    found = await shopping.shopping_list.all(caller, family_id, store_id=where, status=status)
    answer = listed(found.items, by_store, part, position)
    return ShoppingListPart(
        items=answer.items, groups=found.groups, next_cursor=answer.next_cursor, position=answer.position
    )


@get(ITEM, tags=TAGS)
async def shopping_item(
    family_id: FromPath[FamilyId],
    shopping_item_id: FromPath[ShoppingItemId],
    caller: Principal,
    shopping: Shopping,
    request: AnyRequest,
) -> Response[ShoppingItemShown | None]:
    """One thing on the list, with the names of its store and of who added it."""
    return one(request, await shopping.shopping_list.one(caller, family_id, shopping_item_id))


@patch(ITEM, tags=TAGS)
async def change_shopping_item(
    family_id: FromPath[FamilyId],
    shopping_item_id: FromPath[ShoppingItemId],
    data: JSONBody[ShoppingItemChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[ShoppingItemShown]:
    """Change the details of a thing on the list."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.shopping_list.edit(
            caller,
            family_id,
            shopping_item_id,
            version,
            name=data.name,
            store_id=data.store_id,
            quantity=data.quantity,
            unit=data.unit,
            notes=data.notes,
            alongside=alongside,
        ),
        told,
        may=shopping.sees(caller, family_id),
    )


@patch(f"{ITEM}/status", tags=TAGS, opt={"problems": [DUPLICATE_ITEM]})
async def check_off(
    family_id: FromPath[FamilyId],
    shopping_item_id: FromPath[ShoppingItemId],
    data: JSONBody[StatusChange],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[ShoppingItemShown]:
    """Check a thing off, or put it back. What is purchased goes by itself seven days later."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: shopping.shopping_list.set_status(
            caller,
            family_id,
            shopping_item_id,
            version,
            status=data.status,
            allow_duplicate=data.allow_duplicate,
            alongside=alongside,
        ),
        told,
        may=shopping.sees(caller, family_id),
    )


@delete(ITEM, tags=TAGS, opt={"if_match": True})
async def delete_shopping_item(
    family_id: FromPath[FamilyId],
    shopping_item_id: FromPath[ShoppingItemId],
    caller: Principal,
    shopping: Shopping,
    once: Once,
    request: AnyRequest,
) -> Response[None]:
    """Take a thing off the list."""
    version = expected(request)
    return await once(
        lambda alongside: shopping.shopping_list.delete(caller, family_id, shopping_item_id, version, alongside), gone
    )


@post(f"{ITEM}/restock", tags=TAGS, status_code=200, opt={"problems": [ALREADY_RESTOCKED, NOT_RESTOCKABLE]})
async def restock(
    family_id: FromPath[FamilyId],
    shopping_item_id: FromPath[ShoppingItemId],
    data: JSONBody[Restock],
    caller: Principal,
    shopping: Shopping,
    once: Once,
) -> Response[Restocked]:
    """Add a purchase to the inventory. It is done once."""
    return await once(
        lambda alongside: shopping.restocking.restock(caller, family_id, shopping_item_id, data.quantity, alongside),
        lambda restocked: Told(body=restocked),
        may=shopping.sees(caller, family_id),
    )


@post(f"{LIST}/clear-purchased", tags=TAGS, status_code=200)
async def clear_purchased(
    family_id: FromPath[FamilyId], caller: Principal, shopping: Shopping, once: Once
) -> Response[Cleared]:
    """Clear what is purchased from the list. The token brings it back, for an hour."""
    return await once(
        lambda alongside: shopping.clearing.clear_purchased(caller, family_id, alongside),
        lambda cleared: Told(body=cleared),
        may=shopping.sees(caller, family_id),
    )


@post(f"{FAMILY}/undo", tags=TAGS, status_code=200, opt={"problems": [EXPIRED]})
async def undo(
    family_id: FromPath[FamilyId], data: JSONBody[Undo], caller: Principal, shopping: Shopping, once: Once
) -> Response[ShoppingItems]:
    """Bring back what was cleared, as it was. Once for each token."""
    return await once(
        lambda alongside: shopping.clearing.undo(caller, family_id, data.undo_token, alongside),
        lambda items: Told(body=ShoppingItems(items=items)),
        may=shopping.sees(caller, family_id),
    )


ROUTES = [
    add_to_list,
    add_lines,
    shopping_list,
    shopping_item,
    change_shopping_item,
    check_off,
    delete_shopping_item,
    restock,
    clear_purchased,
    undo,
    *live_routes(
        LIST,
        "List",
        "the shopping list",
        ShoppingListItem.all_of_family,
        lambda shopping: shopping.shopping_list.shown,
    ),
]
