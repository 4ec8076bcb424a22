"""Which keys WHERE selects: a single item, ranges of partitions, or everything."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from potluck.dynamo.actions.query import check_not_empty, encoded, key_range
from potluck.dynamo.errors import invalid
from potluck.dynamo.expressions import KeyCondition
from potluck.dynamo.expressions.key_conditions import MIRRORED
from potluck.dynamo.keys import partition_range
from potluck.dynamo.partiql.nodes import (
    AttributePath,
    Expression,
    FunctionCall,
    ListLiteral,
    Literal,
    OperatorExpression,
    Parameter,
)
from potluck.dynamo.tables import Index, Table
from potluck.dynamo.values import Item, Value, checked_value, kind_of

MOST_RANGES = 1_000
"""Conditions that allow more partitions filter a scan: there can be millions, if a partition has several attributes."""

RANGED = frozenset(("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"))


class KeyTest(NamedTuple):
    """A condition on one attribute that compares it with constants."""

    attribute: str
    operator: str
    values: list[Value]


class KeyRanges(NamedTuple):
    """The ranges of keys to read, in order, and the conditions that are left to test on each item."""

    ranges: list[tuple[bytes, bytes | None]]
    conditions: list[Expression]
    is_scan: bool


def key_of(table: Table, conjuncts: Sequence[Expression], parameters: Sequence[Value]) -> tuple[Item, list[Expression]]:
    """The key of the one item that these conditions allow, and the conditions on its other attributes."""
    key: Item = {}
    others: list[Expression] = []
    for conjunct in conjuncts:
        test = key_test(conjunct, parameters)
        if test is None or test.operator != "=" or test.attribute not in table.key_names:
            others.append(conjunct)
            continue
        value = test.values[0]
        check_kind(test, table.definition.attributes)
        if key.setdefault(test.attribute, value) != value:
            invalid(
                f"Multiple conditions on same key {test.attribute}. Only single item Update/Insert/Delete are supported"
            )
    if len(key) != len(table.key_names):
        invalid("Where clause does not contain a mandatory equality on all key attributes")
    return key, others


def ranges_of(
    table: Table, index: Index | None, conjuncts: Sequence[Expression], parameters: Sequence[Value], *, backwards: bool
) -> KeyRanges:
    """What to read of a table or an index; `backwards` is about the order of partitions."""
    partition, sort = (index.partition, index.sort) if index else (table.key_names[:1], table.key_names[1:])
    kinds = table.definition.attributes
    selected = [_selected(conjuncts, name, parameters, kinds) for name in partition]
    if any(values is None for values in selected) or prod(len(values or ()) for values in selected) > MOST_RANGES:
        return KeyRanges([partition_range(0, 1)], list(conjuncts), is_scan=True)
    others: list[Expression] = []
    bounds: list[KeyTest] = []
    for conjunct in conjuncts:
        test = key_test(conjunct, parameters)
        if test is not None and test.attribute in partition and test.operator in ("=", "IN"):
            continue
        if test is not None and sort and test.attribute == sort[0] and test.operator in RANGED:
            check_kind(test, kinds)
            bounds.append(test)
        else:
            others.append(conjunct)
    in_order = [sorted(values or [], key=encoded, reverse=backwards) for values in selected]
    ranges = [_range(list(values), bounds, partition, sort) for values in product(*in_order)]
    return KeyRanges([(low, high) for low, high in ranges if high is None or low < high], others, is_scan=False)


def _range(
    values: list[Value], bounds: list[KeyTest], partition: tuple[str, ...], sort: tuple[str, ...]
) -> tuple[bytes, bytes | None]:
    """The part of a partition in which all these conditions on its first sort attribute hold."""
    whole = KeyCondition(values, [], None)
    check_not_empty(whole, partition, sort)
    low, high = key_range(whole)
    for test in bounds:
        if test.operator == "=":
            condition = KeyCondition(values, test.values, None)
            check_not_empty(condition, partition, sort)
        else:
            condition = KeyCondition(values, [], (test.operator, test.values))
        lower, upper = key_range(condition)
        low = max(low, lower)
        high = upper if high is None else high if upper is None else min(high, upper)
    return low, high


def _selected(
    conjuncts: Sequence[Expression], name: str, parameters: Sequence[Value], kinds: Mapping[str, str]
) -> list[Value] | None:
    """The values that an attribute must have one of, as all conditions hold; None if it may have any."""
    selected: list[Value] | None = None
    for conjunct in conjuncts:
        values = _values_of(conjunct, name, parameters, kinds)
        if values is not None:
            selected = values if selected is None else [value for value in selected if value in values]
    return selected


def _values_of(
    expression: Expression, name: str, parameters: Sequence[Value], kinds: Mapping[str, str]
) -> list[Value] | None:
    if isinstance(expression, OperatorExpression) and expression.operator == "AND":
        return _selected(expression.operands, name, parameters, kinds)
    if isinstance(expression, OperatorExpression) and expression.operator == "OR":
        united: list[Value] = []
        for operand in expression.operands:
            values = _values_of(operand, name, parameters, kinds)
            if values is None or len(united) > MOST_RANGES:
                return None
            united += [value for value in values if value not in united]
        return united
    test = key_test(expression, parameters)
    if test is None or test.attribute != name or test.operator not in ("=", "IN"):
        return None
    check_kind(test, kinds)
    return [value for number, value in enumerate(test.values) if value not in test.values[:number]]


def key_test(expression: Expression, parameters: Sequence[Value]) -> KeyTest | None:
    """The condition as a test of one attribute; None if it is of another form."""
    if isinstance(expression, FunctionCall):
        operator, operands = expression.function, expression.operands
    elif isinstance(expression, OperatorExpression):
        operator, operands = expression.operator, expression.operands
    else:
        return None
    if operator == "IN" and isinstance(operands[1], ListLiteral):
        operands = (operands[0], *operands[1].elements)
    if operator in MIRRORED and len(operands) == 2 and isinstance(operands[1], AttributePath):
        operator, operands = MIRRORED[operator], (operands[1], operands[0])
    if operator not in RANGED and operator != "IN":
        return None
    if len(operands) != {"IN": len(operands), "BETWEEN": 3}.get(operator, 2) or len(operands) < 2:
        return None
    attribute, *constants = operands
    if not isinstance(attribute, AttributePath) or len(attribute.parts) != 1:
        return None
    values: list[Value] = []
    for constant in constants:
        if isinstance(constant, Parameter):
            values.append(parameters[constant.number])
        elif isinstance(constant, Literal):
            values.append(checked_value(constant.value)[0])
        else:
            return None
    return KeyTest(str(attribute.parts[0]), operator, values)


def check_kind(test: KeyTest, kinds: Mapping[str, str]) -> None:
    """Refuse a value that a key attribute cannot have."""
    for value in test.values:
        if kind_of(value) != kinds[test.attribute]:
            invalid(f"Key attribute's data type should match its data type in table's schema: Key {test.attribute}")
