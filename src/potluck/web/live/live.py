"""`Live`: opens event streams, answers what changed since a position, and gives out positions."""

import asyncio
import logging
import math
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from potluck.engines import DynamoError, Engine
from potluck.people.authentication import Principal
from potluck.people.errors import Throttled
from potluck.store import Clock
from potluck.streams import Concerns, Following
from potluck.streams.buffer import BUFFER_BYTES, BUFFER_RECORDS, partition_text
from potluck.streams.log import Vector
from potluck.streams.tail import Subscription, Tail
from potluck.table.access import Gather, Query
from potluck.table.errors import Unavailable
from potluck.table.membership import AnyQuery, Membership
from potluck.table.tables import Table
from potluck.validation.encoding import encode
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.live.access import Grant, GrantHistory
from potluck.web.live.event_stream import KEPT_ALIVE, OPENED, EventSource, event_text, id_text, retry_text
from potluck.web.live.events import Event, EventName, Projection, entities, event_for, maybe_await
from potluck.web.live.positions import EVERY_LIST, InvalidPosition, LivePosition, PositionCodec
from potluck.web.live.reader import ListReader, Lost, ReadChange

RECHECK_SECONDS = 15.0
# Clients that all connected at once, as after a restart, are checked at different times after a few rounds.
RECHECK_SPREAD = 0.2
LOG_READERS_AT_ONCE = 4
# All these limits are per worker. Each stream takes some 25 KB and a file descriptor.
MOST_STREAMS = 10_000
# Shared by all anonymous callers; the rest is reserved for people who are signed in.
MOST_STREAMS_OF_STRANGERS = 5_000
# A person has a few per open window, as does an anonymous client; more means a program that forgets to close them.
MOST_STREAMS_OF_ONE = 200
# Behind one address there may be many people, or one who registered many accounts.
MOST_STREAMS_OF_CLIENT = 2_000
STRANGERS = "strangers"
RETRY_AFTER_SECONDS = 30
# How long to wait before reconnecting after the store failed: a range, so that not all clients return at once.
RECONNECT_SECONDS = 10.0, 20.0
# The most that is sent at once; a single larger event is sent whole.
LARGEST_CHUNK = 64 * 1024
MOST_CHANGES = 100
# How many batches one request may read without finding anything; its caller continues from where it stopped.
MOST_BATCHES = 20
TURNS_FOR_THE_TAIL = 10

log = logging.getLogger(__name__)

Allowed = Callable[[], Awaitable[bool]]
"""Whether the caller still has access; asked before events are sent, and every 15 seconds."""

Schedule = Callable[[], datetime | None]
"""When the list will change by itself, with no row written, such as a poll that ends; None for never."""


class Listener(NamedTuple):
    """Who is listening: someone signed in, or an anonymous caller known only by their client address."""

    principal: Principal | None
    client: str

    @property
    def limits(self) -> dict[Hashable, int]:
        """Every counter that this caller's streams count towards, with its limit."""
        mine: dict[Hashable, int] = {("client", self.client): MOST_STREAMS_OF_CLIENT}
        if self.principal is not None:
            return {self.principal.user_id: MOST_STREAMS_OF_ONE, **mine}
        return {("stranger", self.client): MOST_STREAMS_OF_ONE, **mine, STRANGERS: MOST_STREAMS_OF_STRANGERS}


class NamedEvent(NamedTuple):
    """An event under a name of its own."""

    event: str
    data: str | bytes


class ListChange(NamedTuple):
    """A change of an item that was or is in the lists, and the item before and after it."""

    change: ReadChange
    old: Any | None
    new: Any | None


Rendered = NamedEvent | str | bytes
Render = Callable[[Event], Rendered | Awaitable[Rendered]]
"""How an event is written: its data, or a NamedEvent if it has another name too. It may be async."""


