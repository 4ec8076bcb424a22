"""The fields of shareables: what each accepts, and its error message; used by entities, inputs and forms."""

import re
from datetime import timedelta
from typing import Annotated, Literal
from unicodedata import normalize
from uuid import UUID

from potluck.table import InKeys
from potluck.validation import Integer, Length, Message, Text

USUAL_LIFE_DAYS = 30
LONGEST_LIFE = timedelta(days=365)
# How long its admins can still see it after it has expired.
KEPT = timedelta(days=365)
# A checklist is created, reordered and deleted in one transaction, which may have 100 actions. Besides its items there
# are the shareable, its pool entry, a session, the creator's list, the account, and up to three for the stored answer.
MOST_ITEMS = 90
LONGEST_NAME = 200
LONGEST_NOTE = 2_000
SHORTEST_PASSCODE = 6
LONGEST_PASSCODE = 128
# More than a list can have, so that the rule reports which of them are wrong.
MOST_IDS_SENT = 1_000

Kind = Literal["checklist", "poll"]
Role = Literal["view", "admin"]

BEFORE_ID = "/shareables/"
AFTER_ID = re.compile(r"[/?#]")
NO_PART_OF_ID = re.compile(r"[\W_]+")
LETTERS_AND_DIGITS = re.compile(r"([a-z]{3})([a-z]{3})([0-9]{5})")


def spelled(text: str) -> str:
    """The canonical form of a short id typed with capitals, spaces or dashes, or as a link; other text unchanged."""
    last = AFTER_ID.split(normalize("NFKC", text).lower().strip().rpartition(BEFORE_ID)[2])[0]
    parts = LETTERS_AND_DIGITS.fullmatch(NO_PART_OF_ID.sub("", last))
    return "-".join(parts.groups()) if parts else text


def without_dashes(short_id: str) -> str:
    return short_id.replace("-", "")


def with_dashes(letters_and_digits: str) -> str:
    return f"{letters_and_digits[:3]}-{letters_and_digits[3:6]}-{letters_and_digits[6:]}"


# Three letters, three letters, five digits. Keys have it without the dashes.
ShortId = Annotated[
    str,
    Text(
        13,
        13,
        "A short id has three letters, three letters and five digits",
        kind="raw",
        pattern="^[a-z]{3}-[a-z]{3}-[0-9]{5}$",
        examples=["abc-def-12345"],
        trim=False,
        spelled=spelled,
    ),
    InKeys(without_dashes, with_dashes, max_bytes=11),
]
ItemId = Annotated[UUID, Message("checklistItemId must be a UUID")]
ItemIds = Annotated[list[UUID], Length(0, MOST_IDS_SENT, "itemIds must be a list of the items' ids")]
Name = Annotated[
    str,
    Text(1, LONGEST_NAME, f"Name must have 1 to {LONGEST_NAME} characters, all of them printable"),
]
Note = Annotated[str, Text(0, LONGEST_NOTE, f"Note must have at most {LONGEST_NOTE:,} characters", kind="lines")]
Passcode = Annotated[
    str,
    Text(
        SHORTEST_PASSCODE,
        LONGEST_PASSCODE,
        f"A passcode must have {SHORTEST_PASSCODE} to {LONGEST_PASSCODE} characters, all of them printable",
    ),
]
# A passcode to compare: one that could never have been set is simply wrong, not invalid.
AnyPasscode = Annotated[str, Text(0, 2 * LONGEST_PASSCODE, kind="raw")]
Days = Annotated[
    int, Integer(1, LONGEST_LIFE.days, f"expiresInDays must be a whole number from 1 to {LONGEST_LIFE.days}")
]
