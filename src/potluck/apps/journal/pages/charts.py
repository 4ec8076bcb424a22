"""The charts of statistics: a heat map of days, hours and intensity over time, gi and no-gi, tags.

Every chart comes with a sentence for people who cannot see it, and a table of the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from potluck.apps.journal.aggregation import PeriodTotals, Statistics
from potluck.apps.journal.pages.frame import long_date, short_date
from potluck.apps.journal.pages.metrics import sums
from potluck.apps.journal.quantities import hours, several
from potluck.apps.journal.times import first_of_week
from potluck.web import drawings

HEAT_WEEKS = 26
HEAT_LEVELS = 4
# The approximate width of a label under a column; closer together, labels would overlap.
NAME_WIDTH = 44
PLOT_WIDTH = 310
MARKS_OF_INTENSITY = (1, 4, 7, 10)
MOST_MARKS = 5
STEPS_OF_HOURS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200)
TAGS_SHOWN = 8


class Levels:
    """The heat level of each day by its load, from 1 to 4: a quarter of the days at each level."""

    def __init__(self, days: Sequence[PeriodTotals]) -> None:
        loads = sorted(day.load for day in days)
        self._bounds = [loads[len(loads) * step // HEAT_LEVELS] for step in range(1, HEAT_LEVELS)] if loads else []
        self.by_day = {day.begins: self.of(day.load) for day in days}

    def of(self, load: int) -> int:
        return 1 + sum(load >= bound for bound in self._bounds) if load else 0


class Drawn(NamedTuple):
    """A chart with its text alternative."""

    picture: drawings.HeatMap | drawings.Chart | drawings.Trend
    said: str
    note: str
    unit: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    days: Sequence[date] = ()
    """The day of each row, if rows are days."""


def drawn_heat(stats: Statistics, levels: Levels, last: date, today: date) -> Drawn:
    """A heat map of half a year, up to the last day."""
    first = first_of_week(last) - timedelta(weeks=HEAT_WEEKS - 1)
    days = [day for day in stats.days if first <= day.begins <= last]
    all_days = (first + timedelta(days=day) for day in range((last - first).days + 1))
    titles = {day: f"{long_date(day, today)}: rest" for day in all_days} | {
        day.begins: f"{long_date(day.begins, today)}: {several(day.sessions, 'session')}, {hours(day.minutes)}, "
        f"load {day.load:,}"
        for day in days
    }
    picture = drawings.heat_map(levels.by_day, titles, last, HEAT_WEEKS)
    if last != today:
        picture = picture._replace(today=None)
    trained = f"{several(len(days), 'day')} with training"
    sentence = f"Training by day, {HEAT_WEEKS} weeks up to {long_date(last, today)}: {trained}."
    rows = [
        (
            long_date(day.begins, today),
            str(day.sessions),
            hours(day.minutes),
            *sums(day).values(),
            f"{day.load:,}",
        )
        for day in reversed(days)
    ]
    dates = [day.begins for day in reversed(days)]
    columns = ("Day", "Sessions", "Time", *sums(stats.total), "Load")
    return Drawn(picture, sentence, "", "day", columns, rows, dates)


# --- over time --------------------------------------------------------------------------------------------------------


class ChartPeriods(NamedTuple):
    """The weeks or months of a period, with their labels for an axis."""

    periods: Sequence[PeriodTotals]
    unit: str
    names: Mapping[int, str]

    @classmethod
    def of(cls, stats: Statistics) -> ChartPeriods:
        """Weeks, or months if there are too many weeks to tell apart."""
        by_month = len(stats.weeks) > HEAT_WEEKS + 1
        periods = stats.months if by_month else stats.weeks
        every = max(1, -(-NAME_WIDTH * len(periods) // PLOT_WIDTH))
        last = len(periods) - 1
        named = [place for place in range(last, -1, -every) if place == last or last - place >= every]
        names = {
            place: "now" if place == last else f"{periods[place].begins:%b}" if by_month
            # Weeks are named by their Monday.
            else f"{periods[place].begins.day} {periods[place].begins:%b}"
            for place in named
        }  # fmt: skip
        return cls(periods, "month" if by_month else "week", names)

    def told(self, period: PeriodTotals, today: date) -> str:
        if self.unit == "month":
            return f"{period.begins:%B %Y}"
        return short_date(period.begins, today)


def drawn_hours(stats: Statistics) -> Drawn:
    """Hours by week or month."""
    chart = ChartPeriods.of(stats)
    minutes = [period.minutes for period in chart.periods]
    most = max(minutes, default=0)
    step = next(
        (candidate for candidate in STEPS_OF_HOURS if candidate * (MOST_MARKS - 1) >= most / 60), STEPS_OF_HOURS[-1]
    )
    said_at = {place: _clock(minutes[place]) for place in {minutes.index(most), len(minutes) - 1} if minutes[place]}
    # Two labels this close would overlap.
    if abs(minutes.index(most) - (len(minutes) - 1)) * PLOT_WIDTH / len(minutes) < NAME_WIDTH / 2:
        said_at.pop(len(minutes) - 1, None) if minutes.index(most) != len(minutes) - 1 else None
    average = round(sum(minutes) / len(minutes))
    sentence = (
        f"Hours by {chart.unit}: {several(len(minutes), chart.unit)}, {hours(average)} on average, "
        f"{hours(most)} at most, {hours(minutes[-1])} in this {chart.unit} so far."
    )
    rows = [
        (chart.told(period, stats.last), str(period.sessions), hours(period.minutes) if period.minutes else "0")
        for period in reversed(chart.periods)
    ]
    head = "Week of" if chart.unit == "week" else "Month"
    picture = drawings.columns([count / 60 for count in minutes], chart.names, said_at, step, "h")
    return Drawn(picture, sentence, f"{hours(average)} on average", chart.unit, (head, "Sessions", "Time"), rows)


def drawn_intensity(stats: Statistics) -> Drawn | None:
    """Intensity by week or month; None without a session."""
    chart = ChartPeriods.of(stats)
    trained = [period for period in chart.periods if period.intensity is not None]
    if not trained:
        return None
    values = [
        None
        if period.intensity is None or period.easiest is None or period.hardest is None
        else (float(period.easiest), period.intensity, float(period.hardest))
        for period in chart.periods
    ]
    first, last = trained[0], trained[-1]
    year = "" if first.begins.year == stats.last.year else f" {first.begins.year}"
    goes = f"{first.intensity:.1f} in {first.begins:%B}{year}, {last.intensity:.1f} now"
    sentence = f"How hard, on average by {chart.unit}: {goes}."
    rows = [
        (chart.told(period, stats.last), f"{period.intensity:.1f}", f"{period.easiest}", f"{period.hardest}")
        for period in reversed(trained)
    ]
    head = "Week of" if chart.unit == "week" else "Month"
    picture = drawings.trend(values, chart.names, MARKS_OF_INTENSITY)
    return Drawn(picture, sentence, goes, chart.unit, (head, "Average", "Easiest", "Hardest"), rows)


def drawn_spark(stats: Statistics) -> tuple[drawings.Spark, str]:
    """A sparkline of hours by week, and its description."""
    minutes = [week.minutes for week in stats.weeks]
    sentence = f"Hours by week, {several(len(minutes), 'week')}: from {hours(min(minutes))} to {hours(max(minutes))}, "
    return drawings.spark([float(count) for count in minutes]), f"{sentence}now {hours(minutes[-1])}."


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


# --- parts of a whole -------------------------------------------------------------------------------------------------


def drawn_split(stats: Statistics) -> tuple[str, list[tuple[str, int]]]:
    """What was worn: a sentence, and percentages that add up to a hundred."""
    worn = {"Gi": stats.gi_split.gi, "No-gi": stats.gi_split.no_gi, "Both": stats.gi_split.both}
    total = sum(worn.values())
    if not total:
        return "", []
    shares = {name: 100 * count // total for name, count in worn.items()}
    # What was rounded off goes to the shares that lost the most.
    lost = sorted(worn, key=lambda name: -(100 * worn[name] % total))
    for name in lost[: 100 - sum(shares.values())]:
        shares[name] += 1
    parts = [(name, share) for name, share in shares.items() if worn[name]]
    return ", ".join(f"{name} {share} percent" for name, share in parts), parts


class TagBar(NamedTuple):
    tag: str
    sessions: int
    share: float


def drawn_tags(stats: Statistics) -> list[TagBar]:
    most = max((tag.sessions for tag in stats.top_tags), default=1)
    return [TagBar(tag.tag, tag.sessions, 100 * tag.sessions / most) for tag in stats.top_tags[:TAGS_SHOWN]]


def fact_list(stats: Statistics) -> list[tuple[str, str]]:
    """The period in a few numbers."""
    total = stats.total
    return [
        ("sessions" if total.sessions != 1 else "session", f"{total.sessions:,}"),
        ("hours", f"{round(total.minutes / 60):,}"),
        *((name.lower(), number) for name, number in sums(total).items()),
        ("week in a row" if stats.streak.weeks == 1 else "weeks in a row", f"{stats.streak.weeks:,}"),
    ]
