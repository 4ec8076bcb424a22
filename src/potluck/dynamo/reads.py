"""What Query and Scan have in common: an index, a filter, a selection of attributes, a start key."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.expressions import (
    Condition,
    Placeholders,
    Projection,
    condition,
    legacy,
    projection,
    refuse_key_attributes,
    refuse_mixed_parameters,
    refuse_nested_keys,
)
from potluck.dynamo.tables import KEY_MISMATCH, Index, Table
from potluck.dynamo.values import Item, checked_value

START_INVALID = "The provided starting key is invalid"

# The service reports these errors as they are, and prefixes all others with START_INVALID.
UNINTRODUCED = ("contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude")


class Selection:
    """Which items of a page are returned, and which parts. Read from the request first, then bound to its table."""

    def __init__(self, request: dict[str, Any], legacy_filter: str) -> None:
        self.request = request
        self.legacy_filter = legacy_filter
        self.is_query = legacy_filter == "QueryFilter"
        expressions: tuple[str, ...] = ("ProjectionExpression", "FilterExpression")
        older: tuple[str, ...] = ("AttributesToGet", legacy_filter, "ConditionalOperator")
        if self.is_query:
            expressions, older = (*expressions, "KeyConditionExpression"), (*older, "KeyConditions")
        refuse_mixed_parameters(request, expressions, older)
        self.filter: Condition | None = None
        self.projection: Projection | None = None
        self.fetches_whole = False
        # If both are wrong, Query and Scan differ in which they report.
        for read in (self._read_filter, self._read_names) if self.is_query else (self._read_names, self._read_filter):
            read()
        check_start_values(request.get("ExclusiveStartKey") or {})

    def _read_filter(self) -> None:
        if self.legacy_filter in self.request:
            operator = self.request.get("ConditionalOperator")
            self.filter = legacy.filter_conditions(self.request[self.legacy_filter], operator)

    def _read_names(self) -> None:
        if "AttributesToGet" in self.request:
            self.projection = legacy.attributes_to_get(self.request["AttributesToGet"])

    @cached_property
    def placeholders(self) -> Placeholders:
        return Placeholders(self.request)

    def read_expressions(self) -> None:
        """Read the filter and the projection; a key condition must have been read before."""
        request = self.request
        if "FilterExpression" in request:
            self.filter = condition("FilterExpression", request["FilterExpression"], self.placeholders)
        if "ProjectionExpression" in request:
            self.projection = projection(request["ProjectionExpression"], self.placeholders)
        self.placeholders.check_all_used()
        self._check_select()

    def _check_select(self) -> None:
        select = self.request.get("Select")
        named = next((name for name in ("AttributesToGet", "ProjectionExpression") if name in self.request), None)
        if select == "SPECIFIC_ATTRIBUTES" and named is None:
            invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
        if select not in (None, "SPECIFIC_ATTRIBUTES") and named is not None:
            asked = "only the Count" if select == "COUNT" else select
            invalid(f"Cannot specify the {named} when choosing to get {asked}")
        if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in self.request:
            verb = "Querying" if self.is_query else "Scanning"
            invalid(f"ALL_PROJECTED_ATTRIBUTES can be used only when {verb} using an IndexName")

    def index(self, table: Table) -> Index | None:
        """The index to read; None for the table itself."""
        if "IndexName" not in self.request:
            return None
        index = table.index(self.request["IndexName"])
        if index.is_global and self.request.get("ConsistentRead"):
            invalid("Consistent reads are not supported on global secondary indexes")
        return index

    def bind(self, table: Table, index: Index | None) -> None:
        """Check the filter and the projection against the table or index to read."""
        self._refuse_nested_keys(self.projection, table)
        if self.is_query and self.filter is not None:
            keys = index.key_names if index else table.key_names
            named = "Filter Expression" if "FilterExpression" in self.request else "QueryFilter"
            refuse_key_attributes(self.filter.attributes, keys, named)
        self.check_shown(index)
        self._refuse_nested_keys(self.filter, table)

    def _refuse_nested_keys(self, expression: Condition | Projection | None, table: Table) -> None:
        if expression is not None and expression.nested:
            refuse_nested_keys(expression.nested, table.key_names, table.index_key_names)

    def check_shown(self, index: Index | None) -> None:
        """Check the projection against a partial index: a local index fetches the rest, a global one refuses."""
        if index is None or index.shows_all:
            return
        everything = self.request.get("Select") == "ALL_ATTRIBUTES"
        if everything and index.is_global:
            invalid(
                "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
                f"secondary index {index.name} because its projection type is not ALL"
            )
        shown = index.shown or frozenset()
        missing = [name for name in (self.projection.attributes if self.projection else ()) if name not in shown]
        if missing and index.is_global:
            invalid(
                "One or more parameter values were invalid: Global secondary index "
                f"{index.name} does not project [{', '.join(missing)}]"
            )
        self.fetches_whole = everything or bool(missing)

    def page_options(self) -> dict[str, Any]:
        return {
            "filter": self.filter,
            "projection": self.projection,
            "counts_only": self.request.get("Select") == "COUNT",
            "fetches_whole": self.fetches_whole,
        }


def check_start_values(start: Item) -> None:
    for value in start.values():
        try:
            checked_value(value)
        except DynamoError as error:
            if error.code != "ValidationException" or any(part in error.message for part in UNINTRODUCED):
                raise
            invalid(f"{START_INVALID}: {error.message}")


def start_of(request: dict[str, Any], table: Table, index: Index | None, mismatch: str = "") -> Item | None:
    """The ExclusiveStartKey with canonical values; refused unless it has the right number of attributes."""
    start = request.get("ExclusiveStartKey")
    if start is None:
        return None
    if len(start) != len({*table.key_names, *(index.key_names if index else ())}):
        invalid(f"{START_INVALID}{mismatch}")
    return {name: checked_value(value)[0] for name, value in start.items()}


def check_start(start: Item, names: Iterable[str], table: Table) -> None:
    """Refuse a start key in which one of these key attributes is missing or has the wrong type."""
    for name in names:
        if name not in start:
            invalid(START_INVALID)
        if table.definition.attributes[name] not in start[name]:
            invalid(KEY_MISMATCH)


def check_start_of_table(start: Item, table: Table, index: Index | None) -> None:
    """Refuse a start key that cannot be the key of an item."""
    try:
        table.check_key_values(start, KEY_MISMATCH)
        if index is not None:
            index.check_key(start)
    except DynamoError as error:
        invalid(f"{START_INVALID}: {error.message}")
