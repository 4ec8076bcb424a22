"""Entries: what an athlete writes down, and what a coach sees of it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from potluck.apps.journal.access import Athlete, CoachOf, OwnEntry, ToEntry, to_the_millisecond
from potluck.apps.journal.addresses import ATHLETES, ENTRIES
from potluck.apps.journal.entities import AthleteCoachLink, Comment, Entry, EntryMeta, Sections, SessionMetrics
from potluck.apps.journal.fields import (
    Duration,
    EntryId,
    GiOrNoGi,
    Intensity,
    Rounds,
    SectionText,
    Tag,
    Tags,
    folded_tag,
    unique_tags,
    wears,
)
from potluck.apps.journal.journals import SharedJournal, WholeJournal
from potluck.apps.journal.keywords import WORDS_AT_ONCE, keyword_writes
from potluck.apps.journal.profile import zone_for
from potluck.apps.journal.times import span_of
from potluck.apps.journal.unread import NewToAthlete, NewToCoach
from potluck.people.secrets import new_id
from potluck.table import Condition, Milliseconds, Query, absent, delete, present, put, the, update
from potluck.table.operations import Operation
from potluck.validation.errors import FieldError, ValidationError
from potluck.validation.field_types import Message
from potluck.web.actions import Actions, FoundByAccess, PageForm
from potluck.web.errors import ALREADY_EXISTS, TOO_MANY, NotFound, ProblemError
from potluck.web.inputs import UNSET, Input, New, Unset, Versioned
from potluck.web.rate_limits import RateLimit
from potluck.web.views import View, computed
from potluck.web.writes import Writes, or_raise, or_retry

__all__ = [
    "EntryChange",
    "EntryFilter",
    "EntryView",
    "Looked",
    "MetricsChange",
    "NewEntry",
    "ReadsEntry",
    "SectionsChange",
    "SharedEntryView",
    "SharedSections",
    "add_entry",
    "change_entry",
    "changing",
    "delete_entry",
    "entries",
    "one_entry",
    "own_entries",
    "see_comments",
    "see_entries",
    "shared_entries",
]

JOURNAL = "Journal"
# Clocks differ by minutes; a session that is hours ahead has a wrong date, or was typed in another time zone.
AHEAD = timedelta(minutes=15)
IN_THE_FUTURE = "The session cannot be in the future. Check the date, the time and your time zone"
FIRST_YEAR = 1900
# As many as an import takes; three a day for forty-five years.
MOST_ENTRIES = 50_000
CHARACTERS_OF_PAGE = 2_000
# Pages learn only that something changed, and read themselves again, with their weeks, numbers and charts.
HEARD = "journal/heard.html"

When = Annotated[datetime, Message("Date must be a time such as 2024-03-09T18:00:00Z")]


# --- what is shown ----------------------------------------------------------------------------------------------------


class SharedSections(Struct, rename="camel", frozen=True, kw_only=True):
    """What a coach reads of an entry."""

    shared: str


class SharedEntryView(View[Entry]):
    """An entry as a coach sees it. Nothing in it changes when only private words do, the version included."""

    entry_id: UUID
    athlete_id: UUID
    date: datetime
    created_at: datetime

    @computed
    def sections(entry: Entry) -> SharedSections:
        return SharedSections(shared=entry.sections.shared)

    session_metrics: SessionMetrics
    comments: int

    @computed
    def is_new(entry: Entry, new: NewToCoach) -> bool:
        """Whether it was written down since the caller last looked."""
        return new.wrote(entry)

    @computed
    def new_comments(entry: Entry, new: NewToCoach) -> int:
        """How many of the comments are the athlete's, from since the caller last looked."""
        return new.comments(entry)


class EntryView(View[Entry]):
    """An entry as its athlete sees it."""

    entry_id: UUID
    athlete_id: UUID
    date: datetime
    created_at: datetime
    updated_at: datetime
    sections: Sections
    session_metrics: SessionMetrics
    comments: int
    version: int

    @computed
    def new_comments(entry: Entry, new: NewToAthlete) -> int:
        """How many of the comments are others', from since the caller last looked at the entry."""
        return new.comments(entry)


class ReadsEntry(ToEntry):
    """Whoever may read an entry, holding only as much of it as they may see."""

    async def admit(self, *rows: Any) -> None:
        await super().admit(*rows)
        found = await self.read_entry()
        if found is None:
            raise NotFound
        self.shown: EntryView | SharedEntryView
        if self.own:
            (self.shown,) = await self.show(EntryView, [found])
        else:
            (self.shown,) = await self.show(SharedEntryView, [found])


# --- what may be sent -------------------------------------------------------------------------------------------------


class NewEntry(New[Entry]):
    sections: Sections
    session_metrics: SessionMetrics
    date: Milliseconds | Unset = UNSET
    """When the session was; now, by default."""
    entry_id: EntryId | Unset = UNSET
    """Generated by the device, so that it can write entries offline."""


class SectionsChange(Input):
    private: SectionText | Unset = UNSET
    shared: SectionText | Unset = UNSET


