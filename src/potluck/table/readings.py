"""What a reader finds in a field, by what the row has: old rows lack attributes that newer ones have."""

from __future__ import annotations

from typing import Any

import msgspec

from potluck.dynamo.values import Item, Value, equal
from potluck.table.fields import NULL, FieldPlan, Kind, stored_value

__all__ = ["holds", "read_when_missing", "stored_forms"]

KNOWN_FACTORIES = (list, dict, set, frozenset, tuple)


def stored_forms(field: FieldPlan, value: Any) -> tuple[bool, Value | None]:
    """What a row may have where a reader finds this value: whether nothing at all, and what else."""
    stored = stored_value(field, value)
    start = read_when_missing(field)
    if value is None:
        return start is None, NULL
    return start is not msgspec.NODEFAULT and stored_value(field, start) == stored, stored


def holds(field: FieldPlan, value: Any, item: Item) -> bool:
    """Whether a reader of this row finds the value in the field."""
    missing, form = stored_forms(field, value)
    stored = item.get(field.attribute)
    return missing if stored is None else form is not None and equal(stored, form)


def read_when_missing(field: FieldPlan) -> Any:
    """What a reader finds where the attribute is missing; NODEFAULT where that cannot be said."""
    if field.default is not msgspec.NODEFAULT:
        return field.default
    if field.default_factory in KNOWN_FACTORIES:
        return field.default_factory()
    if field.kind is Kind.SET and field.required:
        return field.core()
    return None if field.optional and field.none_as == "left out" else msgspec.NODEFAULT
