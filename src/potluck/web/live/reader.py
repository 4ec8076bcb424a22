"""Reads every change of some lists after a position, each once, from memory or from the log."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import NamedTuple

from potluck.dynamo.limits import STREAM_RETENTION_SECONDS
from potluck.streams.buffer import Buffer, BufferedRecord, TopicKey, partition_attributes, partition_text, topics_of
from potluck.streams.log import Log, RecordPage, ShardReader, Trimmed, Vector, is_marker
from potluck.streams.tail import Tail
from potluck.table.errors import Unavailable
from potluck.table.membership import Membership
from potluck.web.live.access import GrantHistory
from potluck.web.live.positions import LivePosition, PositionCodec

BATCH_RECORDS = 100
# Another machine's clock may trim the log a little early.
SURELY_KEPT_SECONDS = STREAM_RETENTION_SECONDS - 3600
FALSE_TRIM_PAUSE = 0.05
FALSE_TRIMS = 5
# How many changes are read from the log for one caller. Beyond that, reading the list again is cheaper.
MOST_READ = 10_000
# Where reads are limited, as many clients wait for them at most; the others read their lists again.
MOST_WAITING = 20
# A page may be empty with more to come, but after this many in a row the end cannot be found.
MOST_EMPTY_PAGES = 10
EMPTY_PAGE_PAUSE = 0.05


class Lost(Exception):
    """Some changes after the position may be gone from the log, or were made while the caller had no access."""


class ReadChange:
    """A change that was read, and the position after it."""

    __slots__ = ("part", "reader", "record", "vector")

    def __init__(self, reader: "ListReader", part: "TablePart", record: BufferedRecord, vector: Vector) -> None:
        self.reader = reader
        self.part = part
        self.record = record
        self.vector = vector

    @property
    def position(self) -> str:
        return self.reader.position_after(self)


class TablePart:
    """The part of a reader that follows lists of one table: which, and how far it has read there."""

    __slots__ = ("ahead", "buffer", "empty_pages", "grant", "lists", "log_pages", "place", "tail", "topics", "vector")

    def __init__(self, tail: Tail, lists: Sequence[Membership], grant: GrantHistory | None) -> None:
        self.tail = tail
        self.lists = lists
        self.grant = grant
        """What gives the caller access, if that is a row of this table."""
        topics = dict.fromkeys((member.index, partition_text(member.partition)) for member in lists)
        if grant is not None:
            topics[grant.topic] = None
        self.topics: tuple[TopicKey, ...] = tuple(topics)
        self.buffer: Buffer | None = None
        self.place = 0
        """The ordinal in the buffer of the next change to read."""
        self.vector: Vector = {}
        """How far it has read, by shard."""
        self.ahead: Vector | None = None
        """How far it had read the log when it switched to memory, until memory has caught up with that."""
        self.log_pages: AsyncIterator[list[BufferedRecord]] | None = None
        self.empty_pages = 0
        """How many pages of the log in a row had nothing."""

    def check_grant(self, records: Iterable[BufferedRecord]) -> None:
        """Lost if the caller's access was interrupted: there is no telling which changes were made in that time."""
        grant = self.grant
        if grant is not None and any(grant.interrupted_by(record) for record in records):
            raise Lost

    def check_readable(self) -> None:
        """Unavailable while the stream cannot be read: silence would look as if nothing had changed."""
        if self.tail.failing:
            raise Unavailable(f"the stream of {self.tail.table.name} cannot be read for now")


class LogPage(NamedTuple):
    """The changes on one page of the log that touch a reader's lists, the position after it, and how many it had."""

    records: list[BufferedRecord]
    vector: Vector
    read: int


