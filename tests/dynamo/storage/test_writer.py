"""Group commit: many pieces of work share a commit, and none of them pays for another's mistake."""

import asyncio

import pytest

from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError
from tests.patience import PATIENCE_SECONDS

NOTES = {
    "TableName": "Notes",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}


@pytest.fixture
async def database(tmp_path):
    opened = await Database.open(tmp_path / "store.db")
    await opened.call("CreateTable", NOTES)
    yield opened
    await opened.close()


def put(database: Database, number: int, **more):
    return database.call("PutItem", {"TableName": "Notes", "Item": {"id": {"S": str(number)}}, **more})


async def count(database: Database) -> int:
    return (await database.call("Scan", {"TableName": "Notes", "Select": "COUNT"}))["Count"]


async def test_callers_that_arrive_together_share_a_commit(database):
    commits = []
    database.file.writer.on_commit = commits.append
    await asyncio.gather(*(put(database, number) for number in range(64)))
    assert await count(database) == 64
    assert len(commits) == 1


async def test_a_failed_condition_refuses_only_its_own_write(database):
    await put(database, 7)
    absent = {"ConditionExpression": "attribute_not_exists(id)"}
    answers = await asyncio.gather(*(put(database, number, **absent) for number in range(10)), return_exceptions=True)
    assert [isinstance(answer, DynamoError) for answer in answers] == [number == 7 for number in range(10)]
    assert await count(database) == 10


async def test_work_that_breaks_halfway_leaves_nothing_and_takes_nobody_with_it(database):
    table = database.table("Notes")

    def breaks(rows):
        rows.execute(f"DELETE FROM {table.rows}")
        raise RuntimeError("a mistake of ours")

    await put(database, 1)
    answers = await asyncio.gather(put(database, 2), database.write(breaks), put(database, 3), return_exceptions=True)
    assert [type(answer) for answer in answers] == [dict, DynamoError, dict]
    assert answers[1].code == "InternalServerError"
    assert await count(database) == 3
    described = (await database.call("DescribeTable", {"TableName": "Notes"}))["Table"]
    assert described["ItemCount"] == 3


async def test_a_write_prepared_for_an_older_definition_is_prepared_again(database):
    """The put is bound to the table before the index exists, and committed after it: it must be in the index."""
    index = {
        "IndexName": "by-owner",
        "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    update = {
        "TableName": "Notes",
        "AttributeDefinitions": [{"AttributeName": "owner", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }
    item = {"id": {"S": "late"}, "owner": {"S": "mara"}}
    await asyncio.gather(
        database.call("UpdateTable", update), database.call("PutItem", {"TableName": "Notes", "Item": item})
    )
    await asyncio.gather(*database._filling.values())  # the filling of the index
    found = await database.call("Scan", {"TableName": "Notes", "IndexName": "by-owner"})
    assert found["Items"] == [item]


async def test_what_was_submitted_before_close_is_written(tmp_path):
    database = await Database.open(tmp_path / "closing.db")
    await database.call("CreateTable", NOTES)
    puts = [asyncio.ensure_future(put(database, number)) for number in range(20)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*puts)
    database = await Database.open(tmp_path / "closing.db")
    assert await count(database) == 20
    await database.close()


async def test_waiting_for_a_change_does_not_miss_one_made_in_between(database):
    await put(database, 1)
    assert not await database.changed("Notes", 0.01)
    await put(database, 2)  # before anybody waits
    assert await database.changed("Notes", PATIENCE_SECONDS)
    assert not await database.changed("Notes", 0.01)
    waiting = asyncio.ensure_future(database.changed("Notes", PATIENCE_SECONDS))
    await asyncio.sleep(0)
    await put(database, 3)
    assert await waiting


async def test_whoever_waits_for_a_change_and_is_cancelled_as_it_comes_stops_waiting(database):
    waiting = asyncio.ensure_future(database.changed("Notes", 3600))
    await asyncio.sleep(0)
    # Woken by what turns out to be nothing new, and stopped, before it has its turn.
    ((_, woken),) = database._waiting["Notes"]
    woken.set_result(None)
    waiting.cancel()
    await asyncio.wait({waiting}, timeout=PATIENCE_SECONDS)
    assert waiting.cancelled()
