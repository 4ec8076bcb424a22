"""The attributes of an entity in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

import msgspec

from potluck.table.design.markdown_text import code, listed
from potluck.table.entity import EntityPlan
from potluck.table.fields import FieldPlan, Kind
from potluck.table.tables import RENAMING, Table

__all__ = ["attributes"]

WORDS = {
    Kind.TEXT: "text",
    Kind.INTEGER: "whole number",
    Kind.DECIMAL: "decimal number",
    Kind.FLOAT: "number",
    Kind.BOOLEAN: "true or false",
    Kind.BYTES: "bytes",
    Kind.UUID: "UUID",
    Kind.DATE: "date",
    Kind.STRUCT: "record",
    Kind.ANY: "anything",
}


def attributes(plan: EntityPlan) -> Iterator[Sequence[str]]:
    """For each attribute its name, type, bounds and what else there is to know."""
    table = plan.table
    for field in plan.fields.values():
        yield from _attribute(field, "", table)
    if plan.type is not None:
        yield f"`{table.type_attribute}`", "text", f"`{plan.type}`", ""


def _attribute(field: FieldPlan, inside: str, table: Table) -> Iterator[Sequence[str]]:
    name = inside + field.attribute
    yield code(name), _type(field), _bounds(field), "; ".join(_notes(field, table, bool(inside)))
    of = field.element if field.kind in (Kind.LIST, Kind.MAP) else field
    if of is not None and of.kind is Kind.STRUCT:
        for member in of.members.values():
            yield from _attribute(member, f"{name}.", table)


def _type(field: FieldPlan) -> str:
    if field.kind is Kind.TIME:
        return f"time, in {field.precision}"
    if field.kind in (Kind.LITERAL, Kind.ENUM):
        return "text" if field.wire == "S" else "whole number"
    if field.kind in (Kind.LIST, Kind.SET):
        assert field.element is not None
        return f"{field.kind.value} of {_type(field.element)}"
    if field.kind is Kind.MAP:
        assert field.element is not None
        assert field.map_key is not None
        return f"map of {_type(field.map_key)} to {_type(field.element)}"
    return WORDS[field.kind]


def _bounds(field: FieldPlan) -> str:
    said = []
    if field.choices:
        values = [str(each.value if isinstance(each, Enum) else each) for each in field.choices]
        said.append(listed(list(map(code, values)), "or"))
    unit = {Kind.TEXT: "characters", Kind.BYTES: "bytes", Kind.MAP: "entries"}.get(field.kind, "elements")
    if (field.min_length, field.max_length) != (None, None):
        said.append(f"{_range(field.min_length, field.max_length)} {unit}")
    low = field.ge if field.ge is not None else field.gt
    high = field.le if field.le is not None else field.lt
    if (low, high) != (None, None) and not (field.is_version or field.is_expiry):
        bounds = _range(low, high)
        if field.gt is not None and field.ge is None:
            bounds = f"more than {_number(low)}" + (f", {_range(None, high)}" if high is not None else "")
        if field.lt is not None and field.le is None:
            least = "" if field.ge is None else f"at least {_number(low)}, "
            bounds = f"{least}less than {_number(high)}"
        said.append(bounds)
    if field.pattern is not None:
        said.append(f"like {code(field.pattern)}")
    if field.element is not None and field.element.kind is not Kind.STRUCT:
        inside = _bounds(field.element)
        if inside:
            said.append(f"each {inside}")
    return ", ".join(said)


def _range(low: Any, high: Any) -> str:
    if low is None:
        return f"at most {_number(high)}"
    if high is None:
        return f"at least {_number(low)}"
    return _number(low) if low == high else f"{_number(low)} to {_number(high)}"


def _number(number: Any) -> str:
    # 1800 may be a year.
    return f"{number:,}" if abs(number) >= 10_000 else str(number)


def _notes(field: FieldPlan, table: Table, nested: bool) -> Iterator[str]:
    if field.key_only:
        yield "in the key only"
    if field.is_version:
        yield "version, checked and raised by every update"
    if field.is_expiry:
        yield "expiry, in seconds since 1970"
    if field.is_counter:
        yield "counter, added to without being read"
    if field.unique is not None:
        yield "unique"
    if field.optional:
        yield "None is stored as NULL" if field.none_as == "null" else "left out when None"
    elif field.kind is Kind.SET:
        yield "left out when empty"
    if field.required:
        yield "required"
    elif not (field.optional and field.default is None) and not field.is_version:
        yield f"default {_default(field)}"
    if not nested and _renamed(field.name, table) != field.attribute:
        yield f"`{field.name}` in code"


def _default(field: FieldPlan) -> str:
    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    if isinstance(default, list | dict | set | frozenset | tuple) and not default:
        return "empty"
    if isinstance(default, bool):
        return "true" if default else "false"
    value = default.value if isinstance(default, Enum) else default
    return code(str(value)) if value != "" else "empty"


def _renamed(field: str, table: Table) -> str:
    """What msgspec calls an attribute after its field."""
    first, *others = field.split("_")
    renaming = RENAMING[table.names]
    if renaming is None:
        return field
    words = [first if renaming == "camel" else first.capitalize(), *(each.capitalize() for each in others)]
    return "".join(words)
