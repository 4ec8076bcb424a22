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

# Singular and plural.
WORDS = {
    Kind.TEXT: ("text", "texts"),
    Kind.INTEGER: ("whole number", "whole numbers"),
    Kind.DECIMAL: ("decimal number", "decimal numbers"),
    Kind.FLOAT: ("number", "numbers"),
    Kind.BOOLEAN: ("true or false", "true or false"),
    Kind.BYTES: ("bytes", "bytes"),
    Kind.UUID: ("UUID", "UUIDs"),
    Kind.DATE: ("date", "dates"),
    Kind.TIME: ("time", "times"),
    Kind.STRUCT: ("record", "records"),
    Kind.LIST: ("list", "lists"),
    Kind.SET: ("set", "sets"),
    Kind.MAP: ("map", "maps"),
    Kind.ANY: ("anything", "anything"),
}
UNITS = {Kind.TEXT: "characters", Kind.BYTES: "bytes", Kind.MAP: "entries", Kind.LIST: "elements", Kind.SET: "elements"}


def attributes(plan: EntityPlan) -> Iterator[Sequence[str]]:
    """Each attribute's name, contents and notes."""
    table = plan.table
    for field in plan.fields.values():
        yield from _attribute(field, "", table)
    if plan.type is not None:
        yield f"`{table.type_attribute}`", f"`{plan.type}`", "the row's type"


def _attribute(field: FieldPlan, inside: str, table: Table) -> Iterator[Sequence[str]]:
    name = inside + field.attribute
    yield code(name), _holds(field), "; ".join(_notes(field, table, bool(inside)))
    of = field.element if field.kind in (Kind.LIST, Kind.MAP) else field
    if of is not None and of.kind is Kind.STRUCT:
        for member in of.members.values():
            yield from _attribute(member, f"{name}.", table)


def _holds(field: FieldPlan) -> str:
    bounds = _bounds(field)
    if field.choices:
        return bounds if field.wire == "S" else f"{_type(field)} {bounds}"
    if field.kind is Kind.BYTES and bounds:
        return bounds
    return f"{_type(field)}, {bounds}" if bounds else _type(field)


def _type(field: FieldPlan, *, several: bool = False) -> str:
    kind = field.kind
    if kind in (Kind.LITERAL, Kind.ENUM):
        kind = Kind.TEXT if field.wire == "S" else Kind.INTEGER
    word = WORDS[kind][several]
    if kind is Kind.TIME:
        return f"{word} to the {'second' if field.precision == 'seconds' else 'millisecond'}"
    if kind in (Kind.LIST, Kind.SET):
        assert field.element is not None
        return f"{word} of {_type(field.element, several=True)}"
    if kind is Kind.MAP:
        assert field.element is not None
        assert field.map_key is not None
        return f"{word} of {_type(field.map_key)} to {_type(field.element)}"
    return word


def _bounds(field: FieldPlan) -> str:
    bounds = []
    if field.choices:
        values = [str(choice.value if isinstance(choice, Enum) else choice) for choice in field.choices]
        bounds.append(listed(list(map(code, values)), "or"))
    if (field.min_length, field.max_length) != (None, None):
        bounds.append(f"{_range(field.min_length, field.max_length)} {UNITS[field.kind]}")
    if not (field.is_version or field.is_expiry):
        bounds += _limits(field)
    if field.pattern is not None:
        bounds.append(f"like {code(field.pattern)}")
    if field.element is not None and field.element.kind is not Kind.STRUCT:
        inside = _bounds(field.element)
        if inside:
            bounds.append(f"each {inside}")
    return ", ".join(bounds)


def _limits(field: FieldPlan) -> Iterator[str]:
    low, high, above, below = field.ge, field.le, field.gt, field.lt
    if field.kind is Kind.INTEGER:
        # For integers an inclusive bound says the same in fewer words.
        low, above = (low if above is None else above + 1), None
        high, below = (high if below is None else below - 1), None
    if above is not None:
        yield f"more than {_number(above)}"
    if (low, high) != (None, None):
        yield _range(low, high)
    if below is not None:
        yield f"less than {_number(below)}"
    if field.places is not None:
        yield f"at most {field.places} decimal place{'' if field.places == 1 else 's'}"


def _range(low: Any, high: Any) -> str:
    if low is None:
        return f"at most {_number(high)}"
    if high is None:
        return f"at least {_number(low)}"
    return _number(low) if low == high else f"{_number(low)} to {_number(high)}"


def _number(number: Any) -> str:
    # No thousands separator below 10,000: 1800 may be a year.
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
    elif field.unwritten is not None:
        yield f"left out when {_default(field)}, its default"
    elif not (field.optional and field.default is None) and not field.is_version and field.kind is not Kind.SET:
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
    """The attribute name that msgspec derives from a field's name."""
    first, *others = field.split("_")
    renaming = RENAMING[table.names]
    if renaming is None:
        return field
    words = [first if renaming == "camel" else first.capitalize(), *(word.capitalize() for word in others)]
    return "".join(words)
