"""The table `RollModel`: what is stored of a training journal, and how it is found.

Entities and attributes are in the document's order; what follows a blank line in an entity is our addition.

Times have milliseconds throughout, in keys and in attributes. The document shows no precision; an `ISODate` usually has
milliseconds (JavaScript's `toISOString`). They also keep a thread in order: a question and its answer often fall in the
same second, and the ids after the time in their keys are random. Two rows of the same millisecond still have different
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

# Rows without entityType in the document have none here either: their keys tell the kind.
roll_model = Table(
    "RollModel",
    "PK",
    "SK",
    type_attribute="entityType",
    accepted={
        "scan: AIThread.every": "only after the index lost its place in the log",
        "scan: Indexed.every": "only after the index lost its place in the log",
    },
)


class UserProfile(Entity, table=roll_model, key=("USER#{user_id}", "PROFILE")):
    """What the journal knows of a person, athlete or coach or both."""

    # The document lists no attributes.
    user_id: UUID
    name: PersonName
    # None until the person, or the device they write on, has said one; it is read as UTC.
    time_zone: TimeZone | None = None
    # Whether private text may go to an assistant on another machine.
    ai_consent: bool = False
    created_at: Milliseconds
    version: Version = 1

    @get(consistent=True)
    def one(user_id: UUID) -> None:
        """What is this person called, when is their midnight, and what may be sent to a remote assistant?"""


class CoachAthleteLink(Entity, table=roll_model, key=("USER#{athlete_id}", "COACH#{coach_id}")):
    """A coach whom an athlete lets see the shared parts of the journal."""

    # The document lists no attributes, and links in it have no state. Here one side asks and the other accepts;
    # only `active` opens anything.
    athlete_id: Annotated[UUID, KeyOnly]
    coach_id: Annotated[UUID, KeyOnly]
    status: LinkStatus = "pending"
    requested_by: LinkRole
    # When both sides first agreed, if ever: until then the one who asked does not see the other's name.
    accepted_at: Milliseconds | None = None
    # The coach sees sessions from this moment on; all of them, if it is None.
    shared_from: Milliseconds | None = None
    created_at: Milliseconds
    updated_at: Milliseconds

    @get(consistent=True)
    def by_id(athlete_id: UUID, coach_id: UUID) -> None:
        """May this coach see this athlete's shared parts, and comment on them, now?"""


