"""Reading streams, for the tests of their operations."""

from typing import Any

from tests.conformance.targets import Target
from tests.conformance.wire import L, N, S

__all__ = ["iterator", "records", "three_writes"]


async def shards(dynamo: Target, arn: str) -> list[dict[str, Any]]:
    return (await dynamo.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]["Shards"]


async def iterator(dynamo: Target, arn: str, kind: str = "TRIM_HORIZON", **more: Any) -> str:
    (shard, *_) = await shards(dynamo, arn)
    answer = await dynamo.call(
        "GetShardIterator",
        {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind, **more},
    )
    assert answer.keys() == {"ShardIterator"}
    return answer["ShardIterator"]


async def records(dynamo: Target, arn: str, kind: str = "TRIM_HORIZON", **more: Any) -> list[dict[str, Any]]:
    """All records of a stream from an iterator on, following it until a page is empty."""
    found, position = [], await iterator(dynamo, arn, kind, **more)
    while position is not None:
        answer = await dynamo.call("GetRecords", {"ShardIterator": position})
        if not answer["Records"]:
            break
        found += answer["Records"]
        position = answer.get("NextShardIterator")
    return found


async def three_writes(dynamo: Target, table: str) -> tuple[dict[str, Any], list[tuple[str, Any, Any]]]:
    """An insert, a modification and a removal of one item, as the images before and after."""
    key = {"p": S("x"), "s": S("1")}
    first, second = {**key, "a": N(1)}, {**key, "a": N(2), "l": L(S("y"))}
    await dynamo.call("PutItem", {"TableName": table, "Item": first})
    await dynamo.call("PutItem", {"TableName": table, "Item": second})
    await dynamo.call("DeleteItem", {"TableName": table, "Key": key})
    return key, [("INSERT", None, first), ("MODIFY", first, second), ("REMOVE", second, None)]