class MetricsChange(Input):
    duration_minutes: Duration | Unset = UNSET
    intensity: Intensity | Unset = UNSET
    rounds: Rounds | Unset = UNSET
    gi_or_no_gi: GiOrNoGi | Unset = UNSET
    tags: Tags | Unset = UNSET


class EntryChange(Versioned):
    """What is not sent stays as it is, also within sections and metrics."""

    sections: SectionsChange | Unset = UNSET
    session_metrics: MetricsChange | Unset = UNSET
    date: When | Unset = UNSET


class EntryFilter(Input):
    """Days are the caller's own, by the time zone of their profile."""

    from_: date | Unset = UNSET
    to: date | Unset = UNSET
    tag: Tag | Unset = UNSET
    gi_or_no_gi: GiOrNoGi | Unset = UNSET
    min_intensity: Intensity | Unset = UNSET

    @staticmethod
    def check(sent: "EntryFilter") -> Iterator[FieldError]:
        if sent.from_ is not UNSET and sent.to is not UNSET and sent.to < sent.from_:
            yield FieldError("to", "The last day must not come before the first")

    def keeps(self, metrics: SessionMetrics) -> bool:
        """Whether a session passes the filter."""
        return (
            (self.tag is UNSET or folded_tag(self.tag) in map(folded_tag, metrics.tags))
            and (self.gi_or_no_gi is UNSET or wears(self.gi_or_no_gi, metrics.gi_or_no_gi))
            and (self.min_intensity is UNSET or self.min_intensity <= metrics.intensity)
        )

    @property
    def looks_at_metrics(self) -> bool:
        return any(each is not UNSET for each in (self.tag, self.gi_or_no_gi, self.min_intensity))


class Looked(Input):
    until: When | Unset = UNSET
    """The time as of which the content was read; now, by default."""

    def at(self, now: datetime) -> datetime:
        return now if self.until is UNSET else min(to_the_millisecond(self.until.astimezone(UTC)), now)


class EntryThere(ProblemError):
    problem = ALREADY_EXISTS


def _pages(sent: NewEntry | EntryChange) -> int:
    """How many pages of text this writes: every word costs a row."""
    sections = [] if sent.sections is UNSET else [sent.sections.private, sent.sections.shared]
    return 1 + sum(len(text) for text in sections if text is not UNSET) // CHARACTERS_OF_PAGE


# More pages in an hour than anybody writes.
WRITING = RateLimit("pages of a journal", 1_000, weight=_pages)


# --- the rules --------------------------------------------------------------------------------------------------------

entries = Actions(
    ToEntry,
    FoundByAccess(Entry, "entry_id"),
    {Athlete: EntryView},
    api="/journal/entries",
    page=ENTRIES,
    tag=JOURNAL,
)
shared_entries = Actions(
    CoachOf,
    view={CoachOf: SharedEntryView},
    api="/journal/athletes/{athlete_id}/entries",
    page=f"{ATHLETES}/{{athlete_id}}",
    tag=JOURNAL,
)


@entries.list(live=lambda at: Entry.of_athlete(at.own_id), row=HEARD)
async def own_entries(at: Athlete, wanted: EntryFilter) -> Query[Entry] | Sequence[Entry]:
    """The caller's own entries, the newest first."""
    return await _found(at, WholeJournal(at.rows, at.own_id), wanted)


@shared_entries.list(live=lambda at: at.shared.entries(), row=HEARD, row_events="/entries/events")
async def entries_of_athlete(at: CoachOf, wanted: EntryFilter) -> Query[Entry] | Sequence[Entry]:
    """What an athlete shares with the caller, who coaches them, the newest first."""
    return await _found(at, at.shared, wanted)


async def _found(at: Athlete | CoachOf, journal: SharedJournal, wanted: EntryFilter) -> Query[Entry] | Sequence[Entry]:
    query = journal.entries()
    if wanted.from_ is not UNSET or wanted.to is not UNSET:
        first = date.min if wanted.from_ is UNSET else wanted.from_
        last = date.max if wanted.to is UNSET else wanted.to
        query = journal.entries(*span_of(first, last, await zone_for(at)))
    if not wanted.looks_at_metrics:
        return query
    return [each for each in await at.rows.all(query) if wanted.keeps(each.session_metrics)]


@entries.read("/{entry_id}")
async def one_entry(at: ReadsEntry) -> EntryView | SharedEntryView:
    """One entry: its athlete sees all of it, a coach what is shared."""
    return at.shown


@entries.create(TOO_MANY, EntryThere, rate_limit=WRITING)
async def add_entry(at: Athlete, new: NewEntry) -> Writes[Entry]:
    """Write a session down."""
    await at.must_fit(Entry.of_athlete(at.own_id), MOST_ENTRIES, "entries in a journal")
    if new.entry_id is not UNSET and await at.rows.first(Comment.of_entry(new.entry_id)) is not None:
        # Left over from an entry just deleted: they would become comments on this one.
        raise EntryThere
    when = at.now if new.date is UNSET else _possible(new.date, at.now)
    entry = at.make(
        new,
        athlete_id=at.own_id,
        entry_id=new.entry_id or new_id(),
        date=when,
        sections=new.sections,
        session_metrics=_with_unique_tags(new.session_metrics),
    )
    meta = EntryMeta(entry_id=entry.entry_id, athlete_id=at.own_id, created_at=entry.created_at, date=entry.date)
    return Writes(entry, or_raise(put(meta, when=absent), EntryThere), put(entry, when=absent), *_words(None, entry))


