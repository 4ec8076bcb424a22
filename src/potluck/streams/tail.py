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
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol, cast

from potluck.engines import CLOSED, DynamoError, Engine, HandsOver
from potluck.engines.transient import is_transient
from potluck.states import STREAM_UNREADABLE, Trouble
from potluck.streams.backoff import Backoff
from potluck.streams.buffer import BUFFER_BYTES, BUFFER_RECORDS, Buffer, BufferedRecord, TopicKey
from potluck.streams.leases import cancelled
from potluck.streams.log import Log, Trimmed, open_log
from potluck.streams.records import Concerns, Record
from potluck.table.errors import Unavailable
from potluck.table.tables import Table

# The engine signals new records; without a signal, the log is read after this long, by engine: in this process, or not.
IDLE_SECONDS = 2.0
IDLE_ELSEWHERE_SECONDS = 10.0
DISCOVER_SECONDS = 60.0
SHARD_SUCCESSION_SECONDS = 0.2
NO_STREAM_SECONDS = 0.5
READY_SECONDS = 10.0
# Each one renders and sends when it runs next; other requests run in between.
WOKEN_AT_ONCE = 50
BUFFERED_AT_ONCE = 200
# How long a new reader waits at most for earlier commits to be read.
CATCH_UP_SECONDS = 1.0
# A consumer that is further behind reads the log by itself.
MOST_UNHANDLED = 1000
# After this many records that do not concern it, a consumer is woken to save its position.
MOST_PASSED_OVER = 1000
# The stream itself, among the names of shards that cannot be read.
WHOLE = ""

log = logging.getLogger(__name__)


class Waiter(Protocol):
    """Waits for records of some partitions."""

    def wake(self) -> None: ...


class Subscription:
    """The records of one shard that concern a consumer, after a position, as the tail reads them."""

    def __init__(self, after: int | None, concerns: Concerns, unsubscribe: Callable[["Subscription"], None]) -> None:
        self.ended = False
        """Nothing more comes from here; the log has the rest."""
        self.read_to: str | None = None
        """The last record that was looked at, of concern or not."""
        self.passed_over = 0
        """How many records did not concern the consumer; the consumer resets it."""
        self._after = after
        self._concerns = concerns
        self._unsubscribe = unsubscribe
        self._unhandled: deque[Record] = deque()
        self._news = asyncio.Event()

    def offer(self, buffered: BufferedRecord) -> None:
        if self._after is not None and buffered.sequence <= self._after:
            return
        if self._concerns(buffered.record):
            self._unhandled.append(buffered.record)
            if len(self._unhandled) > MOST_UNHANDLED:
                self.end()
            self._news.set()
        else:
            self.passed_over += 1
            if self.passed_over == MOST_PASSED_OVER:
                self._news.set()
        self.read_to = buffered.record.sequence_number

    async def next(self, seconds: float) -> list[Record]:
        """The consumer's new records; none after this many seconds, or when the subscription has ended."""
        if not self._unhandled and not self.ended:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        self._news.clear()
        records = [*self._unhandled]
        self._unhandled.clear()
        return records

    def end(self) -> None:
        self.ended = True
        self._unsubscribe(self)
        self._unhandled.clear()
        self._news.set()


class Tail:
    """Follows one table's log and holds its newest records, until it is stopped."""

    def __init__(
        self, engine: Engine, table: Table, *, records: int = BUFFER_RECORDS, size: int = BUFFER_BYTES
    ) -> None:
        self.engine = engine
        self.table = table
        self.buffer: Buffer | None = None
        """None until the log was read to its end, and while the table has no stream."""
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
        self._running: asyncio.Task[None] | None = None
        self._stopped = False

    def start(self) -> None:
        """Start following, once."""
        if self._running is None and not self._stopped:
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
        """Read the log, each shard after its parent, until it is no longer the table's log."""
        buffer = Buffer(self.table, stream, self._waiting, self._most_records, self._most_bytes)
        reading: dict[str, asyncio.Task[None]] = {}
        behind: set[str] = set()

        def read(shard: str, instead_of: str | None = None) -> None:
            buffer.follow(shard, instead_of)
            behind.add(shard)
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
                for shard in stream.unknown_to(buffer.vector):
                    read(shard)
        finally:
            if unfollow is not None:
                unfollow()
            await cancelled(*reading.values())
            self._behind_since.clear()
            self._unpublish()
            self._end_subscriptions(*self._subscriptions)
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
        # Readers wait for the tail, so it begins with what fits into memory, not with a day of records.
        reader = buffer.log.read(shard, None if buffer.shards[shard].from_start else self._near_end())
        self._news[shard] = asyncio.Event()
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
                await self._add(buffer, shard, page.records)
            if not page.records or page.ended:
                self._behind_since.pop(shard, None)
            if not page.records or page.ended:
                behind.discard(shard)
                if not behind and self.buffer is not buffer:
                    await self._publish(buffer)
            if page.ended:
                self._end_subscriptions(shard)
                return
            if not page.records:
                await self._wait(shard)
                now = buffer.shards[shard].sequence
                if now != last:
                    # The iterator would return again what was handed over meanwhile.
                    reader.seek(now)

    def _near_end(self) -> int | None:
        """The record after which the log fits into memory, where the engine can tell."""
        if not self._follows_commits:
            return None
        number = cast(HandsOver, self.engine).near_end(self.table.name, self._most_records)
        return None if number is None else int(number)

    async def _add(self, buffer: Buffer, shard: str, records: list[Record]) -> None:
        touched: dict[TopicKey, None] = {}
        for start in range(0, len(records), BUFFERED_AT_ONCE):
            touched |= self._buffered(buffer, shard, records[start : start + BUFFERED_AT_ONCE])
            await asyncio.sleep(0)
        if touched:
            await self._wake(touched)

    def _buffered(self, buffer: Buffer, shard: str, records: list[Record]) -> dict[TopicKey, None]:
        """Add the records; returns the watched partitions that they touch."""
        now, wall = time.monotonic(), time.time()
        touched: dict[TopicKey, None] = {}
        for record in records:
            # The log has whole seconds, so a record is at most a second newer than it says.
            created = float(record.wire["dynamodb"].get("ApproximateCreationDateTime", wall))
            buffered = buffer.append(shard, record, now - max(0.0, wall - created - 1.0))
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
                    if touched:
                        waking = asyncio.ensure_future(self._wake(touched))
                        self._waking.add(waking)
                        waking.add_done_callback(self._waking.discard)
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

    async def _wait(self, shard: str) -> None:
        """Wait at the log's end until there is something new in it, or for a while."""
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
            return
        try:
            await self.engine.changed(self.table.name, IDLE_ELSEWHERE_SECONDS)
        except DynamoError as error:
            if not is_transient(error):
                raise
            await asyncio.sleep(SHARD_SUCCESSION_SECONDS)
