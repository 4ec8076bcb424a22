"""What people type about themselves: the bounds and the message of each field, for entities, inputs and forms."""

import re
from collections.abc import Iterator
from typing import Annotated

from potluck.people.email_normal_form import former_normal_form, normal_email
from potluck.validation.characters import seen
from potluck.validation.errors import FieldError
from potluck.validation.field_types import Check, OneLine, Text

LONGEST_EMAIL = 254
LONGEST_NAME = 100
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 128
LONGEST_SECRET = 200

ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")
AN_ADDRESS = f"E-mail must be an address such as ada@example.org, of at most {LONGEST_EMAIL} characters"


def _printable_email(email: str) -> Iterator[FieldError]:
    # With invisible characters it could pass for somebody else's. A normal form can be longer, and must be an address.
    normal = normal_email(email) if email.isprintable() and seen(email) == email else ""
    if not ADDRESS.fullmatch(normal) or len(max(normal, former_normal_form(email), key=len)) > LONGEST_EMAIL:
        yield FieldError("", "")


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
