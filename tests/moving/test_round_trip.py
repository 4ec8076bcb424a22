"""Every row arrives exactly as it was, from either engine to either engine."""

import pytest

from potluck.engines.throttling import Throttling
from potluck.moving import exporting, importing
from potluck.store.sending import Patience
from tests.engine_targets import BOTH, EMBEDDED, opened
from tests.moving.stores import ODD, PLAIN, WORK, contents, exported, filled, imported, things

ROWS = {(row["PK"]["S"], row["SK"]["S"]): row for row in [*ODD, *PLAIN]}


async def described(engine, table=things.name):
    return (await engine.call("DescribeTable", {"TableName": table}))["Table"]


@pytest.mark.parametrize("name", BOTH)
async def test_there_and_back_again_every_row_is_the_same(name, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "FILE_ROWS", 200)
    (tmp_path / "there").mkdir()
    (tmp_path / "back").mkdir()
    async with (
        opened(EMBEDDED, tmp_path) as start,
        opened(name, tmp_path / "there") as there,
        opened(EMBEDDED, tmp_path / "back") as back,
    ):
        await filled(start, ROWS.values())
        assert await contents(start) == ROWS
        sums = await exported(start, tmp_path / "out")
        assert await imported(there, tmp_path / "out") == sums
        assert await contents(there) == ROWS
        assert await exported(there, tmp_path / "home") | {WORK.table: None} == sums | {WORK.table: None}
        assert (await imported(back, tmp_path / "home"))[things.name] == sums[things.name]
        assert await contents(back) == ROWS
        for engine in (there, back):
            table = await described(engine)
            assert table["StreamSpecification"]["StreamEnabled"]
            assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["GSI1"]
            expiry = await engine.call("DescribeTimeToLive", {"TableName": things.name})
            assert expiry["TimeToLiveDescription"]["AttributeName"] == "ttl"
            query = {
                "TableName": things.name,
                "IndexName": "GSI1",
                "KeyConditionExpression": "GSI1PK = :x",
                "ExpressionAttributeValues": {":x": {"S": "x"}},
            }
            assert (await engine.call("Query", query))["Items"] == [ROWS["indexed", "odd"]]


async def test_rows_that_have_expired_are_moved_and_expire_there(tmp_path):
    expired = {"PK": {"S": "gone"}, "SK": {"S": "soon"}, "ttl": {"N": "1700000000"}}
    async with opened(EMBEDDED, tmp_path) as start:
        await filled(start, PLAIN)
        # Written while nothing expires, so that it is still there when the table is read.
        off = {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": "ttl"}}
        await start.call("UpdateTimeToLive", {"TableName": things.name, **off})
        await start.call("PutItem", {"TableName": things.name, "Item": expired})
        sums = await exported(start, tmp_path / "out")
        assert sums[things.name].count == len(PLAIN) + 1
    (tmp_path / "there").mkdir()
    async with opened(EMBEDDED, tmp_path / "there") as there:
        assert (await imported(there, tmp_path / "out")) == sums
        await there.sweep()
        assert ("gone", "soon") not in await contents(there)
        assert len(await contents(there)) == len(PLAIN)


async def test_a_table_that_is_there_and_empty_is_filled_though_it_expires_rows(tmp_path):
    rows = [{**row, "ttl": {"N": "1700000000"}} if number % 2 else row for number, row in enumerate(PLAIN)]
    async with opened(EMBEDDED, tmp_path) as start:
        await filled(start, PLAIN)
        off = {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": "ttl"}}
        await start.call("UpdateTimeToLive", {"TableName": things.name, **off})
        await filled_again(start, rows)
        sums = await exported(start, tmp_path / "out")
    (tmp_path / "there").mkdir()
    async with opened(EMBEDDED, tmp_path / "there") as there:
        await filled(there, [])
        assert await imported(there, tmp_path / "out") == sums
        await there.sweep()
        assert len(await contents(there)) == len(PLAIN) // 2


async def filled_again(engine, rows):
    for row in rows:
        await engine.call("PutItem", {"TableName": things.name, "Item": row})


async def test_throttling_and_batches_cut_short_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "PATIENCE", Patience(attempts=50, first_wait=0.0, longest_wait=0.0))
    async with opened(EMBEDDED, tmp_path) as start:
        await filled(start, PLAIN)
        busy = Throttling(start, seed=1, refused=0.2)
        sums = await exported(busy, tmp_path / "out")
        assert busy.calls_refused
    (tmp_path / "there").mkdir()
    async with opened(EMBEDDED, tmp_path / "there") as there:
        busy = Throttling(there, seed=2, refused=0.2, partial=0.5)
        assert await imported(busy, tmp_path / "out") == sums
        assert busy.batches_cut
        assert len(await contents(there)) == len(PLAIN)
