"""The shopping list's pages: items to buy, grouped by store, and a page to edit each item."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from markupsafe import Markup
from msgspec import Struct

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.clearing import Cleared, clear_purchased, undo, undoing
from potluck.apps.shopping.duplicates import DuplicateItem
from potluck.apps.shopping.entities import Family, InventoryItem, ShoppingListItem, Store
from potluck.apps.shopping.families import FAMILY, HOME, LAST_FAMILY, families, frame_of
from potluck.apps.shopping.fields import ToBuy
from potluck.apps.shopping.inventory import InventoryItemView
from potluck.apps.shopping.line_parser import read_lines
from potluck.apps.shopping.ordering import by_name, by_store
from potluck.apps.shopping.restocking import Restocked, restock
from potluck.apps.shopping.shopping_list import (
    UNASSIGNED,
    PastedLines,
    ShoppingItemChange,
    ShoppingItemView,
    TypedItem,
    add_lines,
    add_typed,
    change_shopping_item,
    check_off,
    delete_shopping_item,
    shopping_list,
)
from potluck.apps.shopping.suggestions import Suggestion, called, suggestions
from potluck.people import Principal
from potluck.validation import ValidationError, encode
from potluck.web import Actions, Flash, Form, Show, Versioned, Writes, _, initials, ngettext

ANY_STORE = _("Any store")

list_home: Actions[Family] = Actions(InFamily, page=FAMILY, frame=frame_of("list"))


class PageData(Struct, rename="camel", frozen=True, kw_only=True):
    """The initial data of the page's script, which it also stores for offline use."""

    person: dict[str, str]
    family: Any
    families: list[Any]
    items: list[ShoppingItemView]
    stores: list[dict[str, str]]
    suggestions: list[Suggestion]
    position: str


class Duplicate(Struct, frozen=True, kw_only=True):
    """An attempt to add what is on the list already, and the values for the page's alternatives."""

    existing: ShoppingItemView
    together: int
    sent: dict[str, str]


# --- the list ---------------------------------------------------------------------------------------------------------


@list_home.page("", "shopping/list.html")
async def list_page(at: InFamily, show: Show) -> dict[str, Any]:
    # Read before the list, so that live updates continue from here without a gap.
    position = await at.position(ShoppingListItem.all_of_family(at.family_id))
    listed = await at.store.all(ShoppingListItem.all_of_family(at.family_id))
    items = sorted(await at.show(ShoppingItemView, listed), key=by_store)
    active = await at.store.all(InventoryItem.by_status(at.family_id, "active"))
    at_home = sorted(await at.show(InventoryItemView, active), key=by_name)
    own = await families.own_views(at)
    (family,) = await at.show(families.view, [await at.store.one(Family.by_id(at.family_id))])
    stores = await store_choices(at)
    offered = suggestions(at_home, items)
    pending = [item for item in items if item.status == "pending"]
    listed_ids = {item.item_id for item in pending if item.item_id is not None}
    # Items that are not on the list come first.
    running_low = sorted((item for item in at_home if item.low), key=lambda item: item.item_id in listed_ids)
    page_data = PageData(
        person=person(at.principal),
        family=family,
        families=own,
        items=items,
        stores=[{"storeId": store_id, "name": name} for store_id, name in stores[1:]],
        suggestions=offered,
        position=position,
    )
    duplicate = _duplicate(show)
    filled = show.form(TypedItem)
    store = show.query.get("store", "")
    show.set(LAST_FAMILY, str(at.family_id))
    return {
        "families": own,
        "groups": _groups(pending, store),
        "pending": len(pending),
        "purchased": sorted(
            (item for item in items if item.status == "purchased"), key=lambda item: item.updated_at, reverse=True
        ),
        "store": store,
        "offered": [suggestion for suggestion in offered if called(suggestion.name, pending) is None],
        "low": [item for item in running_low if item.item_id not in listed_ids],
        "running_low": running_low,
        "you": at.principal.user_id,
        "kept": _as_text(page_data),
        "new_id": at.new_id(),
        "form": filled if duplicate is None else Form.blank(TypedItem, duplicate.sent),
        "duplicate": duplicate,
        "shows_purchased": show.query.get("purchased") == "open",
        "stores": stores,
        "plain": at.visitor.lacks_https,
    }


def person(principal: Principal) -> dict[str, str]:
    """The signed-in person, for a script that stores data on their behalf."""
    return {"id": str(principal.user_id), "name": principal.name, "initials": initials(principal.name)}


async def store_choices(at: InFamily) -> list[tuple[str, str]]:
    """The stores by name, as options of a form."""
    stores = sorted(await at.store.all(Store.all_of_family(at.family_id)), key=by_name)
    return [("", ANY_STORE), *((str(store.store_id), store.name) for store in stores)]


def _groups(pending: Sequence[ShoppingItemView], store: str) -> list[tuple[str, str, list[ShoppingItemView]]]:
    """Pending items by store, as (id, name, items); `store` narrows it to one store."""
    groups: dict[tuple[str, str], list[ShoppingItemView]] = {}
    for item in pending:
        where = UNASSIGNED if item.store_id is None else str(item.store_id)
        if store in ("", where):
            groups.setdefault((where, item.store_name or ANY_STORE), []).append(item)
    return [(where, name, items) for (where, name), items in groups.items()]


