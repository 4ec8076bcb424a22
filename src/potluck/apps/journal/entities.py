"""The table `RollModel`: what a training journal stores, and its access patterns.

Entities and attributes are in the document's order; what follows a blank line in an entity is our addition.

Times have milliseconds throughout, in keys and in attributes. The document shows no precision; an `ISODate` usually has
milliseconds (JavaScript's `toISOString`). They also keep a thread in order: a question and its answer often fall in the
same second, and the ids after the time in their keys are random. Two rows of one millisecond still have different
ids, so neither is lost.

Reads are consistent, because they decide what the caller may see, or show what the caller has just written. Searches
and the mirror of a link are the exceptions, and decide nothing: the entry that a keyword row points to is read
consistently before it is shown.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct, field

from potluck.apps.journal.fields import (
    CommentBody,
    Content,
    Duration,
    GiOrNoGi,
    Intensity,
    LinkRole,
    LinkStatus,
    PersonName,
    Quote,
    Role,
    Rounds,
    Scope,
    SectionText,
    Tags,
    TimeZone,
    Title,
    Token,
    Visibility,
)
from potluck.table import (
    AnyOf,
    Counter,
    Entity,
    ItemCollection,
    KeyOnly,
    Milliseconds,
    Range,
    Table,
    Version,
    get,
    query,
    scan,
)

# Rows that have no entityType in the document have none here: their keys identify the kind.
roll_model = Table(
    "RollModel",
    "PK",
    "SK",
    type_attribute="entityType",
    accepted={
        "scan: AIThread.every": "only if the index consumer lost its position in the log",
        "scan: Indexed.every": "only if the index consumer lost its position in the log",
    },
)


class UserProfile(Entity, table=roll_model, key=("USER#{user_id}", "PROFILE")):
    """A person's settings in the journal, as an athlete, a coach or both."""

    # The document lists no attributes.
    user_id: UUID
    name: PersonName
    # None until the person or their device sets one; None is read as UTC.
    time_zone: TimeZone | None = None
    # Whether private text may be sent to a remote assistant.
    ai_consent: bool = False
    created_at: Milliseconds
    version: Version = 1

    @get(consistent=True)
    def one(user_id: UUID) -> None:
        """What is this person's name and time zone, and may a remote assistant read private text?"""


class CoachAthleteLink(Entity, table=roll_model, key=("USER#{athlete_id}", "COACH#{coach_id}")):
    """A coach who may see the shared parts of an athlete's journal."""

    # The document lists no attributes, and its links have no state. Here one side requests a link and the other
    # accepts it; only an active link gives access.
    athlete_id: Annotated[UUID, KeyOnly]
    coach_id: Annotated[UUID, KeyOnly]
    status: LinkStatus = "pending"
    requested_by: LinkRole
    # When both sides first agreed; until then the side that requested the link does not see the other's name.
    accepted_at: Milliseconds | None = None
    # The coach sees sessions from this time on; None means all sessions.
    shared_from: Milliseconds | None = None
    created_at: Milliseconds
    updated_at: Milliseconds

    @get(consistent=True)
    def by_id(athlete_id: UUID, coach_id: UUID) -> None:
        """May this coach see this athlete's shared parts, and comment on them, now?"""


