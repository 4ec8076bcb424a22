"""DescribeContinuousBackups."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.namespaces import name_of
from potluck.dynamo.tables import Table

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

RESTORABLE_AFTER_SECONDS = 300
"""The service can restore up to five minutes ago."""

DAY_SECONDS = 86_400


async def describe_continuous_backups(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    key = database.key_of(request["TableName"])
    database.file.refresh_catalog()
    return described_backups(existing(database.file.catalog.tables, key), database.clock())


def existing(tables: dict[str, Table], key: str) -> Table:
    table = tables.get(key)
    if table is None:
        raise DynamoError("TableNotFoundException", f"Table not found: {name_of(key)}")
    return table


def described_backups(table: Table, now: float) -> dict[str, Any]:
    recovery = table.definition.recovery
    described: dict[str, Any] = {"PointInTimeRecoveryStatus": "DISABLED"}
    if recovery is not None:
        described = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": recovery.days,
            "EarliestRestorableDateTime": max(recovery.since, now - recovery.days * DAY_SECONDS),
            "LatestRestorableDateTime": max(recovery.since, now - RESTORABLE_AFTER_SECONDS),
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": described,
        }
    }
