"""What people type about themselves: the bounds and the message of each field, for entities, inputs and forms."""

import re
from collections.abc import Iterator
from typing import Annotated

from potluck.people.email_normal_form import former_normal_form, normal_email
from potluck.validation.characters import seen
from potluck.validation.errors import FieldError
from potluck.validation.field_types import Text

LONGEST_EMAIL = 254
LONGEST_NAME = 100
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 128
LONGEST_SECRET = 200

ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")
AN_ADDRESS = f"E-mail must be an address such as ada@example.org, of at most {LONGEST_EMAIL} characters"


def _printable_email(email: str) -> Iterator[FieldError]:
    # Invisible characters could imitate another address. The normal form can be longer, and must be an address too.
    normal = normal_email(email) if email.isprintable() and seen(email) == email else ""
    if not ADDRESS.fullmatch(normal) or len(max(normal, former_normal_form(email), key=len)) > LONGEST_EMAIL:
        yield FieldError("", "")


# One "@" with something on both sides. Whether mail arrives there, only sending one would show.
Email = Annotated[
    str,
    Text(
        3,
        LONGEST_EMAIL,
        AN_ADDRESS,
        kind="raw",
        pattern=r"^[^@\s]+@[^@\s]+$",
        examples=["ada@example.org"],
        check=_printable_email,
    ),
]
EmailOrBlank = Annotated[
    str,
    Text(
        0,
        LONGEST_EMAIL,
        AN_ADDRESS,
        kind="raw",
        pattern=r"^([^@\s]+@[^@\s]+)?$",
        examples=["ada@example.org"],
        check=_printable_email,
    ),
]
"""Where it may be left blank."""
DeviceName = Annotated[str, Text(1, 30, "A name of a browser or system must have 1 to 30 characters")]
Name = Annotated[
    str,
    Text(1, LONGEST_NAME, f"Name must have 1 to {LONGEST_NAME} characters, all of them printable"),
]
NameOrBlank = Annotated[str, Text(0, LONGEST_NAME, f"Name must have at most {LONGEST_NAME} characters, all printable")]
"""Where it may be left blank."""
NewPassword = Annotated[
    str,
    Text(
        SHORTEST_PASSWORD,
        LONGEST_PASSWORD,
        f"Password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters",
        kind="raw",
        trim=False,
    ),
]
# Only compared with what is stored: a value that could never be valid is simply wrong.
AnyEmail = Annotated[str, Text(0, LONGEST_EMAIL, kind="raw", trim=False)]
AnyPassword = Annotated[str, Text(0, LONGEST_PASSWORD, kind="raw", trim=False)]
Secret = Annotated[str, Text(0, LONGEST_SECRET, kind="raw")]
"""The secret of an invitation or a password reset, as in its link."""
