"""A reader of some lists: from a position on, every change that touches them, once, from memory or from the log."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import NamedTuple

from potluck.dynamo.limits import STREAM_RETENTION_SECONDS
from potluck.engines import DynamoError
from potluck.table.errors import Unavailable
from potluck.table.membership import Membership
from potluck.web.live.buffer import Buffer, Record, TopicKey, partition_attributes, partition_text, topics_of
from potluck.web.live.log import Log, Page, Trimmed
from potluck.web.live.positions import Position, PositionCodec, Vector
from potluck.web.live.rights import Holding
from potluck.web.live.tail import Tail

__all__ = ["BATCH_RECORDS", "Lost", "Reader", "Seen"]

BATCH_RECORDS = 100
# The log may be trimmed a little early by another machine's clock.
SURELY_KEPT_SECONDS = STREAM_RETENTION_SECONDS - 3600
FALSE_TRIM_PAUSE = 0.05
FALSE_TRIMS = 5
# So far back, whether a caller was in all the time is found out. Beyond, to read the list again costs less than that.
MOST_LOOKED_THROUGH = 10_000


class Lost(Exception):
    """Of the changes after the position, some may be gone from the log, or are none of the caller's business."""


class Seen:
    """A change that a reader met, and the position after it."""

    __slots__ = ("part", "reader", "record", "vector")

    def __init__(self, reader: "Reader", part: "Part", record: Record, vector: Vector) -> None:
        self.reader = reader
        self.part = part
        self.record = record
        self.vector = vector

    @property
    def position(self) -> str:
        return self.reader.position_after(self)


class Part:
    """The lists of one table that a reader follows, and how far it has come there."""

    __slots__ = ("ahead", "buffer", "lists", "log_pages", "mark", "place", "right", "tail", "topics", "vector")

    def __init__(self, tail: Tail, lists: Sequence[Membership], right: Holding | None) -> None:
        self.tail = tail
        self.lists = lists
        self.right = right
        """By what the caller may look, if that is a row of this table."""
        topics = dict.fromkeys((each.index, partition_text(each.partition)) for each in lists)
        if right is not None:
            topics[right.topic] = None
        self.topics: tuple[TopicKey, ...] = tuple(topics)
        self.buffer: Buffer | None = None
        self.place = 0
        """The number of the next change in the buffer to look at."""
        self.vector: Vector = {}
        """How far it has come, in the words of the log."""
        self.ahead: Vector | None = None
        """Where it had read further than memory when it came there."""
        self.log_pages: AsyncIterator[list[Record]] | None = None
        self.mark = 0

    def must_be_held(self, records: Iterable[Record]) -> None:
        """Lost, if the caller was out for some of the time: nobody can tell these changes from those."""
        right = self.right
        if right is not None and any(right.interrupted_by(record) for record in records):
            raise Lost

    def must_be_read(self) -> None:
        """Unavailable while the stream cannot be read: that nothing is told then does not say that nothing is new."""
        if self.tail.failing:
            raise Unavailable(f"the stream of {self.tail.table.name} cannot be read for now")


class Looked(NamedTuple):
    """A page of the log, of which these concern a reader, and how far it has come with it."""

    records: list[Record]
    vector: Vector
    read: int


