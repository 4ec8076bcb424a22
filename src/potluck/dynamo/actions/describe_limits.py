"""DescribeLimits."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

UNITS = 80_000


async def describe_limits(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    return {
        "AccountMaxReadCapacityUnits": UNITS,
        "AccountMaxWriteCapacityUnits": UNITS,
        "TableMaxReadCapacityUnits": UNITS // 2,
        "TableMaxWriteCapacityUnits": UNITS // 2,
    }
