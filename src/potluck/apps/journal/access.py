"""Who may do what: athletes in their own journals, and coaches in what athletes share, while the link is active.

The link is read consistently on every call, and checked again inside every write. A coach's access holds only the
coach's view of an entry; only OwnEntry, which admits the athlete alone, has the entry itself.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from potluck.apps.journal.context import JournalContext
from potluck.apps.journal.entities import (
    AIThread,
    CoachAthleteLink,
    Comment,
    Entry,
    EntryMeta,
    EntryWithComments,
    Sections,
)
from potluck.apps.journal.fields import AthleteId, CommentId, EntryId, ThreadId, UserId
from potluck.apps.journal.journals import SharedJournal, WholeJournal
from potluck.store import Store
from potluck.table import Condition, Operation, Ref, check, the
from potluck.web import ByRow, NotFound, ProblemError, SignedIn

active = the(CoachAthleteLink.status) == "active"


def shared_with(store: Store, link: CoachAthleteLink) -> SharedJournal:
    """What this link's coach sees of the athlete's journal, while it is active."""
    return SharedJournal(store, link.athlete_id, link.shared_from)


def still_sees(link: CoachAthleteLink) -> Condition:
    """The link is active, and shares what it did when it was read."""
    return active & the(CoachAthleteLink.shared_from).still(link.shared_from)


def _opens(link: CoachAthleteLink, since: datetime | None) -> bool:
    """Whether the link is active, and shares at least the sessions since then."""
    return link.status == "active" and (link.shared_from is None or (since is not None and link.shared_from <= since))


class AthleteOnly(ProblemError, slug="forbidden", detail="Only the athlete whose entry it is may do this"):
    """A coach tried to change an entry."""


class Athlete(SignedIn):
    """A person in their own journal, or in the shared part of one they coach."""

    @property
    def now(self) -> datetime:
        """The time, truncated to milliseconds like every time in this table."""
        return to_the_millisecond(self.core.clock())

    @property
    def journal(self) -> JournalContext:
        context: JournalContext = self.context
        return context

    @property
    def own_id(self) -> UUID:
        return self.principal.user_id

    async def readable(self, athlete_id: UUID | None) -> SharedJournal:
        """The caller's own journal in full, or the shared part of a journal they coach; NotFound for any other."""
        if athlete_id is None or athlete_id == self.own_id:
            return WholeJournal(self.store, self.own_id)
        link = await self.store.get(CoachAthleteLink.by_id(athlete_id, self.own_id))
        if link is None or link.status != "active":
            raise NotFound
        return shared_with(self.store, link)


class LinkedWith(Athlete):
    """A person and the other side of a link."""

    user_id: UserId


class WithCoach(LinkedWith):
    """An athlete and a coach who can currently read their journal."""

    def reads(self) -> Sequence[Ref[Any]]:
        return (CoachAthleteLink.by_id(self.own_id, self.user_id),)

    async def admit(self, *rows: Any) -> None:
        (link,) = rows
        if link is None or link.status != "active":
            raise NotFound
        self.link: CoachAthleteLink = link


class CoachOf(ByRow[CoachAthleteLink], admits=active):
    """An active coach of the athlete in the path."""

    athlete_id: AthleteId

    @property
    def shared(self) -> SharedJournal:
        """What the athlete shares with the caller."""
        return shared_with(self.store, self.row)

    def entitles(self, row: Any) -> bool:
        return _opens(row, self.row.shared_from)

    async def redact_event(self, entity: Any, deleted: bool) -> Any:
        """The current entry: text that is no longer shared must not be sent from the change log."""
        if deleted:
            return replace(entity, sections=Sections())
        meta = await self.store.get(EntryMeta.one(entity.entry_id))
        if meta is None or meta.athlete_id != self.athlete_id or not self.shared.reaches(meta.date):
            return None
        return await self.store.get(Entry.one(self.athlete_id, meta.date, entity.entry_id))


