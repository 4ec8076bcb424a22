"""DescribeContinuousBackups."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.parameters import table_name_of

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def describe_continuous_backups(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    name = table_name_of(request["TableName"])
    database.file.refresh_catalog()
    if name not in database.file.catalog.tables:
        raise DynamoError("TableNotFoundException", f"Table not found: {name}")
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }
