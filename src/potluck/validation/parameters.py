"""Query and path parameters, decoded as strictly as bodies; errors name them as callers do."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from potluck.validation import types
from potluck.validation.compiling import schema_of
from potluck.validation.decoding import LONGEST_NAME, build, normalised, wrong_fields
from potluck.validation.errors import FieldError, ValidationError
from potluck.validation.types import SchemaType, without_null

T = TypeVar("T", bound=msgspec.Struct)


def decode_query(kind: type[T], pairs: Sequence[tuple[str, str]], *, strict: bool) -> T:
    """The input that a query string holds; ValidationError with every parameter that is wrong.

    `strict` refuses unknown parameters: in the API they are misspellings, but links to pages often carry extra ones.
    """
    expected = schema_of(kind)
    assert isinstance(expected, types.ObjectType)
    sent: dict[str, list[str]] = {}
    for name, text in pairs:
        sent.setdefault(name, []).append(text)
    tree: dict[str, Any] = {}
    wrong: list[FieldError] = []
    for name, field in expected.fields.items():
        texts = sent.pop(name, None)
        if texts is None:
            if field.required:
                wrong.append(FieldError(name, f"{name} is missing"))
        elif len(texts) > 1 and not isinstance(without_null(field.type), types.ListType):
            wrong.append(FieldError(name, f"{name} is given more than once"))
        else:
            tree[name] = normalised(field.type, field.type.from_texts(texts))
            # One error per parameter: the entries of a list have no names of their own in a query string.
            wrong += (FieldError(name, found.message) for found in _first_wrong(field.type, tree[name], name))
    if strict:
        wrong += (FieldError(name[:LONGEST_NAME], "There is no such parameter") for name in sent)
    if wrong:
        raise ValidationError(*wrong)
    made = build(kind, tree)
    if expected.rule is not None:
        found = tuple(FieldError(each.field, each.message) for each in expected.rule(made))
        if found:
            raise ValidationError(*found)
    return made


def path_value(expected: SchemaType, name: str, text: str) -> Any:
    """The value of a path parameter, or the FieldError that says what it must be."""
    inner = without_null(expected)
    if isinstance(inner, types.TextType) and inner.spelled is not None:
        text = inner.spelled(text)
    value = normalised(expected, expected.from_text(text))
    for found in _first_wrong(expected, value, name):
        return FieldError(name, found.message)
    return expected.to_python(value)


def _first_wrong(expected: SchemaType, value: Any, name: str) -> Sequence[FieldError]:
    for found in wrong_fields(expected, value, name, name):
        return (found,)
    return ()
