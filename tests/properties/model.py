"""A table as a plain dict: what the engine is held against."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.properties.wire_values import Item, Value, in_key_order, plain, plain_item

Key = tuple[Any, Any]


@dataclass(frozen=True)
class Order:
    """By which attributes the table or one of its indexes is found and sorted, and what it shows."""

    hash_name: str
    range_name: str | None
    shown: frozenset[str] | None = None  # None shows all


TABLE_KEYS = frozenset({"pk", "sk"})
ORDERS: dict[str | None, Order] = {
    None: Order("pk", "sk"),
    "by-group": Order("g", "h"),
    "by-flag": Order("f", None, TABLE_KEYS | {"f"}),
    "by-rank": Order("pk", "l", TABLE_KEYS | {"l", "x"}),
}


def key_of(item: Item) -> Key:
    return plain(item["pk"]), plain(item["sk"])


@dataclass
class Model:
    items: dict[Key, Item] = field(default_factory=dict)
    changes: list[dict[Key, tuple[Any, Any]]] = field(default_factory=list)  # one entry per request that changed

    def get(self, key: Item) -> Item:
        return self.items.get(key_of(key), {})

    def write(self, new: dict[Key, Item | None]) -> None:
        """Set or remove several items as one change; what stays the same is no change."""
        change = {}
        for key, item in new.items():
            before = plain_item(self.items[key]) if key in self.items else None
            after = plain_item(item) if item is not None else None
            if before != after:
                change[key] = (before, after)
            if item is None:
                self.items.pop(key, None)
            else:
                self.items[key] = item
        if change:
            self.changes.append(change)

    def shown(self, index: str | None) -> list[Item]:
        """Every item of the table or index, cut to what the index holds."""
        order = ORDERS[index]
        needed = {order.hash_name} | ({order.range_name} if order.range_name else set())
        return [
            item if order.shown is None else {name: value for name, value in item.items() if name in order.shown}
            for item in self.items.values()
            if needed <= item.keys()
        ]

    def partition(self, index: str | None, hash_value: Value) -> list[Item]:
        order = ORDERS[index]
        return [item for item in self.shown(index) if plain(item[order.hash_name]) == plain(hash_value)]


def sort_values(items: Iterable[Item], range_name: str) -> list[Any]:
    return [in_key_order(item[range_name]) for item in items]