class ToEntry(Athlete):
    """The athlete who wrote the entry, or an active coach of theirs."""

    entry_id: EntryId

    def reads(self) -> Sequence[Ref[Any]]:
        return (EntryMeta.one(self.entry_id),)

    async def admit(self, *rows: Any) -> None:
        (meta,) = rows
        if meta is None:
            raise NotFound
        self.meta: EntryMeta = meta
        if not self.own:
            link = await self.store.get(self.link)
            if link is None or link.status != "active" or not shared_with(self.store, link).reaches(meta.date):
                raise NotFound
            self.opened_by: CoachAthleteLink = link

    @property
    def own(self) -> bool:
        """Whether the caller is the athlete."""
        return self.meta.athlete_id == self.own_id

    @property
    def entry(self) -> Ref[Entry]:
        """The entry's key, by the date in META."""
        return Entry.one(self.meta.athlete_id, self.meta.date, self.entry_id)

    async def read_entry(self) -> Entry | None:
        """The current entry, even if it was moved to another date since META was read."""
        while (entry := await self.store.get(self.entry)) is None:
            # One snapshot of both: separate reads could see a changed date in only one of them.
            meta, there = await self.store.snapshot(EntryMeta.one(self.entry_id), self.entry)
            if there is not None:
                return there if self._reaches(there) else None
            if meta is None or meta.athlete_id != self.meta.athlete_id or meta.date == self.meta.date:
                return None
            self.meta = meta
        return entry if self._reaches(entry) else None

    def _reaches(self, entry: Entry) -> bool:
        """Whether the caller may see the entry at its date, which may have changed."""
        return self.own or shared_with(self.store, self.opened_by).reaches(entry.date)

    @property
    def link(self) -> Ref[CoachAthleteLink]:
        return CoachAthleteLink.by_id(self.meta.athlete_id, self.own_id)

    def checks(self) -> Sequence[Operation]:
        return super().checks() if self.own else (check(self.link, when=still_sees(self.opened_by)),)

    def grant_row(self) -> Ref[Any] | None:
        return None if self.own else self.link

    def entitles(self, row: Any) -> bool:
        # If the athlete shares less, this entry may or may not be included: the caller has to ask again.
        return _opens(row, self.opened_by.shared_from)

    def sees(self, thing: Any) -> bool:
        """Whether the caller sees it: a hidden comment is visible to the athlete and its author only."""
        hidden = isinstance(thing, Comment) and thing.visibility == "hiddenByAthlete"
        return not hidden or self.own or thing.coach_id == self.own_id

    async def redact_event(self, entity: Any, deleted: bool) -> Any:
        """The current comment; for a deleted one, everything but its text."""
        if deleted:
            return replace(entity, body="")
        if not self.own:
            meta = await self.store.get(EntryMeta.one(self.entry_id))
            if meta is None or not shared_with(self.store, self.opened_by).reaches(meta.date):
                return None
        comments = await self.store.all(Comment.of_entry(self.entry_id))
        return next((comment for comment in comments if comment.comment_id == entity.comment_id), None)


class OwnEntry(ToEntry):
    """The athlete who wrote the entry."""

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        if not self.own:
            raise AthleteOnly
        self.thing: Entry | None = await self.read_entry()

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [AthleteOnly]


class AtComment(ToEntry):
    """A person who can see a comment on an entry."""

    comment_id: CommentId

    def reads(self) -> Sequence[Ref[Any]]:
        return ()

    async def admit(self, *rows: Any) -> None:
        collection = await self.store.gather(EntryWithComments.of(self.entry_id))
        await super().admit(None if collection is None else collection.meta)
        comments = [] if collection is None else collection.comments
        self.thing = next((comment for comment in comments if comment.comment_id == self.comment_id), None)

    @classmethod
    def refusals(cls) -> Sequence[type[Exception]]:
        return [AthleteOnly]


class InThread(Athlete):
    """The owner of a thread. If it is about an athlete's journal, only while they coach that athlete."""

    thread_id: ThreadId

    def reads(self) -> Sequence[Ref[Any]]:
        return (AIThread.one(self.own_id, self.thread_id),)

    async def admit(self, *rows: Any) -> None:
        (thread,) = rows
        if thread is None:
            raise NotFound
        self.thread: AIThread = thread
        self.thing = thread
        self.readable_now = await self.readable(thread.athlete_id)

    @property
    def scope(self) -> SharedJournal:
        """What the assistant may read: the narrower of the thread's scope and what the caller may see now."""
        if self.thread.scope == "shared":
            return SharedJournal(self.store, self.readable_now.athlete_id, self.readable_now.since)
        return self.readable_now

    def checks(self) -> Sequence[Operation]:
        return (*super().checks(), *self.link_checks())

    def link_checks(self) -> Sequence[Operation]:
        """Checks that the caller still coaches the athlete of the thread."""
        about = self.thread.athlete_id
        opened = active & the(CoachAthleteLink.shared_from).still(self.readable_now.since)
        return [] if about is None else [check(CoachAthleteLink.by_id(about, self.own_id), when=opened)]


def to_the_millisecond(time: datetime) -> datetime:
    return time.replace(microsecond=time.microsecond // 1_000 * 1_000)
