"""Several processes that start at once on an empty store, or on one without an index that the design has now."""

from pathlib import Path
from typing import Any

import pytest

from potluck.engines import DynamoError, Engine
from potluck.store import Store
from potluck.store.table_creation import create_bare_table
from tests.engine_targets import BOTH, EMBEDDED, opened
from tests.stores import NOW
from tests.table.clubs import clubs


class AfterAnother:
    """An engine where another process is always just ahead: what is asked for here, it has asked for already."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in ("CreateTable", "UpdateTable", "UpdateTimeToLive"):
            await self.engine.call(operation, request)
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()


async def is_whole(engine: Engine) -> bool:
    described = (await engine.call("DescribeTable", {"TableName": clubs.name}))["Table"]
    expiry = (await engine.call("DescribeTimeToLive", {"TableName": clubs.name}))["TimeToLiveDescription"]
    indexes = {each["IndexName"]: each["IndexStatus"] for each in described["GlobalSecondaryIndexes"]}
    return indexes == dict.fromkeys(clubs.indexes, "ACTIVE") and expiry.get("AttributeName") == clubs.ttl


@pytest.mark.parametrize("name", BOTH)
async def test_whoever_comes_second_finds_the_table_made(name: str, tmp_path: Path) -> None:
    async with opened(name, tmp_path) as engine:
        await Store(AfterAnother(engine), lambda: NOW).create_tables(clubs)
        assert await is_whole(engine)


# Not on DynamoDB Local, which was seen never to end building an index that was asked for twice.
async def test_whoever_comes_second_finds_the_index_added(tmp_path: Path) -> None:
    async with opened(EMBEDDED, tmp_path) as engine:
        await Store(engine, lambda: NOW).create_tables(clubs)
        drop = {"TableName": clubs.name, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "GSI2"}}]}
        await engine.call("UpdateTable", drop)
        assert not await is_whole(engine)
        await Store(AfterAnother(engine), lambda: NOW).create_tables(clubs)
        assert await is_whole(engine)


class Refusing(AfterAnother):
    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "UpdateTimeToLive":
            raise DynamoError("ValidationException", "not here")
        return await self.engine.call(operation, request)


async def test_what_nobody_could_do_is_told(tmp_path: Path) -> None:
    async with opened(EMBEDDED, tmp_path) as engine:
        with pytest.raises(DynamoError, match="not here"):
            await Store(Refusing(engine), lambda: NOW).create_tables(clubs)


async def test_a_table_without_a_stream_gets_one(tmp_path: Path) -> None:
    async with opened(EMBEDDED, tmp_path) as engine:
        store = Store(engine, lambda: NOW)
        await create_bare_table(store.source.sender, clubs)
        described = (await engine.call("DescribeTable", {"TableName": clubs.name}))["Table"]
        assert "StreamSpecification" not in described
        assert not await is_whole(engine), "nothing expires"
        await Store(AfterAnother(engine), lambda: NOW).create_tables(clubs)
        described = (await engine.call("DescribeTable", {"TableName": clubs.name}))["Table"]
        assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        assert await is_whole(engine)
