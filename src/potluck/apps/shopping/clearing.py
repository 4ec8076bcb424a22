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
from potluck.table import Operation, Ref, absent, check, delete, present, put
from potluck.web import Actions, Input, Outcome, ProblemError, Step, Writes, or_raise, or_retry

UNDO_LASTS = timedelta(hours=1)
# Undoing takes up to three actions for each item: a put, and checks that its inventory item and its store exist.
CLEARED_AT_ONCE = 30


class NothingToUndo(ProblemError, slug="expired", detail="This can no longer be undone"):
    """The token was never issued, was used, or has expired."""


class Cleared(Struct, rename="camel", frozen=True, kw_only=True):
    """How many items were cleared, and the token to undo that; null if there were none."""

    cleared: int
    undo_token: UUID | None


class Undo(Input):
    undo_token: UndoToken


class ShoppingItems(Struct, frozen=True):
    """Several items of the list."""

    items: list[ShoppingItemView]


undoing: Actions[ShoppingListItem] = Actions(
    InFamily, api="/families/{family_id}/undo", page=f"{FAMILY}/list/undo", tag=TAG
)


@shopping_list.action("POST", "/clear-purchased", frees_room=True)
async def clear_purchased(at: InFamily) -> Writes[Cleared]:
    """Clear the purchased items from the list. For an hour, the token can restore them."""
    clearing_id = at.new_id()
    cleared = part = 0
    async for _ in at.store.attempts("clearing the list"):
        listed = await at.store.all(ShoppingListItem.all_of_family(at.family_id))
        purchased = [item for item in listed if item.status == "purchased"]
        last = Writes(Cleared(cleared=cleared, undo_token=clearing_id if cleared else None))
        while purchased:
            items, rest = purchased[:CLEARED_AT_ONCE], purchased[CLEARED_AT_ONCE:]
            record = ClearedItems(
                family_id=at.family_id,
                clearing_id=clearing_id,
                part=part,
                cleared_by=at.principal.user_id,
                items=[msgspec.to_builtins(item) for item in items],
                created_at=at.now,
                ttl=int((at.now + UNDO_LASTS).timestamp()),
            )
            writes: list[Operation | Outcome] = [put(record)]
            writes += (or_retry(delete(item, when=present)) for item in items)
            # The last part completes the answer, which is stored with it.
            last = Writes(Cleared(cleared=cleared + len(items), undo_token=clearing_id), *writes)
            if not await at.commit(Step(*writes) if rest else last):
                break
            cleared, part, purchased = cleared + len(items), part + 1, rest
        else:
            return last
    raise AssertionError("attempts end by raising")


# Serialized because it takes several transactions: a concurrent retry would find some parts undone and no answer yet.
@undoing.action("POST", "", NothingToUndo, serialized=True)
async def undo(at: InFamily, wanted: Undo) -> Writes[ShoppingItems]:
    """Restore cleared items. A token works once."""
    parts = await at.store.all(ClearedItems.by_clearing(at.family_id, wanted.undo_token))
    if not parts:
        raise NothingToUndo
    restored: list[ShoppingItemView] = []
    for part in parts:
        async for _ in at.store.attempts("undoing"):
            items, links = await _restored(at, part)
            views = await at.show(ShoppingItemView, items)
            puts = (or_retry(put(item, when=absent)) for item in items)
            writes = [or_raise(delete(part, when=present), NothingToUndo), *puts, *links]
            last = Writes(ShoppingItems([*restored, *views]), *writes)
            if await at.commit(last if part is parts[-1] else Step(*writes)):
                break
        restored += views
    return last


async def _restored(at: InFamily, part: ClearedItems) -> tuple[list[ShoppingListItem], list[Outcome]]:
    """The items that can come back, without links to deleted rows, and checks that their other links still exist."""
    items = [msgspec.convert(row, ShoppingListItem) for row in part.items]
    items = [item for item in items if item.ttl is None or item.ttl > at.store.now]
    refs: dict[tuple[str, UUID], Ref[Any]] = {}
    for item in items:
        refs["shopping item", item.shopping_item_id] = ShoppingListItem.by_id(at.family_id, item.shopping_item_id)
        if item.item_id is not None:
            refs["item", item.item_id] = InventoryItem.by_id(at.family_id, item.item_id)
        if item.store_id is not None:
            refs["store", item.store_id] = Store.by_id(at.family_id, item.store_id)
    rows = await at.store.get_many(list(refs.values()))
    existing = {key for key, row in zip(refs, rows, strict=True) if row is not None}
    restored = [
        replace(
            item,
            item_id=item.item_id if ("item", item.item_id) in existing else None,
            store_id=item.store_id if ("store", item.store_id) in existing else None,
        )
        for item in items
        # An item that has this id by now is kept.
        if ("shopping item", item.shopping_item_id) not in existing
    ]
    links = [or_retry(check(refs[key], when=present)) for key in existing if key[0] != "shopping item"]
    return restored, links
