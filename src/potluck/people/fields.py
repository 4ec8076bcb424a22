"""What people type about themselves: the bounds and the message of each field, for entities, inputs and forms."""

from collections.abc import Iterator
from typing import Annotated
from unicodedata import normalize

from potluck.characters import seen
from potluck.field_types import Check, OneLine, Text
from potluck.people.errors import WrongField

__all__ = [
    "LONGEST_EMAIL",
    "AnyEmail",
    "AnyPassword",
    "Email",
    "EmailOrBlank",
    "Name",
    "NewPassword",
    "Secret",
    "folded_email",
]

LONGEST_EMAIL = 254
LONGEST_NAME = 100
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 128
LONGEST_SECRET = 200

AN_ADDRESS = f"E-mail must be an address such as ada@example.org, of at most {LONGEST_EMAIL} characters"


def folded_email(address: str) -> str:
    """The same text for addresses that differ only in case, surrounding space or how an accent is composed."""
    # Not the library's folding, which also drops accents and punctuation: those make another mailbox.
    return normalize("NFC", normalize("NFC", address.strip()).casefold())


def _printable_email(email: str) -> Iterator[WrongField]:
    # With invisible characters it could pass for somebody else's. Case folding can make it longer.
    if not email.isprintable() or seen(email) != email or len(folded_email(email)) > LONGEST_EMAIL:
        yield WrongField("", "")


# One "@" with something on both sides. Whether mail arrives there, only sending one would show.
Email = Annotated[
    str,
    Text(3, LONGEST_EMAIL, AN_ADDRESS, pattern=r"^[^@\s]+@[^@\s]+$", examples=["ada@example.org"]),
    Check(_printable_email),
]
EmailOrBlank = Annotated[
    str,
    Text(0, LONGEST_EMAIL, AN_ADDRESS, pattern=r"^([^@\s]+@[^@\s]+)?$", examples=["ada@example.org"]),
    Check(_printable_email),
]
"""Where it may be left blank."""
Name = Annotated[
    str,
    OneLine(1, LONGEST_NAME, f"Name must have 1 to {LONGEST_NAME} characters, all of them printable"),
]
NewPassword = Annotated[
    str,
    Text(
        SHORTEST_PASSWORD,
        LONGEST_PASSWORD,
        f"Password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters",
        trim=False,
    ),
]
# Only compared with what is stored: a value that could never be valid is simply wrong.
AnyEmail = Annotated[str, Text(0, LONGEST_EMAIL, trim=False)]
AnyPassword = Annotated[str, Text(0, LONGEST_PASSWORD, trim=False)]
Secret = Annotated[str, Text(0, LONGEST_SECRET)]
"""Of an invitation or a password reset, as it stands in its link."""
