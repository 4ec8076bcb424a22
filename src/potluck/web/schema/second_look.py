"""The second look at what msgspec has decoded: whether it was more generous than the schema type is.

A look answers True for what is certainly right as it was decoded; False means only that it has to be gone through.
"""

import re
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

import msgspec

from potluck.web.schema.types import (
    DATE_TEXT,
    LARGEST_INTEGER,
    UUID_TEXT,
    BooleanType,
    ChoiceType,
    DateTimeType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    ListType,
    MapType,
    NullableType,
    NumberText,
    ObjectType,
    SchemaType,
    TextType,
    UnionType,
    UuidType,
)

__all__ = ["Look", "look_at"]

Look = Callable[[Any, Any], bool]
"""Called with the decoded value and its JSON."""

Check = Callable[[Any], Iterable[Any]]

_parts_of_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_parts_of_list = msgspec.json.Decoder(list[msgspec.Raw]).decode

QUOTED_UUID = re.compile(f'"{UUID_TEXT.pattern}"'.encode())
QUOTED_DATE = re.compile(f'"{DATE_TEXT.pattern}"'.encode())
_TIME = r"-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
# The first and the last year of all may have hours without a name in UTC.
QUOTED_DATE_TIME = re.compile(rf'"(?!0001|9999)[0-9]{{4}}{_TIME}(Z|[+-][0-9]{{2}}:[0-9]{{2}})"'.encode())
QUOTED_LOCAL_DATE_TIME = re.compile(rf'"[0-9]{{4}}{_TIME}"'.encode())
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?")


def look_at(expected: SchemaType) -> Look | None:
    """The look that a type needs; None where msgspec takes exactly what the type does."""
    if isinstance(expected, NullableType):
        return _unless_null(look_at(expected.inner))
    look = _look_without_check(expected)
    if expected.check is None:
        return look
    # A check is called with the value as JSON has it; where that is not the decoded one, it takes a thorough reading.
    return _with_check(expected.check, look) if _same_in_json(expected) else _never


def _look_without_check(expected: SchemaType) -> Look | None:
    match expected:
        case FloatType() | BooleanType() | ChoiceType():
            return None
        case TextType():
            return _text(expected)
        case IntegerType():
            return _integer(expected)
        case UuidType():
            return _written(QUOTED_UUID)
        case DateType():
            return _written(QUOTED_DATE)
        case DateTimeType():
            return _written(QUOTED_LOCAL_DATE_TIME if expected.local else QUOTED_DATE_TIME)
        case DecimalType():
            return _decimal(expected)
        case ListType():
            return _list(expected)
        case MapType():
            return _map(expected)
        case ObjectType():
            return _object(expected)
        case UnionType():
            return _union(expected)
    return _never


def _same_in_json(expected: SchemaType) -> bool:
    match expected:
        case TextType() | IntegerType() | BooleanType():
            return True
        case ChoiceType():
            return expected.kind is None
        case NullableType():
            return _same_in_json(expected.inner)
        case ListType():
            return expected.item is not None and _same_in_json(expected.item)
    return False


def _never(value: Any, raw: Any) -> bool:
    return False


def _unless_null(look: Look | None) -> Look | None:
    if look is None:
        return None
    return lambda value, raw: value is None or look(value, raw)


def _with_check(check: Check, look: Look | None) -> Look:
    def checked(value: Any, raw: Any) -> bool:
        given = list(value) if isinstance(value, tuple) else value
        return (look is None or look(value, raw)) and not any(True for _ in check(given))

    return checked


def _text(expected: TextType) -> Look | None:
    if expected.matching is None:
        return _needs_no_trimming if expected.trim else None
    search = expected.matching.search
    if expected.trim:
        return lambda value, raw: _needs_no_trimming(value, raw) and search(value) is not None
    return lambda value, raw: search(value) is not None


def _needs_no_trimming(value: str, raw: Any) -> bool:
    # Blank text may have to become null.
    return value != "" and value.strip() == value


def _integer(expected: IntegerType) -> Look | None:
    # Bounds reach the decoder only if they were declared.
    if expected.least > -LARGEST_INTEGER and expected.most < LARGEST_INTEGER:
        return None
    least, most = expected.least, expected.most
    return lambda value, raw: least <= value <= most


def _written(text: re.Pattern[bytes]) -> Look:
    fullmatch = text.fullmatch
    return lambda value, raw: fullmatch(raw) is not None


def _decimal(expected: DecimalType) -> Look:
    def look(value: Any, raw: Any) -> bool:
        found = NUMBER.fullmatch(raw)
        return found is not None and expected.accepts(NumberText(found[0].decode()))

    return look


def _list(expected: ListType) -> Look | None:
    if expected.item is None:
        looks = [look_at(each) for each in expected.each]
        if not any(looks):
            return None

        def look_each(value: Any, raw: Any) -> bool:
            parts = _parts_of_list(raw)
            return all(
                look is None or look(*each) for look, each in zip(looks, zip(value, parts, strict=True), strict=True)
            )

        return look_each
    look = look_at(expected.item)
    if look is None:
        return None
    # Of these the decoded value says all.
    by_value = _same_in_json(expected.item)

    def look_all(value: Any, raw: Any) -> bool:
        return all(map(look, value, repeat(raw) if by_value else _parts_of_list(raw)))

    return look_all


def _once(parts: dict[str, Any], raw: Any) -> bool:
    """Whether no name came twice: each has a colon after it, and all other colons are inside of names and values."""
    colons = bytes(raw).count(b":")
    return colons == len(parts) or colons == len(parts) + sum(bytes(each).count(b":") for each in parts.values())


def _map(expected: MapType) -> Look:
    name_look, value_look = look_at(expected.name), look_at(expected.value)

    def look(value: Any, raw: Any) -> bool:
        parts = _parts_of_object(raw)
        if not _once(parts, raw):
            return False
        if name_look is not None and not all(name_look(name, f'"{name}"'.encode()) for name in parts):
            return False
        return value_look is None or all(map(value_look, value.values(), parts.values()))

    return look


def _object(expected: ObjectType) -> Look:
    looks = [
        (field.name, field.attribute, needed)
        for field in expected.fields.values()
        if (needed := look_at(field.type)) is not None
    ]
    rule = expected.rule

    def look(value: Any, raw: Any) -> bool:
        parts = _parts_of_object(raw)
        if not _once(parts, raw):
            return False
        for name, attribute, look_field in looks:
            part = parts.get(name)
            if part is not None and not look_field(getattr(value, attribute), part):
                return False
        return rule is None or not any(True for _ in rule(value))

    return look


def _union(expected: UnionType) -> Look:
    looks = {each.kind: _object(each) for each in expected.objects.values()}
    return lambda value, raw: looks[type(value)](value, raw)
