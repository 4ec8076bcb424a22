"""DeleteTable."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.descriptions import described
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.parameters import table_name_of
from potluck.dynamo.storage.rows import Rows

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def delete_table(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    name = table_name_of(request["TableName"])

    def drop(rows: Rows) -> dict[str, Any]:
        table = rows.catalog.tables.get(name)
        if table is None:
            raise DynamoError("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found")
        if table.definition.protected:
            invalid(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        description = described(table, rows, "DELETING")
        for index in description.get("GlobalSecondaryIndexes", ()):
            index["IndexStatus"] = "DELETING"
        rows.catalog.drop(rows.connection, table, database.clock())
        return {"TableDescription": description}

    answer: dict[str, Any] = await database.write(drop)
    return answer
