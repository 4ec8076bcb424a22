"""An engine wrapper for tests: transactions that overlap on an item are cancelled, as the service does.

An item that takes part in an ongoing transaction, be it only in a ConditionCheck, refuses every other transaction on
it and every single write. The service does not say whether two condition checks of one item conflict; here they do.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from potluck.engines import DynamoError, Engine
from potluck.engines.conflicting import ONGOING, SINGLE_WRITES

Item = tuple[str, ...]
Wait = Callable[[float], Awaitable[object]]


class Colliding:
    """An engine whose transactions take a while, and collide with others on the same items meanwhile.

    A transaction holds its items for `seconds`, and takes effect at their end. `wait` lets a test decide when that is.

    """

    def __init__(
        self,
        engine: Engine,
        keys: Mapping[str, tuple[str, ...]],
        seconds: float = 0.01,
        wait: Wait = asyncio.sleep,
        read_seconds: float = 0.0,
    ) -> None:
        """`keys` are the names of the key attributes, by table; a read takes `read_seconds`."""
        self.engine = engine
        self.keys = keys
        self.seconds = seconds
        self.read_seconds = read_seconds
        self.transactions = 0
        self.collisions: dict[Item, int] = {}
        """How often each item was the reason for a refusal."""
        self._wait = wait
        self._ongoing: set[Item] = set()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "TransactWriteItems":
            return await self._transact(request)
        if operation == "TransactGetItems":
            self._must_be_free(list(self._items(request)))
        elif operation in SINGLE_WRITES:
            item = self._item(request["TableName"], request.get("Key") or request["Item"])
            if item in self._ongoing:
                self._count(item)
                raise DynamoError("TransactionConflictException", ONGOING)
        if self.read_seconds:
            await self._wait(self.read_seconds)
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()

    async def _transact(self, request: dict[str, Any]) -> dict[str, Any]:
        items = list(self._items(request))
        self.transactions += 1
        self._must_be_free(items)
        self._ongoing.update(items)
        try:
            await self._wait(self.seconds)
            return await self.engine.call("TransactWriteItems", request)
        finally:
            self._ongoing.difference_update(items)

    def _must_be_free(self, items: list[Item]) -> None:
        """Raise unless none of these items takes part in an ongoing transaction."""
        if self._ongoing.isdisjoint(items):
            return
        reasons: list[dict[str, Any]] = []
        for item in items:
            if item in self._ongoing:
                self._count(item)
                reasons.append({"Code": "TransactionConflict", "Message": ONGOING})
            else:
                reasons.append({"Code": "None"})
        codes = ", ".join(reason["Code"] for reason in reasons)
        message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
        raise DynamoError("TransactionCanceledException", message, reasons=reasons)

    def _items(self, request: dict[str, Any]) -> Iterator[Item]:
        for actions in request["TransactItems"]:
            for action in actions.values():
                yield self._item(action["TableName"], action.get("Key") or action["Item"])

    def _item(self, table: str, attributes: Mapping[str, Any]) -> Item:
        key = (str(value) for name in self.keys[table] for value in attributes[name].values())
        return (table, *key)

    def _count(self, item: Item) -> None:
        self.collisions[item] = self.collisions.get(item, 0) + 1