class Sections(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An entry's text: for the athlete alone, and for the coaches too."""

    private: SectionText = ""
    shared: SectionText = ""


class SessionMetrics(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What a session was like; coaches see it."""

    duration_minutes: Duration
    intensity: Intensity
    rounds: Rounds
    gi_or_no_gi: GiOrNoGi
    tags: Tags = field(default_factory=list)


class Entry(Entity, table=roll_model, key=("USER#{athlete_id}", "ENTRY#{date}#{entry_id}")):
    """One training session, as the athlete wrote it down."""

    entry_id: UUID
    athlete_id: UUID
    created_at: Milliseconds
    updated_at: Milliseconds
    sections: Sections
    session_metrics: SessionMetrics

    # The key's ISODate: when the session was, which may be long before it was written down. Only in the key, since the
    # document does not list it as an attribute; META holds it too.
    date: Annotated[Milliseconds, KeyOnly]
    version: Version = 1
    # The number of comments that every reader sees. It is here and not in META so that a comment is a change of the
    # entry, and reaches whoever follows the journal.
    comments: Counter = 0
    # When a coach last commented, when its athlete did, and when its athlete last looked at the comments.
    coach_said_at: Milliseconds | None = None
    athlete_said_at: Milliseconds | None = None
    looked_at: Milliseconds | None = None

    # The document's patterns 1 and 2, and the first half of 4, the export.
    @query(descending=True, consistent=True)
    def of_athlete(athlete_id: UUID) -> None:
        """What has this athlete trained? Newest first; a coach gets the same after the link was checked."""

    @query(descending=True, consistent=True)
    def in_time(athlete_id: UUID, date: Range[datetime]) -> None:
        """What has this athlete trained in this week, month or year? Newest first."""

    @get(consistent=True)
    def one(athlete_id: UUID, date: datetime, entry_id: UUID) -> None:
        """What does this entry say now? META tells where it is; keyword rows are brought up to what this says."""


class Comment(Entity, table=roll_model, key=("ENTRY#{entry_id}", "COMMENT#{created_at}#{comment_id}")):
    """What a coach says about an entry."""

    comment_id: UUID
    entry_id: UUID
    coach_id: UUID
    created_at: Milliseconds
    body: CommentBody
    # A hidden comment is seen by the athlete and by its author only.
    visibility: Visibility = "visible"

    version: Version = 1

    @get(consistent=True)
    def one(entry_id: UUID, created_at: datetime, comment_id: UUID) -> None:
        """What does this comment say now, and who may see it? A keyword row tells where it is."""

    @query(consistent=True)
    def of_entry(entry_id: UUID) -> None:
        """Which comments go with an entry that is deleted, though its META is gone already?"""


class AIThread(Entity, table=roll_model, type="AI_THREAD", key=("USER#{user_id}", "AI_THREAD#{thread_id}")):
    """A conversation with the assistant; only its owner can open it."""

    thread_id: UUID
    title: Title
    created_at: Milliseconds
    last_active_at: Milliseconds

    user_id: Annotated[UUID, KeyOnly]
    # What the assistant may read: the narrower of this and what the caller may see now. The default is the narrower
    # scope.
    scope: Scope = "shared"
    # Whose journal it is about; None for the owner's own.
    athlete_id: UUID | None = None

    @scan(consistent=True)
    def every() -> None:
        """Which conversations are there?"""

    @get(consistent=True)
    def one(user_id: UUID, thread_id: UUID) -> None:
        """Is this the caller's thread, and what is its scope?"""

    @query(consistent=True)
    def of_user(user_id: UUID) -> None:
        """Which conversations does this person have? In no order of time: the key has none."""


MOST_QUOTED, MOST_COUNTED = 50, 200
"""Per answer: entries that it quotes, and entries that it only counted."""


class CountedEntry(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An entry that an answer counted, without quoting it."""

    entry_id: UUID
    date: Milliseconds


class Citation(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An entry that an answer rests on, and what it quotes of it word for word; empty for one that was only counted."""

    entry_id: UUID
    date: Milliseconds
    quote: Quote
    # Set if the quote is from a comment on the entry.
    comment_id: UUID | None = None


class Source(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A text that an answer was made of: an entry, or a comment on it, and what of it the assistant was given."""

    entry_id: UUID
    # Of the text that was given, to detect that it has changed or is no longer shared.
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
        """What was said in this conversation, from its beginning?"""


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
        """Is this word of the entry indexed already, when a consumer begins again?"""


class EntryMeta(Entity, table=roll_model, key=("ENTRY#{entry_id}", "META")):
    """Whose entry it is: what comment permissions need, and the way from an entry's id to the entry."""

    athlete_id: UUID
    created_at: Milliseconds

    entry_id: Annotated[UUID, KeyOnly]
    # The entry's sort key begins with its date, so without this an entry could not be found by its id.
    date: Milliseconds

    # The document's pattern 3, together with CoachAthleteLink.by_id.
    @get(consistent=True)
    def one(entry_id: UUID) -> None:
        """Whose entry is this, and where is it? The coach's link to that athlete then decides."""


# --- rows that the document does not have ---


class PrivateKeywordIndex(
    Entity,
    table=roll_model,
    type="PRIVATE_KEYWORD_INDEX",
    key=("USER_PRIVATE#{athlete_id}", "KW#{token}#TS#{created_at}#ENTRY#{entry_id}"),
):
    """A word of an entry's private section, in a partition that no coach's search ever names.

    The document keeps all words together, where a coach could find the private ones. A word that is in both sections
    is in both partitions.
    """

    entry_id: UUID
    created_at: Milliseconds
    athlete_id: Annotated[UUID, KeyOnly]
    token: Annotated[Token, KeyOnly]

    @get(consistent=True)
    def one(athlete_id: UUID, token: str, created_at: datetime, entry_id: UUID) -> None:
        """Is this word of the entry indexed already, when a consumer begins again?"""

    @query(descending=True)
    def of_token(athlete_id: UUID, token: str) -> None:
        """Which of my own entries have this word in their private section? Newest first."""

    @query(consistent=True)
    def of_athlete(athlete_id: UUID) -> None:
        """Which private words are there at all, to forget with the athlete?"""


class CommentKeywordIndex(
    Entity,
    table=roll_model,
    type="COMMENT_KEYWORD_INDEX",
    key=("USER#{athlete_id}", "KW#{token}#TS#{created_at}#ENTRY#{entry_id}#COMMENT#{comment_id}"),
):
    """A word of a comment that every reader of its entry sees; the words of a hidden comment have no rows.

    It is among the words of the athlete's entries, so that one query finds both.
    """

    entry_id: UUID
    # When the comment was written, so that the row leads to the comment.
    created_at: Milliseconds
    comment_id: UUID
    athlete_id: Annotated[UUID, KeyOnly]
    token: Annotated[Token, KeyOnly]

    @get(consistent=True)
    def one(athlete_id: UUID, token: str, created_at: datetime, entry_id: UUID, comment_id: UUID) -> None:
        """Is this word of the comment indexed already, when a consumer begins again?"""


class AthleteCoachLink(Entity, table=roll_model, key=("USER#{coach_id}", "ATHLETE#{athlete_id}")):
    """The link as the coach's side finds it: written with it in one transaction, and never what decides."""

    coach_id: Annotated[UUID, KeyOnly]
    athlete_id: Annotated[UUID, KeyOnly]
    status: LinkStatus = "pending"
    requested_by: LinkRole
    accepted_at: Milliseconds | None = None
    shared_from: Milliseconds | None = None
    created_at: Milliseconds
    updated_at: Milliseconds
    # When the coach last looked at what the athlete shares. Never shown to the athlete.
    looked_at: Milliseconds | None = None

    @get
    def one(coach_id: UUID, athlete_id: UUID) -> None:
        """The mirror of one link, to be changed with it; and since when something is new to the coach."""

    @query(consistent=True)
    def of_coach(coach_id: UUID) -> None:
        """Who are, were or may become this coach's athletes?"""


# --- questions whose answer holds several kinds of rows ---


class Link(AnyOf[CoachAthleteLink | AthleteCoachLink]):
    """A link as either side finds it: to a coach, or to an athlete."""

    # The user is the athlete in rows of the first kind and the coach in the second; the two kinds are adjacent.
    @query(consistent=True)
    def of_user(athlete_id: UUID) -> None:
        """Who are, were or may become this person's athletes and coaches?"""


class SharedWord(AnyOf[KeywordIndex | CommentKeywordIndex]):
    """A word that coaches may find, of an entry or of a comment on it."""

    # The document's pattern 6. Its prefix KW#arm would also match armbar; ours extends to what follows, KW#arm#TS#.
    @query(descending=True)
    def of_token(athlete_id: UUID, token: str) -> None:
        """Which entries have this word where coaches may see it, or comments on them? Newest first."""


class Indexed(AnyOf[Entry | Comment | AIMessage | CommentKeywordIndex | KeywordIndex | PrivateKeywordIndex]):
    """What the keyword index is made from, and the index itself."""

    @scan(consistent=True)
    def every() -> None:
        """What must the keyword index say, and what does it say?"""


class EntryWithComments(ItemCollection):
    """An entry's own partition: whose it is, and what coaches said."""

    meta: EntryMeta
    comments: list[Comment]

    # The second half of the document's pattern 4, and of pattern 3 when comments are shown.
    @query(consistent=True)
    def of(entry_id: UUID) -> None:
        """Whose entry is this, and what was said about it, oldest first? The entry's whole partition."""


class UserRow(
    AnyOf[UserProfile | CoachAthleteLink | AthleteCoachLink | Entry | AIThread | KeywordIndex | CommentKeywordIndex]
):
    """Whatever lies in a person's own partition."""

    @query(consistent=True)
    def of_user(user_id: UUID) -> None:
        """What goes with a person who is forgotten? Entries, threads and links lead to what lies elsewhere."""