class Reader:
    """Reads on from a position, or from now on. It holds nothing but its place."""

    __slots__ = ("_codec", "_log_turns", "_now", "_of", "_parts", "_wake", "by_right", "ended", "since")

    def __init__(
        self,
        codec: PositionCodec,
        log_turns: asyncio.Semaphore,
        lists: Mapping[Tail, Sequence[Membership]],
        of: bytes,
        right: Holding | None = None,
    ) -> None:
        """`of` names the lists in positions; without the right, at any time since a position, they are Lost."""
        self._codec = codec
        self._of = of
        self._log_turns = log_turns
        self._parts = [
            Part(tail, each, right if right is not None and right.table is tail.table else None)
            for tail, each in lists.items()
        ]
        self._wake: asyncio.Future[None] | None = None
        self._now = 0
        self.by_right = right is not None
        self.ended = False
        self.since = 0
        """When the caller last looked, as the position says."""

    # --- where it is --------------------------------------------------------------------------------------------

    async def begin(self, since: Position | None, now: int) -> None:
        """Go to the position, or to now; Lost where the log does not know it."""
        self._now = now
        self.since = now if since is None else since.at
        for part in self._parts:
            for topic in part.topics:
                part.tail.watch(topic, self)
            buffer = part.buffer = await part.tail.ready()
            part.log_pages = None
            part.ahead = None
            if since is None:
                part.place, part.vector = buffer.end, buffer.vector
            else:
                part.vector = await _resolved(buffer.log, since, now)
                self._enter(part, buffer)

    def _enter(self, part: Part, buffer: Buffer) -> None:
        """Go on from the part's own position: in memory if that reaches back so far, else in the log."""
        part.buffer = buffer
        if buffer.covers(part.vector):
            part.place = buffer.records[0].ordinal if buffer.records else buffer.end
            part.ahead = part.vector
        else:
            # Whatever memory has by now is in the log as well: having read that to its end, this is where to go on.
            part.mark = buffer.end
            part.log_pages = self._from_log(part, buffer.log)

    def position(self) -> str:
        """The position where it is now."""
        return self._encoded({})

    def position_after(self, seen: Seen) -> str:
        record = seen.record
        if len(self._parts) > 1 or record.ordinal < 0 or seen.vector is not record.vector:
            return self._encoded({seen.part: seen.vector})
        position = record.positions.get(self._of)
        if position is None:
            # Those who read along in memory are all told the same.
            position = record.positions[self._of] = self._encoded({seen.part: record.vector})
        return position

    def _encoded(self, elsewhere: "Mapping[Part, Vector]") -> str:
        # In the middle of the log it has not yet looked at what is there now.
        at = self.since if any(part.log_pages is not None for part in self._parts) else self._now
        streams = [
            (part.buffer.log.tag, elsewhere.get(part, part.vector)) for part in self._parts if part.buffer is not None
        ]
        return self._codec.encode(at, streams, self._of)

    # --- reading on ---------------------------------------------------------------------------------------------

    def must_be_read(self) -> None:
        """Unavailable while one of the streams cannot be read."""
        for part in self._parts:
            part.must_be_read()

    async def read(self, now: int) -> tuple[list[Seen], bool]:
        """The next changes, few enough to be held, and whether there may be more at once; Lost where some are gone."""
        self._now = now
        for part in self._parts:
            seen, more = await self._read_part(part)
            if seen or more:
                return seen, more or self._has_news()
        return [], False

    async def _read_part(self, part: Part) -> tuple[list[Seen], bool]:
        while True:
            part.must_be_read()
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
                part.must_be_held(records)
                return [Seen(self, part, record, record.vector) for record in records], True
            except StopAsyncIteration:
                part.log_pages, part.ahead, part.place = None, part.vector, part.mark
            except Trimmed as error:
                raise Lost from error

    def _read_memory(self, part: Part, buffer: Buffer) -> tuple[list[Seen], bool]:
        end, vector = buffer.end, buffer.vector
        records = _in_memory(part, buffer)
        # Of all that there is, and not only of what is told next: who was out may have come back since.
        part.must_be_held(record for record in records if not _had(part, buffer, record))
        more = len(records) > BATCH_RECORDS
        seen: list[Seen] = []
        for record in records[:BATCH_RECORDS]:
            after = record.vector
            if part.ahead is not None:
                if _had(part, buffer, record):
                    continue
                after = buffer.later(record.vector, part.ahead)
            seen.append(Seen(self, part, record, after))
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
        return seen, more

    async def _from_log(self, part: Part, log: Log) -> AsyncIterator[list[Record]]:
        """What the log has after the part's position, some at a time, each shard after its parent."""
        if part.right is not None:
            left = MOST_LOOKED_THROUGH
            async for page in self._pages(part, log):
                part.must_be_held(page.records)
                left -= page.read
                if left < 0:
                    raise Lost
        async for page in self._pages(part, log):
            for start in range(0, len(page.records), BATCH_RECORDS):
                batch = page.records[start : start + BATCH_RECORDS]
                part.vector = batch[-1].vector
                yield batch
            part.vector = page.vector

    async def _pages(self, part: Part, log: Log) -> AsyncIterator[Looked]:
        """The log after the part's position, to its end."""
        keys = partition_attributes(part.tail.table)
        wanted = set(part.topics)
        vector = dict(part.vector)
        # What began since then is read from its beginning.
        vector |= dict.fromkeys(log.unknown_to(vector))
        waiting = list(vector)
        while waiting:
            shard = waiting.pop(0)
            iterator: str | None = None
            while True:
                # So few at a time, however many come back at once: a page is a megabyte.
                async with self._log_turns:
                    if self.ended:
                        # Who has gone while it was their turn, or before, does not keep others from theirs.
                        return
                    part.must_be_read()
                    page, iterator = await _page(log, shard, vector[shard], iterator)
                    records = []
                    for change in page.changes:
                        vector[shard] = int(change.sequence_number)
                        topics = topics_of(keys, change)
                        if not wanted.isdisjoint(topics):
                            records.append(Record(change, shard, topics, dict(vector)))
                # The embedded engine answers without a pause, and a day of changes is many pages.
                await asyncio.sleep(0)
                yield Looked(records, dict(vector), len(page.changes))
                if iterator is None:
                    children = await _children(log, shard)
                    if children:
                        del vector[shard]
                        vector |= dict.fromkeys(children)
                        waiting += children
                        yield Looked([], dict(vector), 0)
                    break
                if not page.changes:
                    break

    # --- waiting ------------------------------------------------------------------------------------------------

    async def wait(self, seconds: float) -> bool:
        """Until a change touches one of the lists, or so many seconds; False when they have passed."""
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
        for part in self._parts:  # noqa: SIM110 - a thousand readers ask for every change
            if _has_news(part):
                return True
        return False

    def wake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def end(self) -> None:
        """Nothing more is wanted."""
        self.ended = True
        self.wake()

    def close(self) -> None:
        """Let go of everything."""
        for part in self._parts:
            for topic in part.topics:
                part.tail.unwatch(topic, self)
            part.buffer = None
            part.log_pages = None


