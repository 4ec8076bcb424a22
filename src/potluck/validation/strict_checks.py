"""Strict checks of what msgspec has decoded: whether it accepted more than the schema type does.

A check is True for what is certainly right as decoded; False only means that thorough validation is needed.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import repeat
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET

from potluck.validation import types
from potluck.validation.characters import TextRule
from potluck.validation.types import SchemaType, without_null

__all__ = ["StrictCheck", "strict_check_of", "strict_check_of_object"]

StrictCheck = Callable[[Any, Any], bool]
"""Called with the decoded value and its JSON."""

Check = Callable[[Any], Iterable[Any]]

_parts_of_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_parts_of_list = msgspec.json.Decoder(list[msgspec.Raw]).decode

QUOTED_UUID = re.compile(f'"{types.UUID_TEXT.pattern}"'.encode())
QUOTED_DATE = re.compile(f'"{types.DATE_TEXT.pattern}"'.encode())
_TIME = r"-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
# Times in the very first and last year may be out of range in UTC.
QUOTED_DATE_TIME = re.compile(rf'"(?!0001|9999)[0-9]{{4}}{_TIME}(Z|[+-][0-9]{{2}}:[0-9]{{2}})"'.encode())
QUOTED_LOCAL_DATE_TIME = re.compile(rf'"[0-9]{{4}}{_TIME}"'.encode())
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?")


def strict_check_of(expected: SchemaType) -> StrictCheck | None:
    """The check that a type needs; None where msgspec accepts exactly what the type does."""
    inner = without_null(expected)
    passes = _built_in_check(inner, nullable=inner is not expected)
    if inner.check is not None:
        # It is called with the JSON value; where the decoded one differs, that takes thorough validation.
        passes = _with_check(inner.check, passes) if _same_in_json(inner) else _never
    return passes if inner is expected or passes is None else _unless_null(passes)


def _built_in_check(expected: SchemaType, *, nullable: bool) -> StrictCheck | None:
    match expected:
        case types.FloatType() | types.BooleanType() | types.ChoiceType():
            return None
        case types.TextType():
            return _text(expected, nullable=nullable)
        case types.IntegerType():
            return _integer(expected)
        case types.UuidType() | types.DateType() | types.DateTimeType():
            fullmatch = _written(expected).fullmatch
            return lambda value, raw: fullmatch(raw) is not None
        case types.DecimalType():
            return _decimal(expected)
        case types.ListType():
            return _list(expected)
        case types.MapType():
            return _map(expected)
        case types.ObjectType():
            return _object(expected)
        case types.UnionType():
            return _union(expected)
    return _never


def _same_in_json(expected: SchemaType) -> bool:
    match expected:
        case types.TextType() | types.IntegerType() | types.BooleanType():
            return True
        case types.ChoiceType():
            return expected.kind is None
        case types.NullableType():
            return _same_in_json(expected.inner)
        case types.ListType():
            return expected.item is not None and _same_in_json(expected.item)
    return False


def _never(value: Any, raw: Any) -> bool:
    return False


def _unless_null(passes: StrictCheck) -> StrictCheck:
    return lambda value, raw: value is None or passes(value, raw)


def _with_check(check: Check, passes: StrictCheck | None) -> StrictCheck:
    def checked(value: Any, raw: Any) -> bool:
        given = list(value) if isinstance(value, tuple) else value
        return (passes is None or passes(value, raw)) and not any(True for _ in check(given))

    return checked


def _text(expected: types.TextType, *, nullable: bool = False) -> StrictCheck | None:
    if expected.rule is not None:
        return _readable(expected, expected.rule, nullable=nullable)
    trimmed = _not_blank_and_trimmed if nullable and expected.may_be_blank else _trimmed
    if expected.matching is None:
        return trimmed if expected.trim else None
    search = expected.matching.search
    if expected.trim:
        return lambda value, raw: trimmed(value, raw) and search(value) is not None
    return lambda value, raw: search(value) is not None


def _readable(expected: types.TextType, rule: TextRule, *, nullable: bool) -> StrictCheck:
    # The rule also refuses line ends that are still to be normalised.
    without_rule = _text(replace(expected, rule=None), nullable=nullable)
    if without_rule is None:
        return lambda value, raw: rule(value) is None
    return lambda value, raw: without_rule(value, raw) and rule(value) is None


def _trimmed(value: str, raw: Any) -> bool:
    return value.strip() == value


def _not_blank_and_trimmed(value: str, raw: Any) -> bool:
    return value != "" and value.strip() == value


def _integer(expected: types.IntegerType) -> StrictCheck | None:
    # Bounds reach the decoder only if they were declared.
    if expected.least > -types.LARGEST_INTEGER and expected.most < types.LARGEST_INTEGER:
        return None
    least, most = expected.least, expected.most
    return lambda value, raw: least <= value <= most


def _written(expected: types.UuidType | types.DateType | types.DateTimeType) -> re.Pattern[bytes]:
    """The form it must have in JSON, where msgspec is more generous: UUIDs in capitals, times without a zone."""
    match expected:
        case types.UuidType():
            return QUOTED_UUID
        case types.DateType():
            return QUOTED_DATE
    return QUOTED_LOCAL_DATE_TIME if expected.local else QUOTED_DATE_TIME


def _decimal(expected: types.DecimalType) -> StrictCheck:
    def passes(value: Any, raw: Any) -> bool:
        found = NUMBER.fullmatch(raw)
        return found is not None and expected.accepts(types.NumberText(found[0].decode()))

    return passes


def _list(expected: types.ListType) -> StrictCheck | None:
    if expected.item is None:
        checks = [strict_check_of(each) for each in expected.each]
        if not any(checks):
            return None

        def each_passes(value: Any, raw: Any) -> bool:
            parts = _parts_of_list(raw)
            return all(
                passes is None or passes(*each)
                for passes, each in zip(checks, zip(value, parts, strict=True), strict=True)
            )

        return each_passes
    passes = strict_check_of(expected.item)
    if passes is None:
        return None
    # These are checked by the decoded value alone.
    by_value = _same_in_json(expected.item)

    def all_pass(value: Any, raw: Any) -> bool:
        return all(map(passes, value, repeat(raw) if by_value else _parts_of_list(raw)))

    return all_pass


def _once(parts: dict[str, Any], colons: int) -> bool:
    """Whether certainly no name is repeated: there is one colon per name, besides those inside values."""
    return colons == len(parts) or colons == len(parts) + b"".join(parts.values()).count(b":")


def _map(expected: types.MapType) -> StrictCheck:
    name_passes, value_passes = strict_check_of(expected.name), strict_check_of(expected.value)

    def passes(value: Any, raw: Any) -> bool:
        parts = _parts_of_object(raw)
        if not _once(parts, bytes(raw).count(b":")):
            return False
        if name_passes is not None and not all(name_passes(name, f'"{name}"'.encode()) for name in parts):
            return False
        return value_passes is None or all(map(value_passes, value.values(), parts.values()))

    return passes


def strict_check_of_object(expected: types.ObjectType) -> StrictCheck:
    """The check of an object, generated as code for its fields: calls would be most of its cost."""
    lines = [
        "def passes(value, raw):",
        # How many names were certainly sent: those of fields that are required, or do not have their default.
        f"    sent = {sum(field.required for field in expected.fields.values())}",
        "    parts = None",
    ]
    scope: dict[str, Any] = {"parts_of": _parts_of_object, "once": _once, "UNSET": UNSET, "rule": expected.rule}
    for index, field in enumerate(expected.fields.values()):
        lines.append(f"    v = value.{field.attribute}")
        inner = without_null(field.type)
        if isinstance(inner, types.UuidType | types.DateType | types.DateTimeType) and inner.check is None:
            scope[f"match_{index}"] = _written(inner).fullmatch
        if isinstance(inner, types.TextType):
            scope[f"rule_{index}"] = inner.rule
        passes = scope[f"passes_{index}"] = strict_check_of(field.type)
        if passes is not None:
            lines.append("    if v is not UNSET and v is not None:")
            lines += (f"        {line}" for line in _check_lines(field, index))
        # With a default factory there is no telling.
        if not field.required and field.default is not NODEFAULT:
            scope[f"default_{index}"] = field.default
            different = "is not" if field.default in (UNSET, None) else "!="
            lines.append(f"    if v {different} default_{index}: sent += 1")
    lines += [
        "    colons = raw.count(b':')",
        "    if colons != sent and not once(parts_of(raw) if parts is None else parts, colons): return False",
        "    return rule is None or not any(True for _ in rule(value))",
    ]
    exec("\n".join(lines), scope)
    made: StrictCheck = scope["passes"]
    return made


def _check_lines(field: types.Field, index: int) -> Iterable[str]:
    inner = without_null(field.type)
    if isinstance(inner, types.TextType) and inner.trim and inner.matching is None and inner.check is None:
        null_if_blank = inner is not field.type and inner.may_be_blank
        rule = f" or rule_{index}(v) is not None" if inner.rule is not None else ""
        yield f"if {'not v or ' if null_if_blank else ''}v.strip() != v{rule}: return False"
    elif _same_in_json(inner):
        yield f"if not passes_{index}(v, None): return False"
    else:
        yield "if parts is None: parts = parts_of(raw)"
        yield f"part = parts.get({field.name!r})"
        written = isinstance(inner, types.UuidType | types.DateType | types.DateTimeType) and inner.check is None
        right = f"match_{index}(part)" if written else f"passes_{index}(v, part)"
        yield f"if part is not None and not {right}: return False"


def _object(expected: types.ObjectType) -> StrictCheck:
    passes = strict_check_of_object(expected)
    return lambda value, raw: passes(value, bytes(raw))


def _union(expected: types.UnionType) -> StrictCheck:
    checks = {each.kind: _object(each) for each in expected.objects.values()}
    return lambda value, raw: checks[type(value)](value, raw)