def _as_text(page_data: PageData) -> Markup:
    """JSON as the text of an HTML element, where only these two characters need escaping."""
    return Markup(encode(page_data).decode().replace("&", "&amp;").replace("<", "&lt;"))


def _duplicate(show: Show) -> Duplicate | None:
    if not isinstance(show.refusal, DuplicateItem):
        return None
    values = show.form(TypedItem).values
    existing: ShoppingItemView = show.refusal.members["existing"]
    line = next(iter(read_lines(values["lines"])), None)
    quantity = 1 if line is None else line.quantity or 1
    return Duplicate(
        existing=existing,
        together=(existing.quantity or 1) + quantity,
        sent={"lines": values["lines"], "itemId": values["itemId"], "storeId": values["storeId"]},
    )


# --- actions of the list ----------------------------------------------------------------------------------------------


class Added(Struct, frozen=True):
    """What was added through the page's text box, for the redirect."""

    names: list[str]
    store_id: UUID | None


def _after_adding(at: InFamily, added: Added) -> str:
    return f"{HOME}/{at.family_id}" + ("" if added.store_id is None else f"?store={added.store_id}")


def _added(at: InFamily, added: Added) -> str:
    return added_text(added.names)


def added_text(names: Sequence[str]) -> str:
    if len(names) > 1:
        return ngettext("%(num)s item added", "%(num)s items added", len(names))
    return _("%(name)s added", name=names[0])


@shopping_list.form("", then=_after_adding, flash=_added, on=list_page)
async def add_from_box(at: InFamily, typed: TypedItem) -> Writes[Added]:
    """Add what was typed into the page's text box."""
    if len(read_lines(typed.lines)) > 1:
        added = await add_lines(at, PastedLines(lines=typed.lines))
        return added.answering(Added([item.name for item in added.answer], typed.store_id))
    one = await add_typed(at, typed)
    return one.answering(Added([one.answer.name], typed.store_id))


def _after_checking(at: InFamily, item: ShoppingListItem) -> str:
    # Items are unchecked among the purchased ones, so that section stays open.
    return f"{HOME}/{at.family_id}" + ("?purchased=open" if item.status == "pending" else "")


def _checked(at: InFamily, item: ShoppingListItem) -> str | Flash:
    if item.status == "pending":
        return _("%(name)s is back on the list", name=item.name)
    address = f"{HOME}/{at.family_id}/list/{item.shopping_item_id}/status"
    return Flash(
        _("%(name)s purchased", name=item.name), _("Undo"), address, {"status": "pending", "version": str(item.version)}
    )


def _cleared(at: InFamily, cleared: Cleared) -> str | Flash:
    if cleared.undo_token is None:
        return ""
    undo = {"undoToken": str(cleared.undo_token)}
    return Flash(_("Purchased items cleared"), _("Undo"), f"{HOME}/{at.family_id}/list/undo", undo)


def _restocked(at: InFamily, restocked: Restocked) -> str:
    return _("%(name)s restocked", name=restocked.shopping_item.name)


# Not versioned: a purchase is valid even if the item was edited meanwhile.
shopping_list.form("/status", then=_after_checking, flash=_checked, versioned=False)(check_off)
shopping_list.form("/restock", then=FAMILY, flash=_restocked)(restock)
shopping_list.form("/clear-purchased", then=FAMILY, flash=_cleared)(clear_purchased)
undoing.form("", then=FAMILY, flash=_("Purchased items restored"))(undo)


# --- one item ---------------------------------------------------------------------------------------------------------


LABELS = {"name": _("Name"), "quantity": _("Quantity"), "unit": _("Unit"), "storeId": _("Store"), "notes": _("Note")}


class QuantityChange(Versioned):
    quantity: ToBuy


def _as_filled_in(item: ShoppingItemView) -> dict[str, Any]:
    """The form values of an item; without a quantity, it is one."""
    return Form.texts_of(ShoppingItemChange, item) | {"quantity": str(item.quantity or 1)}


@shopping_list.page("", "shopping/item.html")
async def item_page(at: InFamily, item: ShoppingListItem, show: Show) -> dict[str, Any]:
    (view,) = await at.show(ShoppingItemView, [item]) if show.clash is None else [show.clash]
    counted = show.form(QuantityChange)
    typed = {"quantity": counted.values["quantity"]} if counted.values["quantity"] else {}
    filled = show.form(ShoppingItemChange, _as_filled_in(view) | typed)
    stores = await store_choices(at)
    # A new quantity may also come from the list.
    sent = counted if counted.sent else filled
    return {
        "item": view,
        "form": filled.refused(ValidationError(*counted.all_errors)) if counted.all_errors else filled,
        "stores": stores,
        "conflict": sent.conflict(show.clash, LABELS, _as_filled_in(view), {"storeId": dict(stores).get}),
        "you": at.principal.user_id,
    }


@shopping_list.form("/quantity", then=FAMILY, on=item_page)
async def change_quantity(at: InFamily, item: ShoppingListItem, change: QuantityChange) -> Writes[ShoppingListItem]:
    """Change only the quantity."""
    return await change_shopping_item(at, item, ShoppingItemChange(quantity=change.quantity))


shopping_list.form("", then=FAMILY, flash=_("{name} saved"), on=item_page)(change_shopping_item)
shopping_list.form("/delete", then=FAMILY, flash=_("Item removed"))(delete_shopping_item)
