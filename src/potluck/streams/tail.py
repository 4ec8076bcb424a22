"""Follows a table's stream, once per process, and wakes the readers whose lists a record touches.

It is a process's only reader of the log: consumers get their records from here. An engine that can hands over what this
process commits; other processes' records are read from the log. The latest records stay in memory, so that a thousand
open event streams read the log once, not a thousand times. While the stream cannot be read, the tail is `failing`:
positions in memory are still returned, but readers are refused, because they would believe that nothing has changed.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, cast

from potluck.engines import CLOSED, DynamoError, Engine, HandsOver
from potluck.engines.transient import is_transient
from potluck.states import STREAM_UNREADABLE, Trouble
from potluck.streams.backoff import Backoff
from potluck.streams.buffer import BUFFER_BYTES, BUFFER_RECORDS, Buffer, TopicKey
from potluck.streams.leases import cancelled
from potluck.streams.log import Log, ShardReader, Trimmed, Vector, is_marker, open_log
from potluck.streams.passed import Passed, Unconnected
from potluck.streams.records import Concerns, Record
from potluck.streams.subscription import Subscription
from potluck.table.errors import Unavailable
from potluck.table.tables import Table

# An engine in this process hands over new records; the log is read after this long all the same.
IDLE_SECONDS = 2.0
# Elsewhere, a shard with nothing new is read less and less often, until something arrives or this process writes.
SHORTEST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 1.5
PAUSES_GROW_BY = 1.3
LEADING_PAUSE_SECONDS = 0.4
# Whatever is heard of the process that reads for all, the log is read after this long: it may be stuck, or its messages
# may be replayed.
OWN_LOOK_SECONDS = 30.0
# A tail that does not reach the log's end within this many pages, or after one long page of old records, skips to it.
START_PAGES = 5
LONG_PAGE_RECORDS = 500
LONG_PAGE_BYTES = 500_000
OLD_SECONDS = 60.0
YOUNG_SECONDS = 2.0
DISCOVER_SECONDS = 60.0
SHARD_SUCCESSION_SECONDS = 0.2
NO_STREAM_SECONDS = 0.5
READY_SECONDS = 10.0
# Each one renders and sends when it runs next; other requests run in between.
WOKEN_AT_ONCE = 50
BUFFERED_AT_ONCE = 200
# How long a new reader waits at most for earlier commits to be read.
CATCH_UP_SECONDS = 1.0
# The stream itself, among the names of shards that cannot be read.
WHOLE = ""

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    # It needs an extra.
    from potluck.streams.fan_out import Channel, FanOut

LastKnown = Callable[[str, str], int | None]
"""The number of a record near the end of a log's shard; None if none is known."""


class Waiter(Protocol):
    """Waits for records of some partitions."""

    def wake(self) -> None: ...


