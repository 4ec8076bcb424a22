"""GetShardIterator: where reading a stream begins."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.streams import iterator, records, three_writes
from tests.conformance.wire import S


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


@pytest.mark.parametrize("kind", ["TRIM_HORIZON", "LATEST"])
async def test_an_iterator_of_an_end_takes_no_sequence_number(dynamo, streamed, kind):
    table, arn = await streamed()
    await three_writes(dynamo, table)
    number = (await records(dynamo, arn))[0]["dynamodb"]["SequenceNumber"]
    with pytest.raises(DynamoError, match="ValidationException"):
        await iterator(dynamo, arn, kind, SequenceNumber=number)


async def test_what_is_no_arn_is_refused(dynamo):
    shard = {"ShardId": "shardId-00000000000000000000-00000000", "ShardIteratorType": "LATEST"}
    with pytest.raises(DynamoError, match="ValidationException"):
        await dynamo.call("GetShardIterator", {"StreamArn": "x" * 50, **shard})
