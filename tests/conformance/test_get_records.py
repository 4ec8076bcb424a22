"""GetRecords: what each write leaves behind in a stream, in order, page by page."""

import time

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.streams import iterator, records, three_writes
from tests.conformance.wire import N, S

VIEWS = {
    "KEYS_ONLY": (),
    "NEW_IMAGE": ("NewImage",),
    "OLD_IMAGE": ("OldImage",),
    "NEW_AND_OLD_IMAGES": ("NewImage", "OldImage"),
}


@pytest.mark.parametrize("view", VIEWS)
async def test_a_record_has_the_images_of_its_view(dynamo, streamed, view):
    table, arn = await streamed(view)
    key, writes = await three_writes(dynamo, table)
    found = await records(dynamo, arn)
    assert [record["eventName"] for record in found] == [event for event, _, _ in writes]
    for record, (_, old, new) in zip(found, writes, strict=True):
        images = {"OldImage": old, "NewImage": new}
        told = {name: record["dynamodb"][name] for name in images if name in record["dynamodb"]}
        assert told == {name: images[name] for name in VIEWS[view] if images[name] is not None}
        assert record["dynamodb"]["Keys"] == key
        assert record["dynamodb"]["StreamViewType"] == view


async def test_a_record_says_where_and_when(dynamo, streamed):
    table, arn = await streamed()
    await three_writes(dynamo, table)
    found = await records(dynamo, arn)
    assert len({record["eventID"] for record in found}) == 3
    for record in found:
        assert record["eventSource"] == "aws:dynamodb"
        assert record["eventVersion"] == "1.1"
        assert record["awsRegion"]
        assert abs(record["dynamodb"]["ApproximateCreationDateTime"] - time.time()) < 120
        assert "userIdentity" not in record


async def test_sequence_numbers_grow(dynamo, streamed):
    table, arn = await streamed()
    for number in range(10):
        await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S(str(number)), "s": S("1")}})
    found = await records(dynamo, arn)
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in found]
    assert numbers == sorted(set(numbers))
    assert [record["dynamodb"]["Keys"]["p"]["S"] for record in found] == [str(number) for number in range(10)]


async def test_size_is_that_of_keys_and_images(dynamo, streamed):
    table, arn = await streamed("NEW_IMAGE")
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("pp"), "s": S("ss"), "a": S("x" * 10)}})
    (record,) = await records(dynamo, arn)
    keys = len("pppsss")
    assert record["dynamodb"]["SizeBytes"] == keys + keys + len("a") + 10


async def test_a_write_that_changes_nothing_leaves_no_record(dynamo, streamed):
    table, arn = await streamed()
    item = {"p": S("x"), "s": S("1"), "a": N(1)}
    key = {"p": S("x"), "s": S("1")}
    await dynamo.call("PutItem", {"TableName": table, "Item": item})
    await dynamo.call("PutItem", {"TableName": table, "Item": {**item, "a": N("1.0")}})
    await dynamo.call(
        "UpdateItem",
        {
            "TableName": table,
            "Key": key,
            "UpdateExpression": "SET a = :v REMOVE absent",
            "ExpressionAttributeValues": {":v": N(1)},
        },
    )
    await dynamo.call("DeleteItem", {"TableName": table, "Key": {"p": S("absent"), "s": S("1")}})
    assert [record["eventName"] for record in await records(dynamo, arn)] == ["INSERT"]


async def test_a_refused_write_leaves_no_record(dynamo, streamed):
    table, arn = await streamed()
    with pytest.raises(DynamoError, match=r"ConditionalCheckFailedException"):
        await dynamo.call(
            "PutItem",
            {
                "TableName": table,
                "Item": {"p": S("x"), "s": S("1")},
                "ConditionExpression": "attribute_exists(p)",
            },
        )
    assert await records(dynamo, arn) == []


async def test_batches_and_transactions_leave_a_record_per_item(dynamo, streamed):
    table, arn = await streamed("KEYS_ONLY")
    puts = [{"PutRequest": {"Item": {"p": S("b"), "s": S(str(number))}}} for number in range(3)]
    await dynamo.call("BatchWriteItem", {"RequestItems": {table: puts}})
    await dynamo.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": table, "Item": {"p": S("t"), "s": S("1")}}},
                {"Delete": {"TableName": table, "Key": {"p": S("b"), "s": S("0")}}},
            ]
        },
    )
    found = [
        (record["eventName"], record["dynamodb"]["Keys"]["p"]["S"], record["dynamodb"]["Keys"]["s"]["S"])
        for record in await records(dynamo, arn)
    ]
    assert sorted(found[:3]) == [("INSERT", "b", "0"), ("INSERT", "b", "1"), ("INSERT", "b", "2")]
    assert sorted(found[3:]) == [("INSERT", "t", "1"), ("REMOVE", "b", "0")]


async def test_a_limit_ends_a_page_and_the_next_goes_on(dynamo, streamed):
    table, arn = await streamed()
    for number in range(5):
        await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("x"), "s": S(str(number))}})
    position, found = await iterator(dynamo, arn), []
    for expected in (2, 2, 1):
        answer = await dynamo.call("GetRecords", {"ShardIterator": position, "Limit": 2})
        assert len(answer["Records"]) == expected
        found += [record["dynamodb"]["Keys"]["s"]["S"] for record in answer["Records"]]
        position = answer["NextShardIterator"]
    assert found == ["0", "1", "2", "3", "4"]


async def test_an_open_shard_always_has_a_next_iterator(dynamo, streamed):
    _, arn = await streamed()
    answer = await dynamo.call("GetRecords", {"ShardIterator": await iterator(dynamo, arn)})
    assert answer["Records"] == []
    assert answer["NextShardIterator"]


async def test_an_iterator_may_be_read_twice(dynamo, streamed):
    table, arn = await streamed()
    await three_writes(dynamo, table)
    position = await iterator(dynamo, arn)
    first = await dynamo.call("GetRecords", {"ShardIterator": position})
    second = await dynamo.call("GetRecords", {"ShardIterator": position})
    assert first["Records"] == second["Records"]


async def test_a_bad_iterator_is_refused(dynamo):
    with pytest.raises(DynamoError, match=r"ValidationException"):
        await dynamo.call("GetRecords", {"ShardIterator": "not an iterator"})
