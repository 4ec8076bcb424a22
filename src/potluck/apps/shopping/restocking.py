"""Restocking: adding the quantity of a purchase to the inventory, once."""

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
    title="Already added",
    remedy="Adjust the inventory item itself if its quantity is wrong.",
):
    """A purchase can be added to the inventory once. Nothing was added again."""

    def __init__(self) -> None:
        super().__init__("This purchase was already added to the inventory")


class NotRestockable(
    ProblemError,
    slug="not-restockable",
    status=409,
    title="Can’t be restocked",
    remedy="Check it off first. For free text, create an inventory item first.",
):
    """Only a purchased item that is linked to the inventory can be added to it."""

    def __init__(self) -> None:
        super().__init__("Only a purchased item that is linked to the inventory can be added to it")


class Restock(Input):
    quantity: ToBuy | None = None
    """How much to add; by default, the quantity on the list, or one."""


class Restocked(Struct, rename="camel", frozen=True, kw_only=True):
    """A purchase, and the inventory item that it was added to."""

    shopping_item: ShoppingItemView
    inventory_item: InventoryItemView


@shopping_list.action("POST", "/restock", AlreadyRestocked, NotRestockable)
async def restock(at: InFamily, bought: ShoppingListItem, wanted: Restock) -> Writes[Restocked]:
    """Add a purchase to the inventory. This can be done once."""
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
