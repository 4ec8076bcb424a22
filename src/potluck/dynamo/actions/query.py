"""Query."""

from functools import partial
from typing import TYPE_CHECKING, Any

from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions import KeyCondition, key_condition_of, key_tests, legacy
from potluck.dynamo.keys import ENCODERS, hashed, prefix_encoded, prefix_end
from potluck.dynamo.pages import ItemPage
from potluck.dynamo.reads import Selection, check_start, check_start_of_table, start_of
from potluck.dynamo.tables import EMPTY_KEY
from potluck.dynamo.values import Item, Value

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def query(database: "Database", request: dict[str, Any], packed: bool = False) -> dict[str, Any]:
    selection = Selection(request, "QueryFilter")
    if "KeyConditionExpression" in request:
        tests_of = key_tests(request["KeyConditionExpression"], selection.placeholders)
    elif "KeyConditions" in request:
        tests_of = partial(legacy.legacy_key_tests, request["KeyConditions"])
    else:
        invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
    selection.read_expressions()
    tests = tests_of()
    table = database.table(request["TableName"], request.get("IndexName"))
    index = selection.index(table)
    start = start_of(request, table, index)
    partition_names, sort_names = (index.partition, index.sort) if index else (table.key_names[:1], table.key_names[1:])
    if start is not None:
        check_start(start, partition_names, table)
        if all(name in tests for name in partition_names):
            check_start(start, sort_names, table)
    wanted = key_condition_of(tests, partition_names, sort_names, table.definition.attributes)
    check_not_empty(wanted, partition_names, sort_names)
    low, high = key_range(wanted)
    # A query for a single item is complete after one page.
    is_one_item = index is None and not sort_names
    if start is not None:
        check_start_of_table(start, table, index)
        check_inside(wanted, low, high, start, partition_names, sort_names)
        if is_one_item:
            written = ", ".join(f"{name}=AttributeValue: {shown(value)}" for name, value in start.items())
            invalid(f"The provided exclusive start key is invalid: ExclusiveStartKey: {{{written}}}")
    selection.bind(table, index)
    backwards = request.get("ScanIndexForward") is False
    options = selection.page_options()
    page = ItemPage(table, index, low, high, backwards=backwards, limit=request.get("Limit"), packed=packed, **options)
    if start is not None:
        page.start_after(start)
    await page.read(database)
    if is_one_item:
        page.last = None
    return page.answer(request, request.get("ConsistentRead", False))


async def packed_query(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    """A Query whose items stay packed, if they need no projection."""
    return await query(database, request, packed=True)


def check_inside(
    wanted: KeyCondition,
    low: bytes,
    high: bytes | None,
    start: Item,
    partition_names: tuple[str, ...],
    sort_names: tuple[str, ...],
) -> None:
    """Refuse a start key at which the query could not have ended a page."""
    same_partition = all(start[name] == value for name, value in zip(partition_names, wanted.partition, strict=True))
    if wanted.sort is None and not wanted.sort_equal:
        if not same_partition:
            invalid("The provided starting key is outside query boundaries based on provided conditions")
        return
    place = partition_of(wanted) + b"".join([encoded(start[name]) for name in sort_names])
    if place < low or (high is not None and place >= high):
        invalid("The provided starting key does not match the range key predicate")
    if not same_partition:
        invalid("The query can return at most one row and cannot be restarted")


def check_not_empty(wanted: KeyCondition, partition_names: tuple[str, ...], sort_names: tuple[str, ...]) -> None:
    equal = [*zip(partition_names, wanted.partition, strict=True), *zip(sort_names, wanted.sort_equal, strict=False)]
    for name, value in equal:
        ((kind, content),) = value.items()
        if not content:
            noun = "string" if kind == "S" else "binary"
            invalid(f"{EMPTY_KEY}{noun} value. Key: {name}")


def shown(value: Value) -> str:
    ((kind, content),) = value.items()
    return f"{{{kind}:{content}}}"


def encoded(value: Value) -> bytes:
    ((kind, content),) = value.items()
    return ENCODERS[kind](content)


def partition_of(wanted: KeyCondition) -> bytes:
    return hashed(b"".join([encoded(value) for value in wanted.partition]))


def key_range(wanted: KeyCondition) -> tuple[bytes, bytes | None]:
    """The range of keys that a key condition selects; the upper bound is exclusive."""
    base = partition_of(wanted) + b"".join([encoded(value) for value in wanted.sort_equal])
    if wanted.sort is None:
        return base, prefix_end(base)
    operator, values = wanted.sort
    if operator == "begins_with":
        prefix = base + prefix_encoded(values[0])
        return prefix, prefix_end(prefix)
    bound = base + encoded(values[0])
    if operator == "<":
        return base, bound
    if operator == "<=":
        return base, prefix_end(bound)
    if operator == ">":
        return prefix_end(bound) or bound, prefix_end(base)
    if operator == ">=":
        return bound, prefix_end(base)
    return bound, prefix_end(base + encoded(values[1]))
