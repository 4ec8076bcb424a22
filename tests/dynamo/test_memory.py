"""A database in memory is a database: same answers, no file, no thread, no event loop."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from potluck.dynamo import DynamoError, MemoryDatabase, SyncDatabase
from tests.engine_targets import table
from tests.patience import PATIENCE_SECONDS

NOTES = table("Notes", stream=True, index=True)
NOTE = {"PK": {"S": "a"}, "SK": {"S": "b"}}


def put(store, item=NOTE, **more):
    return store.call("PutItem", {"TableName": "Notes", "Item": item, **more})


def count(store):
    return store.call("Scan", {"TableName": "Notes", "Select": "COUNT"})["Count"]


@pytest.fixture
def store():
    with SyncDatabase.open() as store:
        store.call("CreateTable", NOTES)
        yield store


def test_no_thread_is_started():
    before = set(threading.enumerate())
    with SyncDatabase.open() as store:
        store.call("CreateTable", NOTES)
        put(store)
        # Other tests' timers may start theirs.
        assert [thread for thread in threading.enumerate() if thread not in before and "potluck" in thread.name] == []


def test_stores_share_nothing(store):
    put(store)
    with SyncDatabase.open() as other:
        assert other.call("ListTables", {}) == {"TableNames": []}


def test_a_copy_has_everything_and_goes_its_own_way(store):
    put(store)
    with store.copy() as copy:
        put(copy, NOTE | {"PK": {"S": "other"}})
        assert (count(store), count(copy)) == (1, 2)
        put(store, NOTE | {"PK": {"S": "third"}})
        put(store, NOTE | {"PK": {"S": "fourth"}})
        assert (count(store), count(copy)) == (3, 2)


def test_a_reset_deletes_tables_and_streams_and_the_store_goes_on(store):
    put(store)
    store.reset()
    assert store.call("ListTables", {}) == {"TableNames": []}
    assert store.call("ListStreams", {}) == {"Streams": []}
    store.call("CreateTable", NOTES)
    assert count(store) == 0


def test_a_refused_transaction_leaves_nothing(store):
    put(store)
    absent = {"ConditionExpression": "attribute_not_exists(PK)"}
    writes = [
        {"Put": {"TableName": "Notes", "Item": NOTE | {"PK": {"S": "new"}}}},
        {"Put": {"TableName": "Notes", "Item": NOTE, **absent}},
    ]
    with pytest.raises(DynamoError, match="TransactionCanceledException"):
        store.call("TransactWriteItems", {"TransactItems": writes})
    assert count(store) == 1


def test_work_that_fails_unexpectedly_is_undone(store):
    def fail(rows):
        rows.execute("DELETE FROM tables")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(store.database.write(fail))
    assert store.call("ListTables", {}) == {"TableNames": ["Notes"]}
    put(store)


def test_items_expire_when_the_clock_says_so():
    time = [1_800_000_000.0]
    with SyncDatabase.open(clock=lambda: time[0]) as store:
        store.call("CreateTable", NOTES)
        ttl = {"Enabled": True, "AttributeName": "until"}
        store.call("UpdateTimeToLive", {"TableName": "Notes", "TimeToLiveSpecification": ttl})
        put(store, NOTE | {"until": {"N": str(int(time[0]) + 60)}})
        assert count(store) == 1
        time[0] += 61
        assert count(store) == 0


def test_an_index_added_later_has_the_items_at_once(store):
    put(store, NOTE | {"state": {"S": "open"}})
    create = {
        "IndexName": "ByState",
        "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    store.call(
        "UpdateTable",
        {
            "TableName": "Notes",
            "AttributeDefinitions": [{"AttributeName": "state", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )
    found = store.call("Scan", {"TableName": "Notes", "IndexName": "ByState"})
    assert found["Count"] == 1


def test_a_long_page_is_read_without_an_event_loop(store):
    for number in range(700):
        put(store, NOTE | {"SK": {"S": f"{number:04}"}})
    assert count(store) == 700


def test_records_of_a_stream_are_read_without_an_event_loop(store):
    put(store)
    arn = store.call("ListStreams", {})["Streams"][0]["StreamArn"]
    shard = store.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]["ShardId"]
    start = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = store.call("GetShardIterator", start)["ShardIterator"]
    assert [record["eventName"] for record in store.call("GetRecords", {"ShardIterator": iterator})["Records"]] == [
        "INSERT"
    ]


def test_of_many_threads_one_wins(store):
    def add(number):
        try:
            put(store, NOTE | {"by": {"N": str(number)}}, ConditionExpression="attribute_not_exists(PK)")
        except DynamoError as refusal:
            return refusal.code
        return "won"

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(add, range(200)))
    assert sorted(set(outcomes)) == ["ConditionalCheckFailedException", "won"]
    assert outcomes.count("won") == 1


def test_counters_of_many_threads_add_up(store):
    add = {
        "TableName": "Notes",
        "Key": NOTE,
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: store.call("UpdateItem", add), range(400)))
    assert store.call("GetItem", {"TableName": "Notes", "Key": NOTE})["Item"]["hits"] == {"N": "400"}


async def test_it_is_an_engine_that_hands_over_commits():
    database = MemoryDatabase()
    await database.call("CreateTable", NOTES)
    received = []
    stop = database.follow("Notes", received.append)
    changed = asyncio.create_task(database.changed("Notes", PATIENCE_SECONDS))
    await asyncio.sleep(0)
    before = database.state()
    await database.call("PutItem", {"TableName": "Notes", "Item": NOTE})
    assert await changed
    assert [record["eventName"] for _, records in received for record in records] == ["INSERT"]
    assert database.state() > before
    assert database.unpack([database.row("Notes", NOTE)]) == [NOTE]
    stop()
    await database.close()


def test_a_closed_store_refuses(store):
    store.close()
    with pytest.raises(DynamoError, match="EngineClosed"):
        store.call("ListTables", {})
    store.close()
