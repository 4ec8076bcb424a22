"""The document of the training journal, taken literally as far as it can be declared at all."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from potluck.table import Entity, ItemCollection, KeyOnly, Milliseconds, Table, get, query

roll_model = Table("RollModel", "PK", "SK", type_attribute="entityType")


class UserProfile(Entity, table=roll_model, key=("USER#{user_id}", "PROFILE")):
    """User profile."""

    user_id: Annotated[UUID, KeyOnly]


class CoachAthleteLink(Entity, table=roll_model, key=("USER#{athlete_id}", "COACH#{coach_id}")):
    """Coach-athlete link."""

    athlete_id: Annotated[UUID, KeyOnly]
    coach_id: Annotated[UUID, KeyOnly]

    @get
    def one(athlete_id: UUID, coach_id: UUID) -> None:
        """3. Coach posts comment by checking USER#{athleteId}/COACH#{coachId}."""


class Sections(Struct, frozen=True, kw_only=True):
    private: str
    shared: str


class SessionMetrics(Struct, frozen=True, kw_only=True, rename="camel"):
    duration_minutes: int
    intensity: int
    rounds: int
    gi_or_no_gi: str
    tags: list[str]


class Entry(Entity, table=roll_model, key=("USER#{athlete_id}", "ENTRY#{iso_date}#{entry_id}")):
    """A training session."""

    entry_id: UUID
    athlete_id: UUID
    iso_date: Annotated[Milliseconds, KeyOnly]
    created_at: Milliseconds
    updated_at: Milliseconds
    sections: Sections
    session_metrics: SessionMetrics

    @query()
    def of_athlete(athlete_id: UUID) -> None:
        """1. Athlete gets own entries. 2. Coach gets linked athlete entries with the same query."""


class Comment(Entity, table=roll_model, key=("ENTRY#{entry_id}", "COMMENT#{created_at}#{comment_id}")):
    """What a coach says."""

    comment_id: UUID
    entry_id: UUID
    coach_id: UUID
    created_at: Milliseconds
    body: str
    visibility: Literal["visible", "hiddenByAthlete"]


class EntryMeta(Entity, table=roll_model, key=("ENTRY#{entry_id}", "META")):
    """To validate comment permissions."""

    entry_id: Annotated[UUID, KeyOnly]
    athlete_id: UUID
    created_at: Milliseconds

    @get
    def one(entry_id: UUID) -> None:
        """3. Coach posts comment by checking ENTRY#{entryId}/META."""


class EntryPartition(ItemCollection):
    """What is under an entry."""

    meta: EntryMeta
    comments: list[Comment]

    @query()
    def of(entry_id: UUID) -> None:
        """4. Athlete exports comments per ENTRY#{entryId} partition."""


class AIThread(Entity, table=roll_model, type="AI_THREAD", key=("USER#{user_id}", "AI_THREAD#{thread_id}")):
    """AI thread."""

    user_id: Annotated[UUID, KeyOnly]
    thread_id: UUID
    title: str
    created_at: Milliseconds
    last_active_at: Milliseconds


class AIMessage(
    Entity, table=roll_model, type="AI_MESSAGE", key=("AI_THREAD#{thread_id}", "MSG#{created_at}#{message_id}")
):
    """AI message."""

    message_id: UUID
    thread_id: UUID
    role: str
    content: str
    visibility_scope: Literal["private", "shared"]
    created_at: Milliseconds

    @query()
    def in_thread(thread_id: UUID) -> None:
        """5. Athlete/coach AI chat stores conversation messages under AI_THREAD#{threadId}."""


class KeywordIndex(
    Entity,
    table=roll_model,
    type="KEYWORD_INDEX",
    key=("USER#{athlete_id}", "KW#{token}#TS#{created_at}#ENTRY#{entry_id}"),
):
    """A word of an entry."""

    athlete_id: Annotated[UUID, KeyOnly]
    token: Annotated[str, Meta(max_length=40), KeyOnly]
    entry_id: UUID
    created_at: Milliseconds

    @query(prefix="KW#{token}")
    def of_token(athlete_id: UUID, token: str) -> None:
        """6. Keyword retrieval: which entries have this word?"""
