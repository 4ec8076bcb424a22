"""DescribeStream: the state of a stream, and its shards."""

import time

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.streams import records
from tests.conformance.tables import definition
from tests.conformance.wire import S

ABSENT_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/absent/stream/2020-01-01T00:00:00.000"


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


async def test_a_stream_switched_off_can_still_be_read(dynamo, streamed):
    table, arn = await streamed()
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("x"), "s": S("1")}})
    await dynamo.call("UpdateTable", {"TableName": table, "StreamSpecification": {"StreamEnabled": False}})
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("y"), "s": S("1")}})
    assert [record["dynamodb"]["Keys"]["p"] for record in await records(dynamo, arn)] == [S("x")]
    description = (await dynamo.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    assert description["StreamStatus"] in ("DISABLING", "DISABLED")


async def test_a_stream_that_does_not_exist_is_not_found(dynamo):
    with pytest.raises(
        Exception, match=r"ResourceNotFoundException: Requested resource not found: Stream: .*not found"
    ):
        await dynamo.call("DescribeStream", {"StreamArn": ABSENT_ARN})


async def test_what_is_no_arn_is_refused(dynamo):
    with pytest.raises(DynamoError, match="ValidationException"):
        await dynamo.call("DescribeStream", {"StreamArn": "x" * 50})