class ListReader:
    """Reads from a position, or from now on. Its only state is how far it has read."""

    __slots__ = ("_codec", "_log_slots", "_now", "_of", "_parts", "_wake", "ended", "has_grant", "log_read", "since")

    def __init__(
        self,
        codec: PositionCodec,
        log_slots: asyncio.Semaphore,
        lists: Mapping[Tail, Sequence[Membership]],
        of: bytes,
        grant: GrantHistory | None = None,
    ) -> None:
        """`of` identifies the lists in positions; a position since which the grant was interrupted is Lost."""
        self._codec = codec
        self._of = of
        self._log_slots = log_slots
        self._parts = [
            TablePart(tail, members, grant if grant is not None and grant.table is tail.table else None)
            for tail, members in lists.items()
        ]
        self._wake: asyncio.Future[None] | None = None
        self._now = 0
        self.has_grant = grant is not None
        self.ended = False
        self.log_read = 0
        """How many changes of the log it has read, of these lists or of others."""
        self.since = 0
        """When the caller last looked, according to their position."""

    # --- position -----------------------------------------------------------------------------------------------

    async def begin(self, since: LivePosition | None, now: int) -> None:
        """Start at the position, or now; Lost if the log does not have it."""
        self._now = now
        self.since = now if since is None else since.at
        for part in self._parts:
            for topic in part.topics:
                part.tail.watch(topic, self)
            buffer = part.buffer = await part.tail.ready()
            part.log_pages = None
            part.ahead = None
            if since is None:
                # What happened before the caller began to follow is not news.
                await part.tail.catch_up()
                buffer = part.buffer = await part.tail.ready()
                part.place, part.vector = buffer.end, buffer.vector
            else:
                part.vector = await _resolved(buffer.log, since, now)
                self._enter(part, buffer)

    def _enter(self, part: TablePart, buffer: Buffer, *, in_log: bool = False) -> None:
        """Continue from the part's position: in memory if that reaches back far enough, else in the log."""
        part.buffer = buffer
        if buffer.covers(part.vector, in_log=in_log):
            part.place = buffer.records[0].ordinal if buffer.records else buffer.end
            part.ahead = part.vector
        else:
            part.log_pages = self._from_log(part, buffer)

    def position(self) -> str:
        """The position up to which it has read."""
        return self._encoded({})

    def position_after(self, change: ReadChange) -> str:
        record = change.record
        if len(self._parts) > 1 or record.ordinal < 0 or change.vector is not record.vector:
            return self._encoded({change.part: change.vector})
        position = record.positions.get(self._of)
        if position is None:
            # The same for everyone who reads these lists from memory.
            position = record.positions[self._of] = self._encoded({change.part: record.vector})
        return position

    def _encoded(self, elsewhere: "Mapping[TablePart, Vector]") -> str:
        # While it still reads the log, it has not seen the present state yet.
        at = self.since if any(part.log_pages is not None for part in self._parts) else self._now
        streams = [
            (part.buffer.log.tag, elsewhere.get(part, part.vector)) for part in self._parts if part.buffer is not None
        ]
        return self._codec.encode(at, streams, self._of)

    # --- reading ------------------------------------------------------------------------------------------------

    def check_readable(self) -> None:
        """Unavailable while one of the streams cannot be read."""
        for part in self._parts:
            part.check_readable()

    async def read(self, now: int) -> tuple[list[ReadChange], bool]:
        """The next batch of changes, and whether more may follow at once; Lost if some are gone."""
        self._now = now
        for part in self._parts:
            changes, more = await self._read_part(part)
            if changes or more:
                return changes, more or self._has_news()
        return [], False

    async def _read_part(self, part: TablePart) -> tuple[list[ReadChange], bool]:
        while True:
            part.check_readable()
            buffer = part.buffer
            if buffer is None or part.tail.buffer is not buffer:
                tag = None if buffer is None else buffer.log.tag
                buffer = await part.tail.ready()
                if tag != buffer.log.tag:
                    raise Lost
                self._enter(part, buffer)
            elif part.log_pages is None and _fell_behind(part, buffer):
                self._enter(part, buffer)
            if part.log_pages is None:
                return self._read_memory(part, buffer)
            try:
                records = await anext(part.log_pages)
                part.check_grant(records)
                return [ReadChange(self, part, record, record.vector) for record in records], True
            except StopAsyncIteration:
                if self.ended:
                    return [], False
                part.log_pages = None
                self._enter(part, buffer, in_log=True)
                if part.log_pages is not None:
                    # What it met in memory was dropped meanwhile.
                    await _pause(part)
            except Trimmed as error:
                raise Lost from error

    def _read_memory(self, part: TablePart, buffer: Buffer) -> tuple[list[ReadChange], bool]:
        end, vector = buffer.end, buffer.vector
        records = _in_memory(part, buffer)
        # Check everything in memory, not only this batch: access may be lost and regained further on.
        part.check_grant(record for record in records if not _had(part, buffer, record))
        more = len(records) > BATCH_RECORDS
        changes: list[ReadChange] = []
        for record in records[:BATCH_RECORDS]:
            after = record.vector
            if part.ahead is not None:
                if _had(part, buffer, record):
                    continue
                after = buffer.later(record.vector, part.ahead)
            changes.append(ReadChange(self, part, record, after))
        if more:
            last = records[BATCH_RECORDS - 1]
            end, vector = last.ordinal + 1, last.vector
        part.place = end
        if part.ahead is not None:
            together = buffer.later(vector, part.ahead)
            part.ahead = None if together == vector else part.ahead
            part.vector = vector if part.ahead is None else together
        else:
            part.vector = vector
        return changes, more

    async def _from_log(self, part: TablePart, buffer: Buffer) -> AsyncIterator[list[BufferedRecord]]:
        """Changes in the log after the position, in batches, each shard after its parent."""
        if part.grant is not None:
            left = MOST_READ
            async for page in self._pages(part, buffer):
                part.check_grant(page.records)
                left -= page.read
                if left < 0:
                    raise Lost
        left = MOST_READ
        async for page in self._pages(part, buffer):
            self.log_read += page.read
            left -= page.read
            if left < 0:
                raise Lost
            for start in range(0, len(page.records), BATCH_RECORDS):
                batch = page.records[start : start + BATCH_RECORDS]
                part.vector = batch[-1].vector
                yield batch
            part.vector = page.vector

    async def _pages(self, part: TablePart, buffer: Buffer) -> AsyncIterator[LogPage]:
        """The log after the position, page by page, up to what is in memory."""
        keys = partition_attributes(part.tail.table)
        own_topics = set(part.topics)
        log = buffer.log
        vector = dict(part.vector)
        # Shards that began since then are read from their beginning.
        vector |= dict.fromkeys(log.unknown_to(vector))
        waiting = [shard for shard in vector if not _goes_on(buffer, shard, vector[shard])]
        while waiting:
            shard = waiting.pop(0)
            if is_marker(vector[shard]):
                # A place that only the process knows which began to read there.
                raise Lost
            reader = log.read(shard, vector[shard])
            while True:
                # A page is a megabyte, so only a few readers at a time hold one, however many reconnect at once.
                async with self._log_slot(log):
                    if self.ended:
                        # A client that has gone must not take a slot from others.
                        return
                    part.check_readable()
                    page = await _page(reader)
                    records = []
                    for record in page.records:
                        vector[shard] = int(record.sequence_number)
                        topics = topics_of(keys, record)
                        if not own_topics.isdisjoint(topics):
                            records.append(BufferedRecord(record, shard, topics, dict(vector)))
                # The embedded engine answers without yielding, and a day of changes is many pages.
                await asyncio.sleep(0)
                yield LogPage(records, dict(vector), len(page.records))
                if page.ended:
                    children = await _children(log, shard)
                    if children:
                        del vector[shard]
                        vector |= dict.fromkeys(children)
                        waiting += [child for child in children if not buffer.reaches(child, None)]
                        yield LogPage([], dict(vector), 0)
                    else:
                        await _pause(part)
                    break
                if _goes_on(buffer, shard, vector[shard], in_log=True):
                    break
                if page.records:
                    part.empty_pages = 0
                else:
                    await _pause(part)

    @contextlib.asynccontextmanager
    async def _log_slot(self, log: Log) -> AsyncIterator[None]:
        if log.is_limited and log.clients_waiting >= MOST_WAITING:
            raise Lost
        log.clients_waiting += 1
        try:
            await self._log_slots.acquire()
        finally:
            log.clients_waiting -= 1
        try:
            yield
        finally:
            self._log_slots.release()

    # --- waiting ------------------------------------------------------------------------------------------------

    async def wait(self, seconds: float) -> bool:
        """Wait until a change touches one of the lists; False if none does within this many seconds."""
        if self.ended or self._has_news():
            return True
        loop = asyncio.get_running_loop()
        wake = self._wake = loop.create_future()
        timer = loop.call_later(max(seconds, 0.0), self.wake)
        try:
            await wake
        finally:
            self._wake = None
            timer.cancel()
        return self.ended or self._has_news()

    def _has_news(self) -> bool:
        for part in self._parts:  # noqa: SIM110 - called for every change by a thousand readers
            if _has_news(part):
                return True
        return False

    def wake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def end(self) -> None:
        """Stop reading soon, wherever it waits."""
        self.ended = True
        self.wake()

    def close(self) -> None:
        """Release everything it watches and holds."""
        for part in self._parts:
            for topic in part.topics:
                part.tail.unwatch(topic, self)
            part.buffer = None
            part.log_pages = None


