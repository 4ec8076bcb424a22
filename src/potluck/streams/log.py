"""A table's change log: its shards and their parents, and pages of records. Nothing else reads a stream.

Transient failures are retried for RETRY_SECONDS and then raise Unavailable; a `patient` log retries for as long as they
last.
"""

import logging
import math
import secrets
import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from potluck.engines import DynamoError, Engine, offered_by
from potluck.engines.shard_reads import ShardReads
from potluck.engines.transient import is_transient
from potluck.streams.backoff import Backoff
from potluck.streams.records import Record
from potluck.table.errors import Unavailable

PAGE_RECORDS = 1000
# A failure that lasts longer than this is reported as Unavailable.
RETRY_SECONDS = 10.0
# DynamoDB Local pads its sequence numbers with zeros.
SHORTEST_NUMBER = 21
TRIMMED = frozenset({"TrimmedDataAccessException", "ResourceNotFoundException", "ValidationException"})
"""The errors for a position that the log no longer has, or never had."""

log = logging.getLogger(__name__)

TAG_BYTES = 6
Vector = Mapping[str, int | None]
"""By shard, the sequence number of the last record that was read; None at its beginning, or a marker."""

# The service does not tell the number of a shard's last record. Reading that begins at the end begins at a marker: a
# random negative number, which only those who began there know, and which comes before all that is read from there.
MARKER_BITS = 62
NOWHERE = -1
"""A marker that no process knows: a reader that has it in its position starts over."""


def new_marker() -> int:
    return NOWHERE - 1 - secrets.randbits(MARKER_BITS)


def is_marker(number: int | None) -> bool:
    return number is not None and number < 0


@lru_cache(1024)
def tag_of(name: str) -> bytes:
    """A short name for a stream or shard; full names would take up most of a position."""
    return blake2b(name.encode(), digest_size=TAG_BYTES).digest()


class Trimmed(Exception):
    """The log no longer reaches back this far."""

    def __init__(self, error: DynamoError) -> None:
        super().__init__(str(error))
        self.error = error

    @property
    def shard_gone(self) -> bool:
        """Whether the whole shard is gone, or its table."""
        return self.error.code == "ResourceNotFoundException"

    @property
    def never_there(self) -> bool:
        """Whether the log never had this position."""
        return self.error.code == "ValidationException"


class RecordPage(NamedTuple):
    records: list[Record]
    ended: bool
    """Whether the shard is closed and read to its end."""


class Log:
    """One stream of one table, and its shards as they were last looked up."""

    def __init__(self, engine: Engine, table: str, arn: str, *, patient: bool = False) -> None:
        self.engine = engine
        self.patient = patient
        self.table = table
        self.arn = arn
        self.tag = tag_of(arn)
        self.parents: dict[str, str | None] = {}
        self.closed: set[str] = set()
        self.by_tag: dict[bytes, str] = {}
        self._shard_reads: ShardReads | None = offered_by(engine, "shard_reads")
        self.clients_waiting = 0
        """How many clients wait to read what is no longer in memory."""

    async def look_at_shards(self) -> None:
        """Refresh the list of shards."""
        parents: dict[str, str | None] = {}
        closed: set[str] = set()
        request = {"StreamArn": self.arn}
        while True:
            stream = (await self.call("DescribeStream", request))["StreamDescription"]
            for shard in stream["Shards"]:
                parents[shard["ShardId"]] = shard.get("ParentShardId")
                if "EndingSequenceNumber" in shard["SequenceNumberRange"]:
                    closed.add(shard["ShardId"])
            if "LastEvaluatedShardId" not in stream:
                break
            request = {"StreamArn": self.arn, "ExclusiveStartShardId": stream["LastEvaluatedShardId"]}
        self.parents, self.closed = parents, closed
        self.by_tag = {tag_of(shard): shard for shard in parents}

    def newest(self) -> list[str]:
        """The shards without children: those written to, now or last."""
        followed = set(self.parents.values())
        return [shard for shard in self.parents if shard not in followed]

    def children(self, shard: str) -> list[str]:
        return [child for child, parent in self.parents.items() if parent == shard]

    def precedes(self, shard: str, others: Mapping[str, Any]) -> bool:
        """Whether one of the others is a descendant of this shard."""
        return any(shard in self.ancestors(other) for other in others)

    def unknown_to(self, vector: Mapping[str, Any]) -> list[str]:
        """The first shards unrelated to a position: neither in it, nor ancestors or descendants of one in it."""
        apart = [
            shard
            for shard in self.parents
            if shard not in vector
            and not self.precedes(shard, vector)
            and not any(earlier in vector for earlier in self.ancestors(shard))
        ]
        return [shard for shard in apart if self.parents[shard] not in apart]

    def ancestors(self, shard: str) -> list[str]:
        """The shard's parent, its parent and so on, as far as the log still has them."""
        ancestors: list[str] = []
        parent = self.parents.get(shard)
        while parent is not None and parent in self.parents:
            ancestors.append(parent)
            parent = self.parents[parent]
        return ancestors

    def read(self, shard: str, after: int | None, limit: int | None = None) -> "ShardReader":
        """Reads a shard's records after this sequence number, or from its beginning."""
        return ShardReader(self, shard, after, limit or PAGE_RECORDS)

    async def read_new(self, shard: str) -> "ShardReader":
        """Reads what is added to a shard from now on."""
        request = {"StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": "LATEST"}
        iterator = str((await self.call("GetShardIterator", request))["ShardIterator"])
        return ShardReader(self, shard, new_marker(), PAGE_RECORDS, iterator)

    @property
    def is_limited(self) -> bool:
        """Whether each read counts towards a limit that all processes share."""
        return self._shard_reads is not None

    async def turn(self, shard: str) -> None:
        """Wait until the shard may be read again."""
        if self._shard_reads is not None:
            await self._shard_reads.turn(shard)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await call_with_retry(self.engine, operation, request, patient=self.patient)


