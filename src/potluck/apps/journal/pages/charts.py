"""The charts of statistics: a heat map of days, hours and intensity over time, what was worn, tags.

Every chart comes with text: a sentence for people who cannot see it, and a table of the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from potluck.apps.journal.aggregation import PeriodTotals, Statistics
from potluck.apps.journal.pages.frame import hours, long_date, several, short_date
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
        loads = sorted(each.load for each in days)
        self._bounds = [loads[len(loads) * step // HEAT_LEVELS] for step in range(1, HEAT_LEVELS)] if loads else []
        self.by_day = {each.begins: self.of(each.load) for each in days}

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


def drawn_heat(found: Statistics, levels: Levels, last: date, today: date) -> Drawn:
    """A heat map of half a year, up to the last day."""
    first = first_of_week(last) - timedelta(weeks=HEAT_WEEKS - 1)
    days = [each for each in found.days if first <= each.begins <= last]
    all_days = (first + timedelta(days=day) for day in range((last - first).days + 1))
    titles = {day: f"{long_date(day, today)}: rest" for day in all_days} | {
        each.begins: f"{long_date(each.begins, today)}: {several(each.sessions, 'session')}, {hours(each.minutes)}, "
        f"load {each.load:,}"
        for each in days
    }
    picture = drawings.heat_map(levels.by_day, titles, last, HEAT_WEEKS)
    if last != today:
        picture = picture._replace(today=None)
    trained = f"{several(len(days), 'day')} with training"
    said = f"Training by day, {HEAT_WEEKS} weeks up to {long_date(last, today)}: {trained}."
    rows = [
        (
            long_date(each.begins, today),
            str(each.sessions),
            hours(each.minutes),
            str(each.rounds),
            f"{each.load:,}",
        )
        for each in reversed(days)
    ]
    told = [each.begins for each in reversed(days)]
    return Drawn(picture, said, "", "day", ("Day", "Sessions", "Time", "Rounds", "Load"), rows, told)


# --- over time --------------------------------------------------------------------------------------------------------


class Steps(NamedTuple):
    """The weeks or months of a period, with their labels for an axis."""

    periods: Sequence[PeriodTotals]
    unit: str
    names: Mapping[int, str]

    @classmethod
    def of(cls, found: Statistics) -> Steps:
        """Weeks, or months if there are too many weeks to tell apart."""
        by_month = len(found.weeks) > HEAT_WEEKS + 1
        periods = found.months if by_month else found.weeks
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


def drawn_hours(found: Statistics) -> Drawn:
    """Hours by week or month."""
    steps = Steps.of(found)
    minutes = [each.minutes for each in steps.periods]
    most = max(minutes, default=0)
    step = next((each for each in STEPS_OF_HOURS if each * (MOST_MARKS - 1) >= most / 60), STEPS_OF_HOURS[-1])
    said_at = {place: _clock(minutes[place]) for place in {minutes.index(most), len(minutes) - 1} if minutes[place]}
    # Two numbers this close would overlap.
    if abs(minutes.index(most) - (len(minutes) - 1)) * PLOT_WIDTH / len(minutes) < NAME_WIDTH / 2:
        said_at.pop(len(minutes) - 1, None) if minutes.index(most) != len(minutes) - 1 else None
    average = round(sum(minutes) / len(minutes))
    said = (
        f"Hours by {steps.unit}: {several(len(minutes), steps.unit)}, {hours(average)} on average, "
        f"{hours(most)} at most, {hours(minutes[-1])} in this {steps.unit} so far."
    )
    rows = [
        (steps.told(each, found.last), str(each.sessions), hours(each.minutes) if each.minutes else "0")
        for each in reversed(steps.periods)
    ]
    head = "Week of" if steps.unit == "week" else "Month"
    picture = drawings.columns([each / 60 for each in minutes], steps.names, said_at, step, "h")
    return Drawn(picture, said, f"{hours(average)} on average", steps.unit, (head, "Sessions", "Time"), rows)


def drawn_intensity(found: Statistics) -> Drawn | None:
    """Intensity by week or month; None without a session."""
    steps = Steps.of(found)
    trained = [each for each in steps.periods if each.intensity is not None]
    if not trained:
        return None
    values = [
        None
        if each.intensity is None or each.easiest is None or each.hardest is None
        else (float(each.easiest), each.intensity, float(each.hardest))
        for each in steps.periods
    ]
    first, last = trained[0], trained[-1]
    year = "" if first.begins.year == found.last.year else f" {first.begins.year}"
    goes = f"{first.intensity:.1f} in {first.begins:%B}{year}, {last.intensity:.1f} now"
    said = f"How hard, on average by {steps.unit}: {goes}."
    rows = [
        (steps.told(each, found.last), f"{each.intensity:.1f}", f"{each.easiest}", f"{each.hardest}")
        for each in reversed(trained)
    ]
    head = "Week of" if steps.unit == "week" else "Month"
    picture = drawings.trend(values, steps.names, MARKS_OF_INTENSITY)
    return Drawn(picture, said, goes, steps.unit, (head, "Average", "Easiest", "Hardest"), rows)


def drawn_spark(found: Statistics) -> tuple[drawings.Spark, str]:
    """A sparkline of hours by week, and its description."""
    minutes = [each.minutes for each in found.weeks]
    said = f"Hours by week, {several(len(minutes), 'week')}: from {hours(min(minutes))} to {hours(max(minutes))}, "
    return drawings.spark([float(each) for each in minutes]), f"{said}now {hours(minutes[-1])}."


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


# --- parts of a whole -------------------------------------------------------------------------------------------------


def drawn_split(found: Statistics) -> tuple[str, list[tuple[str, int]]]:
    """What was worn: a sentence, and percentages that add up to a hundred."""
    worn = {"Gi": found.gi_split.gi, "No-gi": found.gi_split.no_gi, "Both": found.gi_split.both}
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


def drawn_tags(found: Statistics) -> list[TagBar]:
    most = max((each.sessions for each in found.top_tags), default=1)
    return [TagBar(each.tag, each.sessions, 100 * each.sessions / most) for each in found.top_tags[:TAGS_SHOWN]]


def fact_list(found: Statistics) -> list[tuple[str, str]]:
    """The period in four numbers."""
    total = found.total
    return [
        ("sessions" if total.sessions != 1 else "session", f"{total.sessions:,}"),
        ("hours", f"{round(total.minutes / 60):,}"),
        ("rounds", f"{total.rounds:,}"),
        ("week in a row" if found.streak.weeks == 1 else "weeks in a row", f"{found.streak.weeks:,}"),
    ]
