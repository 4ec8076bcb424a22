"""Clauses: an update's effects on the attributes of a row, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

import msgspec

from potluck.dynamo.values import Item, Value, equal
from potluck.table.errors import InvalidValue
from potluck.table.expressions.conditions import Add, Becomes, Change, Exclude, Include
from potluck.table.expressions.readings import read_when_missing
from potluck.table.fields import FieldPlan, Kind, encode_value, stored_value

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)

# Precise enough that no sum of two DynamoDB numbers is rounded.
exactly = Context(prec=300)


@dataclass(frozen=True, slots=True)
class Assign:
    """An attribute gets a value."""

    attribute: str
    value: Value


@dataclass(frozen=True, slots=True)
class Remove:
    """An attribute is removed from the row."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Sum:
    """A number grows by an amount; a missing one starts from `start`, if that is set."""

    attribute: str
    value: Value
    stem: str  # names the placeholder for the amount
    start: Value | None = None


@dataclass(frozen=True, slots=True)
class Extend:
    """A set gains elements, or a number grows by an amount, from zero if it is missing."""

    attribute: str
    value: Value


@dataclass(frozen=True, slots=True)
class Reduce:
    """A set loses elements."""

    attribute: str
    value: Value


Clause = Assign | Remove | Sum | Extend | Reduce


def clause(field: FieldPlan, change: Change) -> Clause:
    """The effect of a change on its attribute; raises InvalidValue for a value that the field does not allow."""
    match change:
        case Becomes(_, value):
            stored = stored_value(field, value)
            return Remove(field.attribute) if stored is None else Assign(field.attribute, stored)
        case Add(_, amount):
            start = read_when_missing(field)
            if start is msgspec.NODEFAULT or start == 0:
                return Extend(field.attribute, _amount(field, amount))
            return Sum(field.attribute, _amount(field, amount), field.attribute, encode_value(field, start))
        case Include(_, elements):
            return Extend(field.attribute, _elements(field, elements))
        case Exclude(_, elements):
            return Reduce(field.attribute, _elements(field, elements))
    raise TypeError(f"{change!r} is not a change of a field")


def counts(clause: Clause) -> bool:
    """Whether applying it twice has more effect than applying it once."""
    return isinstance(clause, Sum) or (isinstance(clause, Extend) and "N" in clause.value)


def shows(clause: Clause, item: Item) -> bool:
    """Whether a row looks as if this had been applied; for a number that grows, only whether it is there."""
    stored = item.get(clause.attribute)
    if isinstance(clause, Remove):
        return stored is None
    if isinstance(clause, Assign):
        return stored is not None and equal(stored, clause.value)
    if counts(clause):
        return stored is not None
    [(kind, elements)] = clause.value.items()
    there = set((stored or {}).get(kind, ()))
    return there.isdisjoint(elements) if isinstance(clause, Reduce) else there.issuperset(elements)


def room_for(field: FieldPlan, amount: Any) -> tuple[bool, list[tuple[str, Value]]]:
    """The range in which the number must be, so that the sum is within the field's bounds.

    Returns whether it may be missing, and the comparisons that it must otherwise pass: none if no bound applies.
    """
    step = Decimal(_amount(field, amount)["N"])
    bounds = [(">=", field.ge), (">", field.gt)] if step < 0 else [("<=", field.le), ("<", field.lt)]
    comparisons = [
        (operator, {"N": f"{exactly.subtract(_decimal(bound), step).normalize(exactly):f}"})
        for operator, bound in bounds
        if bound is not None
    ]
    start = read_when_missing(field)
    return start is not msgspec.NODEFAULT and _within_bounds(field, exactly.add(_decimal(start), step)), comparisons


def _amount(field: FieldPlan, amount: Any) -> Value:
    if field.kind not in NUMBERS or field.optional:
        raise InvalidValue(field.entity, field.name, "add is for numbers that are never None")
    # The bounds apply to the sum, not to the amount.
    return encode_value(replace(field, ge=None, gt=None, le=None, lt=None), amount)


def _elements(field: FieldPlan, elements: tuple[Any, ...]) -> Value:
    if field.kind is not Kind.SET or field.optional:
        raise InvalidValue(field.entity, field.name, "include and exclude are for sets that are never None")
    return encode_value(replace(field, min_length=None, max_length=None), set(elements))


def _within_bounds(field: FieldPlan, number: Decimal) -> bool:
    return (
        (field.ge is None or number >= _decimal(field.ge))
        and (field.gt is None or number > _decimal(field.gt))
        and (field.le is None or number <= _decimal(field.le))
        and (field.lt is None or number < _decimal(field.lt))
    )


def _decimal(number: Any) -> Decimal:
    # A float is stored as its shortest text.
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
