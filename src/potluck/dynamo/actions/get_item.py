"""GetItem."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import refuse_mixed_parameters
from potluck.dynamo.projections import check_projection, projection_of
from potluck.dynamo.storage.rows import unpack
from potluck.dynamo.writes import check_key_values

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

PLAIN_GET = frozenset({"TableName", "Key", "ConsistentRead"})
"""A request with no other parameters than these has no projection to check."""


async def get_item(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    projection = None
    if not PLAIN_GET.issuperset(request):
        refuse_mixed_parameters(request, ("ProjectionExpression",), ("AttributesToGet",))
        check_key_values(request["Key"])
        projection = projection_of(request)
    try:
        table = database.table(request["TableName"])
    except DynamoError:
        check_key_values(request["Key"])  # errors in the values are reported first
        raise
    check_projection(projection, table)
    row = database.file.reader.get(table, table.checked_key(request["Key"])[1])
    answer: dict[str, Any] = {}
    if row is not None:
        item = unpack(row[1])
        answer["Item"] = item if projection is None else projection.apply(item)
    asked = request.get("ReturnConsumedCapacity", "NONE")
    if asked != "NONE":
        consumed = Consumed(table.name)
        consumed.read(read_units(row[0] if row else 0, request.get("ConsistentRead", False)))
        answer["ConsumedCapacity"] = consumed.report(asked)
    return answer
