"""The types of the journal's fields, with their bounds and messages."""

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from functools import cache
from typing import Annotated, Literal
from unicodedata import normalize
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

from potluck.validation import FieldError, Integer, Length, Message, Text

LONGEST_SECTION = 20_000
LONGEST_WORD = 40

LinkStatus = Literal["pending", "active", "revoked"]
LinkRole = Annotated[Literal["athlete", "coach"], Message("Role must be 'athlete' or 'coach'")]
GiOrNoGi = Annotated[Literal["gi", "no-gi", "both"], Message("Gi must be 'gi', 'no-gi' or 'both'")]
Visibility = Annotated[
    Literal["visible", "hiddenByAthlete"], Message("Visibility must be 'visible' or 'hiddenByAthlete'")
]
Sees = Annotated[Literal["everything", "fromToday"], Message("Sees must be 'everything' or 'fromToday'")]
Role = Literal["user", "assistant"]
Scope = Annotated[Literal["private", "shared"], Message("Scope must be 'private' or 'shared'")]

SectionText = Annotated[str, Text(0, LONGEST_SECTION, "A section can have at most 20,000 characters", kind="lines")]
Duration = Annotated[int, Integer(1, 1_440, "Duration must be a whole number of minutes from 1 to 1,440")]
Intensity = Annotated[int, Integer(1, 10, "Intensity must be a whole number from 1 to 10")]
Rounds = Annotated[int, Integer(0, 100, "Rounds must be a whole number from 0 to 100")]
Tag = Annotated[str, Text(1, 40, "A tag must have 1 to 40 characters")]
Tags = Annotated[list[Tag], Length(0, 20, "An entry can have at most 20 tags")]
Token = Annotated[str, Text(1, LONGEST_WORD, kind="raw")]
PersonName = Annotated[str, Text(1, 100, "Name must have 1 to 100 characters")]
CommentBody = Annotated[str, Text(1, 4_000, "A comment must have 1 to 4,000 characters", kind="lines")]
Title = Annotated[str, Text(0, 200, "A title can have at most 200 characters")]
Question = Annotated[str, Text(1, 4_000, "A question must have 1 to 4,000 characters", kind="lines")]
Content = Annotated[str, Text(1, 20_000, kind="lines")]
Quote = Annotated[str, Text(0, 1_000, kind="lines")]

UserId = Annotated[UUID, Message("Invalid user ID format")]
AthleteId = Annotated[UUID, Message("Invalid athlete ID format")]
EntryId = Annotated[UUID, Message("Invalid entry ID format")]
CommentId = Annotated[UUID, Message("Invalid comment ID format")]
ThreadId = Annotated[UUID, Message("Invalid thread ID format")]


def _known_zone(name: str) -> Iterator[FieldError]:
    if name not in _zones():
        yield FieldError("", "")


@cache
def _zones() -> frozenset[str]:
    # UTC works even on a machine without time zone data.
    return frozenset({UNSAID, *available_timezones()})


UNSAID = "UTC"
"""The time zone of people who have not set one."""

TimeZone = Annotated[str, Text(1, 64, "Time zone must be a name such as Europe/Lisbon", kind="raw", check=_known_zone)]


def folded_tag(tag: str) -> str:
    """The form in which tags are compared: “Half Guard” equals “half guard”."""
    return normalize("NFC", normalize("NFC", tag).casefold())


def unique_tags(tags: Iterable[str]) -> list[str]:
    """Each tag once, as first spelt."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(folded_tag(tag), tag)
    return list(first.values())


def wears(wanted: str, worn: str) -> bool:
    """Whether a session counts as gi or as no-gi; one in both counts as either."""
    return worn == wanted or (worn == "both" and wanted in ("gi", "no-gi"))


def zone_of(name: str | None) -> tzinfo:
    """The time zone with this name; UTC without a name, or if this machine does not know it."""
    return ZoneInfo(name) if name is not None and name != UNSAID and name in _zones() else UTC
