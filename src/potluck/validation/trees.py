"""JSON as it was parsed, with what Python would lose, and the struct that msgspec builds of it."""

from typing import Any, TypeVar

import msgspec

from potluck.validation.errors import FieldError, ValidationError

T = TypeVar("T")


class NumberText(str):
    """A number as written, where a Python number would lose digits, take long or be infinite."""

    __slots__ = ()


class RepeatedNames(dict[str, Any]):
    """An object with repeated names, and which these are."""

    repeated: frozenset[str]


def with_values(original: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """An object with other values, and the same repeated names."""
    if not isinstance(original, RepeatedNames):
        return values
    repeating = RepeatedNames(values)
    repeating.repeated = original.repeated
    return repeating


def build(kind: type[T], tree: Any) -> T:
    """The struct of a normalised, valid tree."""
    try:
        return msgspec.json.decode(_encode(tree), type=kind)
    except (msgspec.DecodeError, ValueError):
        # The decoder decides, even if no field is invalid by its type.
        raise ValidationError(FieldError("body", "The body is not as it was described")) from None


def _as_written(number: NumberText) -> msgspec.Raw:
    return msgspec.Raw(number.encode())


# Called for numbers alone: nothing else in a tree is of a type that JSON does not have.
_encode = msgspec.json.Encoder(enc_hook=_as_written).encode
