"""The page of the list: what is to be bought, by store; and each thing on it, for whoever changes it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast
from uuid import UUID

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Template
from litestar.types import ControllerRouterHandler
from markupsafe import Markup
from msgspec import Meta, Struct

from potluck.apps.shopping.entities import ShoppingListItem
from potluck.apps.shopping.errors import AlreadyThere, DuplicateItem, ShoppingError
from potluck.apps.shopping.lines import Line as Typed
from potluck.apps.shopping.lines import read_lines
from potluck.apps.shopping.pages.around import (
    FAMILY,
    AnyRequest,
    Quantity,
    Refusal,
    back_to,
    family_page,
    person,
    refused,
    tried,
)
from potluck.apps.shopping.pages.families import remembering
from potluck.apps.shopping.pages.suggesting import Suggestion, on_the_list, suggestions, thing_called
from potluck.apps.shopping.service import Shopping
from potluck.apps.shopping.views import FamilyShown, ShoppingItemShown, StoreShown
from potluck.people.authentication import Principal
from potluck.people.errors import PeopleError, Stale
from potluck.people.secrets import new_id
from potluck.web.bodies import Body
from potluck.web.callers import Door
from potluck.web.forms import Again, Form, Line, Seen, blank, form
from potluck.web.live import Live
from potluck.web.people.showing import lacks_https, to_sign_in

__all__ = ["PAGES"]

LIST = f"{FAMILY}/list"
ITEM = f"{LIST}/{{shopping_item_id:str}}"
UNASSIGNED = "unassigned"
ANY_STORE = "Any store"


class Adding(Body):
    lines: Annotated[str, Meta(max_length=20_000)] = ""
    item_id: Line = ""
    store_id: Line = ""
    shopping_item_id: Line = ""
    """So that a form that is sent twice adds one thing."""
    allow_duplicate: bool = False


class Ticking(Body):
    status: Literal["pending", "purchased"]
    version: Seen
    allow_duplicate: bool = False


class Counting(Body):
    quantity: Quantity
    version: Seen


class Editing(Body):
    name: Line
    version: Seen
    quantity: Quantity | None = None
    unit: Line = ""
    store_id: Line = ""
    notes: Line = ""


class Undoing(Body):
    undo_token: Line


class Kept(Struct, rename="camel", frozen=True, kw_only=True):
    """What the page's script starts from, and keeps for use without signal."""

    person: dict[str, str]
    family: FamilyShown
    families: list[FamilyShown]
    items: list[ShoppingItemShown]
    stores: list[dict[str, str]]
    suggestions: list[Suggestion]
    position: str


class Duplicate(Struct, frozen=True, kw_only=True):
    """Somebody wants what is on the list already."""

    existing: ShoppingItemShown
    name: str
    quantity: int
    sent: Adding

    @property
    def together(self) -> int:
        return (self.existing.quantity or 1) + self.quantity


# --- the list --------------------------------------------------------------------------------------------------------


