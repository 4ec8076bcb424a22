"""Restocking: adds a purchase's quantity to the inventory, once."""

from msgspec import Struct

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.entities import InventoryItem, ShoppingListItem
from potluck.apps.shopping.fields import ToBuy
from potluck.apps.shopping.inventory import InventoryItemView, stepped
from potluck.apps.shopping.shopping_list import ShoppingItemView, shopping_list
from potluck.table import the
from potluck.web import Input, ProblemError, Writes, or_retry


class AlreadyRestocked(
    ProblemError,
    slug="already-restocked",
    status=409,
    title="Added already",
    remedy="Adjust the inventory item itself if its quantity is wrong.",
):
    """What was bought is added to the inventory once, and that has happened. Nothing was added."""

    def __init__(self) -> None:
        super().__init__("This purchase was added to the inventory already")


class NotRestockable(
    ProblemError,
    slug="not-restockable",
    status=409,
    title="Nothing to add to",
    remedy="Check it off first. Free text has no place in the inventory until you make one.",
):
    """Only an item that is purchased, and that comes from the inventory, can be added to the inventory."""

    def __init__(self) -> None:
        super().__init__("Only what is purchased and comes from the inventory can be added to it")


class Restock(Input):
    quantity: ToBuy | None = None
    """How much to add; by default the quantity on the list, or one."""


class Restocked(Struct, rename="camel", frozen=True, kw_only=True):
    """A purchase that is at home now."""

    shopping_item: ShoppingItemView
    inventory_item: InventoryItemView


@shopping_list.action("POST", "/restock", AlreadyRestocked, NotRestockable)
async def restock(at: InFamily, bought: ShoppingListItem, wanted: Restock) -> Writes[Restocked]:
    """Add a purchase to the inventory. It is done once."""
    if bought.restocked_at is not None:
        raise AlreadyRestocked
    if bought.status != "purchased" or bought.item_id is None:
        raise NotRestockable
    at_home = await at.store.get(InventoryItem.by_id(at.family_id, bought.item_id))
    if at_home is None:
        raise NotRestockable
    stocked, adding = stepped(at, at_home, wanted.quantity or bought.quantity or 1, field="quantity")
    noted, noting = at.edit(
        bought,
        the(ShoppingListItem.restocked_at).becomes(at.now),
        when=the(ShoppingListItem.restocked_at).is_none(),
    )
    (shopping_item,) = await at.show(ShoppingItemView, [noted])
    (inventory_item,) = await at.show(InventoryItemView, [stocked])
    answer = Restocked(shopping_item=shopping_item, inventory_item=inventory_item)
    return Writes(answer, or_retry(noting), or_retry(adding))
