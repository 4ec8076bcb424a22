"""Checks what people type about themselves; every wrong field is found before anything is written."""

import re

from potluck.people.entities import folded_email
from potluck.people.errors import InvalidFields, WrongField
from potluck.people.passwords import LONGEST_PASSWORD, SHORTEST_PASSWORD

__all__ = ["checked_email", "checked_name", "checked_password", "refuse_all", "wrong_with"]

LONGEST_EMAIL = 254
LONGEST_NAME = 100

# One "@" with something on both sides. Whether mail arrives there, only sending one would show.
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


def checked_email(email: str, field: str = "email") -> str | WrongField:
    """The address as it is stored: trimmed."""
    email = email.strip()
    # Case folding can make an address longer.
    if max(len(email), len(folded_email(email))) > LONGEST_EMAIL:
        return WrongField(field, f"E-mail must have at most {LONGEST_EMAIL} characters")
    if not EMAIL.fullmatch(email) or not email.isprintable():
        return WrongField(field, "E-mail must be an address such as ada@example.org")
    return email


def checked_name(name: str, field: str = "name") -> str | WrongField:
    """The name as it is stored: trimmed."""
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME or not _is_text(name):
        return WrongField(field, f"Name must have 1 to {LONGEST_NAME} characters, all of them printable")
    return name


def checked_password(password: str, field: str = "password") -> str | WrongField:
    """The password, unchanged: any characters, not too few or too many."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        return WrongField(field, f"Password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters")
    return password


def refuse_all(*checked: str | WrongField) -> list[str]:
    """The values, if all are valid; else InvalidFields with every one that is not."""
    wrong = [each for each in checked if isinstance(each, WrongField)]
    if wrong:
        raise InvalidFields(*wrong)
    return [each for each in checked if isinstance(each, str)]


def wrong_with(checked: str | WrongField) -> list[WrongField]:
    """What is wrong with it, if anything is."""
    return [checked] if isinstance(checked, WrongField) else []


def _is_text(name: str) -> bool:
    """Whether it is one line of text; joiners of scripts and emoji are allowed."""
    return all(each.isprintable() or each in "\u200c\u200d" for each in name)
