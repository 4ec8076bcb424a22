"""ListStreams."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.parameters import table_name_of
from potluck.dynamo.streams import all_streams, check_arn

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

MOST_STREAMS = 100


async def list_streams(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    start = request.get("ExclusiveStartStreamArn")
    if start is not None:
        check_arn(start)
    streams = all_streams(database.rows, database.namespace, database.clock())
    if "TableName" in request:
        name = table_name_of(request["TableName"])
        streams = [stream for stream in streams if stream.table_name == name]
    if start is not None:
        arns = [stream.arn for stream in streams]
        streams = streams[arns.index(start) + 1 :] if start in arns else []
    limit = request.get("Limit", MOST_STREAMS)
    answer: dict[str, Any] = {
        "Streams": [
            {"StreamArn": stream.arn, "StreamLabel": stream.definition.label, "TableName": stream.table_name}
            for stream in streams[:limit]
        ]
    }
    if len(streams) > limit:
        answer["LastEvaluatedStreamArn"] = streams[limit - 1].arn
    return answer
