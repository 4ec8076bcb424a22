"""DescribeEndpoints."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_endpoints(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    return {"Endpoints": [{"Address": "127.0.0.1", "CachePeriodInMinutes": 1440}]}
