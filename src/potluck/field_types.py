"""Field types: the bounds of a field, its message and its trimming, stated in one place.

    StoreName = Annotated[str, OneLine(1, 100, "Name must be 1-100 characters")]

Entities, inputs, forms and the JSON schema all read the same annotation. Each function returns a `msgspec.Meta`;
anything that msgspec cannot express is in its `extra`.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Protocol

from msgspec import Meta

from potluck.characters import one_line, several_lines

__all__ = ["Amount", "Check", "FieldError", "Integer", "Length", "ManyLines", "Message", "OneLine", "Spelled", "Text"]


class FieldError(Protocol):
    """What a check found wrong; `field` is relative to the checked value, "" being the value itself."""

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
    """Text for programs, of any characters: a key, a code, an address. For text that people read: OneLine, ManyLines.

    Surrounding whitespace is trimmed first; blank becomes null where null and length 0 are allowed.
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
    """Text that people see as one line: a name, a title. Something in it is visible, nothing hidden or reordered."""
    extra = _said(message=message, trim=trim, rule=one_line)
    return Meta(min_length=shortest or None, max_length=longest, examples=examples, extra=extra)


def ManyLines(shortest: int, longest: int, message: str | None = None, *, trim: bool = True) -> Meta:
    """Text of several lines: a note, a description. Line ends are normalized to line feeds."""
    extra = _said(message=message, trim=trim, rule=several_lines)
    return Meta(min_length=shortest or None, max_length=longest, extra=extra)


def Integer(smallest: int, largest: int, message: str | None = None, *, too_large: str | None = None) -> Meta:
    """An integer within bounds; `too_large` is the message above the upper bound, if it differs from the other."""
    return Meta(ge=smallest, le=largest, extra=_said(message=message, too_large=too_large))


def Amount(
    smallest: Decimal | int | None = None,
    largest: Decimal | int | None = None,
    message: str | None = None,
    *,
    places: int | None = None,
) -> Meta:
    """The bounds of a Decimal, which Meta cannot express, and how many decimal places it may have."""
    return Meta(extra=_said(ge=smallest, le=largest, places=places, message=message))


def Length(shortest: int, longest: int, message: str | None = None) -> Meta:
    """How many entries a list may have."""
    return Meta(min_length=shortest or None, max_length=longest, extra=_said(message=message))


def Message(message: str, *, too_large: str | None = None) -> Meta:
    """The message for any error in a type without bounds of its own: an id, a choice, a list."""
    return Meta(extra=_said(message=message, too_large=too_large))


def Check(function: Callable[[Any], Iterable[FieldError]]) -> Meta:
    """A rule that bounds cannot express, called with a JSON value that already has the right type and bounds.

    Field names are relative to the value: "" is the value itself, "[2]" an entry of it. An error without a message
    gets the field's message.
    """
    return Meta(extra={"check": function})


def Spelled(function: Callable[[str], str]) -> Meta:
    """The canonical spelling of a value in a path: the function maps all equivalent spellings to one."""
    return Meta(extra={"spelled": function})


def _said(**extra: Any) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if value is not None}
