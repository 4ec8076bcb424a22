"""Stores for tests: on any engine, with every call recorded and a clock that stands still."""

import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.store import Store
from potluck.table import Table
from tests.engine_targets import opened

__all__ = ["NOW", "recorded_store", "rows_in"]

# Later than any clock on the wall: DynamoDB Local deletes what has expired by its own clock, whatever ours says.
NOW = datetime(2040, 1, 1, 12, 0, tzinfo=UTC)


@contextlib.asynccontextmanager
async def recorded_store(
    engine: str, folder: Path, *tables: Table, wrap: Callable[[Engine], Engine] | None = None
) -> AsyncIterator[tuple[Store, Recording]]:
    """A new store with these tables; what `wrap` puts around the engine lies above the recording."""
    async with opened(engine, folder) as opened_engine:
        recording = Recording(opened_engine)
        await Store(recording, lambda: NOW).create_tables(*tables)
        recording.calls.clear()
        recording.totals.clear()
        yield Store(wrap(recording) if wrap else recording, lambda: NOW), recording


async def rows_in(engine: Engine, table: str) -> list[dict[str, Any]]:
    """Every row of the table, expired or not."""
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
    while True:
        answer = await engine.call("Scan", page)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        page["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
