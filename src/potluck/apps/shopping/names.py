"""Current names for the ids in a family's rows, and which of those ids point to deleted things."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self
from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.entities import (
    Deletion,
    InventoryItem,
    Member,
    ShoppingListItem,
    StorageLocation,
    Store,
)
from potluck.store import all_done
from potluck.table import Query, Ref

__all__ = ["ItemNames", "ListNames", "Names"]

# As many ids as one item has. For more, it is cheaper to read all of the family's stores, members and locations.
FEW = 3


class Names(Struct, frozen=True):
    """Names by id, of existing stores and locations and of active members."""

    stores: dict[UUID, str] = {}
    locations: dict[UUID, str] = {}
    members: dict[UUID, str] = {}
    gone_items: frozenset[UUID] = frozenset()
    """Deleted inventory items that may still have links to them."""

    @classmethod
    def of(cls, found: Iterable[Any]) -> Self:
        """Collects the names of rows of any kind."""
        stores: dict[UUID, str] = {}
        locations: dict[UUID, str] = {}
        members: dict[UUID, str] = {}
        gone: set[UUID] = set()
        for each in found:
            match each:
                case Store():
                    stores[each.store_id] = each.name
                case StorageLocation():
                    locations[each.location_id] = each.name
                case Member(status="active"):
                    members[each.member_id] = each.name
                case Deletion(what="item"):
                    gone.add(each.gone_id)
        return cls(stores, locations, members, frozenset(gone))


class ListNames(Names, frozen=True):
    """The names needed to show items of a shopping list."""

    @classmethod
    async def load(cls, at: InFamily, items: Sequence[ShoppingListItem]) -> Self:
        family_id = at.family_id
        wanted: dict[Any, Ref[Any]] = {}
        for item in items:
            for who in (item.added_by, item.updated_by):
                if who is not None and who != at.row.member_id:
                    wanted["member", who] = Member.by_id(family_id, who)
            if item.store_id is not None:
                wanted["store", item.store_id] = Store.by_id(family_id, item.store_id)
            if item.item_id is not None:
                wanted["item", item.item_id] = Deletion.by_id(family_id, "item", item.item_id)
        everything = Member.all_of_family, Store.all_of_family, Deletion.under_way
        return cls.of([at.row, *await _found(at, wanted, everything)])


class ItemNames(Names, frozen=True):
    """The names needed to show inventory items."""

    @classmethod
    async def load(cls, at: InFamily, items: Sequence[InventoryItem]) -> Self:
        family_id = at.family_id
        wanted: dict[Any, Ref[Any]] = {}
        for item in items:
            for store_id in (item.preferred_store_id, *item.alternate_store_ids):
                if store_id is not None:
                    wanted["store", store_id] = Store.by_id(family_id, store_id)
            if item.location_id is not None:
                wanted["location", item.location_id] = StorageLocation.by_id(family_id, item.location_id)
        everything = Store.all_of_family, StorageLocation.all_of_family
        return cls.of(await _found(at, wanted, everything))


async def _found(
    at: InFamily, wanted: dict[Any, Ref[Any]], everything: Sequence[Callable[[UUID], Query[Any]]]
) -> list[Any]:
    """The wanted rows in one request if they are few, else all rows of their kinds."""
    if not wanted:
        return []
    if len(wanted) <= FEW:
        return await at.rows.get_many(list(wanted.values()))
    asked = [at.rows.all(each(at.family_id)) for each in everything]
    return [row for found in await all_done(asked) for row in found]
