"""Reordering a collection: its numbers stay, and the items at them change."""

from collections.abc import Iterable, Sequence
from typing import Annotated
from uuid import UUID

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.collections import collections
from potluck.apps.library.entities import Collection, CollectionMember, LibraryItem
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER, ItemId
from potluck.apps.library.placement import Item, member_of
from potluck.store import attempts
from potluck.table import Operation, delete, put, the
from potluck.validation import Length
from potluck.web import Input, Outcome, Step, Writes, or_retry

# A transaction takes 100 actions: three for each item, and some for the caller.
AT_ONCE = 30


class WantedOrder(Input):
    item_ids: Annotated[list[ItemId], Length(1, LAST_ORDER, "Name 1 to 1,000 items, in their order")]
    """Those that are not named follow, in the order that they have."""


@collections.action("PUT", "/order")
async def order_collection(at: OwnLibrary, collection: Collection, wanted: WantedOrder) -> Writes[Collection]:
    """Put the items of a collection into another order. Its numbers stay: a series of which the second volume is
    missing has no second afterwards either. Only the owner may."""
    async for _ in attempts("reordering a collection", at.store.patience):
        last = await _all_but_last(at, collection, wanted)
        if last is not None:
            return Writes(collection, *last)
    raise AssertionError("attempts end by raising")


async def _all_but_last(
    at: OwnLibrary, collection: Collection, wanted: WantedOrder
) -> list[Operation | Outcome] | None:
    """Write all but the last transaction of the new order, and give the writes of that; None if an item changed."""
    there = await at.store.all(
        CollectionMember.of_collection(at.owner_id, collection.library_id, collection.collection_id)
    )
    numbers = one_each([each.order for each in there])
    orders = dict(zip(_in_order([each.item_id for each in there], wanted.item_ids), numbers, strict=True))
    refs = [
        LibraryItem.one(at.owner_id, at.library_id, each.item_id)
        for each in there
        if orders[each.item_id] != each.order
    ]
    items = [each for each in await at.store.get_many(refs) if each is not None and each.order is not None]
    *first, last = [items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE)] or [[]]
    for several in first:
        if not await at.commit(Step(*_moved(at, several, orders))):
            return None
    return _moved(at, last, orders)


def _in_order(there: Sequence[UUID], wanted: Iterable[UUID]) -> list[UUID]:
    known = set(there)
    named = list(dict.fromkeys(each for each in wanted if each in known))
    return [*named, *(each for each in there if each not in set(named))]


def one_each(orders: Sequence[int]) -> list[int]:
    """The numbers in use, ascending; items that shared a number each get their own, as far as there are enough."""
    numbers: list[int] = []
    for each in sorted(orders):
        numbers.append(max(each, numbers[-1] + 1) if numbers else each)
    if numbers and numbers[-1] > LAST_ORDER:
        return [min(each, LAST_ORDER) for each in range(FIRST_ORDER, len(orders) + FIRST_ORDER)]
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
