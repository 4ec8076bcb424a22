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
from potluck.apps.journal.times import day_of, first_of_month, first_of_week

MOST_TAGS = 20
WEEK = timedelta(days=7)


class CountedSession(NamedTuple):
    """The part of an entry that is counted."""

    at: datetime
    metrics: SessionMetrics


class Totals(Struct, rename="camel", frozen=True, kw_only=True):
    sessions: int
    minutes: int
    rounds: int
    load: int
    """The sum of minutes times intensity."""


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
    """Days and weeks in a row with a session: up to the last day, and the longest there was."""

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
    """Only days with a session."""
    weeks: list[PeriodTotals]
    """Every week, even without a session; the first and the last count only the days asked for."""
    months: list[PeriodTotals]
    """The same for months."""
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
    counted = [each for metrics in by_day.values() for each in metrics]
    worn = Counter(each.gi_or_no_gi for each in counted)
    tags = _tag_counts(counted)
    weeks, months = _grouped(by_day, first_of_week), _grouped(by_day, first_of_month)
    return Statistics(
        first=first,
        last=last,
        time_zone=name,
        total=totals_of(counted),
        days=[_period(day, by_day[day]) for day in sorted(by_day)],
        weeks=[_period(each, weeks.get(each, ())) for each in _weeks(first, last)],
        months=[_period(each, months.get(each, ())) for each in _months(first, last)],
        gi_split=GiSplit(gi=worn["gi"], no_gi=worn["no-gi"], both=worn["both"]),
        top_tags=[
            TagCount(tag=tag, sessions=often)
            for tag, often in sorted(tags.items(), key=lambda each: (-each[1], each[0]))[:MOST_TAGS]
        ],
        streak=_streak(by_day, last),
    )


def _tag_counts(metrics: Iterable[SessionMetrics]) -> dict[str, int]:
    """In how many sessions each tag is, whatever its case; spelt as it is most often."""
    spelt: dict[str, Counter[str]] = {}
    for each in metrics:
        for tag in unique_tags(each.tags):
            spelt.setdefault(folded_tag(tag), Counter())[tag] += 1
    return {min(each, key=lambda tag: (-each[tag], tag)): each.total() for each in spelt.values()}


def totals_of(metrics: Iterable[SessionMetrics]) -> Totals:
    counted = [*metrics]
    return Totals(
        sessions=len(counted),
        minutes=sum(each.duration_minutes for each in counted),
        rounds=sum(each.rounds for each in counted),
        load=sum(each.duration_minutes * each.intensity for each in counted),
    )


def _period(begins: date, metrics: Sequence[SessionMetrics]) -> PeriodTotals:
    total = totals_of(metrics)
    hard = [each.intensity for each in metrics]
    return PeriodTotals(
        **asdict(total),
        begins=begins,
        intensity=round(sum(hard) / len(hard), 2) if hard else None,
        easiest=min(hard, default=None),
        hardest=max(hard, default=None),
    )


def _grouped(by_day: dict[date, list[SessionMetrics]], of: Callable[[date], date]) -> dict[date, list[SessionMetrics]]:
    found: dict[date, list[SessionMetrics]] = {}
    for day, metrics in by_day.items():
        found.setdefault(of(day), []).extend(metrics)
    return found


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
    day_runs = _runs(trained, timedelta(days=1))
    week_runs = _runs(sorted({first_of_week(each) for each in trained}), WEEK)
    return Streak(
        # A day or week without a session does not end a streak before it is over.
        days=_current(day_runs, last, timedelta(days=1)),
        weeks=_current(week_runs, first_of_week(last), WEEK),
        longest_days=max((length for _, length in day_runs), default=0),
        longest_weeks=max((length for _, length in week_runs), default=0),
    )


def _runs(ordered: Sequence[date], step: timedelta) -> list[tuple[date, int]]:
    """The runs without a gap: the last date of each, and its length."""
    runs: list[tuple[date, int]] = []
    for each in ordered:
        if runs and each - runs[-1][0] == step:
            runs[-1] = each, runs[-1][1] + 1
        else:
            runs.append((each, 1))
    return runs


def _current(runs: Sequence[tuple[date, int]], last: date, step: timedelta) -> int:
    return runs[-1][1] if runs and last - runs[-1][0] <= step else 0
