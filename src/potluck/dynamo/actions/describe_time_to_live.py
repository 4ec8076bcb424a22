"""DescribeTimeToLive."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_time_to_live(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    attribute = database.current_table(request["TableName"]).ttl
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
