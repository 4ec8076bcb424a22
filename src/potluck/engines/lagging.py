"""An engine wrapper for tests: indexes that lag behind the last writes, as DynamoDB's may.

A second engine, the replica, holds every table as it was a moment ago. Each write goes to the real engine at once; the
items it touched are then read back consistently and put in a queue, and the replica takes them over, in order and a
call at a time, after enough newer writes or enough time. Index reads are answered by
the replica, so order, filters, pages and projections are those of a state that really existed, and never a mixture.

Simpler than the service: all indexes lag alike, and writes that bypass this wrapper are not seen by the replica once it
holds the table. Writes are executed one at a time, which only tests can afford.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from potluck.engines import DynamoError, Engine

Item = dict[str, Any]
Image = tuple[str, Item, Item | None]  # table, key, and the item as it was after the write

SINGLE_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
WRITES = SINGLE_WRITES | {"BatchWriteItem", "TransactWriteItems"}
COPIED = ("TableName", "AttributeDefinitions", "KeySchema")
COPIED_OF_INDEX = ("IndexName", "KeySchema", "Projection")


class Lagging:
    """An engine whose indexes are behind by a number of writes, or by a number of seconds.

    With `eventual`, so are reads of the table that do not ask for consistency. With a seed, each such read is answered
    either by the replica or by the real engine, as by two replicas of the service: an item seen once may vanish again.
    """

    def __init__(
        self,
        engine: Engine,
        writes: int | None = None,
        seconds: float | None = None,
        *,
        eventual: bool = False,
        seed: int | None = None,
        replica: Engine | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if writes is None and seconds is None:
            raise ValueError("say how far behind: a number of writes, of seconds, or both")
        self.engine = engine
        self.writes = writes
        self.seconds = seconds
        self.eventual = eventual
        self._random = None if seed is None else random.Random(seed)
        self._clock = clock
        self._replica = replica
        self._keys: dict[str, list[str]] = {}  # the tables the replica holds, with the names of their key attributes
        self._waiting: deque[tuple[float, list[Image]]] = deque()
        self._turn = asyncio.Lock()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in WRITES:
            return await self._write(operation, request)
        if self._may_lag(operation, request) and (self._random is None or self._random.random() < 0.5):
            return await self._read_from_behind(operation, request)
        answer = await self.engine.call(operation, request)
        if operation in {"UpdateTable", "DeleteTable", "UpdateTimeToLive"}:
            async with self._turn:
                await self._forget(request["TableName"])
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        if self._replica is not None:
            await self._replica.close()
        await self.engine.close()

    async def settle(self) -> None:
        """Let the indexes catch up with everything written so far."""
        async with self._turn:
            while self._waiting:
                await self._apply(self._waiting.popleft()[1])

    def _may_lag(self, operation: str, request: dict[str, Any]) -> bool:
        if operation in {"Query", "Scan"} and request.get("IndexName") is not None:
            # A consistent read is of a local index, which never lags, or of a global one, which refuses it.
            return not request.get("ConsistentRead")
        if not self.eventual:
            return False
        if operation == "BatchGetItem":
            return not any(what.get("ConsistentRead") for what in request.get("RequestItems", {}).values())
        return operation in {"GetItem", "Query", "Scan"} and not request.get("ConsistentRead")

    async def _read_from_behind(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        async with self._turn:
            for table in _tables(request):
                await self._hold(table)
            await self._catch_up()
            return await (await self._opened_replica()).call(operation, request)

    async def _write(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        async with self._turn:
            for table in _tables(request):
                await self._hold(table)
            touched = self._touched(operation, request)
            try:
                return await self.engine.call(operation, request)
            finally:
                # Also after a failure: a lost answer says nothing about what was written.
                images = [(table, key, await self._now(table, key)) for table, key in touched]
                if images:
                    self._waiting.append((self._clock(), images))
                await self._catch_up()

    def _touched(self, operation: str, request: dict[str, Any]) -> list[tuple[str, Item]]:
        """The tables and keys that a write may change; none if the request is malformed, since it will be refused."""
        actions: list[tuple[str, dict[str, Any]]] = []
        try:
            if operation in SINGLE_WRITES:
                actions = [(request["TableName"], request)]
            elif operation == "BatchWriteItem":
                for table, writes in request["RequestItems"].items():
                    actions += [(table, action) for write in writes for action in write.values()]
            else:
                for item in request["TransactItems"]:
                    actions += [(act["TableName"], act) for kind, act in item.items() if kind != "ConditionCheck"]
            return [
                (table, {name: (action.get("Key") or action["Item"])[name] for name in self._keys[table]})
                for table, action in actions
            ]
        except (KeyError, TypeError, AttributeError):
            return []

    async def _now(self, table: str, key: Item) -> Item | None:
        try:
            answer = await self.engine.call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
        except DynamoError as error:
            if error.code == "ValidationException":
                return None  # an invalid key, so nothing was written either
            raise
        item: Item | None = answer.get("Item")
        return item

    async def _catch_up(self) -> None:
        while self._waiting and (
            (self.writes is not None and len(self._waiting) > self.writes)
            or (self.seconds is not None and self._clock() - self._waiting[0][0] >= self.seconds)
        ):
            await self._apply(self._waiting.popleft()[1])

    async def _apply(self, images: list[Image]) -> None:
        replica = await self._opened_replica()
        for table, key, item in images:
            if table not in self._keys:
                continue
            if item is None:
                await replica.call("DeleteItem", {"TableName": table, "Key": key})
            else:
                await replica.call("PutItem", {"TableName": table, "Item": item})

    async def _hold(self, table: str) -> None:
        """Copy the table as it is now to the replica, unless it is there already."""
        if table in self._keys:
            return
        try:
            described = (await self.engine.call("DescribeTable", {"TableName": table}))["Table"]
        except DynamoError:
            return  # the call that needs the table will report the error
        replica = await self._opened_replica()
        await replica.call("CreateTable", _same_table(described))
        page: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
        while True:
            answer = await self.engine.call("Scan", page)
            for item in answer["Items"]:
                await replica.call("PutItem", {"TableName": table, "Item": item})
            if "LastEvaluatedKey" not in answer:
                break
            page["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        self._keys[table] = [key["AttributeName"] for key in described["KeySchema"]]

    async def _forget(self, table: str) -> None:
        """Drop the replica's copy, because the table's indexes changed or it is gone; its next use makes a new one."""
        if self._keys.pop(table, None) is not None:
            await (await self._opened_replica()).call("DeleteTable", {"TableName": table})
            self._waiting = deque(
                (at, [image for image in images if image[0] != table]) for at, images in self._waiting
            )

    async def _opened_replica(self) -> Engine:
        if self._replica is None:
            from potluck.engines.embedded import open_embedded

            self._replica = await open_embedded(None)
        return self._replica


def _tables(request: dict[str, Any]) -> list[str]:
    names: list[Any] = [request.get("TableName"), *(request.get("RequestItems") or ())]
    for actions in request.get("TransactItems") or ():
        names += [action.get("TableName") for action in actions.values()]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _same_table(described: dict[str, Any]) -> dict[str, Any]:
    request = {name: described[name] for name in COPIED} | {"BillingMode": "PAY_PER_REQUEST"}
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if described.get(kind):
            request[kind] = [{name: index[name] for name in COPIED_OF_INDEX} for index in described[kind]]
    return request
