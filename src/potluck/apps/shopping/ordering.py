"""Sort keys for lists of views, and the number of items for each store."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar, Protocol
from uuid import UUID

from msgspec import Struct

from potluck.table import fold

Place = tuple[Any, ...]
"""A sort key that no two items of a list share."""


class Nameable(Protocol):
    __struct_fields__: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str: ...


def by_name(item: Nameable) -> Place:
    """Alphabetical, ignoring case and accents; the id, which is the first field, breaks ties."""
    return fold(item.name), item.name, str(getattr(item, item.__struct_fields__[0]))


class OnList(Nameable, Protocol):
    """The view of an item on a shopping list."""

    @property
    def shopping_item_id(self) -> UUID: ...
    @property
    def store_id(self) -> UUID | None: ...
    @property
    def store_name(self) -> str | None: ...
    @property
    def status(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


def by_store(item: OnList) -> Place:
    """By store name and unassigned last, pending before purchased, newest first."""
    return (
        item.store_name is None,
        fold(item.store_name or ""),
        str(item.store_id or ""),
        item.status == "purchased",
        -int(item.created_at.timestamp()),
        fold(item.name),
        str(item.shopping_item_id),
    )


class StoreTotals(Struct, rename="camel", frozen=True, kw_only=True):
    """The number of items on the list for one store; without a store, of unassigned items."""

    store_id: UUID | None
    store_name: str | None
    pending: int
    purchased: int


class Groups(Struct, frozen=True):
    """The number of items for each store on the whole list, regardless of the requested page."""

    groups: list[StoreTotals]


def groups_of(items: Iterable[OnList]) -> Groups:
    """The number of items of each store, in the order of the items."""
    counted: dict[tuple[UUID | None, str | None], list[int]] = {}
    for item in items:
        numbers = counted.setdefault((item.store_id, item.store_name), [0, 0])
        numbers[item.status == "purchased"] += 1
    return Groups(
        [
            StoreTotals(store_id=store_id, store_name=store_name, pending=pending, purchased=purchased)
            for (store_id, store_name), (pending, purchased) in counted.items()
        ]
    )
