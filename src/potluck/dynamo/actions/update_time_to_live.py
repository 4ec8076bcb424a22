"""UpdateTimeToLive."""

from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.errors import invalid
from potluck.dynamo.storage.catalog import create_expiries
from potluck.dynamo.storage.rows import Rows, expiry, unpack
from potluck.dynamo.tables import Table, not_found

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def update_time_to_live(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    key = database.table(request["TableName"]).key
    asked = request["TimeToLiveSpecification"]
    attribute = asked["AttributeName"]

    def change(rows: Rows) -> dict[str, Any]:
        table = rows.catalog.tables.get(key)
        if table is None:
            raise not_found()
        if asked["Enabled"]:
            if table.ttl is not None:
                invalid("TimeToLive is already enabled")
            changed = Table(msgspec.structs.replace(table.definition, ttl=attribute, ttl_changed=database.clock()))
            create_expiries(rows.connection, changed)
            note_expiries(rows, changed)
        else:
            if table.ttl is None:
                invalid("TimeToLive is already disabled")
            if table.ttl != attribute:
                invalid(f"TimeToLive is active on a different AttributeName: current AttributeName is {table.ttl}")
            changed = Table(msgspec.structs.replace(table.definition, ttl=None, ttl_changed=database.clock()))
            rows.execute(f"DROP TABLE {table.expiries}")
        rows.catalog.save(rows.connection, changed)
        return {"TimeToLiveSpecification": {"Enabled": asked["Enabled"], "AttributeName": attribute}}

    answer: dict[str, Any] = await database.write(change)
    return answer


def note_expiries(rows: Rows, table: Table) -> None:
    """Record the expiries of existing items, once, when TTL is enabled."""
    for key, blob in rows.connection.cursor().execute(f"SELECT key, item FROM {table.rows}"):
        at = expiry(table, unpack(blob))
        if at is not None:
            rows.execute(f"INSERT INTO {table.expiries} VALUES (?, ?)", (at, key))