class ShardReader:
    """Reads one shard, page by page; gets a new iterator whenever it has none, or an expired one."""

    def __init__(self, log: Log, shard: str, after: int | None, limit: int, iterator: str | None = None) -> None:
        self.log = log
        self.shard = shard
        self.after = after
        """The last record that was read; None before the first, a marker if it began at the shard's end."""
        self._limit = limit
        self._iterator = iterator

    def seek(self, after: int | None) -> None:
        """Continue after this record."""
        self.after, self._iterator = after, None

    async def page(self) -> RecordPage:
        """The next records, which may be none; Trimmed if some of them are gone."""
        while True:
            try:
                self._iterator = iterator = self._iterator or await self._new_iterator()
                await self.log.turn(self.shard)
                answer = await self.log.call("GetRecords", {"ShardIterator": iterator, "Limit": self._limit})
            except DynamoError as error:
                if error.code == "ExpiredIteratorException" and not is_marker(self.after):
                    self._iterator = None
                    continue
                if error.code in TRIMMED or error.code == "ExpiredIteratorException":
                    self._iterator = None
                    raise Trimmed(error) from error
                raise
            records = [Record(self.log.table, record) for record in answer["Records"]]
            if records:
                self.after = int(records[-1].sequence_number)
            self._iterator = answer.get("NextShardIterator")
            return RecordPage(records, self._iterator is None)

    async def _new_iterator(self) -> str:
        request = {"StreamArn": self.log.arn, "ShardId": self.shard, "ShardIteratorType": "TRIM_HORIZON"}
        if self.after is not None:
            number = str(self.after).zfill(SHORTEST_NUMBER)
            request |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": number}
        return str((await self.log.call("GetShardIterator", request))["ShardIterator"])


async def open_log(engine: Engine, table: str, *, patient: bool = False, although_disabled: bool = False) -> Log | None:
    """The table's current log, with its shards; None while it has none.

    A disabled stream can be read for another day.
    """
    try:
        described = (await call_with_retry(engine, "DescribeTable", {"TableName": table}, patient=patient))["Table"]
        arn = described.get("LatestStreamArn")
        enabled = described.get("StreamSpecification", {}).get("StreamEnabled")
        if arn is None or not (enabled or although_disabled):
            return None
        stream = Log(engine, table, str(arn), patient=patient)
        await stream.look_at_shards()
    except DynamoError as error:
        if error.code == "ResourceNotFoundException":
            return None
        raise
    return stream


async def call_with_retry(
    engine: Engine, operation: str, request: dict[str, Any], *, patient: bool = False
) -> dict[str, Any]:
    """Send a request that is safe to repeat, retrying transient failures; Unavailable if they last too long."""
    pauses = Backoff()
    until = math.inf if patient else time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return await engine.call(operation, request)
        except DynamoError as error:
            if not is_transient(error):
                raise
            if time.monotonic() >= until:
                raise Unavailable(f"{operation} has failed for {RETRY_SECONDS:g} s: {error}") from error
            log.debug("retrying %s: %s", operation, error)
        await pauses.wait()
