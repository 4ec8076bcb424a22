"""Field types: the bounds of a field, its message and its trimming, stated in one place.

    StoreName = Annotated[str, Text(1, 100, "Name must be 1-100 characters")]

Entities, inputs, forms and the JSON schema all read the same annotation. Each function returns a `msgspec.Meta`;
anything that msgspec cannot express is in its `extra`.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from msgspec import Meta

from potluck.validation.characters import TextRule, one_line, several_lines
from potluck.validation.errors import FieldError
from potluck.validation.public_addresses import BadAddress, must_be_public

TEXT_RULES: dict[str, TextRule | None] = {"line": one_line, "lines": several_lines, "raw": None, "public-url": None}

Check = Callable[[Any], Iterable[FieldError]]
"""A rule that bounds cannot express, called with a JSON value that already has the right type and bounds.

Field names are relative to the value: "" is the value itself, "[2]" an entry of it. An error without a message gets the
field's message.
"""


def Text(
    shortest: int,
    longest: int,
    message: str | None = None,
    *,
    kind: Literal["line", "lines", "raw", "public-url"] = "line",
    trim: bool = True,
    pattern: str | None = None,
    examples: list[str] | None = None,
    spelled: Callable[[str], str] | None = None,
    check: Check | None = None,
) -> Meta:
    """Text of one visible line, such as a name; of several lines, such as a note; or raw, of any characters.

    A `public-url` is a URL whose text does not lead into a private network. Its host name is not resolved.

    A line has nothing hidden or reordered. Line ends in `lines` are normalized to line feeds. Surrounding whitespace is
    trimmed first; blank becomes null where null and length 0 are allowed. In a path, `spelled` maps all spellings of a
    value to one.
    """
    _must_be_in_order(shortest, longest)
    return Meta(
        min_length=shortest or None,
        max_length=longest,
        pattern=pattern,
        examples=examples,
        extra=_said(
            message=message,
            trim=trim,
            rule=TEXT_RULES[kind],
            spelled=spelled,
            check=_is_public if kind == "public-url" else check,
        ),
    )


def _is_public(url: str) -> Iterator[FieldError]:
    try:
        must_be_public(url)
    except BadAddress as error:
        yield FieldError("", str(error))


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


def Length(shortest: int, longest: int, message: str | None = None, *, check: Check | None = None) -> Meta:
    """How many entries a list may have."""
    _must_be_in_order(shortest, longest)
    return Meta(min_length=shortest or None, max_length=longest, extra=_said(message=message, check=check))


def Message(message: str, *, too_large: str | None = None, check: Check | None = None) -> Meta:
    """The message for any error in a type without bounds: an id, a choice, a list."""
    return Meta(extra=_said(message=message, too_large=too_large, check=check))


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
