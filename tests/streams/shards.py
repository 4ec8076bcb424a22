"""Streams as DynamoDB has them: in several shards, which end and are followed by others, and calls that fail."""

import random
import zlib
from typing import Any

from potluck.engines import ANSWER_LOST, DynamoError, Engine

__all__ = ["Failing", "Sharded"]

END = 1 << 100


class Sharded:
    """An engine whose streams have two lines of shards, by partition key; `split` ends those that are open.

    A shard of a later generation follows the one of its line before; every other split has two shards follow.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.splits: list[int] = []
        self.trimmed: set[str] = set()
        self.told_late = 0
        self._all: list[dict[str, Any]] = []
        self._next: dict[str, Any] = {}

    async def split(self, arn_of: str) -> None:
        """From now on, other shards are written to."""
        await self._read(await self._arn(arn_of))
        self.splits.append(self._sequence(self._all[-1]) if self._all else 0)

    def open_shards(self) -> list[str]:
        """The shards that are written to now."""
        return [f"{len(self.splits)}-{line}" for line in range(self._lines(len(self.splits)))]

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        match operation:
            case "DescribeStream":
                told = await self.engine.call(operation, request)
                shards = self._shards()
                if self.told_late:
                    # The children of a shard that ended are told of a little later.
                    self.told_late -= 1
                    shards = [each for each in shards if each["ShardId"][0] != str(len(self.splits))]
                told["StreamDescription"]["Shards"] = shards
                return told
            case "GetShardIterator":
                if request["ShardId"] not in {each["ShardId"] for each in self._shards()}:
                    raise DynamoError("ResourceNotFoundException", "no such shard")
                after = request.get("SequenceNumber", "0")
                if request["ShardIteratorType"] == "LATEST":
                    await self._read(request["StreamArn"])
                    after = str(self._sequence(self._all[-1]) if self._all else 0)
                return {"ShardIterator": f"{request['StreamArn']} {request['ShardId']} {after}"}
            case "GetRecords":
                arn, shard, after = request["ShardIterator"].split(" ")
                await self._read(arn)
                found = [each for each in self._all if self._shard(each) == shard and self._sequence(each) > int(after)]
                records = found[:3]
                generation = int(shard[0])
                answer: dict[str, Any] = {"Records": records}
                if len(records) < len(found) or generation == len(self.splits):
                    last = self._sequence(records[-1]) if records else int(after)
                    answer["NextShardIterator"] = f"{arn} {shard} {last}"
                return answer
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, 0.05)

    async def close(self) -> None:
        await self.engine.close()

    async def _arn(self, table: str) -> str:
        return str((await self.engine.call("DescribeTable", {"TableName": table}))["Table"]["LatestStreamArn"])

    async def _read(self, arn: str) -> None:
        if not self._next:
            told = (await self.engine.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
            first = {"StreamArn": arn, "ShardId": told["Shards"][0]["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            self._next = await self.engine.call("GetShardIterator", first)
        while True:
            iterator = self._next.get("ShardIterator") or self._next["NextShardIterator"]
            page = self._next = await self.engine.call("GetRecords", {"ShardIterator": iterator})
            self._all += page["Records"]
            if not page["Records"]:
                return

    def _sequence(self, record: dict[str, Any]) -> int:
        return int(record["dynamodb"]["SequenceNumber"])

    def _shard(self, record: dict[str, Any]) -> str:
        sequence = self._sequence(record)
        generation = sum(1 for split in self.splits if sequence > split)
        line = zlib.crc32(record["dynamodb"]["Keys"]["SK"]["S"].encode()) % self._lines(generation)
        return f"{generation}-{line}"

    def _lines(self, generation: int) -> int:
        return 2 << generation // 2

    def _shards(self) -> list[dict[str, Any]]:
        shards: list[dict[str, Any]] = []
        for generation in range(len(self.splits) + 1):
            for line in range(self._lines(generation)):
                numbers = {"StartingSequenceNumber": "1"}
                if generation < len(self.splits):
                    numbers["EndingSequenceNumber"] = str(self.splits[generation])
                shard: dict[str, Any] = {"ShardId": f"{generation}-{line}", "SequenceNumberRange": numbers}
                if generation:
                    # A line is split by its remainder, so what a shard holds goes on in those with the same one.
                    shard["ParentShardId"] = f"{generation - 1}-{line % self._lines(generation - 1)}"
                shards.append(shard)
        return [each for each in shards if each["ShardId"] not in self.trimmed]


class Failing:
    """An engine that fails every third call or so about streams, in every way that passes."""

    FAILURES = (
        ("GetRecords", "ProvisionedThroughputExceededException"),
        ("GetRecords", ANSWER_LOST),
        ("GetRecords", "ExpiredIteratorException"),
        ("GetRecords", "InternalServerError"),
        ("GetShardIterator", "ThrottlingException"),
        ("DescribeStream", "LimitExceededException"),
        ("DescribeTable", "ThrottlingException"),
    )

    def __init__(self, engine: Engine, seed: int, often: float = 0.35) -> None:
        self.engine = engine
        self.often = often
        self.failed: list[str] = []
        self._random = random.Random(seed)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        codes = [code for failing, code in self.FAILURES if failing == operation]
        if codes and self._random.random() < self.often:
            code = self._random.choice(codes)
            self.failed.append(code)
            raise DynamoError(code, "for the test")
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        if self._random.random() < 0.2:
            raise DynamoError("ThrottlingException", "for the test")
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()
