"""UpdateContinuousBackups: accepted and described, so that templates and tools work; nothing is backed up by it."""

from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.actions.describe_continuous_backups import described_backups, existing
from potluck.dynamo.errors import invalid
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.tables import Recovery, Table

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

LONGEST_DAYS = 35


async def update_continuous_backups(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    key = database.key_of(request["TableName"])
    asked = request["PointInTimeRecoverySpecification"]
    days = asked.get("RecoveryPeriodInDays")
    if days is not None and not asked["PointInTimeRecoveryEnabled"]:
        invalid("RecoveryPeriodInDays can only be specified when PointInTimeRecoveryEnabled is true")

    def change(rows: Rows) -> dict[str, Any]:
        table = existing(rows.catalog.tables, key)
        now = database.clock()
        before = table.definition.recovery
        recovery = None
        if asked["PointInTimeRecoveryEnabled"]:
            recovery = Recovery(before.since if before else now, days or (before.days if before else LONGEST_DAYS))
        changed = Table(msgspec.structs.replace(table.definition, recovery=recovery))
        rows.catalog.save(rows.connection, changed)
        return described_backups(changed, now)

    answer: dict[str, Any] = await database.write(change)
    return answer
