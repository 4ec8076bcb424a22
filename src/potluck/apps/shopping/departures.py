"""What an account means to Shopping: what its owner takes along, what needs them, and what goes with them."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Literal
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
from potluck.apps.shopping.names import Names
from potluck.apps.shopping.old_families import Families
from potluck.apps.shopping.old_members import counted
from potluck.apps.shopping.turns import Again
from potluck.apps.shopping.views import (
    family_shown,
    inventory_item_shown,
    location_shown,
    shopping_item_shown,
    store_shown,
)
from potluck.people.errors import StillNeeded
from potluck.store import Store as Rows
from potluck.table import WriteRefused, delete, present
from potluck.table.operations import Operation

__all__ = ["Departures", "ExportedMembership"]


class ExportedMembership(Struct, rename="camel", frozen=True, kw_only=True):
    """That a person is, or was, in a family."""

    family_id: UUID
    name: str
    email: str
    role: Literal["admin", "member"]
    status: MemberStatus
    created_at: datetime
    updated_at: datetime


class Departures:
    """Everything of one person, in whichever families."""

    def __init__(self, rows: Rows, families: Families) -> None:
        self._rows = rows
        self._families = families

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        """Their memberships, and all that they see in the families that they are in; table after table."""
        memberships = await self._memberships(user_id)
        for each in memberships:
            yield (
                "memberships",
                ExportedMembership(
                    family_id=each.family_id,
                    name=each.name,
                    email=each.email,
                    role=each.role,
                    status=each.status,
                    created_at=each.created_at,
                    updated_at=each.updated_at,
                ),
            )
        active = [each for each in memberships if each.status == "active"]
        names: dict[UUID, Names] = {}
        for each in active:
            family = await self._rows.get(Family.by_id(each.family_id))
            if family is not None:
                yield "families", family_shown(family, each)
        for each in active:
            stores = await self._rows.all(Store.all_of_family(each.family_id))
            locations = await self._rows.all(StorageLocation.all_of_family(each.family_id))
            members = await self._rows.all(Member.all_of_family(each.family_id))
            gone = await self._rows.all(Deletion.under_way(each.family_id))
            names[each.family_id] = Names.of([*stores, *locations, *members, *gone])
            for store in stores:
                yield "stores", store_shown(store)
        for each in active:
            async for location in self._rows.each(StorageLocation.all_of_family(each.family_id)):
                yield "locations", location_shown(location)
        for each in active:
            async for item in self._rows.each(InventoryItem.all_of_family(each.family_id)):
                yield "inventory", inventory_item_shown(item, names[each.family_id])
        for each in active:
            async for wanted in self._rows.each(ShoppingListItem.all_of_family(each.family_id)):
                yield "shoppingList", shopping_item_shown(wanted, names[each.family_id])

    async def still_needed(self, user_id: UUID) -> list[str]:
        """The families whose last admin they are, by name."""
        needed = []
        for each in await self._memberships(user_id):
            if each.status == "active" and each.role == "admin":
                family = await self._rows.get(Family.by_id(each.family_id))
                if family is not None and family.admin_count <= 1:
                    needed.append(family.name)
        return sorted(needed)

    async def forget(self, user_id: UUID) -> None:
        """Out of every family, and no word of who they were; a family of theirs alone goes with them."""
        for each in await self._memberships(user_id):
            await self._forget_in(each.family_id, user_id)

    async def _forget_in(self, family_id: UUID, user_id: UUID) -> None:
        again = Again("forgetting a member", self._rows.patience)
        while True:
            member, family = await self._rows.get_together(Member.by_id(family_id, user_id), Family.by_id(family_id))
            if member is None:
                return
            writes: list[Operation]
            if member.status == "removed" or family is None:
                writes = [delete(member)]
            elif family.member_count <= 1:
                writes = await self._families.ending(family, member)
            else:
                counting = counted(family_id, admins=-int(member.role == "admin"), members=-1)
                writes = [delete(member, when=present), counting]
                if member.role == "admin" and family.admin_count <= 1:
                    raise StillNeeded([family.name])
            try:
                await self._rows.transact(*writes)
                return
            except WriteRefused:
                # Whatever changed meanwhile is read again, and decides.
                await again.wait()

    async def _memberships(self, user_id: UUID) -> list[Member]:
        """Every family that knows them, as the table itself has it."""
        found = await self._rows.all(Member.every_family_of(user_id))
        rows = await self._rows.get_many([Member.by_id(each.family_id, user_id) for each in found])
        return [each for each in rows if each is not None]
