"""Training statistics by day, week and month in the caller's time zone. Pure: no clock and no store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.fields import folded_tag, unique_tags
from potluck.apps.journal.times import day_of, first_of_month, first_of_week, runs_of

MOST_TAGS = 20
WEEK = timedelta(days=7)


class CountedSession(NamedTuple):
    """What statistics use of an entry."""

    at: datetime
    metrics: SessionMetrics


class Totals(Struct, rename="camel", frozen=True, kw_only=True):
    sessions: int
    minutes: int
    rounds: int
    load: int
    """The sum of minutes times intensity."""


# Metrics that the totals have under the same name are sums.
SUMMED = tuple(name for name in SessionMetrics.__struct_fields__ if name in Totals.__struct_fields__)


class PeriodTotals(Totals, frozen=True, kw_only=True):
    """A day, a week by its Monday, or a month by its first day."""

    begins: date
    intensity: float | None
    """The average; null without a session."""
    easiest: int | None
    hardest: int | None


class GiSplit(Struct, rename="camel", frozen=True, kw_only=True):
    gi: int
    no_gi: int
    both: int


class TagCount(Struct, rename="camel", frozen=True, kw_only=True):
    tag: str
    sessions: int


class Streak(Struct, rename="camel", frozen=True, kw_only=True):
    """Consecutive days and weeks with a session: the current run and the longest."""

    days: int
    weeks: int
    longest_days: int
    longest_weeks: int


class Statistics(Struct, rename="camel", frozen=True, kw_only=True):
    first: date
    last: date
    time_zone: str
    total: Totals
    days: list[PeriodTotals]
    """Only days that have a session."""
    weeks: list[PeriodTotals]
    """Every week, including empty ones; the first and the last may be partial."""
    months: list[PeriodTotals]
    """Every month, in the same way."""
    gi_split: GiSplit
    top_tags: list[TagCount]
    streak: Streak


def statistics_of(sessions: Sequence[CountedSession], first: date, last: date, zone: tzinfo, name: str) -> Statistics:
    """The statistics of the sessions from the first day to the last in this time zone; others are ignored."""
    by_day: dict[date, list[SessionMetrics]] = {}
    for at, metrics in sessions:
        day = day_of(at, zone)
        if first <= day <= last:
            by_day.setdefault(day, []).append(metrics)
    counted = [session for metrics in by_day.values() for session in metrics]
    worn = Counter(session.gi_or_no_gi for session in counted)
    tags = _tag_counts(counted)
    weeks, months = _grouped(by_day, first_of_week), _grouped(by_day, first_of_month)
    return Statistics(
        first=first,
        last=last,
        time_zone=name,
        total=totals_of(counted),
        days=[_period(day, by_day[day]) for day in sorted(by_day)],
        weeks=[_period(week, weeks.get(week, ())) for week in _weeks(first, last)],
        months=[_period(month, months.get(month, ())) for month in _months(first, last)],
        gi_split=GiSplit(gi=worn["gi"], no_gi=worn["no-gi"], both=worn["both"]),
        top_tags=[
            TagCount(tag=tag, sessions=often)
            for tag, often in sorted(tags.items(), key=lambda count: (-count[1], count[0]))[:MOST_TAGS]
        ],
        streak=_streak(by_day, last),
    )


def _tag_counts(metrics: Iterable[SessionMetrics]) -> dict[str, int]:
    """The number of sessions for each tag, ignoring case, under its most common spelling."""
    spelt: dict[str, Counter[str]] = {}
    for session in metrics:
        for tag in unique_tags(session.tags):
            spelt.setdefault(folded_tag(tag), Counter())[tag] += 1
    return {min(spellings, key=lambda tag: (-spellings[tag], tag)): spellings.total() for spellings in spelt.values()}


def totals_of(metrics: Iterable[SessionMetrics]) -> Totals:
    counted = [*metrics]
    return Totals(
        sessions=len(counted),
        minutes=sum(session.duration_minutes for session in counted),
        load=sum(session.duration_minutes * session.intensity for session in counted),
        **{name: sum(getattr(session, name) for session in counted) for name in SUMMED},
    )


def _period(begins: date, metrics: Sequence[SessionMetrics]) -> PeriodTotals:
    total = totals_of(metrics)
    hard = [session.intensity for session in metrics]
    return PeriodTotals(
        **asdict(total),
        begins=begins,
        intensity=round(sum(hard) / len(hard), 2) if hard else None,
        easiest=min(hard, default=None),
        hardest=max(hard, default=None),
    )


def _grouped(by_day: dict[date, list[SessionMetrics]], of: Callable[[date], date]) -> dict[date, list[SessionMetrics]]:
    groups: dict[date, list[SessionMetrics]] = {}
    for day, metrics in by_day.items():
        groups.setdefault(of(day), []).extend(metrics)
    return groups


def _weeks(first: date, last: date) -> Iterator[date]:
    week = first_of_week(first)
    while week <= last:
        yield week
        week += WEEK


def _months(first: date, last: date) -> Iterator[date]:
    month = first_of_month(first)
    while month <= last:
        yield month
        month = first_of_month(month + timedelta(days=31))


def _streak(days: Iterable[date], last: date) -> Streak:
    trained = sorted(set(days))
    day_runs = runs_of(trained, timedelta(days=1))
    week_runs = runs_of(sorted({first_of_week(day) for day in trained}), WEEK)
    return Streak(
        # A day or week without a session does not end a streak before it is over.
        days=_current(day_runs, last, timedelta(days=1)),
        weeks=_current(week_runs, first_of_week(last), WEEK),
        longest_days=max(map(len, day_runs), default=0),
        longest_weeks=max(map(len, week_runs), default=0),
    )


def _current(runs: Sequence[Sequence[date]], last: date, step: timedelta) -> int:
    return len(runs[-1]) if runs and last - runs[-1][-1] <= step else 0
