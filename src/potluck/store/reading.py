"""Reading entities by their declared access patterns, paged or whole, and caching answers while they are valid."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast, overload

from potluck.engines import EVERYWHERE, DynamoError, Engine, NotPlain, PacksRows
from potluck.engines.recording import access_pattern
from potluck.store.query_cache import QueryCache
from potluck.store.read_tracking import (
    UNKNOWN,
    Clock,
    ReadTracker,
    note,
    note_cached,
    note_place,
    note_places,
    place_of,
    second,
    tracking,
)
from potluck.store.row_cache import NEVER, RowCache
from potluck.store.sending import Patience, Sender
from potluck.table.access import Gather, ItemCollection, Query, Ref
from potluck.table.entity import EntityPlan
from potluck.table.errors import NotFound, Unavailable, UnreadableItem
from potluck.table.tables import Request, RowName, row_name

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
C = TypeVar("C", bound=ItemCollection)

# Roughly the size of a cached answer without rows.
ANSWER_BYTES = 600
BATCH_GET = 100
# So few rows can be read on the event loop without blocking it for long.
ROWS_AT_ONCE = 25
# How many rows a filtered query reads in its first call; each further call reads twice as many, up to a number larger
# than any answer.
FILTERED_ROWS = 100
MOST_ROWS = 2**20


@dataclass(frozen=True, slots=True)
class QueryPage(Generic[T]):
    """The items of one page, fewer than asked for only at the end, and where the next page begins."""

    items: list[T]
    next: Mapping[str, Any] | None


class StoreReader:
    """StoreReader entities from an engine: sends, retries and pages, and never returns what has expired."""

    def __init__(self, engine: Engine, clock: Clock, patience: Patience | None = None) -> None:
        self.engine = engine
        self.clock = clock
        self.patience = patience or Patience()
        self._sender = Sender(engine, self.patience)
        # Looked up on the class: a wrapper that forwards attributes would seem to have it, and must see every call.
        packs = callable(getattr(type(engine), "query_rows", None))
        self._packs = cast(PacksRows, engine) if packs else None
        unpack = self._packs.unpack if self._packs is not None else _nothing_packed
        self._rows = RowCache(unpack, partial(second, clock))
        untouched = self._packs.untouched if self._packs is not None else _never_known
        self._queries = QueryCache(partial(second, clock), untouched)

    @property
    def now(self) -> int:
        """The current second, for comparing expiry. An answer that depends on it is not cached."""
        note(UNKNOWN)
        return second(self.clock)

    async def get(self, ref: Ref[T]) -> T | None:
        """The item, or None when there is none or it has expired."""
        if self._packs is not None:
            try:
                table = ref.members[0].table
                row = self._packs.row(table.name, ref.key)
                tracker = tracking.get()
                if tracker is not None:
                    tracker.places.add((table.name, None, ref.key[table.partition.name]["S"]))
                if row is None:
                    return None
                entity, until = self._rows.entity_until(ref.members, row)
                if tracker is not None and until < tracker.until:
                    tracker.until = until
                # No cast and no contextlib.suppress: either would take as long as reading the row.
                return entity  # type: ignore[no-any-return]
            except NotPlain:
                pass
        answer = await self._read(ref.pattern, ref.request())
        return cast("T | None", self._entity(ref.members, answer.get("Item")))

    async def one(self, ref: Ref[T]) -> T:
        """The item; NotFound when there is none."""
        found = await self.get(ref)
        if found is None:
            raise NotFound(f"{ref.pattern}: there is no such item")
        return found

    async def get_many(self, refs: Sequence[Ref[T]]) -> list[T | None]:
        """The items in the order asked for, None where there is none, in as few requests as possible."""
        if self._packs is not None and len(refs) <= ROWS_AT_ONCE:
            try:
                return self._seen(refs, self._packs)
            except NotPlain:
                pass
        found: dict[RowName, Any] = {}
        # If the same item is asked for twice, the consistent read wins.
        wanted = {row_name(ref.members[0].table, ref.key): ref for ref in sorted(refs, key=lambda ref: ref.consistent)}
        waiting = list(wanted.values())
        attempt = 0
        while waiting:
            batch, waiting = waiting[:BATCH_GET], waiting[BATCH_GET:]
            asked: dict[str, dict[str, Any]] = {}
            for ref in batch:
                table = asked.setdefault(ref.members[0].table.name, {"Keys": []})
                table["Keys"].append(ref.key)
                if ref.consistent:
                    table["ConsistentRead"] = True
            answer = await self._read(batch[0].pattern, Request("BatchGetItem", {"RequestItems": asked}))
            tables = {ref.members[0].table.name: ref.members[0].table for ref in batch}
            for name, items in answer["Responses"].items():
                for item in items:
                    found[row_name(tables[name], item)] = item
            left = [
                wanted[row_name(tables[name], key)]
                for name, rest in answer.get("UnprocessedKeys", {}).items()
                for key in rest["Keys"]
            ]
            attempt = await self._after_a_batch(attempt, len(left) == len(batch), bool(left))
            waiting = left + waiting
        return [self._entity(ref.members, found.get(row_name(ref.members[0].table, ref.key))) for ref in refs]

    @overload
    async def get_together(self, a: Ref[T], b: Ref[U], /) -> tuple[T | None, U | None]: ...
    @overload
    async def get_together(self, a: Ref[T], b: Ref[U], c: Ref[V], /) -> tuple[T | None, U | None, V | None]: ...
    async def get_together(self, *refs: Ref[Any]) -> tuple[Any, ...]:
        """Items of several kinds in one request; None for each that does not exist."""
        return tuple(await self.get_many(refs))

    @overload
    async def snapshot(self, a: Ref[T], /) -> tuple[T | None]: ...
    @overload
    async def snapshot(self, a: Ref[T], b: Ref[U], /) -> tuple[T | None, U | None]: ...
    @overload
    async def snapshot(self, a: Ref[T], b: Ref[U], c: Ref[V], /) -> tuple[T | None, U | None, V | None]: ...
    async def snapshot(self, *refs: Ref[Any]) -> tuple[Any, ...]:
        """Items as they were at one moment; None for each that did not exist."""
        wanted = {row_name(ref.members[0].table, ref.key): ref for ref in refs}
        items = [{"Get": {"TableName": ref.members[0].table.name, "Key": ref.key}} for ref in wanted.values()]
        answer = await self._read(refs[0].pattern, Request("TransactGetItems", {"TransactItems": items}))
        found = {identity: each.get("Item") for identity, each in zip(wanted, answer["Responses"], strict=True)}
        return tuple(self._entity(ref.members, found[row_name(ref.members[0].table, ref.key)]) for ref in refs)

    async def page(self, query: Query[T], limit: int, after: Mapping[str, Any] | None = None) -> QueryPage[T]:
        """The next `limit` items; fewer only if they are the last, and `next` is None only then."""
        if limit < 1:
            raise ValueError("a page holds at least one item")
        question, state = self._question(query, limit, after)
        if question is not None and (cached := self._queries.find(question, state)) is not None:
            note_cached(cached)
            page = cached.answer
            return QueryPage([*page.items], page.next)
        rows: list[Any] = []
        entities: list[T] = []
        until = NEVER
        selective = query.filter is not None
        look_at = max(FILTERED_ROWS, limit + 1) if selective else limit + 1
        while True:
            look_at = min(look_at, MOST_ROWS)
            answer = await self._query(query, query.request(limit=look_at, after=after))
            more_rows, more_entities, soonest = self._visible(query, answer["Items"])
            rows += more_rows
            entities += more_entities
            until = min(until, soonest)
            after = answer.get("LastEvaluatedKey")
            if len(rows) > limit or after is None:
                break
            # If a call found nothing, the rows that follow may all be expired or of another kind as well.
            more = selective or not more_rows
            look_at = max(look_at, FILTERED_ROWS) * 2 if more else limit + 1 - len(rows)
        following: dict[str, Any] | None = None
        if len(rows) > limit:
            last = rows[limit - 1]
            if type(last) is bytes:
                (last,) = self._rows.unpack([last])
            following = {name: last[name] for name in query.pattern.table.index_key_names(query.pattern.index)}
        page = QueryPage(entities[:limit], following)
        self._keep(question, state, query, page, until, sum(map(len, rows)))
        return QueryPage([*page.items], following)

    async def each(self, query: Query[T]) -> AsyncIterator[T]:
        """Every item, however many requests it takes."""
        async for _, entities, _ in self._pages(query):
            for entity in entities:
                yield entity

    async def all(self, query: Query[T]) -> list[T]:
        """Every item in one list."""
        question, state = self._question(query)
        if question is not None and (cached := self._queries.find(question, state)) is not None:
            note_cached(cached)
            return [*cached.answer]
        found: list[T] = []
        size = 0
        until = NEVER
        async for rows, entities, soonest in self._pages(query):
            found += entities
            size += sum(map(len, rows))
            until = min(until, soonest)
        self._keep(question, state, query, tuple(found), until, size)
        return found

    async def _pages(self, query: Query[T]) -> AsyncIterator[tuple[list[Any], list[T], float]]:
        after: Mapping[str, Any] | None = None
        while True:
            answer = await self._query(query, query.request(after=after))
            yield self._visible(query, answer["Items"])
            after = answer.get("LastEvaluatedKey")
            if after is None:
                return

    async def first(self, query: Query[T]) -> T | None:
        """The first item, or None."""
        after: Mapping[str, Any] | None = None
        look_at = FILTERED_ROWS if query.filter is not None else 1
        while True:
            answer = await self._query(query, query.request(limit=look_at, after=after))
            _, entities, _ = self._visible(query, answer["Items"])
            if entities:
                return entities[0]
            after = answer.get("LastEvaluatedKey")
            if after is None:
                return None
            look_at = min(max(FILTERED_ROWS, look_at * 2), MOST_ROWS)

    async def count(self, query: Query[Any]) -> int:
        """The number of items; it costs as much capacity as reading them, but hardly any traffic."""
        if query.sort.keep is not None:
            return len(await self.all(query))
        total = 0
        after: Mapping[str, Any] | None = None
        while True:
            answer = await self._read(query.pattern.name, query.request(after=after, recognisable=True))
            now = second(self.clock)
            total += sum(len(plan.visible(answer["Items"], now)) for plan in query.pattern.members)
            after = answer.get("LastEvaluatedKey")
            if after is None:
                return total

    async def gather(self, gather: Gather[C]) -> C | None:
        """The whole item collection, each kind in its field; None if a required item does not exist."""
        query = gather.query
        buckets: dict[str, list[Any]] = {bucket.name: [] for bucket in query.pattern.buckets}
        names = {bucket.plan.cls: bucket.name for bucket in query.pattern.buckets}
        async for entity in self.each(query):
            buckets[names[type(entity)]].append(entity)
        values: dict[str, Any] = {}
        for bucket in query.pattern.buckets:
            found = buckets[bucket.name]
            if bucket.holds == "many":
                values[bucket.name] = found
                continue
            if bucket.holds == "one" and not found:
                return None
            if len(found) > 1:
                raise UnreadableItem(bucket.plan.name, {}, None, f"{query.pattern.name} found {len(found)}, not one")
            values[bucket.name] = found[0] if found else None
        assert query.pattern.collection is not None
        return cast(C, query.pattern.collection(**values))

    # --- cached answers -------------------------------------------------------------------------------------------

    async def cache_until_write(self, question: Hashable, work: Callable[[], Awaitable[tuple[T, float]]]) -> T:
        """The result of `work`, cached while nothing is written to what it read; it must read nothing but this store.

        `work` returns its result and the second until which it may be cached.
        """

        async def worked(_: ReadTracker) -> tuple[T, float, int]:
            # The expiry that `work` returns counts, not that of what it read.
            return *await work(), 0

        return await self._cached(question, worked)

    async def remember(
        self, question: Hashable, work: Callable[[], Awaitable[tuple[T, int | None]]], seconds: float = NEVER
    ) -> T:
        """The result of `work`, cached for at most `seconds`, while nothing that it read is written to or expires.

        `work` returns its result and the size of that in bytes, or None if it must not be cached.
        """

        async def worked(tracker: ReadTracker) -> tuple[T, float, int | None]:
            found, size = await work()
            return found, min(tracker.until, second(self.clock) + seconds), size

        return await self._cached(question, worked)

    def remembered(self, question: Hashable) -> Any:
        """The result that `remember` has cached for this question, without computing it; None if there is none."""
        state = self._state()
        cached = None if state is None else self._queries.find(question, state)
        if cached is None:
            return None
        note_cached(cached)
        return cached.answer

    async def _cached(
        self, question: Hashable, work: Callable[[ReadTracker], Awaitable[tuple[T, float, int | None]]]
    ) -> T:
        """The cached result of `work`, which returns it with its expiry and size in bytes, None for not cacheable."""
        state = self._state()
        if state is None:
            return (await work(ReadTracker()))[0]
        cached = self._queries.find(question, state)
        if cached is not None:
            note_cached(cached)
            return cached.answer  # type: ignore[no-any-return]
        tracker = ReadTracker()
        token = tracking.set(tracker)
        try:
            found, until, size = await work(tracker)
        finally:
            tracking.reset(token)
        note(until)
        note_places(tracker.places)
        if size is not None and until > 0:
            self._queries.keep(question, state, found, until, ANSWER_BYTES + size, tuple(tracker.places))
        return found

    # --- sending --------------------------------------------------------------------------------------------------

    async def _read(self, pattern: str, request: Request) -> dict[str, Any]:
        note(UNKNOWN)
        with access_pattern(pattern):
            return await self.repeat(request)

    def _seen(self, refs: Sequence[Ref[T]], engine: PacksRows) -> list[T | None]:
        """The items, or None, read directly from an engine in this process; NotPlain if that needs a full call."""
        tables: dict[str, list[int]] = {}
        for at, ref in enumerate(refs):
            tables.setdefault(ref.members[0].table.name, []).append(at)
        found: list[Any] = [None] * len(refs)
        until = NEVER
        for name, positions in tables.items():
            # One read per table: in single-table design that is nearly always all of them.
            for place, row in engine.rows_of(name, [refs[at].key for at in positions]).items():
                at = positions[place]
                found[at], soonest = self._rows.entity_until(refs[at].members, row)
                until = min(until, soonest)
        tracker = tracking.get()
        if tracker is not None:
            for ref in refs:
                table = ref.members[0].table
                tracker.places.add((table.name, None, ref.key[table.partition.name]["S"]))
            tracker.until = min(tracker.until, until)
        return found

    async def _query(self, query: Query[Any], request: Request) -> dict[str, Any]:
        if self._packs is not None:
            # If this fails, fall back to the usual call below, with its retries.
            with contextlib.suppress(DynamoError):
                answer = await self._packs.query_rows(request.body)
                note_place(place_of(query))
                return answer
        return await self._read(query.pattern.name, request)

    async def repeat(self, request: Request) -> dict[str, Any]:
        """Send a request that may safely be sent twice, with retries."""
        # Which partitions the request reads is not known here, so any write invalidates the answer.
        note_place(EVERYWHERE)
        return await self._sender.repeat(request)

    def _entity(self, members: tuple[EntityPlan, ...], item: dict[str, Any] | None) -> Any:
        for plan in members:
            if item is not None and plan.matches(item):
                return None if plan.expired(item, second(self.clock)) else plan.coding.decode(item)
        return None

    def _visible(self, query: Query[T], items: list[Any]) -> tuple[list[Any], list[T], float]:
        """The matching rows that have not expired, packed or not, their entities, and until when these can be cached.

        The time is 0 if the entities must not be shared between readers, or if their expiry is not known.
        """
        if not items:
            return [], [], NEVER
        members = query.pattern.members
        if type(items[0]) is bytes:
            if len(members) == 1 and members[0].coding.shareable:
                rows, entities, until = self._rows.visible(members, items)
                note(until if until > 0 or members[0].expiry is not None else NEVER)
                return *query.kept(rows, entities), until
            items = self._rows.unpack(items)
        note(UNKNOWN if any(plan.expiry is not None for plan in members) else NEVER)
        return *query.read(items, second(self.clock)), 0

    def _state(self) -> int | None:
        """The engine's write counter; None if it has none."""
        try:
            return None if self._packs is None else self._packs.state()
        except NotPlain:
            return None

    def _question(
        self, query: Query[Any], limit: int | None = None, after: Mapping[str, Any] | None = None
    ) -> tuple[Hashable, int]:
        """The cache key of a query, None if it cannot be cached, and the engine's state before anything is read."""
        if self._packs is None or query.filter is not None:
            return None, 0
        try:
            # Keyed by name, because the order of the arguments is up to the caller.
            values = None if query.sort.keep is None else frozenset(query.values.items())
            sort = query.sort.operator, query.sort.values
            asked = query.pattern, query.partition, sort, values, query.descending, limit, after and repr(after)
            hash(asked)
            return asked, self._packs.state()
        except (NotPlain, TypeError):
            return None, 0

    def _keep(self, question: Hashable, state: int, query: Query[Any], answer: Any, until: float, size: int) -> None:
        if question is not None and until > 0:
            self._queries.keep(question, state, answer, until, ANSWER_BYTES + size, (place_of(query),))

    async def _after_a_batch(self, attempt: int, nothing_done: bool, some_left: bool) -> int:
        """Back off if part of a batch was left unprocessed; give up only if all of it keeps being."""
        if not some_left:
            return 0
        attempt = attempt + 1 if nothing_done else 1
        if attempt >= self.patience.attempts:
            raise Unavailable("the engine is too busy: a batch was left undone again and again")
        await asyncio.sleep(self.patience.wait(attempt))
        return attempt


def _never_known(places: Any, since: int) -> bool:
    return False


def _nothing_packed(rows: list[bytes]) -> list[dict[str, Any]]:
    raise TypeError("this engine packs no rows")
