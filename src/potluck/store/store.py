"""The one place that does I/O for `potluck.table`: sends the requests it builds, and returns typed entities.

Reads and their cache are in `reading.py`, scans in `scanning.py`; writes are here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from potluck.acceleration import BY_ENVIRONMENT, Accelerations
from potluck.engines import Engine
from potluck.engines.recording import access_pattern
from potluck.store.read_tracking import Clock, second
from potluck.store.reading import StoreReader
from potluck.store.sending import Patience
from potluck.store.table_creation import create_table
from potluck.table.access import Ref
from potluck.table.entity import Entity
from potluck.table.errors import AlreadyExists, Changed, NotFound, VersionConflict
from potluck.table.expressions import Change, Condition, absent
from potluck.table.expressions.conditions import AsRead, FieldName, Still
from potluck.table.operations import Operation, Update, delete, put, update, upsert
from potluck.table.tables import Request, RowName, Table, row_name
from potluck.table.transactions import Transaction

T = TypeVar("T")
E = TypeVar("E", bound=Entity)

BATCH_WRITE = 25
WRITES_AT_ONCE = 16


class Store(StoreReader):
    """Reads and writes entities on an engine: sends, retries and pages, and never returns expired items."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        patience: Patience | None = None,
        accelerations: Accelerations = BY_ENVIRONMENT,
    ) -> None:
        super().__init__(engine, clock, patience, accelerations)
        # A lock lives only while a caller holds or awaits it.
        self._locks: WeakValueDictionary[RowName, asyncio.Lock] = WeakValueDictionary()

    async def put(self, entity: E, when: Condition | None = None) -> E:
        """Store the entity; `when=absent` only if there is none yet."""
        await self._write(put(entity, when=when))
        return entity

    async def update(
        self, target: E | Ref[E], *changes: Change, when: Condition | None = None, keep_version: bool = False
    ) -> E:
        """Change some fields of an existing item, and return it."""
        return cast(E, await self._update(update(target, *changes, when=when, keep_version=keep_version)))

    async def _update(self, operation: Update, *, recognise: bool = True) -> Entity:
        answer = await self._write(operation, recognise)
        stored = answer.get("Attributes")
        if stored is None:
            # A transaction does not return the new item, and the update may have made it expire.
            stored = await self._row(_item_of(operation), though_expired=True)
        return cast(Entity, operation.plan.coding.decode(stored))

    async def _row(self, ref: Ref[Any], *, though_expired: bool = False) -> dict[str, Any]:
        """The stored item; NotFound when there is none."""
        plan = ref.plan
        stored: dict[str, Any] | None = (await self.source.call(ref.pattern, ref.request())).get("Item")
        if (
            stored is None
            or not plan.matches(stored)
            or (plan.expired(stored, second(self._clock)) and not though_expired)
        ):
            raise NotFound(f"{ref.pattern}: there is no such item")
        return stored

    async def upsert(self, target: Ref[E], *changes: Change, when: Condition | None = None) -> E:
        """Change some fields of an item, or create it from its key and these changes, and return it."""
        operation = upsert(target, *changes, when=when)
        try:
            answer = await self._write(operation)
        except NotFound:
            # An expired row is in the way; once it is deleted, the item is a new one.
            with contextlib.suppress(AlreadyExists):
                await self._write(delete(target, when=absent))
            answer = await self._write(operation)
        return cast(E, operation.plan.coding.decode(answer["Attributes"]))

    async def delete(self, target: Entity | Ref[Any], when: Condition | None = None) -> None:
        """Delete the item; a missing item is no error unless `when=present`."""
        operation = delete(target, when=when)
        try:
            await self._write(operation)
        except (Changed, NotFound):
            # If the item is gone, its unique value may belong to another item by now, or its key to another kind.
            if when is not None or await self.get(_item_of(operation)) is not None:
                raise

    async def transact(self, *operations: Operation, spread: Collection[Operation] = ()) -> None:
        """Commit all operations or none; raises the refusal of the one that failed, with its position.

        Where another transaction holds an item of one of `spread`, Contended is raised instead of waiting for it.
        """
        await self.source.transact(Transaction(*operations), second(self._clock), spread)

    async def modify(self, ref: Ref[E], change: Callable[[E], Iterable[Change]], *, keep_version: bool = False) -> E:
        """Change an item depending on its current values, retrying on conflicts; NotFound if it is gone."""
        plan, ref = ref.plan, ref.consistently()
        version = None if keep_version else plan.version
        # Callers in this process wait for each other; only a writer elsewhere makes an attempt fail.
        lock = self._locks.setdefault(row_name(plan.table, ref.key), asyncio.Lock())
        async with lock:
            row = await self._row(ref)
            current = plan.coding.decode(row)
            async for attempt in self.attempts(str(ref.pattern)):
                if attempt and version is None:
                    row = await self._row(ref)
                    current = plan.coding.decode(row)
                changes = tuple(change(current))
                if not changes:
                    return cast(E, current)
                as_read = AsRead(row) if version is None else _still(current, version.name)
                try:
                    operation = update(current, *changes, when=as_read, keep_version=keep_version)
                    # A concurrent change may look exactly like this one, and both must count.
                    return cast(E, await self._update(operation, recognise=False))
                except (VersionConflict, Changed) as refusal:
                    if refusal.current is None:
                        raise
                    current = refusal.current
        raise AssertionError("the attempts end by Unavailable")

    async def write_each(self, operations: Iterable[Operation]) -> None:
        """Execute each operation on its own, in no particular order; if one fails, the others are not undone.

        For more than fits into a transaction. Puts and deletes without conditions are sent in batches.
        """
        batched: list[Operation] = []
        single: list[Operation] = []
        for operation in operations:
            (batched if operation.batchable else single).append(operation)
        _refuse_same_item_twice(batched)
        await self._write_batches(batched)
        for start in range(0, len(single), WRITES_AT_ONCE):
            await all_done([self._write(operation) for operation in single[start : start + WRITES_AT_ONCE]])

    async def _write_batches(self, operations: list[Operation]) -> None:
        now = second(self._clock)
        waiting = [(action.table, action.batch()) for operation in operations for action in operation.actions(now)]
        attempt = 0
        while waiting:
            batch, waiting = waiting[:BATCH_WRITE], waiting[BATCH_WRITE:]
            tables: dict[str, list[Any]] = {}
            for table, write in batch:
                tables.setdefault(table, []).append(write)
            with access_pattern("write_each"):
                answer = await self.repeat(Request("BatchWriteItem", {"RequestItems": tables}))
            left = [(table, write) for table, writes in answer.get("UnprocessedItems", {}).items() for write in writes]
            attempt = await self.source.sender.after_batch(
                attempt, nothing_done=len(left) == len(batch), some_left=bool(left)
            )
            waiting = left + waiting

    async def _write(self, operation: Operation, recognise: bool = True) -> dict[str, Any]:
        now = second(self._clock)
        request = operation.request(now)
        if request.operation == "TransactWriteItems":
            return await self.source.transact(Transaction(operation), now)
        with access_pattern(operation.name):
            return await self.source.sender.write(operation, request, now, recognise)

    async def create_tables(self, *tables: Table) -> bool:
        """Create missing tables, indexes and expiry settings; existing ones are left alone.

        Returns whether anything was missing.
        """
        return any([await create_table(self.source.sender, table) for table in tables])


def _item_of(operation: Operation) -> Ref[Any]:
    """The item that was written, as it is now."""
    return Ref((operation.plan,), {}, operation.key, operation.name, consistent=True)


def _still(entity: Entity, field: str) -> Still:
    return Still(FieldName(type(entity), field), getattr(entity, field))


def _refuse_same_item_twice(operations: list[Operation]) -> None:
    """ValueError if one item is written twice, because the order of such writes is undefined."""
    first: dict[RowName, Operation] = {}
    for operation in operations:
        before = first.setdefault(operation.row, operation)
        if before is not operation:
            raise ValueError(f"{before} and {operation} write the same item, in undefined order")


async def all_done(at_once: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All results; a failure is raised only when all have ended, so that none is cancelled midway."""
    outcomes = await asyncio.gather(*at_once, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return cast("list[T]", outcomes)
