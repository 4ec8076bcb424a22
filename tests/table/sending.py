"""Operations sent to an embedded engine as they are, so that their tests need no store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError
from potluck.table import Entity, Ref, Table, Transaction
from potluck.table.entity import plan_of
from potluck.table.operations import Operation, explain_failure

__all__ = ["NOW", "Sent", "opened"]

NOW = 1_765_368_000
"""The second at which all these tests happen, 2025-12-10 12:00 UTC."""

LONG_AGO = 1_000_000_000

Item = dict[str, Any]


class Sent:
    """A table in an engine whose own clock is so far back that it never tidies expired rows away."""

    def __init__(self, engine: Database, table: Table) -> None:
        self.engine = engine
        self.table = table

    async def write(self, operation: Operation, now: int = NOW) -> Any:
        """Do one operation by its own request; what an update made of the item, as its entity."""
        try:
            answer = await self.engine.call(*operation.request(now))
        except DynamoError as error:
            raise explain_failure(operation, error, now) from None
        return operation.plan.coding.decode(answer["Attributes"]) if "Attributes" in answer else None

    async def transact(self, *operations: Operation, now: int = NOW) -> None:
        transaction = Transaction(*operations)
        try:
            await self.engine.call(*transaction.request(now))
        except DynamoError as error:
            raise transaction.explain(error, now) from None

    async def row(self, target: Entity | Ref[Any]) -> Item | None:
        """The stored row as it is, expired or not."""
        key = target.key if isinstance(target, Ref) else _key(target)
        answer = await self.engine.call("GetItem", {"TableName": self.table.name, "Key": key, "ConsistentRead": True})
        return answer.get("Item")

    async def read(self, target: Entity | Ref[Any]) -> Any:
        """The stored row as its entity."""
        row = await self.row(target)
        return None if row is None else plan_of(target).coding.decode(row)

    async def put_row(self, row: Item) -> None:
        """Store a row past the library."""
        await self.engine.call("PutItem", {"TableName": self.table.name, "Item": row})

    async def rows(self) -> list[Item]:
        """All there is, in the order of the keys."""
        found = (await self.engine.call("Scan", {"TableName": self.table.name}))["Items"]
        return sorted(found, key=lambda row: [row[name]["S"] for name in self.table.key_names])


@asynccontextmanager
async def opened(table: Table) -> AsyncIterator[Sent]:
    """The table, empty."""
    async with await Database.open(None, clock=lambda: LONG_AGO) as engine:
        for request in table.creation():
            await engine.call(*request)
        yield Sent(engine, table)


def _key(entity: Entity) -> Item:
    row = plan_of(entity).coding.encode(entity)
    return {name: row[name] for name in plan_of(entity).table.key_names}
