"""Streams: what each write leaves behind, in order, read from any point."""

import time

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tables import definition
from tests.conformance.wire import L, N, S

VIEWS = {
    "KEYS_ONLY": (),
    "NEW_IMAGE": ("NewImage",),
    "OLD_IMAGE": ("OldImage",),
    "NEW_AND_OLD_IMAGES": ("NewImage", "OldImage"),
}


@pytest.fixture
async def streamed(dynamo, create):
    """Makes a table with a stream of this view, and answers its name and the stream's ARN."""

    async def make(view="NEW_AND_OLD_IMAGES"):
        table = await create(
            **definition("p:S", "s:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
        )
        described = (await dynamo.call("DescribeTable", {"TableName": table}))["Table"]
        return table, described["LatestStreamArn"]

    return make


async def shards(dynamo, arn):
    return (await dynamo.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]["Shards"]


async def iterator(dynamo, arn, kind="TRIM_HORIZON", **more):
    (shard, *_) = await shards(dynamo, arn)
    answer = await dynamo.call(
        "GetShardIterator",
        {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind, **more},
    )
    assert answer.keys() == {"ShardIterator"}
    return answer["ShardIterator"]


async def records(dynamo, arn, kind="TRIM_HORIZON", **more):
    """All records of a stream from an iterator on, following it until a page is empty."""
    found, position = [], await iterator(dynamo, arn, kind, **more)
    while position is not None:
        answer = await dynamo.call("GetRecords", {"ShardIterator": position})
        if not answer["Records"]:
            break
        found += answer["Records"]
        position = answer.get("NextShardIterator")
    return found


async def three_writes(dynamo, table):
    """An insert, a modification and a removal of one item, as the images before and after."""
    key = {"p": S("x"), "s": S("1")}
    first, second = {**key, "a": N(1)}, {**key, "a": N(2), "l": L(S("y"))}
    await dynamo.call("PutItem", {"TableName": table, "Item": first})
    await dynamo.call("PutItem", {"TableName": table, "Item": second})
    await dynamo.call("DeleteItem", {"TableName": table, "Key": key})
    return key, [("INSERT", None, first), ("MODIFY", first, second), ("REMOVE", second, None)]


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


async def test_latest_begins_after_what_was_written(dynamo, streamed):
    table, arn = await streamed()
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("before"), "s": S("1")}})
    position = await iterator(dynamo, arn, "LATEST")
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("after"), "s": S("1")}})
    answer = await dynamo.call("GetRecords", {"ShardIterator": position})
    assert [record["dynamodb"]["Keys"]["p"] for record in answer["Records"]] == [S("after")]


@pytest.mark.parametrize(("kind", "first"), [("AT_SEQUENCE_NUMBER", 1), ("AFTER_SEQUENCE_NUMBER", 2)])
async def test_an_iterator_at_a_sequence_number(dynamo, streamed, kind, first):
    table, arn = await streamed()
    await three_writes(dynamo, table)
    whole = await records(dynamo, arn)
    number = whole[1]["dynamodb"]["SequenceNumber"]
    assert await records(dynamo, arn, kind, SequenceNumber=number) == whole[first:]


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


