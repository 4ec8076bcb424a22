"""Creating the tables and indexes that designs declare, where they are missing."""

from __future__ import annotations

import asyncio
from typing import Any

from potluck.engines import DynamoError
from potluck.store.sending import Sender
from potluck.table.errors import Unavailable
from potluck.table.tables import Request, Table

SECONDS_BETWEEN_LOOKS = 0.2
LOOKS_AT_NEW_TABLE = 600


async def create_table(sender: Sender, table: Table) -> None:
    """Create what is missing: the table, its indexes and its expiry. Whatever exists is left alone."""
    create, *expiry = table.creation()
    try:
        await sender.repeat(create)
    except DynamoError as error:
        if error.code != "ResourceInUseException":
            raise
    there = await _indexes(sender, table)
    for index in table.indexes:
        if index not in there:
            try:
                await _add_index(sender, table, index)
            except DynamoError:
                # If several processes start at once, one of them adds it.
                if index not in await _indexes(sender, table):
                    raise
    for request in expiry:
        if not await _expires(sender, table):
            try:
                await sender.repeat(request)
            except DynamoError:
                if not await _expires(sender, table):
                    raise


async def _expires(sender: Sender, table: Table) -> bool:
    answer = await sender.repeat(Request("DescribeTimeToLive", {"TableName": table.name}))
    return bool(answer["TimeToLiveDescription"].get("AttributeName") == table.ttl)


async def _indexes(sender: Sender, table: Table) -> set[str]:
    """The table's indexes, once it is active."""
    described = await _active(sender, table)
    return {index["IndexName"] for index in described.get("GlobalSecondaryIndexes", ())}


async def _active(sender: Sender, table: Table) -> dict[str, Any]:
    """The table's description, once it and all its indexes are active."""
    for _ in range(LOOKS_AT_NEW_TABLE):
        answer = await sender.repeat(Request("DescribeTable", {"TableName": table.name}))
        described: dict[str, Any] = answer["Table"]
        states = [described["TableStatus"]]
        states += [index["IndexStatus"] for index in described.get("GlobalSecondaryIndexes", ())]
        if all(state == "ACTIVE" for state in states):
            return described
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    raise Unavailable(f"table {table.name} did not become active")


async def _add_index(sender: Sender, table: Table, index: str) -> None:
    keys = [key for key in table.indexes[index] if key is not None]
    body = {
        "TableName": table.name,
        "AttributeDefinitions": [{"AttributeName": key.name, "AttributeType": key.type} for key in keys],
        "GlobalSecondaryIndexUpdates": [{"Create": table.index_creation(index)}],
    }
    await sender.repeat(Request("UpdateTable", body))
    await _active(sender, table)
