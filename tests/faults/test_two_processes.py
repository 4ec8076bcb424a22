"""Two processes on one file at once."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.dynamo.database import Database
from tests.faults.audit import check_file
from tests.faults.second_process import COUNTERS, add_by_condition, move
from tests.faults.store_reading import check_stream_replays, everything, identity, stream_records

ROOT = Path(__file__).resolve().parents[2]
ANSWER_SECONDS = 60
ADDITIONS = 25
MOVES = 40
WORKERS = 4

COUNTERS_TABLE: dict[str, Any] = {
    "TableName": COUNTERS,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


class SecondProcess:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def tell(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        await self.process.stdin.drain()

    async def answer(self) -> Any:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), ANSWER_SECONDS)
        assert line, "the second process died"
        return json.loads(line)

    async def call(self, operation: str, request: dict[str, Any]) -> Any:
        await self.tell(do="call", operation=operation, request=request)
        return await self.answer()


@contextlib.asynccontextmanager
async def second_process(path: Path) -> AsyncIterator[SecondProcess]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.second_process", str(path)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    other = SecondProcess(process)
    try:
        assert await other.answer() == "open"
        yield other
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), ANSWER_SECONDS)
        except TimeoutError:
            process.kill()
            raise


@pytest.fixture
async def database(tmp_path):
    database = await Database.open(tmp_path / "store.db")
    yield database
    await database.close()
    check_file(str(tmp_path / "store.db"))


async def counter(database: Any, name: str) -> int:
    answer = await database.call("GetItem", {"TableName": COUNTERS, "Key": {"id": {"S": name}}, "ConsistentRead": True})
    return int(answer["Item"]["n"]["N"])


async def put_counter(database: Any, name: str, value: int) -> None:
    await database.call("PutItem", {"TableName": COUNTERS, "Item": {"id": {"S": name}, "n": {"N": str(value)}}})


async def test_a_table_made_in_one_is_seen_in_the_other(database, tmp_path):
    async with second_process(tmp_path / "store.db") as other:
        assert (await other.call("ListTables", {}))["TableNames"] == []
        await database.call("CreateTable", COUNTERS_TABLE)
        assert (await other.call("ListTables", {}))["TableNames"] == [COUNTERS]
        await put_counter(other, "made over there", 7)
        assert await counter(database, "made over there") == 7
        await other.call("DeleteTable", {"TableName": COUNTERS})
        assert (await database.call("ListTables", {}))["TableNames"] == []
        with pytest.raises(Exception, match="ResourceNotFoundException"):
            await put_counter(database, "too late", 1)


async def test_an_index_made_in_one_is_kept_by_the_other(database, tmp_path):
    await database.call("CreateTable", COUNTERS_TABLE)
    async with second_process(tmp_path / "store.db") as other:
        await put_counter(other, "before", 1)
        await database.call(
            "UpdateTable",
            {
                "TableName": COUNTERS,
                "AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}],
                "GlobalSecondaryIndexUpdates": [
                    {
                        "Create": {
                            "IndexName": "by-n",
                            "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    }
                ],
            },
        )
        await wait_until_active(database, "by-n")
        await put_counter(other, "after", 1)
    found = await everything(database, "Scan", {"TableName": COUNTERS, "IndexName": "by-n"})
    assert {item["id"]["S"] for item in found} == {"before", "after"}


async def wait_until_active(database: Database, index: str) -> None:
    async with asyncio.timeout(ANSWER_SECONDS):
        while True:
            table = (await database.call("DescribeTable", {"TableName": COUNTERS}))["Table"]
            states = {each["IndexName"]: each["IndexStatus"] for each in table["GlobalSecondaryIndexes"]}
            if states[index] == "ACTIVE":
                return
            await asyncio.sleep(0.01)


async def test_conditions_decide_between_processes(database, tmp_path):
    await database.call("CreateTable", COUNTERS_TABLE)
    await put_counter(database, "shared", 0)
    async with second_process(tmp_path / "store.db") as other:
        await other.tell(do="add", counter="shared", times=ADDITIONS, workers=WORKERS)
        beaten_here = sum(
            await asyncio.gather(*(add_by_condition(database, "shared", ADDITIONS) for _ in range(WORKERS)))
        )
        beaten_there = await other.answer()
    assert await counter(database, "shared") == 2 * WORKERS * ADDITIONS
    assert beaten_here + beaten_there > 0, "nobody ever met: the test shows nothing"


async def test_transactions_of_two_processes_keep_the_sum(database, tmp_path):
    await database.call("CreateTable", COUNTERS_TABLE)
    await put_counter(database, "left", 500)
    await put_counter(database, "right", 500)
    async with second_process(tmp_path / "store.db") as other:
        await other.tell(do="move", **{"from": "left", "to": "right"}, times=MOVES, workers=WORKERS)
        await asyncio.gather(*(move(database, "right", "left", MOVES // 2) for _ in range(WORKERS)))
        await other.answer()
    moved = WORKERS * (MOVES - MOVES // 2)
    assert await counter(database, "left") == 500 - moved
    assert await counter(database, "right") == 500 + moved
    items = {identity(item, ["id"]): item for item in await everything(database, "Scan", {"TableName": COUNTERS})}
    check_stream_replays(await stream_records(database, COUNTERS), ["id"], items)


async def test_a_change_in_one_wakes_the_other(database, tmp_path):
    await database.call("CreateTable", COUNTERS_TABLE)
    async with second_process(tmp_path / "store.db") as other:
        # What it has not seen is told from what it has by its last look at the file, and its last question.
        await put_counter(other, "looked", 1)
        await other.tell(do="changed", table=COUNTERS, timeout=0)
        assert await other.answer() == "waiting"
        assert await other.answer() is False
        await other.tell(do="changed", table=COUNTERS, timeout=ANSWER_SECONDS / 2)
        assert await other.answer() == "waiting"
        await asyncio.sleep(0.2)  # give it time to really wait; when it has not, it still must see the change
        await put_counter(database, "news", 1)
        assert await other.answer() is True


async def test_no_change_in_the_other_wakes_nobody(database, tmp_path):
    await database.call("CreateTable", COUNTERS_TABLE)
    async with second_process(tmp_path / "store.db") as other:
        await other.tell(do="changed", table=COUNTERS, timeout=0.3)
        assert await other.answer() == "waiting"
        assert await other.answer() is False
