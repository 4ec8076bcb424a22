"""BatchGetItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions import refuse_mixed_parameters
from potluck.dynamo.limits import BATCH_GET_BYTES, BATCH_GET_KEYS
from potluck.dynamo.projections import check_projection, projection_of
from potluck.dynamo.storage.rows import Rows, pack, unpack
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Item, checked_value

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

INLINE_KEYS = 25
PROJECTIONS = ("ProjectionExpression", "AttributesToGet")
"""The two dialects of a projection; all tables of a request must use the same one."""


async def batch_get_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    asked = request["RequestItems"]
    projected = {name: True for reads in asked.values() for name in PROJECTIONS if reads.get(name) is not None}
    refuse_mixed_parameters(projected, PROJECTIONS[:1], PROJECTIONS[1:])
    projections = {}
    keys = 0
    for name, reads in asked.items():
        projections[name] = projection_of(reads)
        check_distinct(reads["Keys"])
        keys += len(reads["Keys"])
        if keys > BATCH_GET_KEYS:
            invalid("Too many items requested for the BatchGetItem call")
    wanted: list[tuple[str, Table, Item, bytes]] = []
    for name, reads in asked.items():
        table = database.table(name)
        check_projection(projections[name], table)
        for key in reads["Keys"]:
            wanted.append((name, table, key, table.checked_key(key)[1]))

    def read(rows: Rows) -> dict[str, Any]:
        items: dict[str, list[Item]] = {name: [] for name in asked}
        unprocessed: dict[str, dict[str, Any]] = {}
        consumed: dict[str, Consumed] = {}
        size, full = 0, False
        for name, table, key, place in wanted:
            row = None if full else rows.get(table, place)
            size += row[0] if row else 0
            full = size > BATCH_GET_BYTES
            if full:
                unprocessed.setdefault(name, {**asked[name], "Keys": []})["Keys"].append(key)
                continue
            consistent = asked[name].get("ConsistentRead", False)
            consumed.setdefault(name, Consumed(table.name)).read(read_units(row[0] if row else 0, consistent))
            if row is None:
                continue
            item = unpack(row[1])
            projection = projections[name]
            items[name].append(item if projection is None else projection.apply(item))
        answer: dict[str, Any] = {"Responses": items, "UnprocessedKeys": unprocessed}
        capacity = request.get("ReturnConsumedCapacity", "NONE")
        if capacity != "NONE":
            answer["ConsumedCapacity"] = [table.report(capacity) for table in consumed.values()]
        return answer

    if len(wanted) <= INLINE_KEYS:
        return read(database.rows)
    return await database.read_aside(lambda: read(database.rows))


def check_distinct(keys: list[Item]) -> None:
    """Refuse invalid or duplicate keys, before any table is looked at."""
    seen = set()
    for key in keys:
        canonical = frozenset((name, pack(checked_value(value)[0])) for name, value in key.items())
        if canonical in seen:
            invalid("Provided list of item keys contains duplicates")
        seen.add(canonical)
