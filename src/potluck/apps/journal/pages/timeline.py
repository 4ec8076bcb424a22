"""The timeline: sessions by week, newest first, filtered; or search results, best match first.

An athlete's own page consists of OwnTimelineRows, a coach's of SharedRows, which have no private text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, timedelta, tzinfo
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from msgspec import Struct
from msgspec.structs import asdict, replace

from potluck.apps.journal.access import Athlete, CoachOf
from potluck.apps.journal.addresses import ENTRIES
from potluck.apps.journal.aggregation import Statistics
from potluck.apps.journal.entities import Entry, SessionMetrics
from potluck.apps.journal.entries import EntryFilter, EntryView, SharedEntryView, entries
from potluck.apps.journal.fields import folded_tag, zone_of
from potluck.apps.journal.journals import SharedEntry, SharedJournal, WholeEntry, WholeJournal, digest_of
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.charts import HEAT_WEEKS, Levels, drawn_heat
from potluck.apps.journal.pages.frame import Piece, excerpt, layout_context, marked, plain, short_date
from potluck.apps.journal.pages.metrics import duration, facts, sessions
from potluck.apps.journal.profile import time_zone_for, zone_unset
from potluck.apps.journal.ranking import RankedEntry, query_words, snippet_of
from potluck.apps.journal.search import found_in, narrowed
from potluck.apps.journal.stats import StatsOf, stats_of
from potluck.apps.journal.times import day_of, first_of_week, span_of
from potluck.apps.journal.tokenizer import spans_of
from potluck.table import Query
from potluck.validation import ValidationError
from potluck.web import UNSET, Input, Line, Show, _, formats

ENOUGH = 20
# The most entries that a refresh reads, however far back the reader has scrolled.
MOST_AGAIN = 500
MOST_HITS = 100
TAG_CHIPS = 6
HARD = "7"
GONE = _("Someone who left")

R = TypeVar("R", bound="SharedRow")


class TimelineQuery(Input):
    """The query parameters of the timeline; blank ones do not filter."""

    q: Line = ""
    tag: Line = ""
    gi_or_no_gi: Line = ""
    min_intensity: Line = ""
    from_: Line = ""
    to: Line = ""
    before: Line = ""
    """The next page: only entries before this Monday."""
    down_to: Line = ""
    """For a refresh: all weeks back to this one."""

    @property
    def filters(self) -> dict[str, str]:
        values = {
            "tag": self.tag,
            "giOrNoGi": self.gi_or_no_gi,
            "minIntensity": self.min_intensity,
            "from": self.from_,
            "to": self.to,
        }
        return {name: value.strip() for name, value in values.items() if value.strip()}

    def address(self, base: str, **other: str) -> str:
        """The address of this page with some parameters replaced; empty ones are left out."""
        parameters = {"q": self.q.strip(), **self.filters, **other}
        query = urlencode({name: value for name, value in parameters.items() if value})
        return f"{base}?{query}" if query else base


# --- what is shown of a session ---------------------------------------------------------------------------------------


class FoundComment(NamedTuple):
    """A comment that matched a search, with the words marked."""

    name: str
    text: list[Piece]


class SharedRow(Struct, frozen=True, kw_only=True):
    """A session in a list, as a coach sees it."""

    entry_id: UUID
    day: date
    level: int
    facts: str
    tags: list[str]
    comments: int
    new_comments: int = 0
    is_new: bool = False
    shared: list[Piece]
    said: Sequence[FoundComment] = ()
    """The comments that matched a search."""

    @property
    def mark(self) -> str:
        """A digest of the row, which changes when its content does."""
        return digest_of(repr(self))


class OwnTimelineRow(SharedRow, frozen=True, kw_only=True):
    """A row with the private text, for its athlete alone."""

    private: list[Piece]


class Week(NamedTuple):
    begins: date
    name: str
    total: str
    rows: Sequence[SharedRow]

    @property
    def mark(self) -> str:
        return digest_of(self.name, self.total, *(row.mark for row in self.rows))


class Chip(NamedTuple):
    name: str
    address: str
    chosen: bool


class Timeline(Generic[R]):
    """A journal as one reader sees it; the subclasses decide how much that is."""

    def __init__(
        self, at: Athlete | CoachOf, journal: SharedJournal, base: str, time_zone: str, wanted: TimelineQuery
    ) -> None:
        self.at, self.journal, self.base, self.wanted = at, journal, base, wanted
        self.zone: tzinfo = zone_of(time_zone)
        self.time_zone = time_zone
        self.today = day_of(at.now, self.zone)
        self.wrong = ""
        self.searched = ""
        """The period that the search is narrowed to, in words."""
        self.filter = self._filter()

    async def rows(self, entries: Sequence[Entry]) -> list[R]:
        raise NotImplementedError

    async def hits(self, matches: Sequence[RankedEntry]) -> list[R]:
        raise NotImplementedError

    def _filter(self) -> EntryFilter:
        try:
            return EntryFilter.decode(self._as_sent())
        except ValidationError as error:
            self.wrong = error.errors[0].message or "That is not a filter"
            return EntryFilter()

    def _as_sent(self) -> dict[str, Any]:
        values: dict[str, Any] = dict(self.wanted.filters)
        if values.get("minIntensity", "").isdecimal():
            values["minIntensity"] = int(values["minIntensity"][:3])
        return values

    async def context(self) -> dict[str, Any]:
        """What the template shows."""
        position = await self.at.position(self.journal.entries())
        half_year = await self._half_year()
        self.levels = Levels(half_year.days)
        shown: dict[str, Any] = {"weeks": [], "hits": None, "earlier": None}
        if self.wanted.q.strip():
            shown["hits"] = await self._hits()
        else:
            shown["weeks"], shown["earlier"] = await self._weeks()
        return {
            **layout_context("timeline"),
            **shown,
            "base": self.base,
            "zone_unset": await zone_unset(self.at),
            "position": position,
            "read_at": self.at.now.isoformat(),
            "asked": self.wanted,
            "searched": self.searched,
            "any_filter": bool(self.wanted.filters),
            "wrong": self.wrong,
            "chips": self._chips(half_year),
            "total": half_year.total.sessions,
            "heat": drawn_heat(half_year, self.levels, self.today, self.today),
            "today": self.today,
            "without": self.wanted.address(self.base, **dict.fromkeys(self.wanted.filters, "")),
        }

    async def _half_year(self) -> Statistics:
        first = first_of_week(self.today) - timedelta(weeks=HEAT_WEEKS - 1)
        return await stats_of(self.journal, StatsOf(from_=first, to=self.today), self.time_zone, self.at.now)

    # --- by week ------------------------------------------------------------------------------------------------------

    async def _weeks(self) -> tuple[list[Week], Chip | None]:
        shown: list[Entry] = []
        earlier = None
        async for entry in self.at.store.each(self._query()):
            if not self.filter.keeps(entry.session_metrics):
                continue
            if self._is_enough(shown) and self._week(entry) != self._week(shown[-1]):
                # Only whole weeks, so that their totals are correct.
                day = day_of(entry.date, self.zone)
                before = self._week(shown[-1]).isoformat()
                name = _("Show %(month)s", month=formats.date_text(day, "month"))
                earlier = Chip(name, self.wanted.address(self.base, before=before), chosen=False)
                break
            shown.append(entry)
        rows = await self.rows(shown)
        by_week: dict[date, list[tuple[Entry, R]]] = {}
        for entry, row in zip(shown, rows, strict=True):
            by_week.setdefault(self._week(entry), []).append((entry, row))
        return [self._named(monday, both) for monday, both in by_week.items()], earlier

    def _is_enough(self, shown: Sequence[Entry]) -> bool:
        if not ENOUGH <= len(shown) < MOST_AGAIN:
            return len(shown) >= MOST_AGAIN
        with suppress(ValueError):
            return self._week(shown[-1]) <= date.fromisoformat(self.wanted.down_to)
        return True

    def _query(self) -> Query[Entry]:
        first = date.min if self.filter.from_ is UNSET else self.filter.from_
        last = date.max if self.filter.to is UNSET else self.filter.to
        # Blank, or not from one of our links.
        with suppress(ValueError, OverflowError):
            last = min(last, date.fromisoformat(self.wanted.before) - timedelta(days=1))
        if (first, last) == (date.min, date.max):
            return self.journal.entries()
        return self.journal.entries(*span_of(min(first, last), last, self.zone))

    def _week(self, entry: Entry) -> date:
        return first_of_week(day_of(entry.date, self.zone))

    def _named(self, monday: date, both: Sequence[tuple[Entry, R]]) -> Week:
        this = first_of_week(self.today)
        ago = (this - monday).days // 7
        date_style = "date" if monday.year == self.today.year else "long"
        name = {0: _("This week"), 1: _("Last week")}.get(ago) or _(
            "Week of %(day)s", day=formats.date_text(monday, date_style)
        )
        minutes = sum(entry.session_metrics.duration_minutes for entry, row in both)
        total = _("%(sessions)s, %(time)s", sessions=sessions(len(both)), time=duration(minutes))
        return Week(monday, str(name), str(total), [row for entry, row in both])

    # --- by words -----------------------------------------------------------------------------------------------------

    async def _hits(self) -> Sequence[R]:
        words, periods = narrowed(self.wanted.q[:200], self.today)
        self.searched = formats.list_text(period.words for period in periods)
        matches = await found_in(self.journal, query_words(words), [period.span(self.zone) for period in periods])
        hits = [match for match in matches if self.filter.keeps(match.entry.metrics) and self._in_time(match.entry)]
        return await self.hits(hits[:MOST_HITS])

    def _in_time(self, entry: SharedEntry) -> bool:
        day = day_of(entry.date, self.zone)
        return (self.filter.from_ is UNSET or self.filter.from_ <= day) and (
            self.filter.to is UNSET or day <= self.filter.to
        )

    async def shared_hits(self, matches: Sequence[RankedEntry]) -> list[SharedRow]:
        """The search results, with the words marked in the shared text and in the comments."""
        names = await names_of(self.at.store, [comment.coach_id for match in matches for comment in match.comments])
        return [
            replace(
                self.row(
                    entry.entry_id,
                    day_of(entry.date, self.zone),
                    entry.metrics,
                    entry.comments,
                    marked(snippet_of((entry.shared,), words), set(words)),
                ),
                said=[
                    FoundComment(
                        names.get(comment.coach_id, GONE), marked(snippet_of((comment.body,), words), set(words))
                    )
                    for comment in comments
                ],
            )
            for entry, score, words, comments in matches
        ]

    def row(self, entry_id: UUID, day: date, metrics: SessionMetrics, comments: int, shared: list[Piece]) -> SharedRow:
        return SharedRow(
            entry_id=entry_id,
            day=day,
            level=self.levels.of(metrics.duration_minutes * metrics.intensity),
            facts=facts(metrics),
            tags=metrics.tags,
            comments=comments,
            shared=shared,
        )

    def row_of(self, view: EntryView | SharedEntryView) -> SharedRow:
        shared = plain(excerpt(view.sections.shared))
        day = day_of(view.date, self.zone)
        row = self.row(view.entry_id, day, view.session_metrics, view.comments, shared)
        return replace(row, new_comments=view.new_comments)

    # --- filters ------------------------------------------------------------------------------------------------------

    def _chips(self, half_year: Statistics) -> list[Chip]:
        wanted = self.wanted
        tags = [tag.tag for tag in half_year.top_tags[:TAG_CHIPS]]
        if wanted.tag and folded_tag(wanted.tag) not in map(folded_tag, tags):
            tags.append(wanted.tag)

        def chip(name: str, field: str, value: str) -> Chip:
            chosen = folded_tag(wanted.filters.get(field, "")) == folded_tag(value)
            return Chip(name, wanted.address(self.base, **{field: "" if chosen else value}), chosen)

        chips = [
            chip(_("Gi"), "giOrNoGi", "gi"),
            chip(_("No-gi"), "giOrNoGi", "no-gi"),
            chip(_("Hard, 7 and up"), "minIntensity", HARD),
        ]
        if "from" in wanted.filters or "to" in wanted.filters:
            chips.append(Chip(self._span(), wanted.address(self.base, **{"from": "", "to": ""}), chosen=True))
        return [*chips, *(chip(tag, "tag", tag) for tag in tags)]

    def _span(self) -> str:
        first, last = self.filter.from_, self.filter.to
        if first is not UNSET and first == last:
            return short_date(first, self.today)
        start = "" if first is UNSET else short_date(first, self.today)
        end = "" if last is UNSET else short_date(last, self.today)
        if start and end:
            return _("%(first)s to %(last)s", first=start, last=end)
        if start:
            return _("From %(day)s", day=start)
        return _("Up to %(day)s", day=end) if end else _("Dates")


class OwnTimeline(Timeline[OwnTimelineRow]):
    """For its athlete, with private text."""

    async def rows(self, entries: Sequence[Entry]) -> list[OwnTimelineRow]:
        views = await self.at.show(EntryView, entries)
        return [own_row(self.row_of(view), plain(excerpt(view.sections.private))) for view in views]

    async def hits(self, matches: Sequence[RankedEntry]) -> list[OwnTimelineRow]:
        rows = await self.shared_hits(matches)
        return [own_row(row, _private_hit(match)) for row, match in zip(rows, matches, strict=True)]


class SharedTimeline(Timeline[SharedRow]):
    """For a coach: only what is shared."""

    async def rows(self, entries: Sequence[Entry]) -> list[SharedRow]:
        views = await self.at.show(SharedEntryView, entries)
        return [replace(self.row_of(view), is_new=view.is_new) for view in views]

    async def hits(self, matches: Sequence[RankedEntry]) -> list[SharedRow]:
        return await self.shared_hits(matches)


def own_row(row: SharedRow, private: list[Piece]) -> OwnTimelineRow:
    return OwnTimelineRow(private=private, **asdict(row))


def _private_hit(match: RankedEntry) -> list[Piece]:
    """An excerpt of the private text with the words marked; empty if it has none of them."""
    entry, words = match.entry, set(match.words)
    assert isinstance(entry, WholeEntry)
    if not spans_of(entry.private, words):
        return []
    return marked(snippet_of((entry.private,), match.words), words)


# --- the athlete's own ------------------------------------------------------------------------------------------------


@entries.page("", "journal/timeline.html")
async def timeline_page(at: Athlete, wanted: TimelineQuery, show: Show) -> dict[str, Any]:
    journal = WholeJournal(at.store, at.own_id)
    timeline = OwnTimeline(at, journal, ENTRIES, await time_zone_for(at), wanted)
    return {**await timeline.context(), "draft_saved": show.query.get("draft") == "new"}
