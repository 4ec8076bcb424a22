"""Creating the tables and indexes that designs declare, where they are missing.

What exists is only described, so that a process that may not create anything can start on tables that are complete.
"""

from __future__ import annotations

import asyncio
from typing import Any

from potluck.engines import AccessDenied, DynamoError
from potluck.store.sending import Sender
from potluck.table.errors import Unavailable
from potluck.table.tables import Request, Table

SECONDS_BETWEEN_LOOKS = 0.2
LOOKS_AT_NEW_TABLE = 600


async def create_bare_table(sender: Sender, table: Table) -> None:
    """Create the table if it is missing, with its indexes but without its stream and its expiry."""
    create, *_ = table.creation()
    try:
        await _active(sender, table)
    except DynamoError as error:
        if error.code != "ResourceNotFoundException":
            raise
        body = {name: part for name, part in create.body.items() if name != "StreamSpecification"}
        await _create(sender, f"there is no table {table.name}", Request(create.operation, body))
        await _active(sender, table)


async def create_table(sender: Sender, table: Table) -> bool:
    """Create what is missing: the table, its indexes, its stream and its expiry. Whatever exists is left alone.

    Returns whether anything was missing.
    """
    create, *expiry = table.creation()
    missing = False
    try:
        described = await _active(sender, table)
    except DynamoError as error:
        if error.code != "ResourceNotFoundException":
            raise
        missing = True
        await _create(sender, f"there is no table {table.name}", create)
        described = await _active(sender, table)
    there = _indexes(described)
    for index in table.indexes:
        if index not in there:
            missing = True
            await _add_index(sender, table, index)
    if table.stream and not _has_stream(described):
        missing = True
        await _add_stream(sender, table, create)
    for request in expiry:
        if not await _expires(sender, table):
            missing = True
            try:
                await _create(sender, f"rows of the table {table.name} do not expire", request)
            except DynamoError:
                # If several processes start at once, one of them turns it on.
                if not await _expires(sender, table):
                    raise
    return missing


async def _create(sender: Sender, missing: str, request: Request) -> None:
    """Send a request that creates something; if it is not permitted, the error says what is missing."""
    try:
        await sender.repeat(request)
    except DynamoError as error:
        if isinstance(error, AccessDenied):
            raise AccessDenied(
                f"{missing}, and these credentials may not change that: run `potluck tables create` with credentials "
                f"that may. {error.message}"
            ) from error
        # Another process creates the table.
        if error.code != "ResourceInUseException" or request.operation != "CreateTable":
            raise


def _has_stream(described: dict[str, Any]) -> bool:
    return bool(described.get("StreamSpecification", {}).get("StreamEnabled"))


async def _expires(sender: Sender, table: Table) -> bool:
    answer = await sender.repeat(Request("DescribeTimeToLive", {"TableName": table.name}))
    return bool(answer["TimeToLiveDescription"].get("AttributeName") == table.ttl)


def _indexes(described: dict[str, Any]) -> set[str]:
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
    try:
        await _create(sender, f"the table {table.name} has no index {index}", Request("UpdateTable", body))
    except DynamoError:
        # If several processes start at once, one of them adds it.
        if index not in _indexes(await _active(sender, table)):
            raise
    await _active(sender, table)


async def _add_stream(sender: Sender, table: Table, create: Request) -> None:
    body = {"TableName": table.name, "StreamSpecification": create.body["StreamSpecification"]}
    try:
        await _create(sender, f"the table {table.name} has no stream", Request("UpdateTable", body))
    except DynamoError:
        # If several processes start at once, one of them adds it.
        if not _has_stream(await _active(sender, table)):
            raise
    await _active(sender, table)