@entries.change(rate_limit=WRITING)
async def change_entry(at: OwnEntry, entry: Entry, change: EntryChange) -> Writes[Entry]:
    """Change an entry; its words change with it."""
    return changing(entry, change, at.now)


def changing(entry: Entry, change: EntryChange, now: datetime) -> Writes[Entry]:
    """The entry after the change, and the writes."""
    after = _changed(entry, change, now)
    if after == entry:
        return Writes(entry)
    after = replace(after, updated_at=now, version=entry.version + 1)
    if after.date != entry.date:
        # The date is part of the key, so the entry moves. Reads through META find it in the old place or the new one.
        moved = update(EntryMeta.one(entry.entry_id), the(EntryMeta.date).becomes(after.date), when=present)
        return Writes(
            after,
            # A concurrent comment does not change the version, but does change the count.
            or_retry(delete(entry, when=the(Entry.version).still(entry.version) & _as_commented(entry))),
            or_retry(put(after, when=absent)),
            or_retry(moved),
            *_words(entry, after),
        )
    write = update(
        entry,
        the(Entry.sections).becomes(after.sections),
        the(Entry.session_metrics).becomes(after.session_metrics),
        the(Entry.updated_at).becomes(after.updated_at),
    )
    # On a retry the rule finds the entry wherever it is by then, and its version detects a conflict.
    return Writes(after, or_retry(write), *_words(entry, after))


@entries.delete()
async def delete_entry(at: OwnEntry, entry: Entry) -> Writes[None]:
    """Delete an entry, with its words and the comments on it."""
    return Writes(
        None,
        or_retry(delete(entry, when=the(Entry.version).still(entry.version))),
        or_retry(delete(EntryMeta.one(entry.entry_id), when=present)),
        *_words(entry, None),
    )


@entries.action("POST", "/seen", status=204, form=PageForm(then=f"{ENTRIES}/{{entry_id}}"))
async def see_comments(at: OwnEntry, entry: Entry, looked: Looked) -> Writes[None]:
    """Say that one has looked at what was said about an entry: until then it is new."""
    until = looked.at(at.now)
    if entry.coach_said_at is None or (entry.looked_at is not None and until <= entry.looked_at):
        return Writes(None)
    seen = update(at.entry, the(Entry.looked_at).becomes(until), when=present, keep_version=True)
    return Writes(None, or_retry(seen))


@shared_entries.action("POST", "/seen", status=204, form=PageForm(then=f"{ATHLETES}/{{athlete_id}}"))
async def see_entries(at: CoachOf, looked: Looked) -> Writes[None]:
    """Say that one has looked at what an athlete shares: until then it is new. The athlete is not told."""
    mirror = AthleteCoachLink.one(at.principal.user_id, at.athlete_id)
    until = looked.at(to_the_millisecond(at.now))
    return Writes(
        None, or_raise(update(mirror, the(AthleteCoachLink.looked_at).becomes(until), when=present), NotFound)
    )


def _as_commented(entry: Entry) -> Condition:
    return the(Entry.comments).still(entry.comments)


def _words(before: Entry | None, after: Entry | None) -> list[Operation]:
    """The index writes that fit into the transaction; the consumer does the rest."""
    return keyword_writes(before, after)[:WORDS_AT_ONCE]


def _changed(entry: Entry, change: EntryChange, now: datetime) -> Entry:
    sections, metrics, when = entry.sections, entry.session_metrics, entry.date
    if change.sections is not UNSET:
        sections = replace(sections, **_sent(change.sections))
    if change.session_metrics is not UNSET:
        metrics = _with_unique_tags(replace(metrics, **_sent(change.session_metrics)))
    if change.date is not UNSET:
        when = _possible(change.date, now)
    return replace(entry, sections=sections, session_metrics=metrics, date=when)


def _sent(change: Input) -> dict[str, Any]:
    return {name: value for name in change.__struct_fields__ if (value := getattr(change, name)) is not UNSET}


def _with_unique_tags(metrics: SessionMetrics) -> SessionMetrics:
    """The metrics with each tag once, in the order given and as first written."""
    return replace(metrics, tags=unique_tags(metrics.tags))


def _possible(when: datetime, now: datetime) -> datetime:
    when = when.astimezone(UTC)
    if when > now + AHEAD:
        raise ValidationError(FieldError("date", IN_THE_FUTURE))
    if when.year < FIRST_YEAR:
        raise ValidationError(FieldError("date", f"The session cannot be before {FIRST_YEAR}"))
    return to_the_millisecond(when)
