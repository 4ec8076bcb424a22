"""Where a store reads from: any engine by its calls, or an engine in this process by its packed rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast
from uuid import uuid4

from potluck.acceleration import Accelerations
from potluck.engines import EVERYWHERE, DynamoError, Engine, NotPlain, PacksRows, Place
from potluck.engines.recording import access_pattern
from potluck.store.read_tracking import UNKNOWN, Clock, note, note_place, note_read, place_of, second
from potluck.store.row_cache import NEVER, RowCache
from potluck.store.sending import Patience, Sender
from potluck.table.access import Query, Ref
from potluck.table.operations import Operation
from potluck.table.tables import Request, RowName, row_name
from potluck.table.transactions import Transaction

BATCH_GET = 100
# This many rows can be read on the event loop without blocking it for long.
ROWS_AT_ONCE = 25


class QueriedRows(NamedTuple):
    """The rows of one call that the query asked for and that have not expired, and their entities."""

    rows: list[Any]
    entities: list[Any]
    until: float
    """Until when the entities may be cached; 0 for not at all."""
    next: Mapping[str, Any] | None


class CallSource:
    """Reads by the engine's calls. It knows nothing of writes, so nothing that it returns is cached."""

    def __init__(self, engine: Engine, clock: Clock, patience: Patience) -> None:
        self.sender = Sender(engine, patience)
        self.clock = clock

    async def call(self, pattern: str, request: Request) -> dict[str, Any]:
        """Send a read, named by its access pattern in recordings, with retries."""
        note(UNKNOWN)
        with access_pattern(pattern):
            return await self.repeat(request)

    async def repeat(self, request: Request) -> dict[str, Any]:
        """Send a request that is safe to repeat, with retries."""
        # Which partitions the request reads is not known here, so any write invalidates the answer.
        note_place(EVERYWHERE)
        return await self.sender.repeat(request)

    async def get(self, ref: Ref[Any]) -> Any:
        """The item, or None when there is none or it has expired."""
        answer = await self.call(ref.pattern, ref.request())
        return self.entity(ref, answer.get("Item"))

    async def get_many(self, refs: Sequence[Ref[Any]]) -> list[Any]:
        """The items in the order asked for, None where there is none."""
        items: dict[RowName, Any] = {}
        # If the same item is asked for twice, the consistent read wins.
        by_name = {row_name(ref.members[0].table, ref.key): ref for ref in sorted(refs, key=lambda ref: ref.consistent)}
        waiting = list(by_name.values())
        attempt = 0
        while waiting:
            batch, waiting = waiting[:BATCH_GET], waiting[BATCH_GET:]
            answer = await self.call(batch[0].pattern, _batch_request(batch))
            tables = {ref.members[0].table.name: ref.members[0].table for ref in batch}
            for name, rows in answer["Responses"].items():
                for row in rows:
                    items[row_name(tables[name], row)] = row
            left = [
                by_name[row_name(tables[name], key)]
                for name, rest in answer.get("UnprocessedKeys", {}).items()
                for key in rest["Keys"]
            ]
            attempt = await self.sender.after_batch(attempt, nothing_done=len(left) == len(batch), some_left=bool(left))
            waiting = left + waiting
        return [self.entity(ref, items.get(row_name(ref.members[0].table, ref.key))) for ref in refs]

    async def query(self, query: Query[Any], request: Request) -> QueriedRows:
        """The rows that one call of a query finds."""
        answer = await self.call(query.pattern.name, request)
        rows, entities = query.read(answer["Items"], second(self.clock))
        return QueriedRows(rows, entities, 0, answer.get("LastEvaluatedKey"))

    async def transact(self, transaction: Transaction, now: int, spread: Collection[Operation] = ()) -> dict[str, Any]:
        """Commit a transaction, once although its answer may get lost; raises the refusal of the one that failed."""
        request = transaction.request(now, str(uuid4()))
        contended = partial(transaction.contended, spread=spread) if spread else None
        with access_pattern(transaction.name):
            return await self.sender.transact(request, partial(transaction.explain, now=now), contended=contended)

    def entity(self, ref: Ref[Any], item: dict[str, Any] | None) -> Any:
        """The item's entity; None if it is of another kind, or has expired."""
        for plan in ref.members:
            if item is not None and plan.matches(item):
                return None if plan.expired(item, second(self.clock)) else plan.coding.decode(item)
        return None

    def attributes(self, row: Any) -> Mapping[str, Any]:
        """A row of `query` as its attributes."""
        return cast("Mapping[str, Any]", row)

    def state(self) -> int | None:
        """A number that grows with every write; None if that is not known."""
        return None

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        """Whether nothing was written to these partitions between that state and the last one returned by `state`."""
        return False


