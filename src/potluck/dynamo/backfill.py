"""Backfilling a new index from existing items, a few at a time."""

import asyncio
import logging
from typing import TYPE_CHECKING

import msgspec

from potluck.dynamo.errors import CLOSED, DynamoError
from potluck.dynamo.storage.rows import ItemRow, Rows, shown_size
from potluck.dynamo.tables import Index, Table

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

logger = logging.getLogger(__name__)

ROWS_AT_A_TIME = 500
RETRY_SECONDS = 1.0


async def backfill(database: "Database", name: str) -> None:
    """Fill every index of a table that is being created, resuming where an earlier process stopped."""

    def step(rows: Rows) -> bool:
        table = rows.catalog.tables.get(name)
        for index in table.indexes if table else ():
            if table and index.is_filling:
                fill_some(rows, table, index)
                return True
        return False

    while True:
        try:
            if not await database.write(step):
                return
        except DynamoError as failure:
            if failure.code == CLOSED:
                return
            logger.warning("filling the indexes of %s is interrupted and resumes later: %s", name, failure)
            await asyncio.sleep(RETRY_SECONDS)


def fill_some(rows: Rows, table: Table, index: Index) -> None:
    # Writes maintain the index from the moment it exists, so a row may be there already.
    start = rows.execute("SELECT up_to FROM filled WHERE of=?", (index.rows,)).get or b""
    batch = rows.execute(
        f"SELECT key, size, item FROM {table.rows} WHERE key > ? ORDER BY key LIMIT ?", (start, ROWS_AT_A_TIME)
    ).fetchall()
    for key, size, blob in batch:
        row = ItemRow(size, blob)
        place = index.place(row.item)
        if place is None:
            continue
        shown = shown_size(index, row)
        added = rows.execute(
            f"INSERT OR IGNORE INTO {index.rows} VALUES (?, ?, ?) RETURNING 1", (place + key, len(place) + 1, shown)
        ).get
        if added:
            rows.count(index.rows, 1, shown)
    if len(batch) == ROWS_AT_A_TIME:
        rows.execute("REPLACE INTO filled VALUES (?, ?)", (index.rows, batch[-1][0]))
        return
    rows.execute("DELETE FROM filled WHERE of=?", (index.rows,))
    indexes = tuple(
        msgspec.structs.replace(other, status="ACTIVE") if other.name == index.name else other
        for other in table.definition.indexes
    )
    rows.catalog.save(rows.connection, Table(msgspec.structs.replace(table.definition, indexes=indexes)))
