"""Parses things to buy as people type or paste them: one to a line, optionally with an amount in front."""

import re
from dataclasses import dataclass

from potluck.apps.shopping.fields import MOST, Name
from potluck.validation import schema_of

# All lines are added in one transaction.
MOST_LINES = 50
NAME = schema_of(Name)

# What lists copied from elsewhere have in front of a line: dashes, stars, bullets, checkboxes.
BULLET = re.compile(r"(?:[-*•‣–+]\s+|[☐☑✓]\s*|\[[ xX]?\]\s*)+")
# "2 milk", "2x milk", "2 × milk"; with a unit, "500 g flour" and "500g flour".
AMOUNT = re.compile(r"([1-9][0-9]{0,5})\s*(?:[x×]\s+|(kg|g|ml|cl|dl|l|oz|lb|lbs)\s+|\s)\s*(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ShoppingLine:
    """One thing to buy. `number` is its line number, for error messages."""

    number: int
    name: str
    quantity: int | None = None
    unit: str | None = None


def read_lines(text: str) -> list[ShoppingLine]:
    """Parses the lines in order, skipping empty ones; whatever follows the amount is the name."""
    found = []
    # Rows pasted from a table have tabs between their columns.
    for number, line in enumerate(text.replace("\t", " ").splitlines(), start=1):
        rest = BULLET.sub("", line.strip(), count=1) if BULLET.match(line.strip()) else line.strip()
        if not rest:
            continue
        amount = AMOUNT.match(rest)
        if amount is None or int(amount[1]) > MOST:
            found.append(ShoppingLine(number, rest))
        else:
            found.append(ShoppingLine(number, rest[amount.end() :], int(amount[1]), amount[2] and amount[2].lower()))
    return found


def wrong_with(lines: list[ShoppingLine]) -> list[str]:
    """Error messages for lines that cannot be added; empty if all can."""
    if not lines:
        return ["Lines must name something to buy"]
    if len(lines) > MOST_LINES:
        return [f"There can be at most {MOST_LINES} lines"]
    return [f"Line {each.number}: {wrong.message}" for each in lines for wrong in NAME.errors(each.name, label="Name")]
