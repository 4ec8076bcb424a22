"""Reordering a collection: its numbers stay, and its items trade them."""

from collections.abc import Iterable, Sequence
from typing import Annotated
from uuid import UUID

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.collections import collections
from potluck.apps.library.entities import Collection, CollectionMember, Item, LibraryItem
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER, ItemId
from potluck.apps.library.placement import member_of
from potluck.table import Operation, delete, put, the
from potluck.validation import Length
from potluck.web import Input, Outcome, Step, Writes, or_retry

# A transaction takes 100 actions: three for each item, and a few for the access checks.
AT_ONCE = 30


class WantedOrder(Input):
    item_ids: Annotated[list[ItemId], Length(1, LAST_ORDER, "List 1 to 1,000 items, in their order")]
    """Items that are not listed follow, in their present order."""


@collections.action("PUT", "/order")
async def order_collection(at: OwnLibrary, collection: Collection, order: WantedOrder) -> Writes[Collection]:
    """Reorder the items of a collection. Its numbers stay: a series without a second volume still has none afterwards.
    Owner only."""
    async for _ in at.store.attempts("reordering a collection"):
        last = await _all_but_last(at, collection, order)
        if last is not None:
            return Writes(collection, *last)
    raise AssertionError("attempts end by raising")


async def _all_but_last(at: OwnLibrary, collection: Collection, order: WantedOrder) -> list[Operation | Outcome] | None:
    """Commit the new order except for its last transaction, whose writes are returned; None if an item changed."""
    members = await at.store.all(
        CollectionMember.of_collection(at.owner_id, collection.library_id, collection.collection_id)
    )
    numbers = distinct_orders([member.order for member in members])
    orders = dict(zip(_in_order([member.item_id for member in members], order.item_ids), numbers, strict=True))
    refs = [
        LibraryItem.one(at.owner_id, at.library_id, member.item_id)
        for member in members
        if orders[member.item_id] != member.order
    ]
    items = [item for item in await at.store.get_many(refs) if item is not None and item.order is not None]
    *first, last = [items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE)] or [[]]
    for batch in first:
        if not await at.commit(Step(*_moved(at, batch, orders))):
            return None
    return _moved(at, last, orders)


def _in_order(item_ids: Sequence[UUID], order: Iterable[UUID]) -> list[UUID]:
    known = set(item_ids)
    first = list(dict.fromkeys(item_id for item_id in order if item_id in known))
    return [*first, *(item_id for item_id in item_ids if item_id not in set(first))]


def distinct_orders(orders: Sequence[int]) -> list[int]:
    """The numbers in use, ascending. Items with the same number get different ones, as long as there are enough."""
    numbers: list[int] = []
    for order in sorted(orders):
        numbers.append(max(order, numbers[-1] + 1) if numbers else order)
    if numbers and numbers[-1] > LAST_ORDER:
        return [min(order, LAST_ORDER) for order in range(FIRST_ORDER, len(orders) + FIRST_ORDER)]
    return numbers


def _moved(at: OwnLibrary, items: Iterable[Item], orders: dict[UUID, int]) -> list[Operation | Outcome]:
    writes: list[Operation | Outcome] = []
    for item in items:
        after, write = at.edit(item, the(type(item).order).becomes(orders[item.item_id]))
        before, now = member_of(item), member_of(after)
        assert before is not None
        assert now is not None
        writes += [or_retry(write), delete(before), put(now)]
    return writes
