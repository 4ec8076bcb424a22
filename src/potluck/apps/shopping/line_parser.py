"""Parses typed or pasted things to buy: one per line, optionally with an amount in front."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from potluck.apps.shopping.fields import MOST, Name
from potluck.validation import FieldError, ValidationError
from potluck.web import Input

# All lines are added in one transaction.
MOST_LINES = 50

# Copied lists have these in front of a line: dashes, stars, bullets, checkboxes.
BULLET = re.compile(r"(?:[-*•‣–+]\s+|[☐☑✓]\s*|\[[ xX]?\]\s*)+")
# "2 milk", "2x milk", "2 × milk"; with a unit, "500 g flour" and "500g flour".
AMOUNT = re.compile(r"([1-9][0-9]{0,5})\s*(?:[x×]\s+|(kg|g|ml|cl|dl|l|oz|lb|lbs)\s+|\s)\s*(?=\S)", re.IGNORECASE)


class ItemName(Input):
    name: Name


@dataclass(frozen=True, slots=True)
class ShoppingLine:
    """One thing to buy. `number` is its line number, for error messages."""

    number: int
    name: str
    quantity: int | None = None
    unit: str | None = None


def read_lines(text: str) -> list[ShoppingLine]:
    """Parse the lines in order, without empty ones. The rest after the amount is the name."""
    parsed = []
    # Rows copied from a table have tabs between their columns.
    for number, line in enumerate(text.replace("\t", " ").splitlines(), start=1):
        rest = BULLET.sub("", line.strip(), count=1) if BULLET.match(line.strip()) else line.strip()
        if not rest:
            continue
        amount = AMOUNT.match(rest)
        if amount is None or int(amount[1]) > MOST:
            parsed.append(ShoppingLine(number, rest))
        else:
            parsed.append(ShoppingLine(number, rest[amount.end() :], int(amount[1]), amount[2] and amount[2].lower()))
    return parsed


def line_errors(lines: list[ShoppingLine]) -> list[str]:
    """The errors of lines that cannot be added; empty if there are none."""
    if not lines:
        return ["Lines must name something to buy"]
    if len(lines) > MOST_LINES:
        return [f"There can be at most {MOST_LINES} lines"]
    return [f"Line {line.number}: {error.message}" for line in lines for error in _wrong_name(line.name)]


def _wrong_name(name: str) -> Sequence[FieldError]:
    try:
        ItemName.decode({"name": name})
    except ValidationError as error:
        return error.errors
    return ()
