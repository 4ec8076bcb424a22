"""DescribeStream."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.streams import find_stream, newest, sequence_number

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_stream(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    rows = database.rows
    wanted = request.get("ShardFilter")
    if wanted is not None and wanted.keys() != {"Type", "ShardId"}:
        invalid("ShardFilter must have both Type and ShardId")
    stream = find_stream(rows, database.namespace, request["StreamArn"], database.clock())
    span = {"StartingSequenceNumber": sequence_number(0)}
    if not stream.is_open:
        span["EndingSequenceNumber"] = sequence_number(newest(rows, stream))
    shards = [{"ShardId": stream.shard, "SequenceNumberRange": span}]
    if wanted is not None or request.get("ExclusiveStartShardId", "") >= stream.shard:
        shards = []  # there is one shard, and it has no children
    return {
        "StreamDescription": {
            "StreamArn": stream.arn,
            "StreamLabel": stream.definition.label,
            "StreamStatus": "ENABLED" if stream.is_open else "DISABLED",
            "StreamViewType": stream.definition.view,
            "CreationRequestDateTime": stream.definition.created,
            "TableName": stream.table_name,
            "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in stream.keys],
            "Shards": shards,
        }
    }
