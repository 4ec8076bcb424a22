"""Field types: the bounds of a field, its message and its trimming, stated once for all who read them.

    StoreName = Annotated[str, OneLine(1, 100, "Name must be 1-100 characters")]

Entities, inputs, forms and the JSON schema all read the same annotation. Each function returns a `msgspec.Meta`; what
msgspec has no word for travels in its `extra`.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Protocol

from msgspec import Meta

from potluck.characters import one_line, several_lines

__all__ = ["Amount", "Check", "FieldError", "Integer", "Length", "ManyLines", "Message", "OneLine", "Spelled", "Text"]


class FieldError(Protocol):
    """What a check finds wrong: `field` is named from the checked value on, "" being the value itself."""

    @property
    def field(self) -> str: ...
    @property
    def message(self) -> str: ...


def Text(
    shortest: int,
    longest: int,
    message: str | None = None,
    *,
    trim: bool = True,
    pattern: str | None = None,
    examples: list[str] | None = None,
) -> Meta:
    """Text that programs read, of any characters: a key, a code, an address. People read OneLine or ManyLines.

    Space around it is trimmed first; blank is null where null and length 0 are allowed.
    """
    return Meta(
        min_length=shortest or None,
        max_length=longest,
        pattern=pattern,
        examples=examples,
        extra=_said(message=message, trim=trim),
    )


def OneLine(
    shortest: int, longest: int, message: str | None = None, *, trim: bool = True, examples: list[str] | None = None
) -> Meta:
    """Text that people see as one line: a name, a title. None of it hides or reorders, and something of it is seen."""
    extra = _said(message=message, trim=trim, rule=one_line)
    return Meta(min_length=shortest or None, max_length=longest, examples=examples, extra=extra)


def ManyLines(shortest: int, longest: int, message: str | None = None, *, trim: bool = True) -> Meta:
    """Text of several lines: a note, a description. Its lines end in a line feed, whatever they ended in."""
    extra = _said(message=message, trim=trim, rule=several_lines)
    return Meta(min_length=shortest or None, max_length=longest, extra=extra)


def Integer(smallest: int, largest: int, message: str | None = None, *, too_large: str | None = None) -> Meta:
    """A whole number within bounds; `too_large` is the message above them, where the other is about the lower one."""
    return Meta(ge=smallest, le=largest, extra=_said(message=message, too_large=too_large))


def Amount(
    smallest: Decimal | int | None = None,
    largest: Decimal | int | None = None,
    message: str | None = None,
    *,
    places: int | None = None,
) -> Meta:
    """The bounds of a Decimal, which Meta cannot state, and how many digits it may have after the point."""
    return Meta(extra=_said(ge=smallest, le=largest, places=places, message=message))


def Length(shortest: int, longest: int, message: str | None = None) -> Meta:
    """How many entries a list has."""
    return Meta(min_length=shortest or None, max_length=longest, extra=_said(message=message))


def Message(message: str, *, too_large: str | None = None) -> Meta:
    """The message for whatever is wrong with a type that states no bounds of its own: an id, a choice, a list."""
    return Meta(extra=_said(message=message, too_large=too_large))


def Check(function: Callable[[Any], Iterable[FieldError]]) -> Meta:
    """A rule that bounds cannot state, called with a value that has the right type and bounds, as JSON has it.

    Fields are named from the value on: "" is the value itself, "[2]" an entry of it. An error without a message gets
    the message of the field.
    """
    return Meta(extra={"check": function})


def Spelled(function: Callable[[str], str]) -> Meta:
    """How a text that stands in a path is written: the function gives one spelling for all that mean the same."""
    return Meta(extra={"spelled": function})


def _said(**extra: Any) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if value is not None}
