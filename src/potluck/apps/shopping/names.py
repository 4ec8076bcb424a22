"""Current names for the ids in a family's rows, and the ids that point to deleted items."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
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

# The number of ids in one item. For more, it is cheaper to read all of the family's stores, members and locations.
FEW = 3


class Names(Struct, frozen=True):
    """Names by id, of existing stores and locations and of active members."""

    stores: dict[UUID, str] = {}
    locations: dict[UUID, str] = {}
    members: dict[UUID, str] = {}
    gone_items: frozenset[UUID] = frozenset()
    """Deleted inventory items that may still have links to them."""

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Self:
        """The names in rows of any type."""
        stores: dict[UUID, str] = {}
        locations: dict[UUID, str] = {}
        members: dict[UUID, str] = {}
        gone: set[UUID] = set()
        for row in rows:
            match row:
                case Store():
                    stores[row.store_id] = row.name
                case StorageLocation():
                    locations[row.location_id] = row.name
                case Member(status="active"):
                    members[row.member_id] = row.name
                case Deletion(what="item"):
                    gone.add(row.gone_id)
        return cls(stores, locations, members, frozenset(gone))


class ListNames(Names, frozen=True):
    """The names needed to show items of a shopping list."""

    @classmethod
    async def load(cls, at: InFamily, items: Sequence[ShoppingListItem]) -> Self:
        family_id = at.family_id
        members = {who for item in items for who in (item.added_by, item.updated_by) if who is not None}
        stores = {item.store_id for item in items if item.store_id is not None}
        linked = {item.item_id for item in items if item.item_id is not None}
        wanted: Iterator[Ref[Any]] = chain(
            (Member.by_id(family_id, user_id) for user_id in members - {at.row.member_id}),
            (Store.by_id(family_id, store_id) for store_id in stores),
            (Deletion.by_id(family_id, "item", item_id) for item_id in linked),
        )
        everything = Member.all_of_family, Store.all_of_family, Deletion.under_way
        return cls.of([at.row, *await _read(at, wanted, everything)])


class ItemNames(Names, frozen=True):
    """The names needed to show inventory items."""

    @classmethod
    async def load(cls, at: InFamily, items: Sequence[InventoryItem]) -> Self:
        family_id = at.family_id
        stores = {store_id for item in items for store_id in (item.preferred_store_id, *item.alternate_store_ids)}
        locations = {item.location_id for item in items if item.location_id is not None}
        wanted: Iterator[Ref[Any]] = chain(
            (Store.by_id(family_id, store_id) for store_id in stores if store_id is not None),
            (StorageLocation.by_id(family_id, location_id) for location_id in locations),
        )
        everything = Store.all_of_family, StorageLocation.all_of_family
        return cls.of(await _read(at, wanted, everything))


async def _read(
    at: InFamily, wanted: Iterator[Ref[Any]], everything: Sequence[Callable[[UUID], Query[Any]]]
) -> list[Any]:
    """The wanted rows in one request if they are few, else all rows of their types."""
    first = list(islice(wanted, FEW + 1))
    if len(first) <= FEW:
        return await at.store.get_many(first) if first else []
    reads = [at.store.all(query(at.family_id)) for query in everything]
    return [row for rows in await all_done(reads) for row in rows]
