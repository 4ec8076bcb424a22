"""Filling a new index from the items that were there before it, a few at a time."""

from typing import TYPE_CHECKING

import msgspec

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.storage.rows import ItemRow, Rows
from potluck.dynamo.tables import Index, Table
from potluck.dynamo.values import item_size

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

ROWS_AT_A_TIME = 500


async def backfill(database: "Database", name: str) -> None:
    """Fill every index of a table that is being created; goes on where an earlier process stopped."""

    def step(rows: Rows) -> bool:
        table = rows.catalog.tables.get(name)
        for index in table.indexes if table else ():
            if table and index.definition.status == "CREATING":
                fill_some(rows, table, index)
                return True
        return False

    while await database.write(step):
        pass


def fill_some(rows: Rows, table: Table, index: Index) -> None:
    # Writes keep the index from the moment it exists, so a row may be there already.
    start = rows.execute("SELECT up_to FROM filled WHERE of=?", (index.rows,)).get or b""
    found = rows.execute(
        f"SELECT key, size, item FROM {table.rows} WHERE key > ? ORDER BY key LIMIT ?", (start, ROWS_AT_A_TIME)
    ).fetchall()
    for key, size, blob in found:
        row = ItemRow(size, blob)
        try:
            place = index.place(row.item)
        except DynamoError:
            continue  # the service leaves out what has the wrong type for the new key
        if place is None:
            continue
        shown = size if index.shows_all else item_size(index.show(row.item))
        added = rows.execute(
            f"INSERT OR IGNORE INTO {index.rows} VALUES (?, ?, ?) RETURNING 1", (place + key, len(place) + 1, shown)
        ).get
        if added:
            rows.count(index.rows, 1, shown)
    if len(found) == ROWS_AT_A_TIME:
        rows.execute("REPLACE INTO filled VALUES (?, ?)", (index.rows, found[-1][0]))
        return
    rows.execute("DELETE FROM filled WHERE of=?", (index.rows,))
    indexes = tuple(
        msgspec.structs.replace(each, status="ACTIVE") if each.name == index.name else each
        for each in table.definition.indexes
    )
    rows.catalog.save(rows.connection, Table(msgspec.structs.replace(table.definition, indexes=indexes)))
