"""SELECT: the pages of the ranges of keys that its conditions allow, or of the whole table."""

from typing import TYPE_CHECKING, Any

from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.expressions import refuse_nested_keys
from potluck.dynamo.limits import PAGE_BYTES
from potluck.dynamo.pages import ItemPage
from potluck.dynamo.parameters.items import VALUE
from potluck.dynamo.partiql import next_tokens
from potluck.dynamo.partiql.columns import Columns
from potluck.dynamo.partiql.conditions import condition_of, conjuncts_of
from potluck.dynamo.partiql.keys import KeyRanges, key_of, key_test, ranges_of
from potluck.dynamo.partiql.next_tokens import INVALID_TOKEN, NextToken
from potluck.dynamo.partiql.nodes import Order, SelectStatement
from potluck.dynamo.reads import check_start, check_start_of_table
from potluck.dynamo.tables import Index, Table
from potluck.dynamo.values import Item, Value, checked_value

if TYPE_CHECKING:
    from potluck.dynamo.database import Database


async def select(
    database: "Database", statement: SelectStatement, parameters: list[Value], request: dict[str, Any]
) -> dict[str, Any]:
    """The items from the start or from a token on, until the limit, a megabyte or the end."""
    columns = None if statement.columns is None else Columns(statement.columns)
    source = statement.source
    table = database.table(source.table_name, source.index_name)
    index = _index(table, source.index_name, consistent=request.get("ConsistentRead", False))
    fetches_whole = columns is not None and _check_columns(columns, table, index)
    conjuncts = conjuncts_of(statement.where)
    # Compiled whole, so that mistakes in conditions on keys are refused too.
    condition_of(conjuncts, parameters)
    names = index.key_names if index else table.key_names
    descends = [Order(name, descends=True) in statement.order for name in names]
    selected = ranges_of(table, index, conjuncts, parameters, backwards=descends[0])
    _check_order(statement, names, selected)
    pages = _Pages(table, index, selected, request.get("Limit"))
    digest = next_tokens.digest_of(request["Statement"], parameters)
    start = next_tokens.read(request["NextToken"], digest) if "NextToken" in request else NextToken(digest, 0, None)
    token = await pages.read(
        database,
        start,
        backwards=any(descends[len(index.partition) if index else 1 :]),
        filter=condition_of(selected.conditions, parameters),
        projection=columns,
        fetches_whole=fetches_whole,
    )
    answer: dict[str, Any] = {"Items": pages.items}
    if token is not None:
        answer["NextToken"] = next_tokens.written(token)
        if token.key is not None:
            answer["LastEvaluatedKey"] = token.key
    asked = request.get("ReturnConsumedCapacity", "NONE")
    if asked != "NONE":
        answer["ConsumedCapacity"] = pages.consumed(request.get("ConsistentRead", False)).report(asked)
    return answer


class _Pages:
    """The pages of several ranges, read one after the other."""

    def __init__(self, table: Table, index: Index | None, selected: KeyRanges, limit: int | None) -> None:
        self.table = table
        self.index = index
        self.ranges = selected.ranges
        self.left = limit
        self.items: list[Item] = []
        self.size = 0
        self.fetched_units = 0

    async def read(self, database: "Database", start: NextToken, **options: Any) -> NextToken | None:
        """Read from a token on; returns where to go on, None at the end."""
        for number in range(start.range, len(self.ranges)):
            low, high = self.ranges[number]
            page = ItemPage(self.table, self.index, low, high, limit=self.left, **options)
            if number == start.range and start.key is not None:
                page.start_after(_checked_start(page, start.key))
            await page.read(database)
            self.items += page.items
            self.size += page.size
            self.fetched_units += page.fetched_units
            if page.last is not None:
                return NextToken(start.statement, number, page.last)
            if self.left is not None:
                self.left -= page.scanned
            if self.size >= PAGE_BYTES and number + 1 < len(self.ranges):
                return NextToken(start.statement, number + 1, None)
        return None

    def consumed(self, consistent: bool) -> Consumed:
        consumed = Consumed(self.table.name)
        consumed.read(read_units(self.size, consistent), self.index)
        if self.fetched_units:
            consumed.read(self.fetched_units * (1.0 if consistent else 0.5))
        return consumed


def single_key(
    database: "Database", statement: SelectStatement, parameters: list[Value], refusal: str
) -> tuple[Table, Item]:
    """The table and the key of a SELECT that must be for one item, and have no other condition."""
    table = database.table(statement.source.table_name)
    conjuncts = conjuncts_of(statement.where)
    condition_of(conjuncts, parameters)
    if statement.source.index_name is not None or not _is_single(table, conjuncts, parameters):
        invalid(refusal)
    return table, key_of(table, conjuncts, parameters)[0]


def _is_single(table: Table, conjuncts: list[Any], parameters: list[Value]) -> bool:
    tests = [key_test(conjunct, parameters) for conjunct in conjuncts]
    equal = {test.attribute for test in tests if test is not None and test.operator == "="}
    return len(tests) == len(table.key_names) and equal == set(table.key_names)


def _index(table: Table, name: str | None, *, consistent: bool) -> Index | None:
    if name is None:
        return None
    index = table.index(name)
    if index.is_global and consistent:
        invalid("Consistent reads are not supported on global secondary indexes")
    return index


def _check_columns(columns: Columns, table: Table, index: Index | None) -> bool:
    """Refuse columns that cannot be read; True if a local index has to fetch whole items for them."""
    if columns.nested:
        refuse_nested_keys(columns.nested, table.key_names, table.index_key_names)
    if index is None or index.shows_all:
        return False
    missing = [name for name in columns.attributes if name not in (index.shown or ())]
    if missing and index.is_global:
        invalid(
            "One or more parameter values were invalid: Global secondary index "
            f"{index.name} does not project [{', '.join(missing)}]"
        )
    return bool(missing)


def _check_order(statement: SelectStatement, names: tuple[str, ...], selected: KeyRanges) -> None:
    """Refuse an ORDER BY that is not the order in which the keys are read."""
    if not statement.order:
        return
    if statement.where is None:
        invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
    if selected.is_scan:
        invalid("Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.")
    for key in statement.order:
        if key.attribute not in names:
            invalid(f"Variable reference {key.attribute} in ORDER BY clause must be part of the primary key")


def _checked_start(page: ItemPage, key: Item) -> Item:
    """The key of a token with canonical values; refused if no item can have it, or the table is another one by now."""
    table, index = page.table, page.index
    names = {*table.key_names, *(index.key_names if index else ())}
    try:
        start = {name: checked_value(VALUE.understood(value, True))[0] for name, value in key.items()}
        if start.keys() != names:
            invalid(INVALID_TOKEN)
        check_start(start, names, table)
        check_start_of_table(start, table, index)
    except DynamoError:
        invalid(INVALID_TOKEN)
    return start
