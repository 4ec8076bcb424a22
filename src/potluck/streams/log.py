"""A table's change log: its shards and their parents, and pages of changes."""

import logging
import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from potluck.engines import DynamoError, Engine
from potluck.engines.transient import is_transient
from potluck.streams.backoff import Backoff
from potluck.streams.records import Record
from potluck.table.errors import Unavailable

__all__ = ["Log", "Page", "Trimmed", "Vector", "open_log", "tag_of"]

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
"""By shard, the sequence number of the last change that was read; None before the first."""


@lru_cache(1024)
def tag_of(name: str) -> bytes:
    """A short name for a stream or shard: full names would be most of a position."""
    return blake2b(name.encode(), digest_size=TAG_BYTES).digest()


class Trimmed(Exception):
    """The log no longer reaches back this far."""


class Page(NamedTuple):
    changes: list[Record]
    next: str | None
    """The iterator of the next page; None at the shard's end."""


class Log:
    """One stream of one table, and its shards as they were last looked up."""

    def __init__(self, engine: Engine, table: str, arn: str) -> None:
        self.engine = engine
        self.table = table
        self.arn = arn
        self.tag = tag_of(arn)
        self.parents: dict[str, str | None] = {}
        self.closed: set[str] = set()
        self.by_tag: dict[bytes, str] = {}

    async def look_at_shards(self) -> None:
        """Refresh the list of shards."""
        parents: dict[str, str | None] = {}
        closed: set[str] = set()
        request = {"StreamArn": self.arn}
        while True:
            stream = (await call_with_retry(self.engine, "DescribeStream", request))["StreamDescription"]
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
        """The shards without children: those that are written to, or were last."""
        followed = set(self.parents.values())
        return [shard for shard in self.parents if shard not in followed]

    def children(self, shard: str) -> list[str]:
        return [child for child, parent in self.parents.items() if parent == shard]

    def precedes(self, shard: str, others: Mapping[str, Any]) -> bool:
        """Whether one of the others is a descendant of this shard."""
        return any(shard in self._ancestors(other) for other in others)

    def unknown_to(self, vector: Mapping[str, Any]) -> list[str]:
        """The first shards unrelated to a position: neither in it, nor ancestors or descendants of one in it."""
        apart = [
            shard
            for shard in self.parents
            if shard not in vector
            and not self.precedes(shard, vector)
            and not any(earlier in vector for earlier in self._ancestors(shard))
        ]
        return [shard for shard in apart if self.parents[shard] not in apart]

    def _ancestors(self, shard: str) -> list[str]:
        """Its parent, that one's parent and so on, as far back as the log still has them."""
        ancestors: list[str] = []
        parent = self.parents.get(shard)
        while parent is not None and parent in self.parents:
            ancestors.append(parent)
            parent = self.parents[parent]
        return ancestors

    async def iterator(self, shard: str, after: int | None) -> str:
        """An iterator after this sequence number; Trimmed if changes after it are gone."""
        request = {"StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        if after is not None:
            request |= {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": str(after).zfill(SHORTEST_NUMBER),
            }
        try:
            return str((await call_with_retry(self.engine, "GetShardIterator", request))["ShardIterator"])
        except DynamoError as error:
            if error.code in TRIMMED:
                raise Trimmed from error
            raise

    async def page(self, iterator: str, limit: int = PAGE_RECORDS) -> Page:
        request = {"ShardIterator": iterator, "Limit": limit}
        try:
            answer = await call_with_retry(self.engine, "GetRecords", request)
        except DynamoError as error:
            if error.code in TRIMMED:
                raise Trimmed from error
            raise
        return Page([Record(self.table, record) for record in answer["Records"]], answer.get("NextShardIterator"))


async def open_log(engine: Engine, table: str) -> Log | None:
    """The table's current log, with its shards; None while it has none."""
    try:
        described = (await call_with_retry(engine, "DescribeTable", {"TableName": table}))["Table"]
        arn = described.get("LatestStreamArn")
        if arn is None or not described.get("StreamSpecification", {}).get("StreamEnabled"):
            return None
        found = Log(engine, table, str(arn))
        await found.look_at_shards()
    except DynamoError as error:
        if error.code == "ResourceNotFoundException":
            return None
        raise
    return found


async def call_with_retry(engine: Engine, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a read, retrying transient failures; Unavailable if they last too long."""
    pauses = Backoff()
    until = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return await engine.call(operation, request)
        except DynamoError as error:
            if not is_transient(error):
                raise
            if time.monotonic() >= until:
                raise Unavailable(f"{operation} fails for longer than {RETRY_SECONDS:g} s: {error}") from error
            log.debug("%s is sent again: %s", operation, error)
        await pauses.wait()
