"""The file format of a journal: the export and the import use the same types."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from msgspec import Struct

from potluck.apps.journal.access import to_the_millisecond
from potluck.apps.journal.entities import (
    MOST_COUNTED,
    MOST_QUOTED,
    Citation,
    CountedEntry,
    Sections,
    SessionMetrics,
    Source,
)
from potluck.apps.journal.fields import (
    AthleteId,
    CommentBody,
    CommentId,
    Content,
    EntryId,
    LinkRole,
    LinkStatus,
    PersonName,
    Role,
    Scope,
    ThreadId,
    TimeZone,
    Title,
    UserId,
    Visibility,
)
from potluck.apps.journal.file_errors import NO_JOURNAL, cut_off, explained, upgraded
from potluck.validation import FieldError, Integer, Length, Message, Text
from potluck.web import UNSET, Input, Unset

FORMAT = "roll-model-journal"
LARGEST_VERSION = 10**9
# The lengths of 2024-03-09 and of 2024-03-09T18:00:00.
DAY, SECONDS = 10, 19
# Metrics that a spreadsheet calls something shorter.
SHORT_HEADINGS = {"durationMinutes": "duration", "giOrNoGi": "gi"}

T = TypeVar("T", bound=Struct)

When = Annotated[datetime, Message("This must be a time such as 2024-03-09T18:00:00Z")]
LocalTime = Annotated[str, Text(1, 40, "Local time must be a time such as 2024-03-09 18:00", kind="raw")]
Version = Annotated[int, Integer(1, LARGEST_VERSION, "Version must be a positive integer")]


def converted(kind: type[T], of: Any, **changes: Any) -> T:
    """A row as its file type, or the reverse: fields copied by name, times cut to milliseconds, with `changes`."""
    same = (name for name in kind.__struct_fields__ if name not in changes and hasattr(of, name))
    values = {name: getattr(of, name) for name in same} | changes
    return kind(
        **{name: to_the_millisecond(value) if isinstance(value, datetime) else value for name, value in values.items()}
    )


def _spreadsheet_time(time: str) -> str:
    """A time that spreadsheets recognise: without the T, milliseconds and Z of "2024-03-09T18:00:00.000Z"."""
    return f"{time[:DAY]} {time[DAY + 1 : SECONDS]}"


def _comment_line(comment: Any) -> str:
    author = comment.get("name") or "Someone who left"
    return f"{author} ({_spreadsheet_time(comment['createdAt'])} UTC): {comment['body']}"


class FileProfile(Input):
    user_id: UserId
    name: PersonName
    time_zone: TimeZone | None = None
    ai_consent: bool = False
    """Informative: an import ignores it."""


class FileLink(Input):
    user_id: UserId
    """The other person."""
    name: PersonName | None = None
    role: LinkRole
    """Their role towards the journal's owner."""
    status: LinkStatus
    shared_from: When | None = None
    """The coach sees sessions from this time on; null means all sessions."""
    created_at: When
    updated_at: When


class FileComment(Input):
    comment_id: CommentId
    coach_id: UserId
    name: PersonName | None = None
    created_at: When
    body: CommentBody
    visibility: Visibility
    version: Version = 1


class FileEntry(Input):
    csv_columns: ClassVar = {
        "date": lambda row: (row.get("localTime") or "")[:DAY],
        "time": lambda row: (row.get("localTime") or "")[DAY:].strip(),
        **{
            SHORT_HEADINGS.get(name, name): f"sessionMetrics.{name}" for name in SessionMetrics.__struct_encode_fields__
        },
        "shared": "sections.shared",
        "private": "sections.private",
        "comments": lambda row: "\n".join(map(_comment_line, row.get("comments") or ())),
        "entryId": "entryId",
        "createdAt (UTC)": lambda row: _spreadsheet_time(row["createdAt"]),
        "updatedAt (UTC)": lambda row: _spreadsheet_time(row["updatedAt"]),
        "version": "version",
    }
    """The columns of an entry in a spreadsheet, and where their values come from."""

    entry_id: EntryId
    date: When
    local_time: LocalTime | Unset = UNSET
    """The date and time on the owner's clock, in the account's export. Informative: an import uses `date`."""
    created_at: When
    updated_at: When
    sections: Sections
    session_metrics: SessionMetrics
    version: Version = 1
    comments: Annotated[list[FileComment], Length(0, 1_000, "An entry can have at most 1,000 comments")] = []  # noqa: RUF012


class FileMessage(Input):
    message_id: Annotated[UserId, Message("Invalid message ID format")]
    role: Annotated[Role, Message("Role must be 'user' or 'assistant'")]
    content: Content
    visibility_scope: Scope
    created_at: When
    citations: Annotated[
        list[Citation], Length(0, MOST_QUOTED, f"A message can have at most {MOST_QUOTED} citations")
    ] = []  # noqa: RUF012
    counted: Annotated[
        list[CountedEntry], Length(0, MOST_COUNTED, f"A message can count at most {MOST_COUNTED} entries")
    ] = []  # noqa: RUF012
    sources: Annotated[list[Source], Length(0, 200, "A message can have at most 200 sources")] = []  # noqa: RUF012
    provider: Annotated[str, Text(1, 100, "Provider must have 1 to 100 characters", kind="raw")] | None = None


class FileThread(Input):
    thread_id: ThreadId
    title: Title
    scope: Scope
    athlete_id: AthleteId | None = None
    created_at: When
    last_active_at: When
    messages: Annotated[list[FileMessage], Length(0, 10_000, "A conversation can have at most 10,000 messages")] = []  # noqa: RUF012


class JournalFile(Input):
    not_json: ClassVar = NO_JOURNAL
    cut_off = staticmethod(cut_off)
    upgraded = staticmethod(upgraded)
    explained = staticmethod(explained)

    format: Annotated[Literal["roll-model-journal"], Message(f"This must be the export of a journal: {FORMAT}")] = (
        "roll-model-journal"
    )
    version: Annotated[Literal[1], Message("This version of the format is not known here")] = 1
    exported_at: When | Unset = UNSET
    profile: FileProfile | Unset = UNSET
    profiles: Annotated[list[FileProfile], Length(0, 1, "A journal has one profile")] = []  # noqa: RUF012
    """Instead of `profile` in the account's export, where everything is a list."""
    links: Annotated[list[FileLink], Length(0, 1_000, "A journal can have at most 1,000 links")] = []  # noqa: RUF012
    entries: Annotated[list[FileEntry], Length(0, 50_000, "A journal can have at most 50,000 entries")] = []  # noqa: RUF012
    threads: Annotated[list[FileThread], Length(0, 1_000, "A journal can have at most 1,000 conversations")] = []  # noqa: RUF012

    @staticmethod
    def check(sent: JournalFile) -> Iterator[FieldError]:
        if (sent.profile is UNSET) != bool(sent.profiles):
            yield FieldError("profile", "A journal has one profile")

    @property
    def owner(self) -> FileProfile:
        """The person whose journal it is."""
        return self.profiles[0] if self.profile is UNSET else self.profile
