"""Decides from a row alone whether a query would return it, for readers of a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from potluck.dynamo.expressions import Placeholders
from potluck.dynamo.expressions import condition as compiled_condition
from potluck.dynamo.expressions.comparisons import begins_with, between, ordered
from potluck.dynamo.values import Item, Value, equal
from potluck.table.access import Gather, Query, Ref
from potluck.table.entity import EntityPlan
from potluck.table.tables import Table

AnyQuery = Query[Any] | Gather[Any] | Ref[Any]
"""A read of one partition: rows of one kind or several, or a single row by its key."""

Test = Callable[[Value], bool]
Entities = dict[EntityPlan, Any]


class Membership:
    """What a query requires of a row: its partition, sort key, kind and fields, and that it has not expired."""

    __slots__ = ("_filter", "_keep", "_members", "_partition", "_sort_attribute", "_sort_test", "index", "table")

    def __init__(self, of: AnyQuery) -> None:
        query = of.query if isinstance(of, Gather) else of
        if isinstance(query, Ref):
            self._of_one(query)
            return
        pattern = query.pattern
        key = pattern.key_plan(pattern.members[0])
        self.table: Table = pattern.table
        self.index: str | None = pattern.index
        self._members = pattern.members
        self._partition = key.partition_attribute, {"N" if key.partition_is_number else "S": query.partition}
        # A row without the index's sort key is not in the index, whatever the query says about sort keys.
        self._sort_attribute = key.sort_attribute
        kind = "N" if key.sort_is_number else "S"
        self._sort_test = _sort_test(query.sort.operator, [{kind: text} for text in query.sort.values])
        self._keep = query.sort.keep
        self._filter = None if query.filter is None else _filter_test(query)

    def _of_one(self, ref: Ref[Any]) -> None:
        table = ref.members[0].table
        self.table = table
        self.index = None
        self._members = ref.members
        self._partition = table.partition.name, ref.key[table.partition.name]
        self._sort_attribute = None if table.sort is None else table.sort.name
        self._sort_test = None if table.sort is None else _sort_test("=", [ref.key[table.sort.name]])
        self._keep = None
        self._filter = None

    @property
    def partition(self) -> Value:
        """The partition key of the rows, in the table or in the index."""
        return self._partition[1]

    def entity(self, row: Item, now: int, decoded: Entities | None = None) -> Any | None:
        """The row's entity if a query at this time would return it, else None; `decoded` caches what was decoded."""
        attribute, partition = self._partition
        stored = row.get(attribute)
        if stored is None or not equal(stored, partition):
            return None
        if self._sort_attribute is not None:
            stored = row.get(self._sort_attribute)
            if stored is None or (self._sort_test is not None and not self._sort_test(stored)):
                return None
        if self._filter is not None and not self._filter(row):
            return None
        for plan in self._members:
            if plan.matches(row) and not plan.expired(row, now):
                entity = _decoded(plan, row, decoded)
                return entity if self._keep is None or self._keep(entity) else None
        return None


def _decoded(plan: EntityPlan, row: Item, decoded: Entities | None) -> Any:
    if decoded is None:
        return plan.coding.decode(row)
    entity = decoded.get(plan)
    if entity is None:
        entity = decoded[plan] = plan.coding.decode(row)
    return entity


def _sort_test(operator: str, values: list[Value]) -> Test | None:
    match operator:
        case "none":
            return None
        case "=":
            return lambda stored: equal(stored, values[0])
        case "begins_with":
            return lambda stored: begins_with(stored, values[0])
        case "BETWEEN":
            return lambda stored: between(stored, values[0], values[1])
    test = ordered(operator)
    return lambda stored: test(stored, values[0])


def _filter_test(query: Query[Any]) -> Callable[[Item], bool]:
    """The filter, compiled from its expression and evaluated exactly as the engine does."""
    expressions = query.expressions()
    assert query.filter is not None
    text = expressions.condition(query.filter)
    return compiled_condition("FilterExpression", text, Placeholders(expressions.attributes())).matches