@get(FAMILY, include_in_schema=False)
async def shopping_list(
    family_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
    live: Live,
    door: Door,
    store: FromQuery[str] = "",
    said: FromQuery[str] = "",
    of: FromQuery[str] = "",
    joined: FromQuery[str] = "",
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    return await _shown(request, visitor, family_id, shopping, live, door, store=store, said=said, of=of, joined=joined)


async def _shown(
    request: AnyRequest,
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    live: Live,
    door: Door,
    *,
    status: int = 200,
    store: str = "",
    said: str = "",
    of: str = "",
    joined: str = "",
    filled: Form[Any] | None = None,
    duplicate: Duplicate | None = None,
) -> Template:
    # Where live updates go on from is asked before the list is read.
    position = await live.position(ShoppingListItem.all_of_family(family_id))
    listed = await shopping.shopping_list.all(caller, family_id)
    family = await shopping.families.one(caller, family_id)
    families = await shopping.families.all(caller)
    stores = await shopping.stores.all(caller, family_id)
    at_home = await shopping.inventory.all(caller, family_id, status="active")
    offered = suggestions(at_home, listed.items)
    pending = [each for each in listed.items if each.status == "pending"]
    purchased = sorted(
        (each for each in listed.items if each.status == "purchased"), key=lambda each: each.updated_at, reverse=True
    )
    wanted = {each.item_id for each in pending if each.item_id is not None}
    low = [each for each in at_home if each.low and each.item_id not in wanted]
    kept = Kept(
        person=person(caller),
        family=family,
        families=families,
        items=listed.items,
        stores=[{"storeId": str(each.store_id), "name": each.name} for each in stores],
        suggestions=offered,
        position=position,
    )
    answer = family_page(
        "list",
        caller,
        family,
        "list",
        status=status,
        families=families,
        groups=_groups(pending, store),
        pending=len(pending),
        purchased=purchased,
        store=store,
        offered=[each for each in offered if on_the_list(pending, each.name) is None],
        low=low,
        you=caller.user_id,
        kept=_as_text(kept),
        new_id=new_id(),
        form=filled or blank(Adding),
        duplicate=duplicate,
        told=next((each for each in listed.items if str(each.shopping_item_id) == of), None),
        said=said,
        of=of,
        joined=bool(joined),
        stores=_choices(stores),
        plain=lacks_https(request, door),
    )
    answer.cookies = [remembering(request, door, family_id)]
    return answer


def _groups(pending: Sequence[ShoppingItemShown], store: str) -> list[tuple[str, str, list[ShoppingItemShown]]]:
    """What is to be bought at each store: its id, its name, and the things; of one store, if only that is asked for."""
    found: dict[tuple[str, str], list[ShoppingItemShown]] = {}
    for each in pending:
        where = UNASSIGNED if each.store_id is None else str(each.store_id)
        if store in ("", where):
            found.setdefault((where, each.store_name or ANY_STORE), []).append(each)
    return [(where, name, items) for (where, name), items in found.items()]


def _choices(stores: Sequence[StoreShown]) -> list[tuple[str, str]]:
    return [("", ANY_STORE), *((str(each.store_id), each.name) for each in stores)]


def _as_text(kept: Kept) -> Markup:
    """JSON as the text of an element: between tags only these two need to be written otherwise."""
    return Markup(msgspec.json.encode(kept).decode().replace("&", "&amp;").replace("<", "&lt;"))


# --- adding ----------------------------------------------------------------------------------------------------------


@post(LIST, include_in_schema=False)
async def add(
    family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping, live: Live, door: Door
) -> Response[Any]:
    filled = await form(Adding, request)
    refusal: Refusal | None = None
    if filled.good:
        given = filled.value
        typed = read_lines(given.lines)
        try:
            if len(typed) > 1:
                await shopping.shopping_list.add_lines(caller, family_id, given.lines)
                return back_to(family_id, said="several", of=len(typed), store=given.store_id)
            found = await _add_one(caller, family_id, shopping, given, typed)
        except AlreadyThere:
            return back_to(family_id, store=given.store_id)
        except (PeopleError, ShoppingError) as refused_by:
            refusal = refused_by
        else:
            if isinstance(found, Duplicate):
                return await _shown(
                    request, caller, family_id, shopping, live, door, status=409, filled=filled, duplicate=found
                )
            return back_to(family_id, said="added", of=found.shopping_item_id, store=given.store_id)
    again = refused(filled, refusal)
    return await _shown(request, caller, family_id, shopping, live, door, status=again.status, filled=again.form)


async def _add_one(
    caller: Principal, family_id: UUID, shopping: Shopping, given: Adding, typed: Sequence[Typed]
) -> ShoppingItemShown | Duplicate:
    """What is at home under the name that was typed is meant; else it is free text."""
    line = typed[0] if typed else Typed(1, "")
    item_id: UUID | str | None = given.item_id or None
    name = line.name
    if item_id is None and name:
        known = thing_called(await shopping.inventory.all(caller, family_id, status="active"), name)
        item_id = None if known is None else known.item_id
    if item_id is None and name and not given.allow_duplicate:
        listed = await shopping.shopping_list.all(caller, family_id, status="pending")
        existing = on_the_list(listed.items, name)
        if existing is not None:
            return Duplicate(existing=existing, name=name, quantity=line.quantity or 1, sent=given)
    try:
        return await shopping.shopping_list.add(
            caller,
            family_id,
            name=name if item_id is None else None,
            item_id=item_id,
            store_id=given.store_id or msgspec.UNSET,
            quantity=line.quantity,
            unit=line.unit or msgspec.UNSET,
            shopping_item_id=given.shopping_item_id or None,
            allow_duplicate=given.allow_duplicate,
        )
    except DuplicateItem as refusal:
        there = cast("ShoppingItemShown", refusal.existing)
        return Duplicate(existing=there, name=there.name, quantity=line.quantity or 1, sent=given)


# --- what is done on the list ----------------------------------------------------------------------------------------


@post(f"{ITEM}/status", include_in_schema=False)
async def tick(
    family_id: FromPath[UUID],
    shopping_item_id: FromPath[UUID],
    request: AnyRequest,
    caller: Principal,
    shopping: Shopping,
) -> Response[Any]:
    given = (await form(Ticking, request)).value
    try:
        item = await shopping.shopping_list.set_status(
            caller,
            family_id,
            shopping_item_id,
            given.version,
            status=given.status,
            allow_duplicate=given.allow_duplicate,
        )
    except Stale as changed:
        # Something else about it changed meanwhile; that it is bought is true all the same.
        item = changed.current
        if item.status != given.status:
            item = await shopping.shopping_list.set_status(
                caller, family_id, shopping_item_id, item.version, status=given.status
            )
    return back_to(family_id, said=item.status, of=item.shopping_item_id)


@post(f"{ITEM}/quantity", include_in_schema=False)
async def count(
    family_id: FromPath[UUID],
    shopping_item_id: FromPath[UUID],
    request: AnyRequest,
    caller: Principal,
    shopping: Shopping,
) -> Response[Any]:
    filled = await form(Counting, request)
    given = filled.value
    try:
        await shopping.shopping_list.edit(caller, family_id, shopping_item_id, given.version, quantity=given.quantity)
    except Stale as changed:
        now = changed.current
        mine = blank(Editing, _values(now) | {"quantity": str(given.quantity)})
        return await _item_page(caller, family_id, shopping, now, mine, status=409, clash=now)
    return back_to(family_id)


@post(f"{ITEM}/restock", include_in_schema=False)
async def restock(
    family_id: FromPath[UUID], shopping_item_id: FromPath[UUID], caller: Principal, shopping: Shopping
) -> Response[Any]:
    await shopping.restocking.restock(caller, family_id, shopping_item_id)
    return back_to(family_id, said="restocked", of=shopping_item_id)


@post(f"{LIST}/clear-purchased", include_in_schema=False)
async def clear(family_id: FromPath[UUID], caller: Principal, shopping: Shopping) -> Response[Any]:
    cleared = await shopping.clearing.clear_purchased(caller, family_id)
    return back_to(family_id, said="cleared", of=cleared.undo_token)


@post(f"{LIST}/undo", include_in_schema=False)
async def undo(family_id: FromPath[UUID], request: AnyRequest, caller: Principal, shopping: Shopping) -> Response[Any]:
    given = (await form(Undoing, request)).value
    await shopping.clearing.undo(caller, family_id, given.undo_token)
    return back_to(family_id, said="undone")


# --- one thing on it -------------------------------------------------------------------------------------------------


@get(ITEM, include_in_schema=False)
async def item(
    family_id: FromPath[UUID],
    shopping_item_id: FromPath[UUID],
    request: AnyRequest,
    visitor: Principal | None,
    shopping: Shopping,
) -> Response[Any]:
    if visitor is None:
        return to_sign_in(request)
    found = await shopping.shopping_list.one(visitor, family_id, shopping_item_id)
    return await _item_page(visitor, family_id, shopping, found, blank(Editing, _values(found)))


@post(ITEM, include_in_schema=False)
async def edit(
    family_id: FromPath[UUID],
    shopping_item_id: FromPath[UUID],
    request: AnyRequest,
    caller: Principal,
    shopping: Shopping,
) -> Response[Any]:
    filled = await form(Editing, request)
    done = await tried(
        filled,
        lambda given: shopping.shopping_list.edit(
            caller,
            family_id,
            shopping_item_id,
            given.version,
            name=given.name,
            store_id=given.store_id or None,
            quantity=given.quantity,
            unit=given.unit or None,
            notes=given.notes or None,
        ),
    )
    if isinstance(done, Again):
        found = done.clash or await shopping.shopping_list.one(caller, family_id, shopping_item_id)
        return await _item_page(caller, family_id, shopping, found, done.form, status=done.status, clash=done.clash)
    return back_to(family_id, said="changed", of=shopping_item_id)


@post(f"{ITEM}/delete", include_in_schema=False)
async def delete(
    family_id: FromPath[UUID], shopping_item_id: FromPath[UUID], caller: Principal, shopping: Shopping
) -> Response[Any]:
    await shopping.shopping_list.delete(caller, family_id, shopping_item_id)
    return back_to(family_id, said="deleted")


def _values(item: ShoppingItemShown) -> dict[str, str]:
    """The item as its form has it."""
    return {
        "name": item.name,
        "quantity": "" if item.quantity is None else str(item.quantity),
        "unit": item.unit or "",
        "storeId": str(item.store_id or ""),
        "notes": item.notes or "",
        "version": str(item.version),
    }


async def _item_page(
    caller: Principal,
    family_id: UUID,
    shopping: Shopping,
    found: ShoppingItemShown,
    filled: Form[Any],
    *,
    status: int = 200,
    clash: ShoppingItemShown | None = None,
) -> Template:
    stores = _choices(await shopping.stores.all(caller, family_id))
    return family_page(
        "item",
        caller,
        await shopping.families.one(caller, family_id),
        "list",
        status=status,
        item=found,
        form=filled,
        stores=stores,
        clash=clash,
        theirs=None if clash is None else _values(clash),
        store_names=dict(stores),
        you=caller.user_id,
    )


PAGES: list[ControllerRouterHandler] = [
    shopping_list, add, tick, count, restock, clear, undo, item, edit, delete,
]  # fmt: skip