async def test_a_stream_is_described(dynamo, streamed):
    table, arn = await streamed("NEW_IMAGE")
    description = (await dynamo.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    assert description["StreamArn"] == arn
    assert description["TableName"] == table
    assert description["StreamStatus"] == "ENABLED"
    assert description["StreamViewType"] == "NEW_IMAGE"
    assert description["KeySchema"] == definition("p:S", "s:S")["KeySchema"]
    assert arn.endswith("/stream/" + description["StreamLabel"])
    assert abs(description["CreationRequestDateTime"] - time.time()) < 120
    (shard, *_) = description["Shards"]
    assert len(shard["ShardId"]) >= 28
    assert "EndingSequenceNumber" not in shard["SequenceNumberRange"]
    assert shard["SequenceNumberRange"]["StartingSequenceNumber"].isdigit()


async def test_streams_are_listed_by_table(dynamo, streamed):
    table, arn = await streamed()
    other, _ = await streamed()
    answer = await dynamo.call("ListStreams", {"TableName": table})
    (listed,) = answer["Streams"]
    assert listed == {"StreamArn": arn, "TableName": table, "StreamLabel": arn.rpartition("/")[2]}
    everything = [each["TableName"] for each in (await dynamo.call("ListStreams", {}))["Streams"]]
    assert {table, other} <= set(everything)


async def test_streams_are_listed_page_by_page(dynamo, streamed):
    await streamed()
    await streamed()
    first = await dynamo.call("ListStreams", {"Limit": 1})
    assert len(first["Streams"]) == 1
    second = await dynamo.call("ListStreams", {"Limit": 1, "ExclusiveStartStreamArn": first["LastEvaluatedStreamArn"]})
    assert len(second["Streams"]) == 1
    assert second["Streams"] != first["Streams"]


async def test_a_table_without_stream_lists_none(dynamo, plain):
    assert await dynamo.call("ListStreams", {"TableName": plain}) == {"Streams": []}


async def test_a_stream_switched_off_can_still_be_read(dynamo, streamed):
    table, arn = await streamed()
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("x"), "s": S("1")}})
    await dynamo.call("UpdateTable", {"TableName": table, "StreamSpecification": {"StreamEnabled": False}})
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("y"), "s": S("1")}})
    assert [record["dynamodb"]["Keys"]["p"] for record in await records(dynamo, arn)] == [S("x")]
    description = (await dynamo.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    assert description["StreamStatus"] in ("DISABLING", "DISABLED")


ABSENT_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/absent/stream/2020-01-01T00:00:00.000"


async def test_a_stream_that_does_not_exist_is_not_found(dynamo):
    with pytest.raises(
        Exception, match=r"ResourceNotFoundException: Requested resource not found: Stream: .*not found"
    ):
        await dynamo.call("DescribeStream", {"StreamArn": ABSENT_ARN})


async def test_a_shard_that_does_not_exist_is_not_found(dynamo, streamed):
    _, arn = await streamed()
    with pytest.raises(DynamoError, match=r"ResourceNotFoundException"):
        await dynamo.call(
            "GetShardIterator",
            {
                "StreamArn": arn,
                "ShardId": "shardId-00000000000000000000-00000000",
                "ShardIteratorType": "LATEST",
            },
        )


async def test_an_iterator_of_a_sequence_number_needs_one(dynamo, streamed):
    _, arn = await streamed()
    with pytest.raises(DynamoError, match=r"ValidationException"):
        await iterator(dynamo, arn, "AT_SEQUENCE_NUMBER")


async def test_a_bad_iterator_is_refused(dynamo):
    with pytest.raises(DynamoError, match=r"ValidationException"):
        await dynamo.call("GetRecords", {"ShardIterator": "not an iterator"})


@pytest.mark.parametrize("kind", ["TRIM_HORIZON", "LATEST"])
async def test_an_iterator_of_an_end_takes_no_sequence_number(dynamo, streamed, kind):
    table, arn = await streamed()
    await three_writes(dynamo, table)
    number = (await records(dynamo, arn))[0]["dynamodb"]["SequenceNumber"]
    with pytest.raises(DynamoError, match="ValidationException"):
        await iterator(dynamo, arn, kind, SequenceNumber=number)


@pytest.mark.parametrize("operation", ["DescribeStream", "GetShardIterator"])
async def test_what_is_no_arn_is_refused(dynamo, operation):
    request = {"StreamArn": "x" * 50}
    if operation == "GetShardIterator":
        request |= {"ShardId": "shardId-00000000000000000000-00000000", "ShardIteratorType": "LATEST"}
    with pytest.raises(DynamoError, match="ValidationException"):
        await dynamo.call(operation, request)
