"""What callers may say, with the design's messages word for word; everything wrong is told at once."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from msgspec import UNSET

from potluck.apps.shopping.fields import MOST
from potluck.people.errors import InvalidFields, WrongField

__all__ = ["MOST_ALTERNATES", "Fields", "Id", "checking"]

Id = UUID | str
"""An id as a door was given it; text is taken if it is a UUID in its usual form."""

CANONICAL = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# Ours are the messages for what the design knows nothing of: locations, and ids of invitations and undo tokens.
ID_MESSAGES = {
    "shoppingItemId": "Invalid shopping item ID format",
    "familyId": "Invalid family ID format",
    "itemId": "Invalid inventory item ID format",
    "storeId": "Invalid store ID format",
    "memberId": "Invalid member ID format",
    "locationId": "Invalid location ID format",
    "invitationId": "Invalid invitation ID format",
    "undoToken": "Invalid undo token format",
}

LONGEST_NAME = 100
LONGEST_NOTES = 500
LONGEST_UNIT = 50
MOST_ALTERNATES = 20


class Fields:
    """Takes values one by one, and remembers which of them are wrong. What is UNSET was not said, and stays so."""

    def __init__(self) -> None:
        self.wrong: list[WrongField] = []

    def id(self, field: str, value: Any, *, kind: str | None = None) -> Any:
        """A UUID; `kind` is the field whose message it has, where that is another."""
        if value is UNSET or isinstance(value, UUID):
            return value
        if isinstance(value, str) and CANONICAL.fullmatch(value):
            return UUID(value)
        return self._refused(field, ID_MESSAGES[kind or field])

    def id_or_none(self, field: str, value: Any, *, kind: str | None = None) -> Any:
        return None if value is None else self.id(field, value, kind=kind)

    def ids(self, field: str, values: Any, *, kind: str) -> Any:
        """Several ids in their order, each once."""
        if values is UNSET:
            return values
        if not isinstance(values, Sequence) or isinstance(values, str):
            return self._refused(field, ID_MESSAGES[kind])
        if len(values) > MOST_ALTERNATES:
            return self._refused(field, f"There can be at most {MOST_ALTERNATES} alternate stores")
        return tuple(dict.fromkeys(self.id(field, each, kind=kind) for each in values))

    def name(self, value: Any, longest: int = LONGEST_NAME) -> Any:
        """A name without the space around it."""
        if value is UNSET:
            return value
        name = value.strip() if isinstance(value, str) else ""
        if not 1 <= len(name) <= longest or not _writable(name):
            return self._refused("name", f"Name must be 1-{longest} characters")
        return name

    def text(self, field: str, value: Any, longest: int) -> Any:
        """A text that may be empty, or None."""
        if value is UNSET or value is None:
            return value
        if not isinstance(value, str) or len(value) > longest or not _writable(value):
            return self._refused(field, f"{field.capitalize()} must be {longest} characters or less")
        return value

    def notes(self, value: Any) -> Any:
        return self.text("notes", value, LONGEST_NOTES)

    def unit(self, value: Any) -> Any:
        """What is counted in; an empty text is none."""
        taken = self.text("unit", value, LONGEST_UNIT)
        return (taken.strip() or None) if isinstance(taken, str) else taken

    def quantity_to_buy(self, value: Any) -> Any:
        if value is UNSET or value is None:
            return value
        if not _whole(value) or value < 1:
            return self._refused("quantity", "Quantity must be a positive integer")
        return value if value <= MOST else self._refused("quantity", f"Quantity must be at most {MOST:,}")

    def amount(self, field: str, value: Any) -> Any:
        """How much there is at home, or should be."""
        if value is UNSET or (_whole(value) and 0 <= value <= MOST):
            return value
        return self._refused(field, f"{field.capitalize()} must be an integer from 0 to {MOST:,}")

    def step(self, value: Any) -> Any:
        if _whole(value) and abs(value) <= MOST:
            return value
        return self._refused("by", f"By must be an integer from -{MOST:,} to {MOST:,}")

    def version(self, value: Any) -> Any:
        if _whole(value) and value >= 1:
            return value
        return self._refused("version", "Version must be a positive integer")

    def version_or_none(self, value: Any) -> Any:
        """None where no version was named, which a deletion needs not."""
        return None if value is None else self.version(value)

    def choice(self, field: str, value: Any, *choices: str) -> Any:
        if value is UNSET or value in choices:
            return value
        return self._refused(field, f"{field.capitalize()} must be {' or '.join(repr(each) for each in choices)}")

    def say(self, field: str, message: str) -> None:
        """What only the caller of this can know to be wrong."""
        self._refused(field, message)

    def _refused(self, field: str, message: str) -> Any:
        error = WrongField(field, message)
        if error not in self.wrong:
            self.wrong.append(error)
        return None


@contextmanager
def checking() -> Iterator[Fields]:
    """Take what was said; InvalidFields with all that is wrong when the block ends."""
    fields = Fields()
    yield fields
    if fields.wrong:
        raise InvalidFields(*fields.wrong)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _writable(text: str) -> bool:
    """Whether it is text throughout: half a surrogate pair stands for no character, and cannot be stored."""
    return not any("\ud800" <= each <= "\udfff" for each in text)
