"""A person's data export: their memberships, and everything they can see in their families."""

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
from potluck.web import Core, Export, view_plan


def export_of(core: Core) -> Export:
    """The function that yields one person's rows, kind by kind."""
    rows = core.store

    async def export(user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        places = families.in_suite(core)
        async for named in places.export(user_id):
            yield named
        ids = [each.family_id for each in await places.memberships(user_id) if each.status == "active"]
        names: dict[UUID, Names] = {}
        for family_id in ids:
            stores = await rows.all(Store.all_of_family(family_id))
            locations = await rows.all(StorageLocation.all_of_family(family_id))
            members = await rows.all(Member.all_of_family(family_id))
            gone = await rows.all(Deletion.under_way(family_id))
            names[family_id] = Names.of([*stores, *locations, *members, *gone])
            for store in stores:
                yield "stores", view_plan(StoreView).show(store)
        for family_id in ids:
            async for location in rows.each(StorageLocation.all_of_family(family_id)):
                yield "locations", view_plan(LocationView).show(location)
        for family_id in ids:
            async for item in rows.each(InventoryItem.all_of_family(family_id)):
                yield "inventory", view_plan(InventoryItemView).show(item, names[family_id])
        for family_id in ids:
            async for wanted in rows.each(ShoppingListItem.all_of_family(family_id)):
                yield "shoppingList", view_plan(ShoppingItemView).show(wanted, names[family_id])

    return export
