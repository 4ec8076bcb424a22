"""Decodes JSON to inputs, exactly as declared, and reports all invalid fields at once.

The JSON is parsed, normalised (texts trimmed, blank ones null) and validated field by field; then msgspec builds the
struct. msgspec alone accepts more than the types do, and stops at the first error.

A field's `Check` is called when the value is otherwise valid, and an input's `check` with the struct, so only when all
of its own fields are valid. An error without a message gets the message of its field.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn, TypeVar

import msgspec

from potluck.validation import types
from potluck.validation.characters import several_lines, with_line_ends
from potluck.validation.compiling import schema_of
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError
from potluck.validation.file_rules import FileRules, read_until
from potluck.validation.types import SchemaType, label_of

T = TypeVar("T")

NOT_JSON = "The body must be JSON, in UTF-8"

# A body can have as many errors as bytes; no one reads further than this.
MOST_ERRORS = 100

# Parsing a million lists takes seconds in which no other thread runs. No declared body has that many.
MOST_NESTED = 200_000

# Names of unknown fields come from the caller; only enough to recognise them is echoed.
LONGEST_NAME = 100

# No integer with more digits is within any bounds, and parsing a million digits takes long.
LONGEST_INTEGER = 20

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode(kind: type[T], raw: bytes) -> T:
    """The body as declared; BodyNotJson, or ValidationError with every invalid field."""
    if len(raw) > MOST_NESTED and raw.count(b"[") + raw.count(b"{") > MOST_NESTED:
        raise ValidationError(FieldError("body", f"The body can have at most {MOST_NESTED:,} lists and objects"))
    expected = schema_of(kind)
    rules: FileRules | None = getattr(kind, "file_rules", None)
    try:
        tree = _parsed(raw)
    except (ValueError, RecursionError):
        raise BodyNotJson(NOT_JSON if rules is None else _unreadable(rules, raw)) from None
    if not expected.accepts(tree):
        raise ValidationError(FieldError("body", "The body must be a JSON object"))
    if rules is None:
        return decode_tree(kind, tree)
    tree = rules.upgraded(tree)
    try:
        return decode_tree(kind, tree)
    except ValidationError as error:
        raise ValidationError(*(rules.explained(tree, field_error) for field_error in error.errors)) from None


def _unreadable(rules: FileRules, raw: bytes) -> str:
    text = read_until(raw)
    return rules.not_json if text is None else rules.cut_off(text)


def decode_tree(kind: type[T], tree: Any) -> T:
    """The same for parsed JSON, or a form converted to it; numbers may be NumberText."""
    expected = schema_of(kind)
    tree = normalised(expected, tree)
    wrong = tuple(islice(wrong_fields(expected, tree), MOST_ERRORS))
    if wrong:
        raise ValidationError(*wrong)
    return build(kind, tree)


def build(kind: type[T], tree: Any) -> T:
    """The struct of a normalised, valid tree."""
    try:
        return msgspec.json.decode(msgspec.json.encode(_encodable(tree)), type=kind)
    except (msgspec.DecodeError, ValueError):
        # The decoder decides, even if no field is invalid by its type.
        raise ValidationError(FieldError("body", "The body is not as it was described")) from None


def _encodable(value: Any) -> Any:
    """The value with its numbers as they were written."""
    if isinstance(value, types.NumberText):
        return msgspec.Raw(value.encode())
    if isinstance(value, list):
        return [_encodable(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _encodable(entry) for name, entry in value.items()}
    return value


# --- strictly JSON ----------------------------------------------------------------------------------------------------


class _Repeating(dict[str, Any]):
    """An object with repeated names."""

    repeated: frozenset[str]


def _parsed(raw: bytes) -> Any:
    """The parsed JSON, with numbers that Python would change as NumberText; ValueError if it is not JSON."""
    text = raw.decode()
    tree = _READER.decode(text)
    if SURROGATE.search(text):
        # Fails for lone surrogates, which are no characters.
        json.dumps(tree, ensure_ascii=False).encode()
    return tree


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    seen: set[str] = set()
    repeating = _Repeating(values)
    repeating.repeated = frozenset(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return repeating


def _integer(digits: str) -> int | types.NumberText:
    return int(digits) if len(digits) <= LONGEST_INTEGER else types.NumberText(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError


_READER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=types.NumberText, parse_constant=_no_number
)


# --- trimming ---------------------------------------------------------------------------------------------------------


def normalised(expected: SchemaType, value: Any) -> Any:
    """The value with texts trimmed, line ends normalised, and blank texts null where null and blank are allowed."""
    match expected:
        case types.TextType() if type(value) is str:
            text = with_line_ends(value) if expected.rule is several_lines else value
            return text.strip() if expected.trim else text
        case types.NullableType():
            inner = normalised(expected.inner, value)
            return None if inner == "" and _blank_is_null(expected.inner) else inner
        case types.ListType() if isinstance(value, list):
            if expected.item is not None:
                return [normalised(expected.item, entry) for entry in value]
            return [normalised(*pair) for pair in zip(expected.items, value, strict=False)] + value[
                len(expected.items) :
            ]
        case types.MapType() if isinstance(value, dict):
            return _with_values(value, {name: normalised(expected.value, entry) for name, entry in value.items()})
        case types.ObjectType() if isinstance(value, dict):
            fields = expected.fields
            return _with_values(
                value,
                {
                    name: normalised(fields[name].type, entry) if name in fields else entry
                    for name, entry in value.items()
                },
            )
        case types.UnionType() if isinstance(value, dict):
            tag: Any = value.get(expected.tag_field)
            return normalised(expected.objects[tag], value) if expected.choice.accepts(tag) else value
    return value


def _blank_is_null(expected: SchemaType) -> bool:
    return isinstance(expected, types.TextType) and expected.trim and expected.may_be_blank


def _with_values(original: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(original, _Repeating):
        return values
    repeating = _Repeating(values)
    repeating.repeated = original.repeated
    return repeating


# --- invalid fields ---------------------------------------------------------------------------------------------------


def wrong_fields(expected: SchemaType, value: Any, path: str = "", label: str = "") -> Iterator[FieldError]:
    """The errors of a normalised value, in the order of the declaration; unknown fields last."""
    if isinstance(expected, types.NullableType):
        if value is None:
            return
        expected = expected.inner
    if not expected.accepts(value):
        kind = expected.wrong_kind(value)
        message = f"{label} {kind}" if kind else expected.message_for(value) or f"{label} {expected.requirement}"
        yield FieldError(path or "body", message)
        return
    if isinstance(expected, types.TextType) and expected.rule is not None and (wrong := expected.rule(value)):
        yield FieldError(path or "body", f"{label} {wrong}")
        return
    right = True
    for inner_error in _wrong_within(expected, value, path, label):
        right = False
        yield inner_error
    if right and expected.check is not None:
        for problem in expected.check(value):
            message = problem.message or expected.message_for(value) or f"{label} {expected.requirement}"
            yield FieldError(f"{path}{problem.field}" or "body", message)


def _wrong_within(expected: SchemaType, value: Any, path: str, label: str) -> Iterator[FieldError]:
    match expected:
        case types.ObjectType():
            yield from _wrong_object(expected, value, path)
        case types.UnionType():
            tag = value.get(expected.tag_field)
            if expected.tag_field not in value:
                yield _missing(expected.choice, expected.tag_field, path)
            elif not expected.choice.accepts(tag):
                inside = _inside(path, expected.tag_field)
                yield from wrong_fields(expected.choice, tag, inside, label_of(expected.tag_field))
            else:
                yield from _wrong_object(expected.objects[tag], value, path)
        case types.ListType():
            entry = f"Each entry of {label[:1].lower()}{label[1:]}"
            for index, item in enumerate(value):
                inner = expected.items[index] if expected.item is None else expected.item
                yield from wrong_fields(inner, item, f"{path}[{index}]", entry)
        case types.MapType():
            yield from _repeated(value, path)
            entry = f"{label[:1].lower()}{label[1:]}"
            for name, item in value.items():
                inside = _inside(path, name)
                yield from wrong_fields(expected.name, name, inside, f"Each name in {entry}")
                yield from wrong_fields(expected.value, item, inside, f"Each entry of {entry}")


def _wrong_object(expected: types.ObjectType, value: dict[str, Any], path: str) -> Iterator[FieldError]:
    right = True
    for inner_error in _wrong_names_and_values(expected, value, path):
        right = False
        yield inner_error
    if right and expected.rule is not None:
        for problem in expected.rule(build(expected.kind, value)):
            field = expected.fields.get(problem.field)
            message = problem.message or (field and field.type.message) or ""
            yield FieldError(_inside(path, problem.field) if problem.field else path or "body", message)


def _wrong_names_and_values(expected: types.ObjectType, value: dict[str, Any], path: str) -> Iterator[FieldError]:
    yield from _repeated(value, path)
    for name, field in expected.fields.items():
        if name in value:
            yield from wrong_fields(field.type, value[name], _inside(path, name), label_of(name))
        elif field.required:
            yield _missing(field.type, name, path)
    for name, entry in value.items():
        if name == expected.tag_field:
            if entry != expected.tag or type(entry) is not type(expected.tag):
                yield FieldError(_inside(path, name), f"{label_of(name)} must be {expected.tag}")
        elif name not in expected.fields:
            yield FieldError(_inside(path, name), "There is no such field")


def _missing(expected: SchemaType, name: str, path: str) -> FieldError:
    return FieldError(_inside(path, name), expected.message or f"{label_of(name)} is missing")


def _repeated(value: dict[str, Any], path: str) -> Iterator[FieldError]:
    if isinstance(value, _Repeating):
        for name in value:
            if name in value.repeated:
                yield FieldError(_inside(path, name), "This field is given more than once")


def _inside(path: str, name: str) -> str:
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}…"
    return f"{path}.{name}" if path else name
