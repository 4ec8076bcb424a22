"""How stored rows read: old rows lack attributes that newer ones have."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import msgspec

from potluck.dynamo.values import Item, Value, equal
from potluck.table.errors import InvalidValue
from potluck.table.expressions.conditions import (
    Among,
    BeginsWith,
    Between,
    Compared,
    Condition,
    Contains,
    FieldName,
    Fits,
    Still,
)
from potluck.table.fields import NULL, FieldPlan, Kind, encode_value, stored_value

if TYPE_CHECKING:
    from potluck.table.entity import EntityPlan

COMPARISONS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

KNOWN_FACTORIES = (list, dict, set, frozenset, tuple)


def stored_forms(field: FieldPlan, value: Any) -> tuple[bool, Value | None]:
    """How a row may store a value: whether the attribute may be missing, and what it otherwise holds."""
    field = field.as_compared
    stored = stored_value(field, value)
    start = read_when_missing(field)
    if value is None:
        return start is None, NULL
    if field.unwritten is not None and stored is None:
        return True, encode_value(field, value)
    return start is not msgspec.NODEFAULT and stored_value(field, start) == stored, stored


def holds(field: FieldPlan, value: Any, item: Item) -> bool:
    """Whether a reader of this row finds the value in the field."""
    missing, form = stored_forms(field, value)
    stored = item.get(field.attribute)
    return missing if stored is None else form is not None and equal(stored, form)


def compared_as_read(plan: EntityPlan) -> list[FieldPlan]:
    """The fields that show whether a row has changed: those whose change would increment a version."""
    return [field for field in plan.fields.values() if field.name not in plan.key.components and not field.is_counter]


def default_meets(field: FieldPlan, condition: Condition) -> bool:
    """Whether a default that is left out of the row meets a condition on its field."""
    default = read_when_missing(field)
    match condition:
        case Compared(_, sign, operand) if not isinstance(operand, FieldName):
            return bool(COMPARISONS[sign](default, operand))
        case Among(_, values):
            return default in values
        case Between(_, low, high):
            return bool(low <= default <= high)
        case BeginsWith(_, start):
            return bool(default.startswith(start))
        case Contains(_, element):
            return element in default
        case Still() | Fits():
            return False  # these handle a missing attribute themselves
    raise InvalidValue(field.entity, field.name, "its default is not stored; compare it with a value")


def read_when_missing(field: FieldPlan) -> Any:
    """The value of a field whose attribute is missing; NODEFAULT if that is an error or unknown."""
    if field.default is not msgspec.NODEFAULT:
        return field.default
    if field.default_factory in KNOWN_FACTORIES:
        return field.default_factory()
    if field.kind is Kind.SET and field.required:
        return field.core()
    return None if field.optional and field.none_as == "left out" else msgspec.NODEFAULT
