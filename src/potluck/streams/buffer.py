"""A table's most recent records, in memory, indexed by every partition they touch in the table and its indexes."""

import time
from collections import deque
from collections.abc import Container, Mapping
from typing import Any

from potluck.dynamo.values import Value
from potluck.streams.log import NOWHERE, Log, Vector, is_marker
from potluck.streams.records import Record
from potluck.table.tables import Table

BUFFER_RECORDS = 1000
# As the stream reports sizes; in memory they are about ten times as large.
BUFFER_BYTES = 1_000_000

TopicKey = tuple[str | None, str]
"""An index, or None for the table itself, and a value of its partition key."""

PartitionAttributes = tuple[tuple[str | None, str], ...]
"""The partition key attribute of the table (None) and of each index."""


class BufferedRecord:
    """A record, its place in the log and in the buffer, and its entities once decoded."""

    __slots__ = (
        "arrived",
        "decoded_new",
        "decoded_old",
        "new",
        "old",
        "ordinal",
        "positions",
        "record",
        "sequence",
        "shard",
        "size",
        "topics",
        "vector",
    )

    def __init__(self, record: Record, shard: str, topics: tuple[TopicKey, ...], vector: Vector) -> None:
        body = record.wire["dynamodb"]
        self.record = record
        self.shard = shard
        self.sequence = int(body["SequenceNumber"])
        self.old = body.get("OldImage")
        self.new = body.get("NewImage")
        self.size = int(body.get("SizeBytes", 0))
        self.topics = topics
        self.vector = vector
        """How far each shard had been read, this record included."""
        self.ordinal = -1
        self.arrived = 0.0
        self.positions: dict[bytes, str] = {}
        """The encoded position after this record, by the id of the lists being read."""
        self.decoded_old: dict[Any, Any] = {}
        self.decoded_new: dict[Any, Any] = {}


class Topic:
    """The records in memory that touch one partition."""

    __slots__ = ("dropped", "records")

    def __init__(self) -> None:
        self.records: deque[BufferedRecord] = deque()
        self.dropped = -1
        """The ordinal of the last of its records that was dropped from memory."""


class BufferedShard:
    """How far one shard has been read, and the place after which everything is in memory (`floor`)."""

    __slots__ = ("began", "floor", "from_start", "numbers", "sequence")

    def __init__(self, start: int | None) -> None:
        self.from_start = start is None
        """Whether everything that the shard has had is in memory."""
        self.sequence = start
        """The last record that was read, or where reading began; None at the shard's beginning."""
        self.floor = start
        self.numbers: set[int] = set()
        """The sequence numbers of its records in memory."""
        self.began = time.monotonic()

    def reaches(self, sequence: int | None, *, in_log: bool = False) -> bool:
        """Whether everything after this record is in memory, or will be; `in_log` if the log has accepted it."""
        if self.from_start and (sequence is None or in_log):
            return True
        if sequence is None:
            return False
        if sequence == self.floor or sequence in self.numbers:
            return True
        # A number that was never issued here, as after an earlier state of the store was restored, is left for the log
        # to refuse. A later one counts as reached: another process may have read further than this one.
        return self.sequence is not None and not is_marker(self.sequence) and sequence > self.sequence


