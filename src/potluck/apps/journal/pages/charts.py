"""The charts of statistics: a heat map of days, hours and intensity over time, gi and no-gi, tags.

Every chart comes with a sentence for people who cannot see it, and a table of the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from potluck.apps.journal.aggregation import PeriodTotals, Statistics
from potluck.apps.journal.pages.frame import long_date, month_name, short_date
from potluck.apps.journal.pages.metrics import WORN, duration, sessions, sums
from potluck.apps.journal.times import first_of_week
from potluck.web import _, drawings, formats, ngettext

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
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    days: Sequence[date] = ()
    """The day of each row, if rows are days."""


def drawn_heat(stats: Statistics, levels: Levels, last: date, today: date) -> Drawn:
    """A heat map of half a year, up to the last day."""
    first = first_of_week(last) - timedelta(weeks=HEAT_WEEKS - 1)
    days = [day for day in stats.days if first <= day.begins <= last]
    all_days = (first + timedelta(days=day) for day in range((last - first).days + 1))
    titles = {day: _("%(day)s: rest", day=long_date(day, today)) for day in all_days} | {
        day.begins: _(
            "%(day)s: %(sessions)s, %(time)s, load %(load)s",
            day=long_date(day.begins, today),
            sessions=sessions(day.sessions),
            time=duration(day.minutes),
            load=formats.number_text(day.load),
        )
        for day in days
    }
    picture = drawings.heat_map(levels.by_day, titles, last, HEAT_WEEKS)
    if last != today:
        picture = picture._replace(today=None)
    sentence = ngettext(
        "Training by day, %(weeks)s weeks up to %(day)s: %(num)s day with training.",
        "Training by day, %(weeks)s weeks up to %(day)s: %(num)s days with training.",
        len(days),
        weeks=HEAT_WEEKS,
        day=long_date(last, today),
    )
    rows = [
        (
            long_date(day.begins, today),
            str(day.sessions),
            duration(day.minutes),
            *sums(day).values(),
            formats.number_text(day.load),
        )
        for day in reversed(days)
    ]
    dates = [day.begins for day in reversed(days)]
    columns = (_("Day"), _("Sessions"), _("Time"), *sums(stats.total), _("Load"))
    return Drawn(picture, sentence, "", _("Days"), columns, rows, dates)


# --- over time --------------------------------------------------------------------------------------------------------


class ChartPeriods(NamedTuple):
    """The weeks or months of a period, with their labels for an axis."""

    periods: Sequence[PeriodTotals]
    by_month: bool
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
            # Weeks are named by their Monday.
            place: formats.date_text(periods[place].begins, "short month" if by_month else "short")
            for place in named
        }
        names[last] = _("now")
        return cls(periods, by_month, names)

    @property
    def heading(self) -> str:
        """Of the column with the periods, in a table."""
        return _("Month") if self.by_month else _("Week of")

    def told(self, period: PeriodTotals, today: date) -> str:
        if self.by_month:
            return formats.date_text(period.begins, "month")
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
    numbers = {"average": duration(average), "most": duration(most), "now": duration(minutes[-1])}
    if chart.by_month:
        title = _("Hours per month")
        sentence = ngettext(
            "Hours by month: %(num)s month, %(average)s on average, %(most)s at most, %(now)s in this month so far.",
            "Hours by month: %(num)s months, %(average)s on average, %(most)s at most, %(now)s in this month so far.",
            len(minutes),
            **numbers,
        )
    else:
        title = _("Hours per week")
        sentence = ngettext(
            "Hours by week: %(num)s week, %(average)s on average, %(most)s at most, %(now)s in this week so far.",
            "Hours by week: %(num)s weeks, %(average)s on average, %(most)s at most, %(now)s in this week so far.",
            len(minutes),
            **numbers,
        )
    rows = [
        (chart.told(period, stats.last), str(period.sessions), duration(period.minutes) if period.minutes else "0")
        for period in reversed(chart.periods)
    ]
    picture = drawings.columns([count / 60 for count in minutes], chart.names, said_at, step, "h")
    note = _("%(time)s on average", time=duration(average))
    return Drawn(picture, sentence, note, title, (chart.heading, _("Sessions"), _("Time")), rows)


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
    numbers = {
        "before": _average(first),
        "month": month_name(first.begins, stats.last),
        "now": _average(last),
    }
    note = _("%(before)s in %(month)s, %(now)s now", **numbers)
    if chart.by_month:
        sentence = _("How hard, on average by month: %(before)s in %(month)s, %(now)s now.", **numbers)
    else:
        sentence = _("How hard, on average by week: %(before)s in %(month)s, %(now)s now.", **numbers)
    rows = [
        (chart.told(period, stats.last), _average(period), f"{period.easiest}", f"{period.hardest}")
        for period in reversed(trained)
    ]
    picture = drawings.trend(values, chart.names, MARKS_OF_INTENSITY)
    return Drawn(
        picture, sentence, note, _("How hard"), (chart.heading, _("Average"), _("Easiest"), _("Hardest")), rows
    )


def _average(period: PeriodTotals) -> str:
    return "" if period.intensity is None else formats.number_text(period.intensity, 1)


def drawn_spark(stats: Statistics) -> tuple[drawings.Spark, str]:
    """A sparkline of hours by week, and its description."""
    minutes = [week.minutes for week in stats.weeks]
    sentence = ngettext(
        "Hours by week, %(num)s week: from %(least)s to %(most)s, now %(now)s.",
        "Hours by week, %(num)s weeks: from %(least)s to %(most)s, now %(now)s.",
        len(minutes),
        least=duration(min(minutes)),
        most=duration(max(minutes)),
        now=duration(minutes[-1]),
    )
    return drawings.spark([float(count) for count in minutes]), sentence


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


# --- parts of a whole -------------------------------------------------------------------------------------------------


def drawn_split(stats: Statistics) -> tuple[str, list[tuple[str, int]]]:
    """What was worn: a sentence, and percentages that add up to a hundred."""
    split = stats.gi_split
    worn = {WORN["gi"]: split.gi, WORN["no-gi"]: split.no_gi, WORN["both"]: split.both}
    total = sum(worn.values())
    if not total:
        return "", []
    shares = {name: 100 * count // total for name, count in worn.items()}
    # What was rounded off goes to the shares that lost the most.
    lost = sorted(worn, key=lambda name: -(100 * worn[name] % total))
    for name in lost[: 100 - sum(shares.values())]:
        shares[name] += 1
    parts = [(name, share) for name, share in shares.items() if worn[name]]
    shown = [str(_("%(name)s %(share)s percent", name=name, share=share)) for name, share in parts]
    return ", ".join(shown), parts


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
    hours = round(total.minutes / 60)
    return [
        (ngettext("session", "sessions", total.sessions), formats.number_text(total.sessions)),
        (ngettext("hour", "hours", hours), formats.number_text(hours)),
        (ngettext("round", "rounds", total.rounds), formats.number_text(total.rounds)),
        # Of weeks that were trained in, without a break.
        (_("week streak"), formats.number_text(stats.streak.weeks)),
    ]
