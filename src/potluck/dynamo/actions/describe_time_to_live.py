"""DescribeTimeToLive."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.parameters import table_name_of

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_time_to_live(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    name = table_name_of(request["TableName"])
    database.file.refresh_catalog()
    table = database.file.catalog.tables.get(name)
    if table is None:
        raise DynamoError("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found")
    attribute = table.ttl
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
