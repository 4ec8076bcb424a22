"""A person's data export: everything they can see in their families."""

from collections.abc import AsyncIterator
from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping.entities import (
    Deletion,
    InventoryItem,
    Member,
    ShoppingListItem,
    StorageLocation,
    Store,
)
from potluck.apps.shopping.families import families
from potluck.apps.shopping.inventory import InventoryItemView
from potluck.apps.shopping.locations import LocationView
from potluck.apps.shopping.names import Names
from potluck.apps.shopping.shopping_list import ShoppingItemView
from potluck.apps.shopping.stores import StoreView
from potluck.store import Store as Database


async def export(rows: Database, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
    """One person's rows, one table after another."""
    memberships = await families.memberships(rows, user_id)
    ids = [member.family_id for member in memberships if member.status == "active"]
    names: dict[UUID, Names] = {}
    for family_id in ids:
        stores = await rows.all(Store.all_of_family(family_id))
        locations = await rows.all(StorageLocation.all_of_family(family_id))
        members = await rows.all(Member.all_of_family(family_id))
        gone = await rows.all(Deletion.under_way(family_id))
        names[family_id] = Names.of([*stores, *locations, *members, *gone])
        for store in stores:
            yield "stores", StoreView.show(store)
    for family_id in ids:
        async for location in rows.each(StorageLocation.all_of_family(family_id)):
            yield "locations", LocationView.show(location)
    for family_id in ids:
        async for item in rows.each(InventoryItem.all_of_family(family_id)):
            yield "inventory", InventoryItemView.show(item, names[family_id])
    for family_id in ids:
        async for to_buy in rows.each(ShoppingListItem.all_of_family(family_id)):
            yield "shoppingList", ShoppingItemView.show(to_buy, names[family_id])
