"""Reading entities by their declared access patterns, and caching answers while they are valid."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast, overload

from potluck.acceleration import BY_ENVIRONMENT, Accelerations
from potluck.engines import Engine
from potluck.store.query_cache import CachedAnswer, QueryCache
from potluck.store.read_tracking import (
    Clock,
    ReadTracker,
    note_read,
    place_of,
    second,
    tracked_clock,
    tracking,
)
from potluck.store.retries import Attempts
from potluck.store.row_cache import NEVER
from potluck.store.scanning import scanned_pages
from potluck.store.sending import Patience
from potluck.store.sources import QueriedRows, source_of
from potluck.table.access import Gather, ItemCollection, Query, Ref, Scan
from potluck.table.errors import NotFound, UnreadableItem
from potluck.table.tables import Request, row_name

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
C = TypeVar("C", bound=ItemCollection)

# Roughly the size of a cached answer without rows.
ANSWER_BYTES = 600
# How many rows a filtered query reads in its first call; each further call reads twice as many, up to a number larger
# than any answer.
FILTERED_ROWS = 100
MOST_ROWS = 2**20


@dataclass(frozen=True, slots=True)
class QueryPage(Generic[T]):
    """The items of one page, and where the next page begins; None after the last."""

    items: list[T]
    next: Mapping[str, Any] | None


CacheLookup = tuple[Hashable, int]
"""The key of an answer in the cache, and the state of the store before anything is read for it."""


class StoreReader:
    """Reads entities from an engine: sends, retries and pages, and never returns what has expired."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        patience: Patience | None = None,
        accelerations: Accelerations = BY_ENVIRONMENT,
    ) -> None:
        self.engine = engine
        self._clock = clock
        self.clock = tracked_clock(clock)
        """The clock of rules. The store tracks the expiry of what it returns, so its own looks prevent no caching."""
        self.patience = patience or Patience()
        self.source = source_of(engine, clock, self.patience, accelerations)
        self._answers = QueryCache(partial(second, clock), self.source.untouched)

    @property
    def now(self) -> int:
        """The current second, for comparing expiry. An answer that depends on it is not cached."""
        return second(self.clock)

    def attempts(self, what: str) -> Attempts:
        """Attempts at a write that others may win, numbered, with a growing pause between them."""
        return Attempts(what, self.patience)

    async def get(self, ref: Ref[T]) -> T | None:
        """The item, or None when there is none or it has expired."""
        # No cast: it would take as long as finding the row.
        return await self.source.get(ref)  # type: ignore[no-any-return]

    async def one(self, ref: Ref[T]) -> T:
        """The item; NotFound when there is none."""
        item = await self.get(ref)
        if item is None:
            raise NotFound(f"{ref.pattern}: there is no such item")
        return item

    async def get_many(self, refs: Sequence[Ref[T]]) -> list[T | None]:
        """The items in the order asked for, None where there is none, in as few requests as possible."""
        return await self.source.get_many(refs)

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
        by_name = {row_name(ref.members[0].table, ref.key): ref for ref in refs}
        items = [{"Get": {"TableName": ref.members[0].table.name, "Key": ref.key}} for ref in by_name.values()]
        answer = await self.source.call(refs[0].pattern, Request("TransactGetItems", {"TransactItems": items}))
        rows = {name: response.get("Item") for name, response in zip(by_name, answer["Responses"], strict=True)}
        return tuple(self.source.entity(ref, rows[row_name(ref.members[0].table, ref.key)]) for ref in refs)

    async def page(self, query: Query[T], limit: int, after: Mapping[str, Any] | None = None) -> QueryPage[T]:
        """The next `limit` items. Only the last page has fewer, and no `next`."""
        if limit < 1:
            raise ValueError("a page holds at least one item")
        lookup = self._lookup(query, limit, after)
        if (cached := self._find(lookup)) is not None:
            page = cached.answer
            return QueryPage([*page.items], page.next)
        rows: list[Any] = []
        entities: list[T] = []
        until = NEVER
        selective = query.filter is not None
        look_at = max(FILTERED_ROWS, limit + 1) if selective else limit + 1
        while True:
            look_at = min(look_at, MOST_ROWS)
            part = await self.source.query(query, query.request(limit=look_at, after=after))
            rows += part.rows
            entities += part.entities
            until = min(until, part.until)
            after = part.next
            if len(rows) > limit or after is None:
                break
            # After a call without matches, the rows that follow may all be expired or of another kind as well.
            more = selective or not part.rows
            look_at = max(look_at, FILTERED_ROWS) * 2 if more else limit + 1 - len(rows)
        following: dict[str, Any] | None = None
        if len(rows) > limit:
            last = self.source.attributes(rows[limit - 1])
            following = {name: last[name] for name in query.pattern.table.index_key_names(query.pattern.index)}
        page = QueryPage(entities[:limit], following)
        self._cache(lookup, query, page, until, sum(map(len, rows)))
        return QueryPage([*page.items], following)

    async def each(self, query: Query[T] | Scan[T]) -> AsyncIterator[T]:
        """Every item, however many requests it takes."""
        if isinstance(query, Scan):
            async for page in scanned_pages(self.repeat, query.pattern.name, query.request()):
                for entity in query.read(page.rows, second(self._clock)):
                    yield entity
            return
        async for part in self._parts(query):
            for entity in part.entities:
                yield entity

    async def scan_page(self, scan: Scan[T], look_at: int, after: Mapping[str, Any] | None = None) -> QueryPage[T]:
        """The items among the next `look_at` rows of the table; only the last page has no `next`."""
        request = scan.request()
        limited = Request(request.operation, {**request.body, "Limit": look_at})
        page = await anext(scanned_pages(self.repeat, scan.pattern.name, limited, after))
        return QueryPage(scan.read(page.rows, second(self._clock)), page.position)

    async def all(self, query: Query[T]) -> list[T]:
        """Every item in one list."""
        lookup = self._lookup(query)
        if (cached := self._find(lookup)) is not None:
            return [*cached.answer]
        entities: list[T] = []
        until = NEVER
        size = 0
        async for part in self._parts(query):
            entities += part.entities
            until = min(until, part.until)
            size += sum(map(len, part.rows))
        self._cache(lookup, query, tuple(entities), until, size)
        return entities

    async def _parts(self, query: Query[T]) -> AsyncIterator[QueriedRows]:
        after: Mapping[str, Any] | None = None
        while True:
            part = await self.source.query(query, query.request(after=after))
            yield part
            after = part.next
            if after is None:
                return

    async def first(self, query: Query[T]) -> T | None:
        """The first item, or None."""
        after: Mapping[str, Any] | None = None
        look_at = FILTERED_ROWS if query.filter is not None else 1
        while True:
            part = await self.source.query(query, query.request(limit=look_at, after=after))
            if part.entities:
                return cast(T, part.entities[0])
            after = part.next
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
            answer = await self.source.call(query.pattern.name, query.request(after=after, recognisable=True))
            now = second(self._clock)
            total += sum(len(plan.visible(answer["Items"], now)) for plan in query.pattern.members)
            after = answer.get("LastEvaluatedKey")
            if after is None:
                return total

    async def gather(self, gather: Gather[C]) -> C | None:
        """The item collection, each kind in its field; None if a required item does not exist."""
        query = gather.query
        buckets: dict[str, list[Any]] = {bucket.name: [] for bucket in query.pattern.buckets}
        names = {bucket.plan.cls: bucket.name for bucket in query.pattern.buckets}
        async for entity in self.each(query):
            buckets[names[type(entity)]].append(entity)
        values: dict[str, Any] = {}
        for bucket in query.pattern.buckets:
            items = buckets[bucket.name]
            if bucket.holds == "many":
                values[bucket.name] = items
                continue
            if bucket.holds == "one" and not items:
                return None
            if len(items) > 1:
                raise UnreadableItem(bucket.plan.name, {}, None, f"{query.pattern.name} found {len(items)}, not one")
            values[bucket.name] = items[0] if items else None
        assert query.pattern.collection is not None
        return cast(C, query.pattern.collection(**values))

    async def repeat(self, request: Request) -> dict[str, Any]:
        """Send a request that is safe to repeat, with retries."""
        return await self.source.repeat(request)

    # --- cached answers -------------------------------------------------------------------------------------------

    async def cache_until_write(self, key: Hashable, work: Callable[[], Awaitable[tuple[T, float]]]) -> T:
        """The result of `work`, cached while nothing is written to what it read; it must read nothing but this store.

        `work` returns its result and the second until which it may be cached.
        """

        async def worked(_: ReadTracker) -> tuple[T, float, int]:
            # The expiry that `work` returns counts, not that of what it read.
            return *await work(), 0

        return await self._cached(key, worked)

    async def cache_answer(
        self, key: Hashable, work: Callable[[], Awaitable[tuple[T, int | None]]], seconds: float = NEVER
    ) -> T:
        """The result of `work`, cached for at most `seconds`, while nothing that it read is written to or expires.

        `work` returns its result and the size of that in bytes, or None if it must not be cached.
        """

        async def worked(tracker: ReadTracker) -> tuple[T, float, int | None]:
            answer, size = await work()
            return answer, min(tracker.until, second(self._clock) + seconds), size

        return await self._cached(key, worked)

    def cached_answer(self, key: Hashable) -> Any:
        """The result that `cache_answer` has cached under this key, without computing it; None if there is none."""
        cached = self._find(self._lookup_of(key))
        return None if cached is None else cached.answer

    async def _cached(self, key: Hashable, work: Callable[[ReadTracker], Awaitable[tuple[T, float, int | None]]]) -> T:
        """The cached result of `work`, which returns it with its expiry and size in bytes, None for not cacheable."""
        lookup = self._lookup_of(key)
        if lookup is None:
            return (await work(ReadTracker()))[0]
        cached = self._find(lookup)
        if cached is not None:
            return cached.answer  # type: ignore[no-any-return]
        tracker = ReadTracker()
        token = tracking.set(tracker)
        try:
            answer, until, size = await work(tracker)
        finally:
            tracking.reset(token)
        note_read(tracker.places, until)
        if size is not None and until > 0:
            self._answers.add(*lookup, answer, until, ANSWER_BYTES + size, tuple(tracker.places))
        return answer

    def _lookup_of(self, key: Hashable) -> CacheLookup | None:
        """The lookup of this key; None if nothing can be cached."""
        state = self.source.state()
        return None if state is None else (key, state)

    def _lookup(
        self, query: Query[Any], limit: int | None = None, after: Mapping[str, Any] | None = None
    ) -> CacheLookup | None:
        """The lookup of a query; None if its answer cannot be cached."""
        if query.filter is not None:
            return None
        try:
            # Keyed by name, because the order of the arguments is up to the caller.
            values = None if query.sort.keep is None else frozenset(query.values.items())
            sort = query.sort.operator, query.sort.values
            key = query.pattern, query.partition, sort, values, query.descending, limit, after and repr(after)
            hash(key)
        except TypeError:
            return None
        return self._lookup_of(key)

    def _find(self, lookup: CacheLookup | None) -> CachedAnswer | None:
        cached = None if lookup is None else self._answers.find(*lookup)
        if cached is not None:
            note_read(cached.places, cached.until)
        return cached

    def _cache(self, lookup: CacheLookup | None, query: Query[Any], answer: Any, until: float, size: int) -> None:
        if lookup is not None and until > 0:
            self._answers.add(*lookup, answer, until, ANSWER_BYTES + size, (place_of(query),))
