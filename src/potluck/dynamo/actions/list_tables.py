"""ListTables."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

MOST_NAMES = 100


async def list_tables(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    database.file.refresh_catalog()
    after = request.get("ExclusiveStartTableName", "")
    limit = request.get("Limit", MOST_NAMES)
    tables = database.file.catalog.tables.values()
    names = sorted(table.name for table in tables if table.namespace == database.namespace and table.name > after)
    answer: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
