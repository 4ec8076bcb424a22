"""DescribeTable."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.descriptions import described
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.parameters import table_name_of

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_table(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    name = table_name_of(request["TableName"])
    # Another process may have changed it, and here nothing else would notice.
    database.file.refresh_catalog()
    table = database.file.catalog.tables.get(name)
    if table is None:
        raise DynamoError("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found")
    return {"Table": described(table, database.rows)}
