"""Time to live: expired items are deleted, and the stream attributes that to the service."""

from functools import partial
from typing import TYPE_CHECKING

from potluck.dynamo.limits import OLDEST_EXPIRY_SECONDS
from potluck.dynamo.storage.rows import ItemRow, Rows
from potluck.dynamo.tables import Table

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

ITEMS_AT_A_TIME = 100


async def sweep(database: "Database") -> int:
    """Delete every item that has expired by now, and return how many there were."""
    deleted = 0
    for table in list(database.file.catalog.tables.values()):
        if table.ttl is None:
            continue
        while expired(database.rows, table, database.clock(), 1):
            swept: int = await database.write(partial(sweep_some, name=table.key, now=database.clock()))
            deleted += swept
            if not swept:
                break
    return deleted


def expired(rows: Rows, table: Table, now: float, most: int) -> list[tuple[int, bytes]]:
    # An expiry more than five years in the past is ignored as a mistake, as in the service.
    expired: list[tuple[int, bytes]] = rows.execute(
        f"SELECT at, key FROM {table.expiries} WHERE at > ? AND at <= ? ORDER BY at LIMIT ?",
        (int(now) - OLDEST_EXPIRY_SECONDS, int(now), most),
    ).fetchall()
    return expired


def sweep_some(rows: Rows, name: str, now: float) -> int:
    table = rows.catalog.tables.get(name)
    if table is None or table.ttl is None:
        return 0
    keys = expired(rows, table, now, ITEMS_AT_A_TIME)
    for _, key in keys:
        row = rows.get(table, key)
        if row is not None:
            rows.store(table, key, ItemRow(*row), None, now, expired=True)
    return len(keys)
