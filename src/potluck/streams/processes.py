"""The processes that read a store's streams: they notice each other by rows of the work table.

Each process changes its row every few seconds, and counts the rows that it sees change. As with leases, no clocks of
two machines are compared. A row also says how far its process has read each shard, so that the next process that starts
begins there instead of at the end of the log.
"""

import asyncio
import base64
import contextlib
import logging
import os
import socket
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from potluck.engines import DynamoError, Engine
from potluck.engines.shard_reads import READS_PER_SECOND
from potluck.streams.leases import EXPIRES, WorkTable
from potluck.streams.log import call_with_retry
from potluck.table.errors import Unavailable

BEAT_SECONDS = 20.0
# A process that has not been seen to change its row for this long is gone.
GONE_SECONDS = 70.0
# What the service allows to read one shard.
MOST_READERS = 2
# A row that no one deletes goes by itself.
ROW_SECONDS = 24 * 3600
PARTITION = "PROCESSES"

log = logging.getLogger(__name__)

Places = Mapping[str, Mapping[str, str]]
"""By log, and by shard, the number of a record that was read a few seconds ago."""


@dataclass(slots=True)
class _Seen:
    beats: str
    at: float
    beating: bool = False
    """Whether it was seen to change."""


class Processes:
    """The other processes, as this one sees them."""

    def __init__(
        self,
        engine: Engine,
        places: Callable[[], Places],
        *,
        shared: bool = False,
        others: int = 0,
        work_table: WorkTable | None = None,
        beat_seconds: float = BEAT_SECONDS,
        gone_seconds: float = GONE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`places` says how far this process has read; `shared` if one process reads for all.

        `others` read the streams too and have no rows, as functions on AWS.
        """
        self.id = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self._engine = engine
        self._places = places
        self._shared = shared
        self._others = others
        self._work_table = work_table or WorkTable()
        self._beat_seconds = beat_seconds
        self._gone_seconds = gone_seconds
        self._monotonic = monotonic
        self._seen: dict[str, _Seen] = {}
        self._known: dict[str, dict[str, int]] = {}
        self._warned = False

    @property
    def count(self) -> int:
        """How many readers there may be, this process included."""
        return 1 + self._others + len(self._seen)

    def last_known(self, arn: str, shard: str) -> int | None:
        """The number of the newest record of the shard that any process has noted."""
        return self._known.get(arn, {}).get(shard)

    async def run(self) -> None:
        """Beat and look until cancelled; then leave."""
        try:
            while True:
                # Transient failures are worth no line of their own: everything else meets them too.
                with contextlib.suppress(Unavailable):
                    await self.beat()
                    await self.look()
                    self._warn_of_too_many()
                await asyncio.sleep(self._beat_seconds)
        finally:
            with contextlib.suppress(TimeoutError, DynamoError, Unavailable):
                async with asyncio.timeout(1.0):
                    await self._call("DeleteItem", {"Key": self._key(self.id)})

    async def beat(self) -> None:
        """Change this process's row."""
        values: dict[str, Any] = {
            ":one": {"N": "1"},
            ":places": {"B": _packed(self._places())},
            ":expires": {"N": str(int(time.time()) + ROW_SECONDS)},
        }
        await self._call(
            "UpdateItem",
            {
                "Key": self._key(self.id),
                "UpdateExpression": "SET #places = :places, #expires = :expires ADD #beats :one",
                "ExpressionAttributeNames": {"#places": "Places", "#expires": EXPIRES, "#beats": "Beats"},
                "ExpressionAttributeValues": values,
            },
        )

    async def look(self) -> None:
        """Read the rows of all processes, and delete those of processes that are gone."""
        now = self._monotonic()
        rows = {row[self._work_table.sort_key]["S"]: row async for row in self._rows()}
        for process, row in rows.items():
            if process == self.id:
                continue
            beats = row["Beats"]["N"]
            seen = self._seen.get(process)
            if seen is None:
                self._seen[process] = _Seen(beats, now)
            elif seen.beats != beats:
                self._seen[process] = _Seen(beats, now, beating=True)
        for process, seen in list(self._seen.items()):
            if process not in rows:
                del self._seen[process]
            elif now - seen.at > self._gone_seconds:
                del self._seen[process]
                with contextlib.suppress(DynamoError):
                    await self._delete(process, seen.beats)
        known: dict[str, dict[str, int]] = {}
        for row in rows.values():
            for arn, shards in _unpacked(row["Places"]["B"]).items():
                numbers = known.setdefault(arn, {})
                for shard, number in shards.items():
                    numbers[shard] = max(numbers.get(shard, 0), int(number))
        self._known = known

    def _warn_of_too_many(self) -> None:
        beating = 1 + self._others + sum(1 for seen in self._seen.values() if seen.beating)
        if self._shared or self._warned or beating <= MOST_READERS:
            return
        self._warned = True
        log.warning(
            "%d readers share the streams of this store, and Amazon DynamoDB allows %d: each reads a stream every "
            "%.1f s, so live updates come later; set POTLUCK_FANOUT",
            *(beating, MOST_READERS, beating / READS_PER_SECOND),
        )

    async def _rows(self) -> Any:
        request = {
            "ConsistentRead": True,
            "KeyConditionExpression": "#partition = :partition",
            "ExpressionAttributeNames": {"#partition": self._work_table.partition_key},
            "ExpressionAttributeValues": {":partition": {"S": PARTITION}},
        }
        while True:
            answer = await self._call("Query", request)
            for row in answer["Items"]:
                yield row
            if "LastEvaluatedKey" not in answer:
                return
            request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    async def _delete(self, process: str, beats: str) -> None:
        await self._call(
            "DeleteItem",
            {
                "Key": self._key(process),
                "ConditionExpression": "#beats = :beats",
                "ExpressionAttributeNames": {"#beats": "Beats"},
                "ExpressionAttributeValues": {":beats": {"N": beats}},
            },
        )

    def _key(self, process: str) -> dict[str, Any]:
        return self._work_table.key(PARTITION, process)

    async def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await call_with_retry(self._engine, operation, {"TableName": self._work_table.table, **request})


def places_of(logs: Iterable[tuple[str, Mapping[str, int | None]]]) -> Places:
    """How far these logs were read, as far as it is known by number."""
    return {
        arn: {shard: str(number) for shard, number in vector.items() if number is not None and number > 0}
        for arn, vector in logs
    }


def _packed(places: Places) -> str:
    return base64.b64encode(zlib.compress(msgspec.json.encode(places))).decode()


def _unpacked(text: str) -> dict[str, dict[str, str]]:
    return msgspec.json.decode(zlib.decompress(base64.b64decode(text)), type=dict[str, dict[str, str]])
