"""`Live`: opens event streams, answers what changed since a position, and gives out positions."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from potluck.engines import Engine
from potluck.metrics import STREAMS, TAIL_LAG_SECONDS
from potluck.store import Clock
from potluck.streams import Concerns, Following
from potluck.streams.buffer import BUFFER_BYTES, BUFFER_RECORDS, partition_text
from potluck.streams.log import Vector
from potluck.streams.processes import Places, places_of
from potluck.streams.subscription import Subscription
from potluck.streams.tail import LastKnown, Tail
from potluck.table.access import Gather, Query
from potluck.table.errors import Unavailable
from potluck.table.membership import AnyQuery, Membership
from potluck.table.tables import Table
from potluck.validation.encoding import encode
from potluck.validation.errors import FieldError, ValidationError
from potluck.web.live.access import Grant, GrantHistory
from potluck.web.live.event_stream import EventSource
from potluck.web.live.events import Event, EventName, Projection, event_for
from potluck.web.live.open_streams import Listener, OpenStreams
from potluck.web.live.positions import EVERY_LIST, InvalidPosition, LivePosition, PositionCodec
from potluck.web.live.reader import ListReader, Lost
from potluck.web.live.stream import Allowed, Deadline, Render, Schedule, Stream, in_lists

if TYPE_CHECKING:
    # It needs an extra.
    from potluck.streams.fan_out import FanOut

RECHECK_SECONDS = 15.0
LOG_READERS_AT_ONCE = 4
MOST_CHANGES = 100
# How many batches one request may read without finding anything; its caller continues from where it stopped.
MOST_BATCHES = 20
TURNS_FOR_THE_TAIL = 10


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
        self._open = OpenStreams()
        self._log_slots = asyncio.Semaphore(LOG_READERS_AT_ONCE)
        self._fan_out: FanOut | None = None
        self._last_known: LastKnown | None = None

    @property
    def open_streams(self) -> int:
        return len(self._open.readers)

    def measure(self) -> None:
        """Set the metrics of live updates."""
        STREAMS.set(len(self._open.readers))
        for tail in self._tails.values():
            TAIL_LAG_SECONDS.set(tail.lag_seconds(), tail.table.name)

    def start(self, *tables: Table, fan_out: "FanOut | None" = None, last_known: LastKnown | None = None) -> None:
        """Start reading these tables' streams now instead of when they are first followed.

        `last_known` says where other processes have read a shard to; `fan_out` passes on what one of them reads.
        """
        self._fan_out, self._last_known = fan_out, last_known
        for table in tables:
            self._tail(table).start()

    async def follows_all(self, seconds: float) -> bool:
        """Whether every stream that was started is followed, so that lists answer; waits this long at most."""
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(tail.ready() for tail in self._tails.values()))
        except (TimeoutError, Unavailable):
            return False
        return True

    def places(self, seconds: float) -> Places:
        """How far each stream had been read this many seconds ago."""
        return places_of(place for tail in self._tails.values() if (place := tail.place(seconds)) is not None)

    def feed(self, *tables: Table) -> Following:
        """Gives consumers of these tables their changes from here, so that a process reads each stream only once."""
        by_name = {table.name: table for table in tables}

        def follow(name: str, shard: str, after: str | None, concerns: Concerns) -> Subscription | None:
            table = by_name.get(name)
            return None if table is None or self._open.stopped else self._tail(table).subscribe(shard, after, concerns)

        return follow

    async def stop(self) -> None:
        """End every stream, so that clients reconnect to another worker, and stop reading."""
        self._open.stop()
        if self._fan_out is not None:
            # Before the tails, so that others know at once that this process reads no further.
            await self._fan_out.stop()
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
        for source in of:
            buffer = await self._tail(_table_of(source)).ready()
            seconds = behind if behind is not None else self._lag_seconds if _may_lag(read_by or source) else 0.0
            vector = buffer.vector
            if seconds > 0 and buffer.log.tag not in streams:
                vector = buffer.vector_before(seconds)
            streams[buffer.log.tag] = vector
        lists = [source for source in of if not isinstance(source, Table)]
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
        grant: Grant | None = None,
        caller: UUID | None = None,
        render: Render = as_json,
        schedule: Schedule | None = None,
    ) -> EventSource:
        """A stream of the lists' events; ValidationError at once for a `since` that is no position of theirs.

        A `last_event_id`, which a browser sends by itself, takes precedence over `since`. `by` is who listens,
        whose streams are limited. `grant` is the row that gives them access: a position from before they last lost or
        regained it counts as too old, and one that was made for another `caller` is no position of theirs. At the time
        that `schedule` gives, one `updated` event with no item is sent.
        """
        position, lost = self._start(since, last_event_id, of, caller)
        self._open.check_room_for(by)
        reader = self._reader(of, grant, caller)
        reader.check_readable()
        stream = Stream(
            reader=reader,
            since=position,
            lost=lost,
            see=see,
            allowed=allowed,
            render=render,
            deadline=Deadline(schedule, self._clock),
            clock=self._clock,
            by=by,
            open_streams=self._open,
            recheck_seconds=self._recheck_seconds,
        )
        return EventSource(stream.chunks(), reader.end)

    async def changes(
        self,
        since: str | None,
        *,
        of: AnyQuery | Sequence[AnyQuery],
        see: Projection,
        grant: Grant | None = None,
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
        reader = self._reader(of, grant, caller)
        changes: list[EventChange] = []
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
                for number, record in enumerate(read):
                    change = in_lists(record, self._now)
                    event = None if change is None else await event_for(change.old, change.new, see)
                    if event is not None:
                        changes.append(EventChange(event=event.name, position=record.position, item=event.item))
                        if len(changes) == limit:
                            more = more or number + 1 < len(read)
                            return Changes(changes=changes, position=changes[-1].position, reset=False, more=more)
                if not more:
                    break
            if not more and Deadline(schedule, self._clock).is_due(reader.since):
                changes.append(EventChange(event="updated", position=reader.position(), item=None))
            return Changes(changes=changes, position=reader.position(), reset=False, more=more)
        except Lost:
            await reader.begin(None, self._now)
            return Changes(changes=[], position=reader.position(), reset=True, more=False)
        finally:
            reader.close()

    # --- shared -------------------------------------------------------------------------------------------------

    @property
    def _now(self) -> int:
        return int(self._clock().timestamp())

    def _tail(self, table: Table) -> Tail:
        tail = self._tails.get(table.name)
        if tail is None:
            tail = self._tails[table.name] = Tail(
                self._engine, table, **self._buffer, fan_out=self._fan_out, last_known=self._last_known
            )
        return tail

    def _reader(self, of: AnyQuery | Sequence[AnyQuery], grant: Grant | None, caller: UUID | None) -> ListReader:
        lists: dict[Tail, list[Membership]] = {}
        for query in _several(of):
            member = Membership(query)
            lists.setdefault(self._tail(member.table), []).append(member)
        history = None if grant is None else GrantHistory(grant)
        if history is not None and self._tail(history.table) not in lists:
            raise ValueError(f"the grant is a row of {history.table.name}, which is not followed here")
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
        """The position, if it was made for these lists, and for this caller or for all callers."""
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
    """The id of these lists in positions, for all callers or for one: a digest of their partitions, the same in any
    process and for any query."""
    whose = () if caller is None else (f"for {caller}",)
    return _digest((*sorted({_partition_id(query) for query in lists}), *whose))


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
