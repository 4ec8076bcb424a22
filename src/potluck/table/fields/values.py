"""How a single value is written, and why it is refused."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, get_origin
from uuid import UUID

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.limits import NESTING_LEVELS, NUMBER_DIGITS
from potluck.dynamo.numbers import canonical_number
from potluck.dynamo.values import Value
from potluck.table.errors import InvalidValue
from potluck.table.fields.plans import FieldPlan, Kind, Precision

NULL: Value = {"NULL": True}
"""How None is stored; only for comparisons, since callers may modify the rows that they get."""

# In an Any field, numbers with a fraction, or too large for these bounds, are read as floats.
ANY_WHOLE_NUMBERS = 10**NUMBER_DIGITS


class _Refused(Exception):
    """Why a value is not allowed."""


def encode_value(plan: FieldPlan, value: Any) -> Value:
    """A value in wire form; raises InvalidValue, also for values that are never stored: empty sets, omitted None."""
    wire = _written_or_refused(plan, value)
    if wire is None:
        raise InvalidValue(plan.entity, plan.name, f"{shown(value)} is left out of the row, so it has no stored form")
    return wire


def stored_value(plan: FieldPlan, value: Any) -> Value | None:
    """A value in stored form, None if the attribute is left out; raises InvalidValue."""
    wire = _written_or_refused(plan, value)
    return None if wire is not None and wire == plan.unwritten else wire


def _written_or_refused(plan: FieldPlan, value: Any) -> Value | None:
    try:
        return _written(plan, value)
    except _Refused as refused:
        raise InvalidValue(plan.entity, plan.name, str(refused), value) from None


def encode_element(plan: FieldPlan, value: Any) -> Value:
    """An element of a set or list, or a part of a text, in wire form; raises InvalidValue if it cannot be in there."""
    try:
        if plan.kind is Kind.TEXT:
            return {"S": _valid_text(value)}
        if plan.element is None or plan.kind is Kind.MAP:
            raise _Refused("it has no elements")
        return _written_element(plan.element, value)
    except _Refused as refused:
        raise InvalidValue(plan.entity, plan.name, str(refused), value) from None


def written_time(value: datetime, precision: Precision) -> str:
    """An instant in stored form: in UTC, truncated to the precision; raises ValueError if it has no time zone."""
    if value.tzinfo is not UTC:
        if value.utcoffset() is None:
            raise ValueError("a time needs a time zone")
        try:
            value = value.astimezone(UTC)
        except OverflowError:
            raise ValueError("the time is outside the years 1 to 9999 in UTC") from None
    if precision == "seconds":
        return value.isoformat()[:19] + "Z"
    return value.isoformat(timespec="milliseconds")[:23] + "Z"


def _written(plan: FieldPlan, value: Any) -> Value | None:
    if value is None:
        if plan.optional or plan.kind is Kind.ANY:
            return {"NULL": True} if plan.none_as == "null" or plan.kind is Kind.ANY else None
        raise _Refused("None is not allowed")
    return _WRITERS[plan.kind](plan, value)


def _written_element(plan: FieldPlan, value: Any) -> Value:
    wire = _written(plan, value)
    if wire is None:
        raise _Refused("an empty set cannot be inside a list or map")
    return wire


def _expected(plan: FieldPlan, value: Any) -> _Refused:
    name = getattr(plan.core, "__name__", str(plan.core))
    return _Refused(f"expected {name}, got {type(value).__name__} {shown(value)}")


def _valid_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Refused(f"expected text, got {type(value).__name__} {shown(value)}")
    # A plain str, so that nothing downstream meets a subclass (of an Enum, say).
    text = str.__str__(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Refused("the text is not valid Unicode: it holds half of a surrogate pair") from None
    return text


def _check_length(plan: FieldPlan, length: int, of: str) -> None:
    if plan.min_length is not None and length < plan.min_length:
        raise _Refused(f"{length} {of}, fewer than {plan.min_length}")
    if plan.max_length is not None and length > plan.max_length:
        raise _Refused(f"{length} {of}, more than {plan.max_length}")


def limits_broken(plan: FieldPlan, value: Any) -> str | None:
    """Which bound of its field a number breaks, in words."""
    if plan.ge is not None and not value >= plan.ge:
        return f"{shown(value)} is less than {plan.ge}"
    if plan.gt is not None and not value > plan.gt:
        return f"{shown(value)} is not more than {plan.gt}"
    if plan.le is not None and not value <= plan.le:
        return f"{shown(value)} is more than {plan.le}"
    if plan.lt is not None and not value < plan.lt:
        return f"{shown(value)} is not less than {plan.lt}"
    if plan.multiple_of is not None and value % plan.multiple_of:
        return f"{shown(value)} is not a multiple of {plan.multiple_of}"
    return None


def places_of(number: Decimal) -> int:
    """How many decimal places a finite number has, without zeros at the end."""
    _, digits, exponent = number.as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    return max(0, len(significant) - len(digits) - int(exponent)) if significant else 0


def shown(value: Any, length: int = 100) -> str:
    """A value as text for a message: cut to a length, and safe for any value."""
    try:
        return f"{value!s:.{length}}" if isinstance(value, Decimal) else f"{value!r:.{length}}"
    except Exception as error:  # for example, for a number with thousands of digits
        return f"({error})"


def _check_bounds(plan: FieldPlan, value: Any) -> None:
    if broken := limits_broken(plan, value):
        raise _Refused(broken)


def _number(text: str) -> Value:
    try:
        return {"N": canonical_number(text)}
    except DynamoError as error:
        raise _Refused(f"{text:.100}: {error.message}") from None


def _write_text(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, str):
        raise _expected(plan, value)
    text = _valid_text(value)
    _check_length(plan, len(text), "characters")
    if plan.pattern is not None and not re.search(plan.pattern, text):
        raise _Refused(f"{shown(text)} does not match {plan.pattern!r}")
    return {"S": text}


def _write_integer(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _expected(plan, value)
    _check_bounds(plan, value)
    try:
        return _number(int.__repr__(value))
    except ValueError:  # Python refuses to format integers this long
        raise _Refused("a number has at most 38 digits") from None


def _write_decimal(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, Decimal):
        raise _expected(plan, value)
    if not value.is_finite():
        raise _Refused(f"{value} is not a number that can be stored")
    _check_bounds(plan, value)
    if plan.places is not None and places_of(value) > plan.places:
        raise _Refused(f"{shown(value)} has more than {plan.places} decimal places")
    return _number(str(value))


def _write_float(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, float):
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**53:
            raise _expected(plan, value)
        value = float(value)
    text = _finite(value)
    _check_bounds(plan, value)
    return _number(text)


def _finite(value: float) -> str:
    if value - value != 0:
        raise _Refused(f"{value} is not a number that can be stored")
    return float.__repr__(value)


def _write_boolean(plan: FieldPlan, value: Any) -> Value:
    if value is not True and value is not False:
        raise _expected(plan, value)
    return {"BOOL": value}


def _write_bytes(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, bytes):
        raise _expected(plan, value)
    _check_length(plan, len(value), "bytes")
    return {"B": b2a_base64(value, newline=False).decode()}


def _write_uuid(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, UUID):
        raise _expected(plan, value)
    return {"S": str(value)}


def _write_time(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, datetime):
        raise _expected(plan, value)
    assert plan.precision is not None
    try:
        return {"S": written_time(value, plan.precision)}
    except ValueError as error:
        raise _Refused(str(error)) from None


def _write_date(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _expected(plan, value)
    return {"S": value.isoformat()}


def _write_literal(plan: FieldPlan, value: Any) -> Value:
    # True == 1, so equality alone would let a bool pass for a number.
    if isinstance(value, str if plan.wire == "S" else int) and not isinstance(value, bool) and value in plan.choices:
        return {plan.wire: str.__str__(value) if plan.wire == "S" else int.__repr__(value)}
    raise _Refused(f"{shown(value)} is none of {', '.join(map(repr, plan.choices))}")


def _write_enum(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, plan.core):
        raise _expected(plan, value)
    return {plan.wire: value.value if plan.wire == "S" else str(value.value)}


def _write_list(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, get_origin(plan.core)):
        raise _expected(plan, value)
    _check_length(plan, len(value), "elements")
    assert plan.element is not None
    return {"L": [_inside(plan.element, element, f"[{position}]") for position, element in enumerate(value)]}


def _write_map(plan: FieldPlan, value: Any) -> Value:
    if not isinstance(value, dict):
        raise _expected(plan, value)
    _check_length(plan, len(value), "entries")
    assert plan.element is not None
    assert plan.map_key is not None
    written = {}
    for key, element in value.items():
        name = _inside(plan.map_key, key, f" key {shown(key, 40)}")["S"]
        if not name:
            raise _Refused("a map cannot have an empty key")
        written[name] = _inside(plan.element, element, f"[{shown(key, 40)}]")
    return {"M": written}


def _write_struct(plan: FieldPlan, value: Any) -> Value:
    # A subclass is refused too: its additional members would be lost.
    if type(value) is not plan.core:
        raise _expected(plan, value)
    written = {}
    for name, member in plan.members.items():
        try:
            wire = _written(member, getattr(value, name))
        except _Refused as refused:
            raise _Refused(_placed(f".{name}", refused)) from None
        if wire is not None:
            written[member.attribute] = wire
    return {"M": written}


def _write_set(plan: FieldPlan, value: Any) -> Value | None:
    if not isinstance(value, set | frozenset):
        raise _expected(plan, value)
    _check_length(plan, len(value), "elements")
    if not value:
        return None
    assert plan.element is not None
    # Times that differ only beyond their precision are one element.
    texts = {_inside(plan.element, element, f" element {shown(element, 40)}")[plan.element.wire] for element in value}
    return {plan.wire: sorted(texts)}


def _inside(plan: FieldPlan, value: Any, place: str) -> Value:
    try:
        return _written_element(plan, value)
    except _Refused as refused:
        raise _Refused(_placed(place, refused)) from None


def _placed(place: str, refused: _Refused) -> str:
    reason = str(refused)
    return f"{place}{reason}" if reason.startswith((".", "[", " ")) else f"{place}: {reason}"


def _write_any(plan: FieldPlan, value: Any) -> Value:
    return _written_any(value, plan.remaining_levels)


def _written_any(value: Any, levels: int) -> Value:
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": _valid_text(value)}
    if isinstance(value, float):
        if not (value.is_integer() and abs(value) < ANY_WHOLE_NUMBERS):
            return _number(_finite(value))
        # It is read back as an integer, which is equal only if every digit is stored.
        value = int(value)
    if isinstance(value, int):
        if not -ANY_WHOLE_NUMBERS < value < ANY_WHOLE_NUMBERS:
            raise _Refused(f"a whole number here has at most {NUMBER_DIGITS} digits")
        return {"N": int.__repr__(value)}
    if isinstance(value, list | dict) and levels < 1:
        raise _Refused(f"it nests deeper than the {NESTING_LEVELS} levels that DynamoDB stores")
    if isinstance(value, list):
        return {"L": [_written_any(element, levels - 1) for element in value]}
    if isinstance(value, dict):
        written = {}
        for key, element in value.items():
            name = _valid_text(key)
            if not name:
                raise _Refused("a map cannot have an empty key")
            written[name] = _written_any(element, levels - 1)
        return {"M": written}
    raise _Refused(f"{type(value).__name__} {shown(value)} is not None, bool, int, float, str, list or dict")


_WRITERS: dict[Kind, Callable[[FieldPlan, Any], Value | None]] = {
    Kind.TEXT: _write_text,
    Kind.INTEGER: _write_integer,
    Kind.DECIMAL: _write_decimal,
    Kind.FLOAT: _write_float,
    Kind.BOOLEAN: _write_boolean,
    Kind.BYTES: _write_bytes,
    Kind.UUID: _write_uuid,
    Kind.TIME: _write_time,
    Kind.DATE: _write_date,
    Kind.LITERAL: _write_literal,
    Kind.ENUM: _write_enum,
    Kind.LIST: _write_list,
    Kind.MAP: _write_map,
    Kind.STRUCT: _write_struct,
    Kind.SET: _write_set,
    Kind.ANY: _write_any,
}