def _has_news(part: TablePart) -> bool:
    buffer = part.buffer
    if part.tail.failing:
        # A failure is news as well.
        return True
    if buffer is None or part.log_pages is not None or part.tail.buffer is not buffer:
        # While the tail is reopening the stream there is nothing to read.
        return part.tail.buffer is not None
    for key in part.topics:
        topic = buffer.topics.get(key)
        if topic is not None and (
            topic.dropped >= part.place or (topic.records and topic.records[-1].ordinal >= part.place)
        ):
            return True
    return False


def _fell_behind(part: TablePart, buffer: Buffer) -> bool:
    return any(topic in buffer.topics and buffer.topics[topic].dropped >= part.place for topic in part.topics)


def _had(part: TablePart, buffer: Buffer, record: BufferedRecord) -> bool:
    """Whether the change was already read from the log, before the switch to memory."""
    return part.ahead is not None and buffer.read_before(part.ahead, record)


def _in_memory(part: TablePart, buffer: Buffer) -> list[BufferedRecord]:
    """The changes in memory that touch one of the lists, from where it left off, in order."""
    records: dict[int, BufferedRecord] = {}
    for key in part.topics:
        topic = buffer.topics.get(key)
        if topic is not None:
            for record in reversed(topic.records):
                if record.ordinal < part.place:
                    break
                records[record.ordinal] = record
    return [records[ordinal] for ordinal in sorted(records)]