class Sections(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The text of an entry: one part for the athlete alone, one for the coaches too."""

    private: SectionText = ""
    shared: SectionText = ""


class SessionMetrics(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The metrics of a session, which coaches see."""

    duration_minutes: Duration
    intensity: Intensity
    rounds: Rounds
    gi_or_no_gi: GiOrNoGi
    tags: Tags = field(default_factory=list)


class Entry(Entity, table=roll_model, key=("USER#{athlete_id}", "ENTRY#{date}#{entry_id}")):
    """One training session, written by the athlete."""

    entry_id: UUID
    athlete_id: UUID
    created_at: Milliseconds
    updated_at: Milliseconds
    sections: Sections
    session_metrics: SessionMetrics

    # The key's ISODate: the time of the session, which may be long before the entry was written. The document does not
    # list it as an attribute, so it is only in the key, and in META.
    date: Annotated[Milliseconds, KeyOnly]
    version: Version = 1
    # The number of visible comments. It is here and not in META so that a comment changes the entry, and live lists
    # show it.
    comments: Counter = 0
    # When a coach last commented, when the athlete last commented, and when the athlete last read the comments.
    coach_said_at: Milliseconds | None = None
    athlete_said_at: Milliseconds | None = None
    looked_at: Milliseconds | None = None

    # The document's patterns 1 and 2, and the first half of 4, the export.
    @query(descending=True, consistent=True)
    def of_athlete(athlete_id: UUID) -> None:
        """Which sessions did this athlete train? Newest first; a coach gets the same list once the link is checked."""

    @query(descending=True, consistent=True)
    def in_time(athlete_id: UUID, date: Range[datetime]) -> None:
        """Which sessions did this athlete train in this period? Newest first."""

    @get(consistent=True)
    def one(athlete_id: UUID, date: datetime, entry_id: UUID) -> None:
        """What does this entry say now? META holds its date; keyword rows follow what it says."""


class Comment(Entity, table=roll_model, key=("ENTRY#{entry_id}", "COMMENT#{created_at}#{comment_id}")):
    """A comment on an entry."""

    comment_id: UUID
    entry_id: UUID
    coach_id: UUID
    created_at: Milliseconds
    body: CommentBody
    # Only the athlete and the author see a hidden comment.
    visibility: Visibility = "visible"

    version: Version = 1

    @get(consistent=True)
    def one(entry_id: UUID, created_at: datetime, comment_id: UUID) -> None:
        """What does this comment say now, and is it visible? A keyword row holds its key."""

    @query(consistent=True)
    def of_entry(entry_id: UUID) -> None:
        """Which comments must be deleted with an entry whose META is already gone?"""


class AIThread(Entity, table=roll_model, type="AI_THREAD", key=("USER#{user_id}", "AI_THREAD#{thread_id}")):
    """A conversation with the assistant; only its owner can open it."""

    thread_id: UUID
    title: Title
    created_at: Milliseconds
    last_active_at: Milliseconds

    user_id: Annotated[UUID, KeyOnly]
    # The assistant reads the narrower of this scope and what the caller may see now. The default is the narrower
    # scope.
    scope: Scope = "shared"
    # The athlete it is about; None for the owner's own journal.
    athlete_id: UUID | None = None

    @scan(consistent=True)
    def every() -> None:
        """Which conversations exist?"""

    @get(consistent=True)
    def one(user_id: UUID, thread_id: UUID) -> None:
        """Is this the caller's thread, and what is its scope?"""

    @query(consistent=True)
    def of_user(user_id: UUID) -> None:
        """Which conversations does this person have? In no particular order, because the key contains no time."""


MOST_QUOTED, MOST_COUNTED = 50, 200
"""Limits of one answer: entries that it quotes, and entries that it only counts."""


class CountedEntry(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An entry that an answer counts without quoting it."""

    entry_id: UUID
    date: Milliseconds


class Citation(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An entry that an answer cites, with a verbatim quote, which is empty for an entry that was only counted."""

    entry_id: UUID
    date: Milliseconds
    quote: Quote
    # Set if the quote is from a comment on the entry.
    comment_id: UUID | None = None


class Source(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A text that an answer is based on: an entry or a comment, and a digest of what the assistant received."""

    entry_id: UUID
    # Of the text, to detect that it has changed or is no longer shared.
    digest: Annotated[str, Meta(min_length=1, max_length=64)]
    comment_id: UUID | None = None


class AIMessage(
    Entity, table=roll_model, type="AI_MESSAGE", key=("AI_THREAD#{thread_id}", "MSG#{created_at}#{message_id}")
):
    """One question or one answer."""

    message_id: UUID
    thread_id: UUID
    role: Role
    content: Content
    visibility_scope: Scope
    created_at: Milliseconds

    # Answers only.
    citations: Annotated[list[Citation], Meta(max_length=MOST_QUOTED)] | None = None
    counted: Annotated[list[CountedEntry], Meta(max_length=MOST_COUNTED)] | None = None
    provider: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    sources: Annotated[list[Source], Meta(max_length=200)] | None = None

    # The document's pattern 5.
    @query(consistent=True)
    def in_thread(thread_id: UUID) -> None:
        """Which messages are in this conversation, oldest first?"""


class KeywordIndex(
    Entity,
    table=roll_model,
    type="KEYWORD_INDEX",
    key=("USER#{athlete_id}", "KW#{token}#TS#{created_at}#ENTRY#{entry_id}"),
):
    """A word of an entry that coaches may find: of its shared section, its tags or its metrics."""

    entry_id: UUID
    created_at: Milliseconds

    athlete_id: Annotated[UUID, KeyOnly]
    token: Annotated[Token, KeyOnly]

    @get(consistent=True)
    def one(athlete_id: UUID, token: str, created_at: datetime, entry_id: UUID) -> None:
        """Is this word of the entry already indexed, when a consumer restarts?"""


class EntryMeta(Entity, table=roll_model, key=("ENTRY#{entry_id}", "META")):
    """An entry's athlete and date, by the entry's id: who may comment, and where the entry is."""

    athlete_id: UUID
    created_at: Milliseconds

    entry_id: Annotated[UUID, KeyOnly]
    # The entry's sort key begins with its date, so without this an entry could not be found by its id.
    date: Milliseconds

    # The document's pattern 3, together with CoachAthleteLink.by_id.
    @get(consistent=True)
    def one(entry_id: UUID) -> None:
        """Whose entry is this, and what is its date? The coach's link to that athlete then decides."""


# --- rows that the document does not have ---


class PrivateKeywordIndex(
    Entity,
    table=roll_model,
    type="PRIVATE_KEYWORD_INDEX",
    key=("USER_PRIVATE#{athlete_id}", "KW#{token}#TS#{created_at}#ENTRY#{entry_id}"),
):
    """A word of an entry's private section, in a partition that no coach's search reads.

    The document keeps all words together, where a coach could find the private ones. A word that is in both sections
    is in both partitions.
    """

    entry_id: UUID
    created_at: Milliseconds
    athlete_id: Annotated[UUID, KeyOnly]
    token: Annotated[Token, KeyOnly]

    @get(consistent=True)
    def one(athlete_id: UUID, token: str, created_at: datetime, entry_id: UUID) -> None:
        """Is this word of the entry already indexed, when a consumer restarts?"""

    @query(descending=True)
    def of_token(athlete_id: UUID, token: str) -> None:
        """Which of the athlete's entries have this word in their private section? Newest first."""

    @query(consistent=True)
    def of_athlete(athlete_id: UUID) -> None:
        """Which private keyword rows must be deleted with the athlete?"""


class CommentKeywordIndex(
    Entity,
    table=roll_model,
    type="COMMENT_KEYWORD_INDEX",
    key=("USER#{athlete_id}", "KW#{token}#TS#{created_at}#ENTRY#{entry_id}#COMMENT#{comment_id}"),
):
    """A word of a visible comment; hidden comments have no keyword rows.

    It shares a partition with the words of the athlete's entries, so that one query finds both.
    """

    entry_id: UUID
    # When the comment was written, which is part of the comment's key.
    created_at: Milliseconds
    comment_id: UUID
    athlete_id: Annotated[UUID, KeyOnly]
    token: Annotated[Token, KeyOnly]

    @get(consistent=True)
    def one(athlete_id: UUID, token: str, created_at: datetime, entry_id: UUID, comment_id: UUID) -> None:
        """Is this word of the comment already indexed, when a consumer restarts?"""


class AthleteCoachLink(Entity, table=roll_model, key=("USER#{coach_id}", "ATHLETE#{athlete_id}")):
    """The mirror of a link, by which the coach finds it: written in the same transaction, and never authoritative."""

    coach_id: Annotated[UUID, KeyOnly]
    athlete_id: Annotated[UUID, KeyOnly]
    status: LinkStatus = "pending"
    requested_by: LinkRole
    accepted_at: Milliseconds | None = None
    shared_from: Milliseconds | None = None
    created_at: Milliseconds
    updated_at: Milliseconds
    # When the coach last read what the athlete shares. Never shown to the athlete.
    looked_at: Milliseconds | None = None

    @get
    def one(coach_id: UUID, athlete_id: UUID) -> None:
        """What is the mirror of this link, and when did the coach last read the journal?"""

    @query(consistent=True)
    def of_coach(coach_id: UUID) -> None:
        """Who are this coach's athletes: current, former or requested?"""


# --- patterns that return several kinds of rows ---


class Link(AnyOf[CoachAthleteLink | AthleteCoachLink]):
    """A link, as found from either side."""

    # The user is the athlete in rows of the first kind and the coach in the second; the two kinds are adjacent.
    @query(consistent=True)
    def of_user(athlete_id: UUID) -> None:
        """Who are this person's athletes and coaches: current, former or requested?"""


class SharedWord(AnyOf[KeywordIndex | CommentKeywordIndex]):
    """A word that coaches may find, of an entry or of a comment on it."""

    # The document's pattern 6. Its prefix KW#arm would also match armbar, so ours is KW#arm#TS#.
    @query(descending=True)
    def of_token(athlete_id: UUID, token: str) -> None:
        """Which entries have this word in a shared part or in a visible comment? Newest first."""


class Indexed(AnyOf[Entry | Comment | AIMessage | CommentKeywordIndex | KeywordIndex | PrivateKeywordIndex]):
    """The rows that the keyword index is built from, and the index itself."""

    @scan(consistent=True)
    def every() -> None:
        """What should the keyword index contain, and what does it contain?"""


class EntryWithComments(ItemCollection):
    """An entry's own partition: its META and the comments."""

    meta: EntryMeta
    comments: list[Comment]

    # The second half of the document's pattern 4, and of pattern 3 when comments are shown.
    @query(consistent=True)
    def of(entry_id: UUID) -> None:
        """Whose entry is this, and which comments does it have, oldest first? The entry's whole partition."""


class UserRow(
    AnyOf[UserProfile | CoachAthleteLink | AthleteCoachLink | Entry | AIThread | KeywordIndex | CommentKeywordIndex]
):
    """Any row in a person's own partition."""

    @query(consistent=True)
    def of_user(user_id: UUID) -> None:
        """Which rows must be deleted with an account? Entries, threads and links lead to rows in other partitions."""
