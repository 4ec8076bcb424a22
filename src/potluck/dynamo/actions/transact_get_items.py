"""TransactGetItems."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.cancellations import misfit
from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.limits import TRANSACTION_BYTES
from potluck.dynamo.projections import check_projection, projection_of
from potluck.dynamo.storage.rows import Rows, unpack
from potluck.dynamo.writes import check_key_values

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

INLINE_KEYS = 25


async def transact_get_items(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    gets = [item["Get"] for item in request["TransactItems"]]
    projections = []
    for get in gets:
        projections.append(projection_of(get))
        check_key_values(get["Key"])
    tables = [database.table(get["TableName"]) for get in gets]
    for table, projection in zip(tables, projections, strict=True):
        check_projection(projection, table)
    places: list[bytes] = []
    try:
        for table, get in zip(tables, gets, strict=True):
            places.append(table.checked_key(get["Key"])[1])
    except DynamoError as failure:
        raise misfit(failure, len(places), len(gets)) from failure
    wanted = list(zip(tables, places, strict=True))
    if len({(table.number, place) for table, place in wanted}) != len(wanted):
        invalid("Transaction request cannot include multiple operations on one item")

    def read() -> dict[str, Any]:
        rows = database.rows
        items = one_moment(rows, wanted)
        if sum(row[0] for row in items if row) > TRANSACTION_BYTES:
            invalid("Aggregate size of the items in the transaction cannot exceed 4 MB")
        responses: list[dict[str, Any]] = []
        consumed: dict[str, Consumed] = {}
        for (table, _), row, projection in zip(wanted, items, projections, strict=True):
            units = read_units(row[0] if row else 0, consistent=True)
            consumed.setdefault(table.name, Consumed(table.name, factor=2)).read(units)
            if row is None:
                responses.append({})
            else:
                item = unpack(row[1])
                responses.append({"Item": item if projection is None else projection.apply(item)})
        answer: dict[str, Any] = {"Responses": responses}
        asked = request.get("ReturnConsumedCapacity", "NONE")
        if asked != "NONE":
            answer["ConsumedCapacity"] = [capacity.report(asked) for capacity in consumed.values()]
        return answer

    return read() if len(wanted) <= INLINE_KEYS else await database.read_aside(read)


def one_moment(rows: Rows, wanted: list[Any]) -> list[tuple[int, bytes] | None]:
    """All the items from one snapshot: no commit comes in between."""
    rows.execute("BEGIN")
    try:
        return [rows.get(table, place) for table, place in wanted]
    finally:
        rows.execute("COMMIT")
