"""DescribeStream."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.streams import find_stream, newest, sequence_number

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_stream(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    rows = database.rows
    stream = find_stream(rows, request["StreamArn"], database.clock())
    span = {"StartingSequenceNumber": sequence_number(0)}
    if not stream.is_open:
        span["EndingSequenceNumber"] = sequence_number(newest(rows, stream))
    shards = [{"ShardId": stream.shard, "SequenceNumberRange": span}]
    return {
        "StreamDescription": {
            "StreamArn": stream.arn,
            "StreamLabel": stream.definition.label,
            "StreamStatus": "ENABLED" if stream.is_open else "DISABLED",
            "StreamViewType": stream.definition.view,
            "CreationRequestDateTime": stream.definition.created,
            "TableName": stream.table_name,
            "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in stream.keys],
            "Shards": [] if request.get("ExclusiveStartShardId", "") >= stream.shard else shards,
        }
    }
