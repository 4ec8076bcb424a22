"""The inventory's pages: low items on top and the rest below, and a page to edit each item."""

from typing import Any

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.cascade import links_to
from potluck.apps.shopping.duplicates import DuplicateItem
from potluck.apps.shopping.entities import InventoryItem, ShoppingListItem, StorageLocation
from potluck.apps.shopping.families import FAMILY
from potluck.apps.shopping.fields import MOST, ItemId, ToBuy
from potluck.apps.shopping.inventory import (
    InventoryItemChange,
    InventoryItemView,
    NewInventoryItem,
    add_inventory_item,
    adjust,
    change_inventory_item,
    delete_inventory_item,
    inventory,
)
from potluck.apps.shopping.ordering import by_name
from potluck.apps.shopping.pages.shopping_list import person, store_choices
from potluck.apps.shopping.shopping_list import NewShoppingItem, ShoppingItemView, add_low_stock, add_to_list
from potluck.web import Actions, Input, Show, Writes, _

INVENTORY = f"{FAMILY}/inventory"


# --- the list ---------------------------------------------------------------------------------------------------------


@inventory.page("", "shopping/inventory.html")
async def inventory_page(at: InFamily, show: Show) -> dict[str, Any]:
    items = await at.store.all(InventoryItem.all_of_family(at.family_id))
    things = sorted(await at.show(InventoryItemView, items), key=by_name)
    listed = await at.store.all(ShoppingListItem.by_status(at.family_id, "pending"))
    active = [thing for thing in things if thing.status == "active"]
    existing = show.refusal.members["existing"] if isinstance(show.refusal, DuplicateItem) else None
    return {
        "low": [thing for thing in active if thing.low],
        "enough": [thing for thing in active if not thing.low],
        "archived": [thing for thing in things if thing.status == "archived"],
        "on_list": {item.item_id for item in listed if item.item_id is not None},
        "form": show.form(NewInventoryItem, {"quantity": "1", "threshold": "0"}),
        "duplicate": existing and next((thing, existing) for thing in things if thing.item_id == existing.item_id),
        "person": person(at.principal),
        "most": MOST,
        **await _choices(at),
    }


async def _choices(at: InFamily) -> dict[str, Any]:
    """The stores and storage locations for a form."""
    locations = sorted(await at.store.all(StorageLocation.all_of_family(at.family_id)), key=by_name)
    return {
        "stores": await store_choices(at),
        "locations": [("", _("No location")), *((str(location.location_id), location.name) for location in locations)],
    }


inventory.form("", then=INVENTORY, flash=_("{name} added to the inventory"), on=inventory_page)(add_inventory_item)
inventory.form("/adjust", then=INVENTORY, serialized=True)(adjust)
inventory.form("/low-to-list", then=FAMILY, flash=_("Items running low added to the list"))(add_low_stock)


# --- onto the list ----------------------------------------------------------------------------------------------------


class AtItem(InFamily):
    """A member of the family, with one of its inventory items."""

    item_id: ItemId


class ToList(Input):
    quantity: ToBuy | None = None
    allow_duplicate: bool = False


to_list: Actions[ShoppingListItem] = Actions(AtItem, view=ShoppingItemView, page=f"{INVENTORY}/{{item_id}}/to-list")


@to_list.form("", then=INVENTORY, flash=_("{name} added to the list"), on=inventory_page)
async def put_on_list(at: AtItem, wanted: ToList) -> Writes[ShoppingListItem]:
    """Put an inventory item on the list."""
    new = NewShoppingItem(item_id=at.item_id, quantity=wanted.quantity, allow_duplicate=wanted.allow_duplicate)
    return await add_to_list(at, new)


# --- one item ---------------------------------------------------------------------------------------------------------


LABELS = {
    "name": _("Name"),
    "quantity": _("In stock"),
    "threshold": _("Running low at"),
    "unit": _("Unit"),
    "locationId": _("Location"),
    "preferredStoreId": _("Store"),
}


@inventory.page("", "shopping/thing.html")
async def thing_page(at: InFamily, item: InventoryItem, show: Show) -> dict[str, Any]:
    (view,) = await at.show(InventoryItemView, [item]) if show.clash is None else [show.clash]
    form = show.form(InventoryItemChange, view)
    choices = await _choices(at)
    names = {"locationId": dict(choices["locations"]).get, "preferredStoreId": dict(choices["stores"]).get}
    return {
        "thing": view,
        "form": form,
        "conflict": form.conflict(show.clash, LABELS, shown=names),
        "linked": len(await links_to(at.store, at.family_id, "item", item.item_id)),
        **choices,
    }


def _kept(at: InFamily, item: InventoryItem) -> str:
    return (
        _("%(name)s archived", name=item.name) if item.status == "archived" else _("%(name)s restored", name=item.name)
    )


GONE = _("Item deleted. What’s on the list stays there.")

inventory.form("", then=INVENTORY, flash=_("{name} saved"), on=thing_page)(change_inventory_item)
# Archives an item, or brings it back.
inventory.form("/keep", then=INVENTORY, flash=_kept)(change_inventory_item)
inventory.form("/delete", then=INVENTORY, flash=GONE)(delete_inventory_item)
