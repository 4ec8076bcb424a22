"""Clearing purchased items from the list, and undoing that for an hour.

A list can have more purchased items than one transaction takes, so both rules write their own transactions, in parts.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.shopping.access import InFamily
from potluck.apps.shopping.entities import ClearedItems, InventoryItem, ShoppingListItem, Store
from potluck.apps.shopping.families import FAMILY, TAG
from potluck.apps.shopping.fields import UndoToken
from potluck.apps.shopping.shopping_list import ShoppingItemView, shopping_list
from potluck.people import new_id
from potluck.store import attempts
from potluck.table import Operation, Ref, absent, check, delete, present, put
from potluck.web import Actions, Input, NoLongerValid, Outcome, Step, Writes, or_raise, or_retry

UNDO_LASTS = timedelta(hours=1)
# Undoing takes up to three actions for each item: it, and checks that its inventory item and its store exist.
CLEARED_AT_ONCE = 30


class NothingToUndo(NoLongerValid, detail="This can no longer be undone"):
    """The token was never issued, was used, or has expired."""


class Cleared(Struct, rename="camel", frozen=True, kw_only=True):
    """How much was cleared, and what brings it back; no token where nothing was."""

    cleared: int
    undo_token: UUID | None


class Undo(Input):
    undo_token: UndoToken


class ShoppingItems(Struct, frozen=True):
    """Several things on the list."""

    items: list[ShoppingItemView]


undoing: Actions[ShoppingListItem] = Actions(
    InFamily, api="/families/{family_id}/undo", page=f"{FAMILY}/list/undo", tag=TAG
)


@shopping_list.action("POST", "/clear-purchased", frees_room=True)
async def clear_purchased(at: InFamily) -> Writes[Cleared]:
    """Clear what is purchased from the list. The token brings it back, for an hour."""
    clearing_id = new_id()
    cleared = part = 0
    async for _ in attempts("clearing the list", at.store.patience):
        listed = await at.store.all(ShoppingListItem.all_of_family(at.family_id))
        waiting = [each for each in listed if each.status == "purchased"]
        last = Writes(Cleared(cleared=cleared, undo_token=clearing_id if cleared else None))
        while waiting:
            items, rest = waiting[:CLEARED_AT_ONCE], waiting[CLEARED_AT_ONCE:]
            remembered = ClearedItems(
                family_id=at.family_id,
                clearing_id=clearing_id,
                part=part,
                cleared_by=at.principal.user_id,
                items=[msgspec.to_builtins(each) for each in items],
                created_at=at.now,
                ttl=int((at.now + UNDO_LASTS).timestamp()),
            )
            writes: list[Operation | Outcome] = [put(remembered)]
            writes += (or_retry(delete(each, when=present)) for each in items)
            # The last part completes the answer, which is stored with it.
            last = Writes(Cleared(cleared=cleared + len(items), undo_token=clearing_id), *writes)
            if not await at.commit(Step(*writes) if rest else last):
                break
            cleared, part, waiting = cleared + len(items), part + 1, rest
        else:
            return last
    raise AssertionError("attempts end by raising")


# Serialized because it takes several transactions: a concurrent retry would find some parts undone and no answer yet.
@undoing.action("POST", "", NothingToUndo, serialized=True)
async def undo(at: InFamily, wanted: Undo) -> Writes[ShoppingItems]:
    """Bring back what was cleared, as it was. Once for each token."""
    parts = await at.store.all(ClearedItems.by_clearing(at.family_id, wanted.undo_token))
    if not parts:
        raise NothingToUndo
    back: list[ShoppingItemView] = []
    for part in parts:
        async for _ in attempts("undoing", at.store.patience):
            items, links = await _restored(at, part)
            shown = await at.show(ShoppingItemView, items)
            placing = (or_retry(put(each, when=absent)) for each in items)
            writes = [or_raise(delete(part, when=present), NothingToUndo), *placing, *links]
            last = Writes(ShoppingItems([*back, *shown]), *writes)
            if await at.commit(last if part is parts[-1] else Step(*writes)):
                break
        back += shown
    return last


async def _restored(at: InFamily, part: ClearedItems) -> tuple[list[ShoppingListItem], list[Outcome]]:
    """The items that can come back, without links to deleted rows, and checks that their other links still exist."""
    items = [msgspec.convert(each, ShoppingListItem) for each in part.items]
    items = [each for each in items if each.ttl is None or each.ttl > at.store.now]
    refs: dict[tuple[str, UUID], Ref[Any]] = {}
    for each in items:
        refs["shopping item", each.shopping_item_id] = ShoppingListItem.by_id(at.family_id, each.shopping_item_id)
        if each.item_id is not None:
            refs["item", each.item_id] = InventoryItem.by_id(at.family_id, each.item_id)
        if each.store_id is not None:
            refs["store", each.store_id] = Store.by_id(at.family_id, each.store_id)
    rows = await at.store.get_many(list(refs.values()))
    there = {key for key, row in zip(refs, rows, strict=True) if row is not None}
    restored = [
        replace(
            each,
            item_id=each.item_id if ("item", each.item_id) in there else None,
            store_id=each.store_id if ("store", each.store_id) in there else None,
        )
        for each in items
        # An item with this id that exists by now wins.
        if ("shopping item", each.shopping_item_id) not in there
    ]
    links = [or_retry(check(refs[key], when=present)) for key in there if key[0] != "shopping item"]
    return restored, links