def _has_news(part: Part) -> bool:
    buffer = part.buffer
    if part.tail.failing:
        # That there is none to be had is news as well.
        return True
    if buffer is None or part.log_pages is not None or part.tail.buffer is not buffer:
        # While the stream is being found anew there is nothing to read.
        return part.tail.buffer is not None
    for key in part.topics:
        topic = buffer.topics.get(key)
        if topic is not None and (
            topic.dropped >= part.place or (topic.records and topic.records[-1].ordinal >= part.place)
        ):
            return True
    return False


def _fell_behind(part: Part, buffer: Buffer) -> bool:
    return any(topic in buffer.topics and buffer.topics[topic].dropped >= part.place for topic in part.topics)


def _had(part: Part, buffer: Buffer, record: Record) -> bool:
    """Whether the part had read further than memory when it came there, and this is before that."""
    return part.ahead is not None and buffer.read_before(part.ahead, record)


def _in_memory(part: Part, buffer: Buffer) -> list[Record]:
    """The changes in memory that touch one of the part's lists, from its place on, in their order."""
    found: dict[int, Record] = {}
    for key in part.topics:
        topic = buffer.topics.get(key)
        if topic is not None:
            for record in reversed(topic.records):
                if record.ordinal < part.place:
                    break
                found[record.ordinal] = record
    return [found[ordinal] for ordinal in sorted(found)]


async def _resolved(log: Log, since: Position, now: int) -> Vector:
    """The position in the log's own names; Lost where it cannot be found there."""
    shards = since.streams.get(log.tag)
    if shards is None:
        raise Lost
    if not shards.keys() <= log.by_tag.keys():
        await log.look_at_shards()
        if not shards.keys() <= log.by_tag.keys():
            raise Lost
    if None in shards.values() and now - since.at > SURELY_KEPT_SECONDS:
        # The beginning of a log is not the same change for ever.
        raise Lost
    return {log.by_tag[tag]: sequence for tag, sequence in shards.items()}


async def _page(log: Log, shard: str, after: int | None, iterator: str | None) -> tuple[Page, str | None]:
    """The shard's next page, and where it goes on."""
    for attempt in range(FALSE_TRIMS + 1):
        try:
            if iterator is None:
                iterator = await log.iterator(shard, after)
            page = await log.page(iterator)
        except DynamoError as error:
            if error.code != "ExpiredIteratorException":
                raise
            iterator = None
        except Trimmed:
            # DynamoDB Local was seen to say so of a new shard, and the beginning itself is never trimmed.
            if after is not None or attempt == FALSE_TRIMS:
                raise
            iterator = None
            await asyncio.sleep(FALSE_TRIM_PAUSE)
        else:
            return page, page.next
    raise Trimmed


async def _children(log: Log, shard: str) -> list[str]:
    """The shards that go on where this one has ended."""
    if not log.children(shard):
        await log.look_at_shards()
    return log.children(shard)
