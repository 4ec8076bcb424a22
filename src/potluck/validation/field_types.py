"""Field types: the bounds of a field, its message and its trimming, stated in one place.

    StoreName = Annotated[str, OneLine(1, 100, "Name must be 1-100 characters")]

Entities, inputs, forms and the JSON schema all read the same annotation. Each function returns a `msgspec.Meta`;
anything that msgspec cannot express is in its `extra`.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import Meta

from potluck.validation.characters import one_line, several_lines
from potluck.validation.errors import FieldError


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
    _must_be_in_order(shortest, longest)
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
    """Text on one line: a name, a title. It has visible characters, and nothing hidden or reordered."""
    _must_be_in_order(shortest, longest)
    extra = _said(message=message, trim=trim, rule=one_line)
    return Meta(min_length=shortest or None, max_length=longest, examples=examples, extra=extra)


def ManyLines(shortest: int, longest: int, message: str | None = None, *, trim: bool = True) -> Meta:
    """Text of several lines: a note, a description. Line ends are normalized to line feeds."""
    _must_be_in_order(shortest, longest)
    extra = _said(message=message, trim=trim, rule=several_lines)
    return Meta(min_length=shortest or None, max_length=longest, extra=extra)


def Integer(smallest: int, largest: int, message: str | None = None, *, too_large: str | None = None) -> Meta:
    """An integer within bounds; `too_large` is the message above the upper bound, if it differs from the other."""
    _must_be_in_order(smallest, largest)
    return Meta(ge=smallest, le=largest, extra=_said(message=message, too_large=too_large))


def Amount(
    smallest: Decimal | int | str | None = None,
    largest: Decimal | int | str | None = None,
    message: str | None = None,
    *,
    places: int | None = None,
) -> Meta:
    """The bounds of a Decimal, which Meta cannot express, and how many decimal places it may have: Amount("0.1", 9)."""
    least, most = _exact(smallest), _exact(largest)
    _must_be_in_order(least, most)
    if places is not None and (type(places) is not int or places < 0):
        raise ValueError(f"places is a whole number, 0 or more, not {places!r}")
    return Meta(extra=_said(ge=least, le=most, places=places, message=message))


def Length(shortest: int, longest: int, message: str | None = None) -> Meta:
    """How many entries a list may have."""
    _must_be_in_order(shortest, longest)
    return Meta(min_length=shortest or None, max_length=longest, extra=_said(message=message))


def Message(message: str, *, too_large: str | None = None) -> Meta:
    """The message for any error in a type without bounds: an id, a choice, a list."""
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


def _exact(bound: Decimal | int | str | None) -> Decimal | int | None:
    if isinstance(bound, float):
        raise TypeError(f"a bound is an int, a Decimal or a text such as {str(bound)!r}: {bound!r} is not exact")
    if not isinstance(bound, str):
        return bound
    try:
        number = Decimal(bound)
    except InvalidOperation:
        raise ValueError(f"{bound!r} is not a number") from None
    if not number.is_finite():
        raise ValueError(f"{bound!r} is not a number that can be stored")
    return number


def _must_be_in_order(least: Decimal | int | None, most: Decimal | int | None) -> None:
    if least is not None and most is not None and least > most:
        raise ValueError(f"no value is at least {least} and at most {most}")


def _said(**extra: Any) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if value is not None}
