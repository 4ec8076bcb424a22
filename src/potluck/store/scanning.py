"""Scans: the rows of a whole table, page by page. Nothing else sends a Scan."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from potluck.engines.recording import access_pattern
from potluck.store.read_tracking import second
from potluck.store.reading import StoreReader
from potluck.table.entity import EntityPlan
from potluck.table.expressions import Expressions
from potluck.table.tables import Request, Table


class ScannedPage(NamedTuple):
    """The rows of one page, as they are stored, and where the next page begins; None at the end."""

    rows: list[dict[str, Any]]
    position: dict[str, Any] | None


async def scan(
    reads: StoreReader,
    table: Table,
    pattern: str,
    *,
    consistent: bool,
    limit: int | None = None,
    after: Mapping[str, Any] | None = None,
    filtering: Mapping[str, Any] | None = None,
) -> AsyncIterator[ScannedPage]:
    """The table's rows after a position; `pattern` names the question in recordings."""
    body: dict[str, Any] = {"TableName": table.name, **(filtering or {})}
    if consistent:
        body["ConsistentRead"] = True
    if limit is not None:
        body["Limit"] = limit
    position = None if after is None else dict(after)
    while True:
        start = {} if position is None else {"ExclusiveStartKey": position}
        with access_pattern(pattern):
            answer = await reads.repeat(Request("Scan", {**body, **start}))
        position = answer.get("LastEvaluatedKey")
        yield ScannedPage(answer["Items"], position)
        if position is None:
            return


async def every_of(reads: StoreReader, plans: Sequence[EntityPlan], *, consistent: bool) -> AsyncIterator[Any]:
    """The entities of these kinds that have not expired, in no particular order."""
    table = plans[0].table
    if any(plan.table is not table for plan in plans):
        raise ValueError(f"{' and '.join(plan.name for plan in plans)} are not rows of one table")
    pattern = f"every {' or '.join(plan.name for plan in plans)}"
    async for page in scan(reads, table, pattern, consistent=consistent, filtering=_of_types(plans)):
        for row in page.rows:
            for plan in plans:
                if plan.matches(row):
                    if not plan.expired(row, second(reads.clock)):
                        yield plan.coding.decode(row)
                    break


def _of_types(plans: Sequence[EntityPlan]) -> dict[str, Any]:
    """A filter by type, so that other rows are not sent; none if a kind is recognised by its key alone."""
    attribute = plans[0].table.type_attribute
    if attribute is None or any(plan.type is None for plan in plans):
        return {}
    expressions = Expressions()
    name = expressions.name(attribute)
    values = [expressions.value(attribute, {"S": str(plan.type)}) for plan in plans]
    return {"FilterExpression": f"{name} IN ({', '.join(values)})", **expressions.attributes()}
