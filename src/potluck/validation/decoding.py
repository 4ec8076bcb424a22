"""Decodes JSON to inputs, exactly as declared, and reports all invalid fields at once.

The JSON is parsed, normalised (texts trimmed, blank ones null) and validated field by field; then msgspec builds the
struct. msgspec alone accepts more than the types do, and stops at the first error.

A field's `Check` is called when the value is otherwise valid, and an input's `check` with the struct, so only when all
of its own fields are valid. An error without a message gets the message of its field.
"""

import json
import re
from itertools import islice
from typing import Any, NoReturn, TypeVar, cast

from potluck.validation.compiling import schema_of
from potluck.validation.errors import BodyNotJson, FieldError, ValidationError
from potluck.validation.file_rules import FileRules, read_until
from potluck.validation.trees import NumberText, RepeatedNames, build

T = TypeVar("T")

NOT_JSON = "The body must be JSON, in UTF-8"

# A body can have as many errors as bytes; no one reads further than this.
MOST_ERRORS = 100

# Parsing a million lists takes seconds in which no other thread runs. No declared body has that many.
MOST_NESTED = 200_000

# No integer with more digits is within any bounds, and parsing a million digits takes long.
LONGEST_INTEGER = 20

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode(kind: type[T], raw: bytes) -> T:
    """The body as declared; BodyNotJson, or ValidationError with every invalid field."""
    if len(raw) > MOST_NESTED and raw.count(b"[") + raw.count(b"{") > MOST_NESTED:
        raise ValidationError(FieldError("body", f"The body can have at most {MOST_NESTED:,} lists and objects"))
    expected = schema_of(kind)
    rules = cast("FileRules", kind) if hasattr(kind, "not_json") else None
    try:
        tree = _parsed(raw)
    except (ValueError, RecursionError):
        raise BodyNotJson(NOT_JSON if rules is None else _unreadable(rules, raw)) from None
    if not expected.accepts(tree):
        raise ValidationError(FieldError("body", "The body must be a JSON object" if rules is None else rules.not_json))
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
    tree = expected.normalised(tree)
    errors = tuple(islice(expected.errors(tree), MOST_ERRORS))
    if errors:
        raise ValidationError(*errors)
    return build(kind, tree)


# --- strictly JSON ----------------------------------------------------------------------------------------------------


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
    repeating = RepeatedNames(values)
    repeating.repeated = frozenset(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return repeating


def _integer(digits: str) -> int | NumberText:
    return int(digits) if len(digits) <= LONGEST_INTEGER else NumberText(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError


_READER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=NumberText, parse_constant=_no_number
)
