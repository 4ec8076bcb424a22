"""DeleteTable."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.descriptions import described
from potluck.dynamo.errors import invalid
from potluck.dynamo.namespaces import name_of
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.tables import not_found

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


TOLD_OF_A_DELETED_TABLE = (
    "TableName",
    "TableStatus",
    "ProvisionedThroughput",
    "TableSizeBytes",
    "ItemCount",
    "TableArn",
    "TableId",
    "BillingModeSummary",
    "TableClassSummary",
    "DeletionProtectionEnabled",
)


async def delete_table(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    key = database.key_of(request["TableName"])

    def drop(rows: Rows) -> dict[str, Any]:
        table = rows.catalog.tables.get(key)
        if table is None:
            raise not_found(name_of(key))
        if table.definition.protected:
            invalid(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        whole = described(table, rows, "DELETING")
        rows.catalog.drop(rows.connection, table, database.clock())
        return {"TableDescription": {name: whole[name] for name in TOLD_OF_A_DELETED_TABLE if name in whole}}

    answer: dict[str, Any] = await database.write(drop)
    return answer