class Buffer:
    """The latest records of one log; the oldest are dropped first."""

    def __init__(
        self, table: Table, log: Log, watched: Container[TopicKey], most_records: int, most_bytes: int
    ) -> None:
        self.table = table
        self.log = log
        self._watched = watched
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._bytes = 0
        self._keys = partition_attributes(table)
        self.records: deque[BufferedRecord] = deque()
        self.topics: dict[TopicKey, Topic] = {}
        self.shards: dict[str, BufferedShard] = {}
        self.vector: Vector = {}
        self.floor: Vector = {}
        """How far every shard was read before the oldest record in memory."""
        self.end = 0
        """The ordinal of the next record."""

    def follow(self, shard: str, start: int | None, instead_of: str | None = None) -> None:
        """Start with this shard after a record, or at its beginning; in place of its parent if that was being read."""
        self.shards[shard] = BufferedShard(start)
        vector = {other: number for other, number in self.vector.items() if other != instead_of}
        self.vector = {**vector, shard: start}
        if not self.records:
            self.floor = self.vector

    def append(self, shard: str, record: Record, arrived: float) -> BufferedRecord:
        buffered = BufferedRecord(record, shard, topics_of(self._keys, record), self.vector)
        sequence = buffered.sequence
        self.vector = buffered.vector = {**self.vector, shard: sequence}
        buffered.ordinal, buffered.arrived = self.end, arrived
        self.end += 1
        state = self.shards[shard]
        state.sequence = sequence
        state.numbers.add(sequence)
        self.records.append(buffered)
        for key in buffered.topics:
            topic = self.topics.get(key)
            if topic is None:
                topic = self.topics[key] = Topic()
            topic.records.append(buffered)
        self._bytes += buffered.size
        while len(self.records) > self._most_records or (self._bytes > self._most_bytes and len(self.records) > 1):
            self._drop_oldest()
        return buffered

    def _drop_oldest(self) -> None:
        record = self.records.popleft()
        self._bytes -= record.size
        self.floor = record.vector
        state = self.shards[record.shard]
        state.floor = record.sequence
        state.numbers.discard(record.sequence)
        state.from_start = False
        for key in record.topics:
            topic = self.topics[key]
            topic.records.popleft()
            topic.dropped = record.ordinal
            if not topic.records and key not in self._watched:
                del self.topics[key]

    def covers(self, vector: Vector, *, in_log: bool = False) -> bool:
        """Whether everything after this position is certainly in memory; `in_log` if the log has accepted it."""
        return all(self.reaches(shard, number, in_log=in_log) for shard, number in vector.items()) and all(
            shard in vector or state.from_start or self.log.precedes(shard, vector)
            for shard, state in self.shards.items()
        )

    def reaches(self, shard: str, sequence: int | None, *, in_log: bool = False) -> bool:
        """Whether everything in this shard after this record is in memory, or will be."""
        state = self.shards.get(shard)
        if state is None:
            # It will be read from its beginning, when the shards before it have ended.
            return any(earlier in self.shards for earlier in self.log.ancestors(shard))
        return state.reaches(sequence, in_log=in_log)

    def vector_before(self, seconds: float) -> Vector:
        """How far every shard had been read this many seconds ago; as far back as memory reaches at most."""
        earliest = time.monotonic() - seconds
        for record in reversed(self.records):
            if record.arrived <= earliest:
                return record.vector
        return self._floor_before(earliest)

    def _floor_before(self, moment: float) -> Vector:
        """The floor, if no shard was begun at an unknown place since this moment; such a shard is NOWHERE."""
        return {
            shard: NOWHERE if is_marker(number) and self.shards[shard].began > moment else number
            for shard, number in self.floor.items()
        }

    def read_before(self, vector: Vector, record: BufferedRecord) -> bool:
        """Whether a reader at this position has already seen the record."""
        if record.shard in vector:
            sequence = vector[record.shard]
            return sequence is not None and record.sequence <= sequence
        return self.log.precedes(record.shard, vector)

    def later(self, one: Vector, other: Vector) -> Vector:
        """The further of the two positions, shard by shard."""
        together: dict[str, int | None] = {}
        for shard in {**one, **other}:
            if self.log.precedes(shard, one) or self.log.precedes(shard, other):
                continue
            numbers = [number for number in (one.get(shard), other.get(shard)) if number is not None]
            together[shard] = max(numbers, default=None)
        return together


def partition_attributes(table: Table) -> PartitionAttributes:
    indexes = ((index, keys[0].name) for index, keys in table.indexes.items())
    return (None, table.partition.name), *indexes


def topics_of(keys: PartitionAttributes, record: Record) -> tuple[TopicKey, ...]:
    """The partitions that hold the item now, and those that held it before."""
    topics: dict[TopicKey, None] = {}
    for image in (record.old, record.new):
        if image is not None:
            for index, attribute in keys:
                value = image.get(attribute)
                if value is not None:
                    topics[index, partition_text(value)] = None
    return tuple(topics)


def partition_text(value: Mapping[str, Any] | Value) -> str:
    # The text alone identifies the value: a key attribute has one type, and both engines normalise numbers.
    (text,) = value.values()
    return str(text)