class Tail:
    """Follows one table's log and holds its newest records, until it is stopped."""

    def __init__(
        self,
        engine: Engine,
        table: Table,
        *,
        records: int = BUFFER_RECORDS,
        size: int = BUFFER_BYTES,
        fan_out: "FanOut | None" = None,
        last_known: LastKnown | None = None,
    ) -> None:
        """`last_known` says where other processes have read a shard to; `fan_out` passes on what one of them reads."""
        self.engine = engine
        self.table = table
        self.buffer: Buffer | None = None
        """None until the tail follows the log's end, and while the table has no stream."""
        self._most_records = records
        self._most_bytes = size
        self._waiting: dict[TopicKey, dict[Waiter, None]] = {}
        self.failing = False
        """Whether there may be records that cannot be read."""
        self._unread: set[str] = set()
        """The shards that cannot be read, or WHOLE."""
        self._failing = Trouble(STREAM_UNREADABLE, log, f"the stream of {table.name} cannot be read")
        self._behind_since: dict[str, float] = {}
        """By shard that is not read to its end, when the record was written that was read last."""
        self._ready = asyncio.Event()
        # Looked up on the class: a wrapper around an engine must see every call.
        self._follows_commits = callable(getattr(type(engine), "follow", None))
        self._news: dict[str, asyncio.Event] = {}
        """By shard, the event that its reader waits for at the end of the log."""
        self._at_end: set[str] = set()
        """The shards whose readers wait at the end of the log."""
        self._all_read = asyncio.Event()
        """Set while a reader waits at the end of the log, with no later commit to look up."""
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._waking: set[asyncio.Task[None]] = set()
        self._followed: tuple[str, Vector] = ("", {})
        """The log that was followed last, and how far."""
        self._last_known_elsewhere = last_known
        self._fan_out = fan_out
        self._channel: Channel | None = None
        self._unconnected = Unconnected()
        self._running: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        """Start following, once."""
        if self._running is None and not self._stopped:
            if self._fan_out is not None and not self._follows_commits:
                self._channel = self._fan_out.channel(self.table.name, self)
            self._running = asyncio.create_task(self._run(), name=f"live:{self.table.name}")

    async def stop(self) -> None:
        """Stop reading; those who wait for `ready` get Unavailable."""
        self._stopped = True
        self._ready.set()
        if self._running is not None:
            await cancelled(self._running)
        self._failing.forget()

    async def ready(self) -> Buffer:
        """The buffer, once it is up to date; Unavailable if that takes too long, or did last time."""
        self.start()
        while self.buffer is None:
            if self._stopped:
                raise Unavailable("the server is stopping")
            problem = Unavailable(f"the stream of {self.table.name} cannot be read")
            if self.failing:
                raise problem
            try:
                async with asyncio.timeout(READY_SECONDS):
                    await self._ready.wait()
            except TimeoutError:
                await self._mark_failing(WHOLE, problem)
                raise problem from None
        return self.buffer

    async def catch_up(self) -> None:
        """Wait briefly until this process's commits so far are buffered, if they have to be read from the log."""
        if self._follows_commits and not self._all_read.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CATCH_UP_SECONDS):
                    await self._all_read.wait()

    def lag_seconds(self) -> float:
        """How old the record is that was read last; 0 if nothing is left to read."""
        return max(0.0, time.time() - min(self._behind_since.values())) if self._behind_since else 0.0

    def watch(self, topic: TopicKey, reader: Waiter) -> None:
        self._waiting.setdefault(topic, {})[reader] = None

    def unwatch(self, topic: TopicKey, reader: Waiter) -> None:
        waiting = self._waiting.get(topic, {})
        waiting.pop(reader, None)
        if waiting:
            return
        self._waiting.pop(topic, None)
        if self.buffer is not None and topic in self.buffer.topics and not self.buffer.topics[topic].records:
            del self.buffer.topics[topic]

    def subscribe(self, shard: str, after: str | None, concerns: Concerns) -> Subscription | None:
        """Subscribe to the shard's records after this one; None if some of them may be only in the log.

        For a consumer that has just read the shard to its end.
        """
        self.start()
        buffer = self.buffer
        state = None if buffer is None else buffer.shards.get(shard)
        if buffer is None or state is None or shard not in buffer.vector:
            return None
        place = None if after is None else int(after)
        # If the shard has been empty from its beginning, neither the tail nor the consumer has missed anything.
        if state.sequence is not None and not state.reaches(place):
            return None

        def unsubscribe(subscription: Subscription) -> None:
            current = self._subscriptions.get(shard, ())
            self._subscriptions[shard] = [other for other in current if other is not subscription]

        subscription = Subscription(place, concerns, unsubscribe)
        for record in buffer.records:
            if record.shard == shard:
                subscription.offer(record)
        if subscription.ended:
            return None
        self._subscriptions[shard] = [*self._subscriptions.get(shard, ()), subscription]
        return subscription

    def _end_subscriptions(self, *shards: str) -> None:
        for shard in shards:
            for subscription in self._subscriptions.pop(shard, ()):
                subscription.end()

    # --- following the stream -----------------------------------------------------------------------------------

    async def _run(self) -> None:
        pauses = Backoff()
        while True:
            try:
                stream = await open_log(self.engine, self.table.name)
                if stream is not None:
                    await self._follow(stream)
                    pauses = Backoff()
                else:
                    await asyncio.sleep(NO_STREAM_SECONDS)
            except Unavailable as error:
                await self._mark_failing(WHOLE, error)
            except Exception as error:
                if isinstance(error, DynamoError) and error.code == CLOSED:
                    return
                self._failing.met(error)
                await pauses.wait()
            finally:
                self._unpublish()
                # Readers continue from their own positions, in the stream that the table has then.
                await self._wake(self._waiting)

    async def _mark_failing(self, what: str, error: Exception) -> None:
        """Because this shard or stream cannot be read, end the open event streams and refuse new ones."""
        self._failing.met(error)
        self._unread.add(what)
        if not self.failing:
            self.failing = True
            await self._wake(self._waiting)

    def _mark_working(self, *these: str) -> None:
        if self._unread:
            self._unread.difference_update(these)
            self.failing = bool(self._unread)
        if not self.failing and self.buffer is not None:
            self._failing.over()

    async def _follow(self, stream: Log) -> None:
        """Read the log from its end, each shard after its parent, until it is no longer the table's log."""
        buffer = Buffer(self.table, stream, self._waiting, self._most_records, self._most_bytes)
        reading: dict[str, asyncio.Task[None]] = {}
        behind: set[str] = set()

        def read(shard: str, instead_of: str | None = None) -> None:
            behind.add(shard)
            if instead_of is not None:
                # All of it is newer than what has been read.
                buffer.follow(shard, None, instead_of)
            reading[shard] = asyncio.create_task(self._read(buffer, shard, behind), name=f"live:{shard}")

        unfollow = None
        if self._follows_commits:
            unfollow = cast(HandsOver, self.engine).follow(self.table.name, self._receive)
        try:
            for shard in stream.newest():
                read(shard)
            if not reading:
                await self._publish(buffer)
            while True:
                done: set[asyncio.Task[None]] = set()
                if reading:
                    done, _ = await asyncio.wait(
                        reading.values(), timeout=DISCOVER_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                else:
                    await asyncio.sleep(NO_STREAM_SECONDS)
                ended = [shard for shard, task in reading.items() if task in done]
                for shard in ended:
                    reading.pop(shard).result()
                if not await self._refresh_shards(stream):
                    return
                for shard in ended:
                    while not stream.children(shard):
                        # The children of a split shard may appear a little later.
                        await asyncio.sleep(SHARD_SUCCESSION_SECONDS)
                        if not await self._refresh_shards(stream):
                            return
                    for child in stream.children(shard):
                        read(child, shard)
                for shard in stream.unknown_to({**buffer.vector, **dict.fromkeys(reading)}):
                    read(shard)
        finally:
            if unfollow is not None:
                unfollow()
            await cancelled(*reading.values())
            self._behind_since.clear()
            self._unpublish()
            self._end_subscriptions(*self._subscriptions)
            arn, vector = self._followed
            self._followed = stream.arn, {**(vector if arn == stream.arn else {}), **buffer.vector}
            # No shard is read any more, so none is failing.
            self._mark_working(*(self._unread - {WHOLE}))

    async def _refresh_shards(self, stream: Log) -> bool:
        """Look up the shards; False if the table has another stream now, as after it was recreated."""
        while True:
            try:
                now = await open_log(self.engine, self.table.name)
                if now is None or now.arn != stream.arn:
                    return False
                await stream.look_at_shards()
            except Unavailable as error:
                await self._mark_failing(WHOLE, error)
            else:
                self._mark_working(WHOLE)
                return True

    async def _read(self, buffer: Buffer, shard: str, behind: set[str]) -> None:
        """Buffer the shard's records as they arrive, to its end."""
        self._news[shard] = asyncio.Event()
        if shard in buffer.vector:
            reader = buffer.log.read(shard, None)
        else:
            reader = await self._start(buffer, shard)
            await self._caught_up(buffer, shard, behind)
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            last = buffer.shards[shard].sequence
            try:
                page = await reader.page()
            except Trimmed:
                if last is not None:
                    # As after the machine slept for a day: records are missing from memory, so it starts over.
                    raise DynamoError("TrimmedDataAccessException", f"{shard} is trimmed after {last}") from None
                # The log's beginning has moved on; DynamoDB Local also reports this for a new shard at times.
                reader.seek(None)
                await asyncio.sleep(SHARD_SUCCESSION_SECONDS)
                continue
            except Unavailable as error:
                self._behind_since.setdefault(shard, time.time())
                await self._mark_failing(shard, error)
                continue
            self._mark_working(shard)
            if page.records:
                self._behind_since[shard] = page.records[-1].created_at
                if self._channel is not None:
                    self._channel.publish(Passed(shard, last, page.records))
                await self._add(buffer, shard, page.records)
                pause = SHORTEST_PAUSE_SECONDS
            connected = await self._connect(buffer, shard)
            # Elsewhere each read counts towards a limit, so after a short page it waits as well.
            is_short = not self._follows_commits and not _is_long(page.records)
            at_end = not page.records or connected or is_short
            if at_end or page.ended:
                self._behind_since.pop(shard, None)
                await self._caught_up(buffer, shard, behind)
            if page.ended:
                self._end_subscriptions(shard)
                self._unconnected.forget(shard)
                return
            if at_end:
                pause = await self._wait(shard, pause)
            now = buffer.shards[shard].sequence
            if now != reader.after:
                # The iterator would return again what was handed over meanwhile.
                reader.seek(now)

    async def _start(self, buffer: Buffer, shard: str) -> ShardReader:
        """Begin near the log's end, however much was written in the last day; returns the reader of what follows."""
        start = self._last_known(buffer.log, shard)
        reader = buffer.log.read(shard, start)
        records: list[Record] = []
        at_end = far_behind = False
        for _ in range(START_PAGES):
            try:
                page = await reader.page()
            except Trimmed:
                # Also reported by DynamoDB Local for a new shard at times.
                start = None
                reader.seek(None)
                records.clear()
                await asyncio.sleep(SHARD_SUCCESSION_SECONDS)
                continue
            except Unavailable as error:
                await self._mark_failing(shard, error)
                continue
            self._mark_working(shard)
            records += page.records
            at_end = not page.records or page.ended
            far_behind = not self._follows_commits and _is_long(page.records) and _age(page.records[-1]) > OLD_SECONDS
            if at_end or far_behind:
                break
        if far_behind or not (at_end or (records and _age(records[-1]) < YOUNG_SECONDS)):
            reader = await self._skip_to_the_end(buffer.log, shard)
            start = reader.after
            records.clear()
        buffer.follow(shard, start)
        if records:
            await self._add(buffer, shard, records)
        return reader

    async def _skip_to_the_end(self, stream: Log, shard: str) -> ShardReader:
        while True:
            try:
                return await stream.read_new(shard)
            except Unavailable as error:
                await self._mark_failing(shard, error)

    def _last_known(self, stream: Log, shard: str) -> int | None:
        """A record near the log's end to begin after; None if none is known."""
        if self._follows_commits:
            # The engine can tell where the records that fit into memory begin.
            near_end = cast(HandsOver, self.engine).near_end(self.table.name, self._most_records)
            return None if near_end is None else int(near_end)
        arn, vector = self._followed
        here = vector.get(shard) if arn == stream.arn else None
        elsewhere = None if self._last_known_elsewhere is None else self._last_known_elsewhere(stream.arn, shard)
        return max((number for number in (here, elsewhere) if number is not None and number > 0), default=None)

    async def _caught_up(self, buffer: Buffer, shard: str, behind: set[str]) -> None:
        """Note that the shard is followed; once all are, so is the log."""
        behind.discard(shard)
        if not behind and self.buffer is not buffer:
            await self._publish(buffer)

    async def _add(self, buffer: Buffer, shard: str, records: list[Record]) -> None:
        touched: dict[TopicKey, None] = {}
        for start in range(0, len(records), BUFFERED_AT_ONCE):
            touched |= self._buffered(buffer, shard, records[start : start + BUFFERED_AT_ONCE])
            await asyncio.sleep(0)
        if touched:
            await self._wake(touched)

    def _buffered(self, buffer: Buffer, shard: str, records: list[Record]) -> dict[TopicKey, None]:
        """Add the records; returns the watched partitions that they touch."""
        now = time.monotonic()
        touched: dict[TopicKey, None] = {}
        for record in records:
            # The log has whole seconds, so a record is at most a second newer than it says.
            buffered = buffer.append(shard, record, now - max(0.0, _age(record) - 1.0))
            for topic in buffered.topics:
                if topic in self._waiting:
                    touched[topic] = None
            for subscription in self._subscriptions.get(shard, ()):
                subscription.offer(buffered)
        return touched

    def _receive(self, handed: tuple[str, list[dict[str, Any]]] | None) -> None:
        """Take what this process has just committed; what does not directly follow what was read is left to the log."""
        if handed is not None:
            shard, records = handed
            buffer = self.buffer
            last = None if buffer is None or shard not in self._at_end else buffer.shards[shard].sequence
            if buffer is not None and last is not None:
                if int(records[-1]["dynamodb"]["SequenceNumber"]) <= last:
                    # It was read from the log before it was handed over.
                    return
                if int(records[0]["dynamodb"]["SequenceNumber"]) == last + 1:
                    touched = self._buffered(buffer, shard, [Record(self.table.name, record) for record in records])
                    self._wake_soon(touched)
                    return
        self._all_read.clear()
        for news in self._news.values():
            news.set()

    async def _publish(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self._ready.set()
        self._mark_working(WHOLE)
        await self._wake(self._waiting)

    def _unpublish(self) -> None:
        self.buffer = None
        if not self._stopped:
            self._ready.clear()

    async def _wake(self, topics: Iterable[TopicKey]) -> None:
        """Wake the readers of these, a few at a time, so that other requests run in between."""
        readers = list({reader: None for topic in topics for reader in self._waiting.get(topic, ())})
        for start in range(0, len(readers), WOKEN_AT_ONCE):
            for reader in readers[start : start + WOKEN_AT_ONCE]:
                reader.wake()
            await asyncio.sleep(0)

    async def _wait(self, shard: str, pause: float) -> float:
        """Wait at the log's end until there may be something new in it; returns how long to wait the next time."""
        if self._follows_commits:
            news = self._news[shard]
            self._at_end.add(shard)
            if not news.is_set():
                self._all_read.set()
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(IDLE_SECONDS):
                        await news.wait()
            finally:
                self._at_end.discard(shard)
                self._all_read.clear()
                # Whatever is handed over from here on, while the log is read, sets it again.
                news.clear()
            return pause
        channel = self._channel
        if channel is not None and channel.is_heard and not channel.leads:
            await self._wait_for_others(shard, channel)
            return SHORTEST_PAUSE_SECONDS
        if channel is not None and channel.leads:
            # Others wait for this one, so it looks at the same pace whatever it has found.
            pause = LEADING_PAUSE_SECONDS
        try:
            if await self.engine.changed(self.table.name, pause):
                return SHORTEST_PAUSE_SECONDS
        except DynamoError as error:
            if not is_transient(error):
                raise
            await asyncio.sleep(SHARD_SUCCESSION_SECONDS)
        return min(pause * PAUSES_GROW_BY, LONGEST_PAUSE_SECONDS)

    # --- what another process reads ---------------------------------------------------------------------------------

    def read_to(self) -> tuple[bytes, Vector] | None:
        """The log's tag and how far it was read; None while it cannot be read."""
        return None if self.buffer is None or self.failing else (self.buffer.log.tag, self.buffer.vector)

    def place(self, seconds: float) -> tuple[str, Vector] | None:
        """The log, and how far it had been read this many seconds ago, or when the oldest record in memory came."""
        return None if self.buffer is None else (self.buffer.log.arn, self.buffer.vector_before(seconds))

    def take(self, passed: Passed) -> None:
        """Take what another process has read, now or when it follows what was read here."""
        shard = passed.shard
        news = self._news.get(shard)
        if news is None:
            # Its parent has not ended here; then it is read from its beginning.
            return
        buffer = self.buffer
        if buffer is not None and shard in self._at_end and not self._unconnected.has(shard):
            records = passed.after(buffer.shards[shard].sequence)
            if records is not None:
                self._wake_soon(self._buffered(buffer, shard, list(records)))
                return
        self._unconnected.keep(passed)
        news.set()

    def compare(self, vector: Vector) -> None:
        """Read the log if another process has read further: something that it passed on was lost."""
        buffer = self.buffer
        if buffer is None:
            return
        for shard, last in buffer.vector.items():
            number = vector.get(shard)
            is_behind = number is not None and not is_marker(number) and (last is None or number > last)
            if (is_behind or shard not in vector) and shard in self._news:
                self._news[shard].set()

    async def _connect(self, buffer: Buffer, shard: str) -> bool:
        """Add what was passed on while the log was read; whether that led to the end of the log."""
        if not self._unconnected.has(shard):
            return False
        while records := self._unconnected.take_after(shard, buffer.shards[shard].sequence):
            await self._add(buffer, shard, records)
        if self._unconnected.has(shard):
            return False
        self._news[shard].clear()
        return True

    async def _wait_for_others(self, shard: str, channel: "Channel") -> None:
        """Wait at the log's end while another process reads it, until something it passed on is missing."""
        news = self._news[shard]
        if self._unconnected.has(shard):
            # What is missing has been read elsewhere, but is not in the log yet.
            await asyncio.sleep(SHARD_SUCCESSION_SECONDS)
            return
        self._at_end.add(shard)
        until = time.monotonic() + OWN_LOOK_SECONDS
        try:
            while channel.is_heard and not news.is_set() and (left := until - time.monotonic()) > 0:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(channel.silent_in, left)):
                        await news.wait()
        finally:
            self._at_end.discard(shard)
            news.clear()

    def _wake_soon(self, touched: dict[TopicKey, None]) -> None:
        if touched:
            waking = asyncio.ensure_future(self._wake(touched))
            self._waking.add(waking)
            waking.add_done_callback(self._waking.discard)


def _age(record: Record) -> float:
    return time.time() - record.created_at


def _is_long(records: list[Record]) -> bool:
    """Whether a page had room for little more."""
    size = sum(int(record.wire["dynamodb"].get("SizeBytes", 0)) for record in records)
    return len(records) >= LONG_PAGE_RECORDS or size >= LONG_PAGE_BYTES