async def _resolved(log: Log, since: LivePosition, now: int) -> Vector:
    """The position in terms of the log's own shards; Lost if it does not have them."""
    shards = since.streams.get(log.tag)
    if shards is None:
        raise Lost
    if not shards.keys() <= log.by_tag.keys():
        await log.look_at_shards()
        if not shards.keys() <= log.by_tag.keys():
            raise Lost
    if None in shards.values() and now - since.at > SURELY_KEPT_SECONDS:
        # None is "from the shard's beginning", and changes there may have been trimmed by now.
        raise Lost
    return {log.by_tag[tag]: sequence for tag, sequence in shards.items()}


def _goes_on(buffer: Buffer, shard: str, sequence: int | None, *, in_log: bool = False) -> bool:
    """Whether the shard goes on in memory; one that ended goes on in its children."""
    ended = shard in buffer.shards and shard not in buffer.vector
    return not ended and buffer.reaches(shard, sequence, in_log=in_log)


async def _pause(part: TablePart) -> None:
    """Wait for what the log does not show yet; Lost after a while."""
    part.empty_pages += 1
    if part.empty_pages > MOST_EMPTY_PAGES:
        raise Lost
    await asyncio.sleep(EMPTY_PAGE_PAUSE)


async def _page(reader: ShardReader) -> RecordPage:
    for _ in range(FALSE_TRIMS):
        try:
            return await reader.page()
        except Trimmed:
            # DynamoDB Local has been seen to report this for a new shard; the beginning itself cannot be trimmed.
            if reader.after is not None:
                raise
            await asyncio.sleep(FALSE_TRIM_PAUSE)
    return await reader.page()


async def _children(log: Log, shard: str) -> list[str]:
    """The shards that follow this one."""
    if not log.children(shard):
        await log.look_at_shards()
    return log.children(shard)
