"""A person's data export: their memberships, and everything they can see in their families."""

from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping.entities import (
    Deletion,
    Family,
    InventoryItem,
    Member,
    MemberStatus,
    ShoppingListItem,
    StorageLocation,
    Store,
)
from potluck.apps.shopping.families import FamilyView, OwnRow, family_place
from potluck.apps.shopping.fields import Role
from potluck.apps.shopping.inventory import InventoryItemView
from potluck.apps.shopping.locations import LocationView
from potluck.apps.shopping.names import Names
from potluck.apps.shopping.shopping_list import ShoppingItemView
from potluck.apps.shopping.stores import StoreView
from potluck.web import Core, Export, View, view_plan


class MembershipView(View[Member]):
    """A person's present or past membership in a family."""

    family_id: UUID
    name: str
    email: str
    role: Role
    status: MemberStatus
    created_at: datetime
    updated_at: datetime


def export_of(core: Core) -> Export:
    """The function that yields one person's rows, kind by kind."""
    rows = core.store

    async def export(user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        memberships = await family_place.on(core).memberships(user_id)
        for each in memberships:
            yield "memberships", view_plan(MembershipView).show(each)
        active = [each for each in memberships if each.status == "active"]
        ids = [each.family_id for each in active]
        own = OwnRow({each.family_id: each for each in active})
        for family in await rows.get_many([Family.by_id(each) for each in ids]):
            if family is not None:
                yield "families", view_plan(FamilyView).show(family, own)
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
