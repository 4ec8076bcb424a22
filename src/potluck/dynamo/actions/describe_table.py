"""DescribeTable."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.descriptions import described

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_table(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    return {"Table": described(database.current_table(request["TableName"]), database.rows)}
