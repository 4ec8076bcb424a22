"""Query and path parameters, decoded as strictly as bodies."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from potluck.validation.compiling import schema_of
from potluck.validation.compound_types import LONGEST_NAME, ListType, ObjectType, without_null
from potluck.validation.errors import FieldError, ValidationError
from potluck.validation.trees import build
from potluck.validation.types import SchemaType, TextType

T = TypeVar("T", bound=msgspec.Struct)


def decode_query(kind: type[T], pairs: Sequence[tuple[str, str]], *, strict: bool) -> T:
    """The input in a query string; ValidationError with every invalid parameter.

    `strict` refuses unknown parameters: in the API they are misspellings, but links to pages often carry extra ones.
    """
    expected = schema_of(kind)
    assert isinstance(expected, ObjectType)
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
        elif len(texts) > 1 and not isinstance(without_null(field.type), ListType):
            wrong.append(FieldError(name, f"{name} is given more than once"))
        else:
            tree[name] = field.type.normalised(field.type.from_texts(texts))
            # One error per parameter: in a query string, the entries of a list have no names.
            wrong += (FieldError(name, error.message) for error in _first_wrong(field.type, tree[name], name))
    if strict:
        wrong += (FieldError(name[:LONGEST_NAME], "There is no such parameter") for name in sent)
    if wrong:
        raise ValidationError(*wrong)
    query = build(kind, tree)
    if expected.rule is not None:
        errors = tuple(FieldError(error.field, error.message) for error in expected.rule(query))
        if errors:
            raise ValidationError(*errors)
    return query


def path_value(expected: SchemaType, name: str, text: str) -> Any:
    """The value of a path parameter, or the FieldError that says what it must be."""
    inner = without_null(expected)
    if isinstance(inner, TextType) and inner.spelled is not None:
        text = inner.spelled(text)
    value = expected.normalised(expected.from_text(text))
    for error in _first_wrong(expected, value, name):
        return FieldError(name, error.message)
    return expected.to_python(value)


def _first_wrong(expected: SchemaType, value: Any, name: str) -> Sequence[FieldError]:
    for error in expected.errors(value, name, name):
        return (error,)
    return ()
