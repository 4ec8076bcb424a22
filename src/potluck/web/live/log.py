"""A table's change log as it is read here: shards and their parents, pages of changes, and what cannot be read."""

import logging
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from potluck.engines import DynamoError, Engine
from potluck.leases import is_passing
from potluck.streams import Change, Pauses
from potluck.table.errors import Unavailable
from potluck.web.live.positions import tag_of

__all__ = ["Log", "Page", "Trimmed", "open_log"]

PAGE_RECORDS = 1000
# What fails for longer than this is no hiccup: whoever waits for it is told.
PATIENCE_SECONDS = 10.0
# Those of DynamoDB Local begin with zeros.
SHORTEST_NUMBER = 21
TRIMMED = frozenset({"TrimmedDataAccessException", "ResourceNotFoundException", "ValidationException"})
"""What is answered about a place that the log has no longer, or of which it never heard."""

log = logging.getLogger(__name__)


class Trimmed(Exception):
    """The log does not reach back to this place any more."""


class Page(NamedTuple):
    changes: list[Change]
    next: str | None
    """Where the shard goes on; None where it has ended."""


class Log:
    """One stream of one table, and the shards that are known of it."""

    def __init__(self, engine: Engine, table: str, arn: str) -> None:
        self.engine = engine
        self.table = table
        self.arn = arn
        self.tag = tag_of(arn)
        self.parents: dict[str, str | None] = {}
        self.closed: set[str] = set()
        self.by_tag: dict[bytes, str] = {}

    async def look_at_shards(self) -> None:
        """Learn which shards there are by now."""
        parents: dict[str, str | None] = {}
        closed: set[str] = set()
        request = {"StreamArn": self.arn}
        while True:
            stream = (await patiently(self.engine, "DescribeStream", request))["StreamDescription"]
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
        """The shards that are written to, or were last."""
        followed = set(self.parents.values())
        return [shard for shard in self.parents if shard not in followed]

    def children(self, shard: str) -> list[str]:
        return [child for child, parent in self.parents.items() if parent == shard]

    def precedes(self, shard: str, others: Mapping[str, Any]) -> bool:
        """Whether one of the others goes on where this shard, or a later one of its line, has ended."""
        return any(shard in self._line(other) for other in others)

    def unknown_to(self, vector: Mapping[str, Any]) -> list[str]:
        """The first shards of which a position says nothing: they neither come before it nor go on from it."""
        apart = [
            shard
            for shard in self.parents
            if shard not in vector
            and not self.precedes(shard, vector)
            and not any(earlier in vector for earlier in self._line(shard))
        ]
        return [shard for shard in apart if self.parents[shard] not in apart]

    def _line(self, shard: str) -> list[str]:
        """The shards that it goes on from, as far as they are kept."""
        line: list[str] = []
        parent = self.parents.get(shard)
        while parent is not None and parent in self.parents:
            line.append(parent)
            parent = self.parents[parent]
        return line

    async def iterator(self, shard: str, after: int | None) -> str:
        """A place to read from; Trimmed where changes behind it are not kept any more."""
        request = {"StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        if after is not None:
            request |= {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": str(after).zfill(SHORTEST_NUMBER),
            }
        try:
            return str((await patiently(self.engine, "GetShardIterator", request))["ShardIterator"])
        except DynamoError as error:
            if error.code in TRIMMED:
                raise Trimmed from error
            raise

    async def page(self, iterator: str, limit: int = PAGE_RECORDS) -> Page:
        request = {"ShardIterator": iterator, "Limit": limit}
        try:
            answer = await patiently(self.engine, "GetRecords", request)
        except DynamoError as error:
            if error.code in TRIMMED:
                raise Trimmed from error
            raise
        return Page([Change(self.table, record) for record in answer["Records"]], answer.get("NextShardIterator"))


async def open_log(engine: Engine, table: str) -> Log | None:
    """The log that the table writes now, with its shards; None while it has none."""
    try:
        described = (await patiently(engine, "DescribeTable", {"TableName": table}))["Table"]
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


async def patiently(engine: Engine, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a read until it does not fail for a passing reason; Unavailable if that takes too long."""
    pauses = Pauses()
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await engine.call(operation, request)
        except DynamoError as error:
            if not is_passing(error):
                raise
            if time.monotonic() >= until:
                raise Unavailable(f"{operation} fails for longer than {PATIENCE_SECONDS:g} s: {error}") from error
            log.debug("%s is sent again: %s", operation, error)
        await pauses.wait()