class EventChange(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """One change of a list."""

    event: EventName
    position: str
    item: Any


class Changes(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What changed in a list since a position."""

    changes: list[EventChange]
    position: str
    """Where to continue from."""
    reset: bool
    """The position was older than the log: read the list again."""
    more: bool
    """There is more; ask again at once."""


def as_json(event: Event) -> bytes:
    """The item, encoded as in every JSON response."""
    return encode(event.item)


class Live:
    """The live updates of a process, which reads the stream of each followed table once, for everyone."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        *,
        key: bytes | None = None,
        recheck_seconds: float = RECHECK_SECONDS,
        lag_seconds: float = 0.0,
        buffer_records: int = BUFFER_RECORDS,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        """`key` encrypts positions, 32 bytes that all workers share; `lag_seconds` is how far indexes may be behind."""
        self._engine = engine
        self._clock = clock
        self._codec = PositionCodec(key)
        self._recheck_seconds = recheck_seconds
        self._lag_seconds = lag_seconds
        self._buffer = {"records": buffer_records, "size": buffer_bytes}
        self._tails: dict[str, Tail] = {}
        self._open: set[ListReader] = set()
        self._open_by: Counter[Hashable] = Counter()
        self._log_slots = asyncio.Semaphore(LOG_READERS_AT_ONCE)
        self._stopped = False

    @property
    def open_streams(self) -> int:
        return len(self._open)

    def start(self, *tables: Table) -> None:
        """Start reading these tables' streams now instead of when they are first followed."""
        for table in tables:
            self._tail(table).start()

    def feed(self, *tables: Table) -> Following:
        """Gives consumers of these tables their changes from here, so that a process reads each stream only once."""
        by_name = {table.name: table for table in tables}

        def follow(name: str, shard: str, after: str | None, concerns: Concerns) -> Subscription | None:
            table = by_name.get(name)
            return None if table is None or self._stopped else self._tail(table).subscribe(shard, after, concerns)

        return follow

    async def stop(self) -> None:
        """End every stream, so that clients reconnect to another worker, and stop reading."""
        self._stopped = True
        for reader in list(self._open):
            reader.end()
        await asyncio.gather(*(tail.stop() for tail in self._tails.values()))

    async def position(
        self,
        *of: Table | AnyQuery,
        read_by: AnyQuery | None = None,
        behind: float | None = None,
        caller: UUID | None = None,
    ) -> str:
        """Where the live updates of a list begin; ask for it before reading the list.

        It is valid for exactly these partitions and, if a `caller` is given, for them alone. A list that is read from
        an index, or not consistently, may not show the last changes yet: its position is `behind` seconds earlier, by
        default as many as indexes lag. `read_by` is the query the list is read with, if that is not the one followed.
        """
        streams: dict[bytes, Vector] = {}
        for each in of:
            buffer = await self._tail(_table_of(each)).ready()
            seconds = behind if behind is not None else self._lag_seconds if _may_lag(read_by or each) else 0.0
            vector = buffer.vector
            if seconds > 0 and buffer.log.tag not in streams:
                earliest = time.monotonic() - seconds
                for record in reversed(buffer.records):
                    if record.arrived <= earliest:
                        vector = record.vector
                        break
                else:
                    vector = buffer.floor
            streams[buffer.log.tag] = vector
        lists = [each for each in of if not isinstance(each, Table)]
        return self._codec.encode(self._now, streams.items(), _lists_id(lists, caller) if lists else EVERY_LIST)

    def open(
        self,
        since: str | None,
        last_event_id: str | None = None,
        *,
        of: AnyQuery | Sequence[AnyQuery],
        see: Projection,
        allowed: Allowed,
        by: Listener,
        right: Grant | None = None,
        caller: UUID | None = None,
        render: Render = as_json,
        schedule: Schedule | None = None,
    ) -> EventSource:
        """A stream of the lists' events; ValidationError at once for a `since` that is no position of theirs.

        A `last_event_id`, which a browser sends by itself, takes precedence over `since`. `by` is who listens,
        whose streams are limited. `right` is the row that gives them access: a position from before they last lost or
        regained it counts as too old, and one that was made for another `caller` is no position of theirs. At the time
        that `schedule` gives, one `updated` event with no item is sent.
        """
        position, lost = self._start(since, last_event_id, of, caller)
        self._check_room_for(by)
        reader = self._reader(of, right, caller)
        reader.check_readable()
        return EventSource(
            self._chunks(reader, position, lost, see, allowed, by, render, schedule),
            reader.end,
        )

    async def changes(
        self,
        since: str | None,
        *,
        of: AnyQuery | Sequence[AnyQuery],
        see: Projection,
        right: Grant | None = None,
        caller: UUID | None = None,
        schedule: Schedule | None = None,
        limit: int = MOST_CHANGES,
        most_read: int | None = None,
    ) -> Changes:
        """At most `limit` changes since the position; without one, no changes but a position to begin at.

        For a caller who can read the list again sooner than `most_read` changes of the table, a position further back
        is too old.
        """
        position, lost = self._start(since, None, of, caller)
        reader = self._reader(of, right, caller)
        found: list[EventChange] = []
        more = False
        try:
            for _ in range(TURNS_FOR_THE_TAIL):
                # A caller's own write is in the log by now; let the tail run, so that it has read it too.
                await asyncio.sleep(0)
            if lost:
                raise Lost
            await reader.begin(position, self._now)
            for _ in range(MOST_BATCHES):
                read, more = await reader.read(self._now)
                if most_read is not None and reader.log_read > most_read:
                    raise Lost
                for number, each in enumerate(read):
                    change = _in_lists(each, self._now)
                    event = None if change is None else await event_for(change.old, change.new, see)
                    if event is not None:
                        found.append(EventChange(event=event.name, position=each.position, item=event.item))
                        if len(found) == limit:
                            more = more or number + 1 < len(read)
                            return Changes(changes=found, position=found[-1].position, reset=False, more=more)
                if not more:
                    break
            if not more and self._is_due(schedule, reader.since):
                found.append(EventChange(event="updated", position=reader.position(), item=None))
            return Changes(changes=found, position=reader.position(), reset=False, more=more)
        except Lost:
            await reader.begin(None, self._now)
            return Changes(changes=[], position=reader.position(), reset=True, more=False)
        finally:
            reader.close()

    # --- one stream ---------------------------------------------------------------------------------------------

    async def _chunks(
        self,
        reader: ListReader,
        since: LivePosition | None,
        lost: bool,
        see: Projection,
        allowed: Allowed,
        by: Listener,
        render: Render,
        schedule: Schedule | None,
    ) -> AsyncIterator[bytes]:
        """What is sent, chunk by chunk; it ends when the caller has no access any more."""
        loop = asyncio.get_running_loop()
        if self._stopped or not self._has_room_for(by):
            # Other streams were opened since this one was asked for; a client that reconnects is refused properly.
            reader.end()
        self._open.add(reader)
        counted = by.limits
        self._open_by.update(counted.keys())
        try:
            yield OPENED
            if reader.ended:
                return
            begun = False
            schedule_sent = 0.0
            sent_at = loop.time()
            check_at = self._next_check(loop.time())
            while True:
                now = self._now
                try:
                    if not begun:
                        if lost:
                            raise Lost
                        await reader.begin(since, now)
                        begun = True
                        # A stream may only start at a point at which the caller has access.
                        if since is None and reader.has_right and not await _is_allowed(allowed):
                            return
                        yield id_text(reader.position())
                    read, more = await reader.read(now)
                except Lost:
                    await reader.begin(None, now)
                    begun, read, more = True, [], False
                    if not await _is_allowed(allowed):
                        return
                    yield event_text("reset", "{}", reader.position())
                if reader.ended:
                    return
                changes = [change for each in read if (change := _in_lists(each, now)) is not None]
                looked = max(reader.since, schedule_sent)
                due = self._is_due(schedule, looked)
                checked = bool(changes) or due or loop.time() >= check_at
                if checked:
                    if not await _is_allowed(allowed) or reader.ended:
                        return
                    check_at = self._next_check(loop.time())
                chunk = b""
                for each in changes:
                    if len(chunk) >= LARGEST_CHUNK:
                        yield chunk
                        # The client may have taken a minute to read it.
                        if not await _is_allowed(allowed) or reader.ended:
                            return
                        chunk, sent_at = b"", loop.time()
                    chunk += await _change_text(each, see, render)
                if due and self._is_due(schedule, looked):
                    # Asked again: rendering the events above may have shown it already.
                    chunk += await _event_text(Event("updated", None), render, reader.position())
                    looked = schedule_sent = self._clock().timestamp()
                if not chunk and loop.time() - sent_at >= self._recheck_seconds * (1 - RECHECK_SPREAD):
                    # The position is kept fresh, or it would be too old after a day without events. It is sent only
                    # right after access was checked: never one from after they lost it.
                    chunk = KEPT_ALIVE if more else id_text(reader.position()) if checked else b""
                if chunk:
                    yield chunk
                    sent_at = loop.time()
                if more:
                    # Reading a long history must not hold up other requests.
                    await asyncio.sleep(0)
                else:
                    await reader.wait(min(check_at - loop.time(), self._seconds_until_due(schedule, looked)))
                if reader.ended:
                    return
        except (Unavailable, DynamoError) as error:
            # The response has begun, so its status cannot report this. A client that reconnects too early gets a 503.
            log.info("a stream ends: %s", error)
            yield retry_text(random.uniform(*RECONNECT_SECONDS))
        except Exception:
            log.exception("a stream ends")
        finally:
            reader.close()
            self._open.discard(reader)
            for whose in counted:
                self._open_by[whose] -= 1
                if not self._open_by[whose]:
                    del self._open_by[whose]

    def _check_room_for(self, by: Listener) -> None:
        if len(self._open) >= MOST_STREAMS:
            raise Unavailable("this worker has as many open streams as it can")
        for each, most in by.limits.items():
            if self._open_by[each] >= most:
                if each is STRANGERS:
                    raise Unavailable("this worker has as many open streams of strangers as it can")
                raise Throttled(RETRY_AFTER_SECONDS)

    def _has_room_for(self, by: Listener) -> bool:
        return len(self._open) < MOST_STREAMS and all(self._open_by[each] < most for each, most in by.limits.items())

    def _seconds_until_due(self, schedule: Schedule | None, looked: float) -> float:
        """How long until the list changes by itself; infinite if the caller has looked since then."""
        at = None if schedule is None else schedule()
        return math.inf if at is None or at.timestamp() <= looked else (at - self._clock()).total_seconds()

    def _is_due(self, schedule: Schedule | None, looked: float) -> bool:
        """Whether the list has changed by itself since the caller looked."""
        return self._seconds_until_due(schedule, looked) <= 0

    def _next_check(self, now: float) -> float:
        return now + self._recheck_seconds * random.uniform(1 - RECHECK_SPREAD, 1)

    # --- shared -------------------------------------------------------------------------------------------------

    @property
    def _now(self) -> int:
        return int(self._clock().timestamp())

    def _tail(self, table: Table) -> Tail:
        tail = self._tails.get(table.name)
        if tail is None:
            tail = self._tails[table.name] = Tail(self._engine, table, **self._buffer)
        return tail

    def _reader(self, of: AnyQuery | Sequence[AnyQuery], right: Grant | None, caller: UUID | None) -> ListReader:
        lists: dict[Tail, list[Membership]] = {}
        for each in _several(of):
            member = Membership(each)
            lists.setdefault(self._tail(member.table), []).append(member)
        history = None if right is None else GrantHistory(right)
        if history is not None and self._tail(history.table) not in lists:
            raise ValueError(f"the right is a row of {history.table.name}, which is not followed here")
        return ListReader(self._codec, self._log_slots, lists, _lists_id(_several(of), caller), history)

    def _start(
        self, since: str | None, last_event_id: str | None, of: AnyQuery | Sequence[AnyQuery], caller: UUID | None
    ) -> tuple[LivePosition | None, bool]:
        """The position to begin at (None for now), and whether the one given can no longer be read."""
        if last_event_id:
            try:
                return self._read(last_event_id, of, caller), False
            except InvalidPosition:
                # A browser repeats the id it was last sent, perhaps encrypted with an earlier key: it starts over.
                return None, True
        if since is None:
            return None, False
        try:
            return self._read(since, of, caller), False
        except InvalidPosition:
            raise ValidationError(FieldError("since", "since must be a position of this list")) from None

    def _read(self, text: str, of: AnyQuery | Sequence[AnyQuery], caller: UUID | None) -> LivePosition:
        """The position, if it was made for these lists, and for this caller or for everybody."""
        lists = _several(of)
        try:
            return self._codec.decode(text, _lists_id(lists, caller))
        except InvalidPosition:
            if caller is None:
                raise
            return self._codec.decode(text, _lists_id(lists))


def _several(of: AnyQuery | Sequence[AnyQuery]) -> Sequence[AnyQuery]:
    return of if isinstance(of, Sequence) else (of,)


def _lists_id(lists: Sequence[AnyQuery], caller: UUID | None = None) -> bytes:
    """The id of these lists in positions, for everybody or for one caller: a digest of their partitions, the same in
    any process and for any query."""
    whose = () if caller is None else (f"for {caller}",)
    return _digest((*sorted({_partition_id(each) for each in lists}), *whose))


def _partition_id(of: AnyQuery) -> str:
    query = of.query if isinstance(of, Gather) else of
    if isinstance(query, Query):
        return f"{query.pattern.table.name} {query.pattern.index} {query.partition}"
    table = query.members[0].table
    return f"{table.name} None {partition_text(query.key[table.partition.name])}"


@lru_cache(1024)
def _digest(names: tuple[str, ...]) -> bytes:
    return blake2b("\n".join(names).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _table_of(of: Table | AnyQuery) -> Table:
    if isinstance(of, Table):
        return of
    query = of.query if isinstance(of, Gather) else of
    return query.pattern.table if isinstance(query, Query) else query.members[0].table


def _may_lag(of: Table | AnyQuery) -> bool:
    query = of.query if isinstance(of, Gather) else of
    if isinstance(query, Table):
        return False
    return not query.consistent or (isinstance(query, Query) and query.pattern.index is not None)


def _in_lists(read: ReadChange, now: int) -> ListChange | None:
    """The change as the lists see it; None if it touches none of them."""
    old, new = entities(read.record, read.part.lists, read.reader.since, now)
    return None if old is None and new is None else ListChange(read, old, new)


async def _change_text(change: ListChange, see: Projection, render: Render) -> bytes:
    """The event as it is sent; nothing if the caller would see no difference."""
    event = await event_for(change.old, change.new, see)
    return b"" if event is None else await _event_text(event, render, change.change.position)


async def _event_text(event: Event, render: Render, position: str) -> bytes:
    rendered = await maybe_await(render(event))
    name, data = rendered if isinstance(rendered, NamedEvent) else (event.name, rendered)
    return event_text(name, data, position)


async def _is_allowed(allowed: Allowed) -> bool:
    try:
        return await allowed()
    except (Unavailable, DynamoError):
        raise
    except Exception as error:
        # Without a clear yes nothing is sent; a client that reconnects gets the error itself.
        log.info("a stream ends: %r", error)
        return False