class PackedSource(CallSource):
    """Reads packed rows from an engine in this process, and decodes each once; falls back to calls."""

    def __init__(self, engine: PacksRows, clock: Clock, patience: Patience, *, cached_answers: bool) -> None:
        super().__init__(engine, clock, patience)
        self._engine = engine
        self._rows = RowCache(engine.unpack, partial(second, clock))
        self._cached_answers = cached_answers

    async def get(self, ref: Ref[Any]) -> Any:
        table = ref.members[0].table
        try:
            row = self._engine.row(table.name, ref.key)
        except NotPlain:
            return await super().get(ref)
        entity, until = (None, NEVER) if row is None else self._rows.entity_until(ref.members, row)
        note_read([(table.name, None, ref.key[table.partition.name]["S"])], until)
        return entity

    async def get_many(self, refs: Sequence[Ref[Any]]) -> list[Any]:
        if len(refs) <= ROWS_AT_ONCE:
            try:
                return self._get_directly(refs)
            except NotPlain:
                pass
        return await super().get_many(refs)

    def _get_directly(self, refs: Sequence[Ref[Any]]) -> list[Any]:
        """The items, with one read per table: in single-table design nearly always one for all."""
        positions: dict[str, list[int]] = {}
        places: list[Place] = []
        for at, ref in enumerate(refs):
            table = ref.members[0].table
            positions.setdefault(table.name, []).append(at)
            places.append((table.name, None, ref.key[table.partition.name]["S"]))
        items: list[Any] = [None] * len(refs)
        until = NEVER
        for name, of_table in positions.items():
            for number, row in self._engine.rows_of(name, [refs[at].key for at in of_table]).items():
                at = of_table[number]
                items[at], soonest = self._rows.entity_until(refs[at].members, row)
                until = min(until, soonest)
        note_read(places, until)
        return items

    async def query(self, query: Query[Any], request: Request) -> QueriedRows:
        try:
            answer = await self._engine.query_rows(request.body)
        except DynamoError:
            # The fallback has retries.
            return await super().query(query, request)
        note_place(place_of(query))
        return QueriedRows(*self._visible(query, answer["Items"]), answer.get("LastEvaluatedKey"))

    def _visible(self, query: Query[Any], items: list[Any]) -> tuple[list[Any], list[Any], float]:
        if not items:
            return [], [], NEVER
        members = query.pattern.members
        if type(items[0]) is bytes:
            if all(plan.coding.shareable for plan in members):
                rows, entities, until = self._rows.visible(members, items)
                note(until if until > 0 or any(plan.expiry is not None for plan in members) else NEVER)
                return *query.matching(rows, entities), until
            items = self._engine.unpack(items)
        note(UNKNOWN if any(plan.expiry is not None for plan in members) else NEVER)
        return *query.read(items, second(self.clock)), 0

    async def transact(self, transaction: Transaction, now: int, spread: Collection[Operation] = ()) -> dict[str, Any]:
        # An engine in this process writes one transaction after the other, so none is contended.
        # No access pattern to name: a recorded engine is a wrapper, and wrappers do not pack rows. No token: an engine
        # in this process loses no answers.
        explain = partial(transaction.explain, now=now)
        return await self.sender.transact(transaction.request(now), explain, self._engine.transact)

    def attributes(self, row: Any) -> Mapping[str, Any]:
        return self._engine.unpack([row])[0] if type(row) is bytes else super().attributes(row)

    def state(self) -> int | None:
        if not self._cached_answers:
            return None
        try:
            return self._engine.state()
        except NotPlain:
            return None

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        return self._engine.untouched(places, since)


def source_of(engine: Engine, clock: Clock, patience: Patience, accelerations: Accelerations) -> CallSource:
    """The fastest source that the engine and the accelerations allow."""
    # Looked up on the class: a wrapper that forwards attributes would seem to have it, and must see every call.
    if accelerations.packed_rows and callable(getattr(type(engine), "query_rows", None)):
        packs = cast(PacksRows, engine)
        return PackedSource(packs, clock, patience, cached_answers=accelerations.cached_answers)
    return CallSource(engine, clock, patience)


def _batch_request(refs: Sequence[Ref[Any]]) -> Request:
    tables: dict[str, dict[str, Any]] = {}
    for ref in refs:
        table = tables.setdefault(ref.members[0].table.name, {"Keys": []})
        table["Keys"].append(ref.key)
        if ref.consistent:
            table["ConsistentRead"] = True
    return Request("BatchGetItem", {"RequestItems": tables})
