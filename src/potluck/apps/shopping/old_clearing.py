"""Clearing what is purchased from the list, and undoing that while it is remembered."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from potluck.apps.shopping.entities import ClearedItems, InventoryItem, ShoppingListItem, Store
from potluck.apps.shopping.errors import NothingToUndo
from potluck.apps.shopping.membership import Membership
from potluck.apps.shopping.names import names_on_list
from potluck.apps.shopping.turns import Again
from potluck.apps.shopping.validation import Id, checking
from potluck.apps.shopping.views import Cleared, ShoppingItemShown, shopping_item_shown
from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.secrets import new_id
from potluck.store import Clock
from potluck.store import Store as Rows
from potluck.table import AlreadyExists, Ref, WriteRefused, absent, check, delete, present, put
from potluck.table.operations import Operation

__all__ = ["UNDO_LASTS", "Clearing"]

UNDO_LASTS = timedelta(hours=1)
# What one transaction clears, another can bring back: each item, and that its inventory item and its store are there.
CLEARED_AT_ONCE = 30


class Clearing:
    """Takes what is purchased off a family's list, and puts it back."""

    def __init__(self, rows: Rows, clock: Clock, membership: Membership) -> None:
        self._rows = rows
        self._clock = clock
        self._membership = membership

    async def clear_purchased(
        self, caller: Principal, family_id: Id, alongside: Alongside[Cleared] = nothing_else
    ) -> Cleared:
        """No purchased item on the list; the token brings back those that were."""
        with checking() as fields:
            family = fields.id("familyId", family_id)
        standing = await self._membership.of(caller, family)
        again = Again("clearing the list", self._rows.patience)
        clearing_id = new_id()
        cleared = part = 0
        waiting = await self._purchased(family)
        while waiting:
            items, rest = waiting[:CLEARED_AT_ONCE], waiting[CLEARED_AT_ONCE:]
            now = self._now()
            remembered = ClearedItems(
                family_id=family,
                clearing_id=clearing_id,
                part=part,
                cleared_by=caller.user_id,
                items=[msgspec.to_builtins(each) for each in items],
                created_at=now,
                ttl=int((now + UNDO_LASTS).timestamp()),
            )
            deleting = [delete(each, when=present) for each in items]
            answer = Cleared(cleared=cleared + len(items), undo_token=clearing_id)
            # With the last of them, the answer is known.
            others = () if rest else alongside(answer)
            try:
                await self._membership.transact(standing, *deleting, put(remembered), *others)
            except WriteRefused as refusal:
                if not any(refusal.operation is each for each in deleting):
                    raise
                # Somebody unchecked or deleted one of them meanwhile.
                await again.wait()
                waiting = await self._purchased(family)
                continue
            cleared += len(items)
            part += 1
            waiting = rest
        return Cleared(cleared=cleared, undo_token=clearing_id if cleared else None)

    async def undo(
        self,
        caller: Principal,
        family_id: Id,
        undo_token: Id,
        alongside: Alongside[list[ShoppingItemShown]] = nothing_else,
    ) -> list[ShoppingItemShown]:
        """Back onto the list, as they were, except for what has expired; once for each token."""
        with checking() as fields:
            family, clearing_id = fields.id("familyId", family_id), fields.id("undoToken", undo_token)
        standing = await self._membership.of(caller, family)
        parts = await self._rows.all(ClearedItems.by_clearing(family, clearing_id))
        if not parts:
            raise NothingToUndo
        again = Again("undoing", self._rows.patience)
        back: list[ShoppingItemShown] = []
        taken: set[UUID] = set()
        for number, part in enumerate(parts, start=1):
            while True:
                items, pointing = await self._restored(part, taken)
                answer = back + await self._shown(items)
                using_up = delete(part, when=present)
                placing = [put(each, when=absent) for each in items]
                others = alongside(answer) if number == len(parts) else ()
                try:
                    await self._membership.transact(standing, using_up, *placing, *pointing, *others)
                    break
                except WriteRefused as refusal:
                    if refusal.operation is using_up:
                        raise NothingToUndo from refusal
                    if isinstance(refusal, AlreadyExists) and any(refusal.operation is each for each in placing):
                        # Something has this id by now, and stays.
                        taken.add(items[placing.index(refusal.operation)].shopping_item_id)
                    elif not any(refusal.operation is each for each in pointing):
                        raise
                await again.wait()
            back = answer
        return back

    async def _purchased(self, family_id: UUID) -> list[ShoppingListItem]:
        items = await self._rows.all(ShoppingListItem.all_of_family(family_id))
        return [each for each in items if each.status == "purchased"]

    async def _restored(self, part: ClearedItems, taken: set[UUID]) -> tuple[list[ShoppingListItem], list[Operation]]:
        """The items that can come back, without links to what is gone, and what says that the rest is there."""
        items = [msgspec.convert(each, ShoppingListItem) for each in part.items]
        items = [
            each
            for each in items
            if (each.ttl is None or each.ttl > self._rows.now) and each.shopping_item_id not in taken
        ]
        refs: dict[UUID, Ref[Any]] = {}
        for each in items:
            if each.item_id is not None:
                refs[each.item_id] = InventoryItem.by_id(part.family_id, each.item_id)
            if each.store_id is not None:
                refs[each.store_id] = Store.by_id(part.family_id, each.store_id)
        found = await self._rows.get_many(list(refs.values()))
        there = {key for key, row in zip(refs, found, strict=True) if row is not None}
        loosened = [
            replace(
                each,
                item_id=each.item_id if each.item_id in there else None,
                store_id=each.store_id if each.store_id in there else None,
            )
            for each in items
        ]
        return loosened, [check(refs[key], when=present) for key in there]

    async def _shown(self, items: Iterable[ShoppingListItem]) -> list[ShoppingItemShown]:
        items = list(items)
        names = await names_on_list(self._rows, items)
        return [shopping_item_shown(each, names) for each in items]

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)
