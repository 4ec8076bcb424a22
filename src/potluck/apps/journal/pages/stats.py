"""The statistics pages: of the caller's own training, and of an athlete they coach."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from potluck.apps.journal.access import Athlete, CoachOf
from potluck.apps.journal.addresses import ATHLETES, ENTRIES, STATS
from potluck.apps.journal.entries import shared_entries
from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.journals import SharedJournal, WholeJournal
from potluck.apps.journal.links import names_of
from potluck.apps.journal.pages.charts import (
    HEAT_WEEKS,
    Levels,
    drawn_heat,
    drawn_hours,
    drawn_intensity,
    drawn_split,
    drawn_tags,
    fact_list,
)
from potluck.apps.journal.pages.frame import layout_context, short_date
from potluck.apps.journal.profile import time_zone_for, zone_unset
from potluck.apps.journal.stats import StatsOf, stats, stats_of
from potluck.apps.journal.times import day_of, first_of_week
from potluck.validation import ValidationError
from potluck.web import UNSET, Input, Line, _


class ChartSpan(NamedTuple):
    name: str
    weeks: int


SPANS = {
    "4w": ChartSpan(_("4 weeks"), 4),
    "26w": ChartSpan(_("Half a year"), HEAT_WEEKS),
    "52w": ChartSpan(_("A year"), 52),
}
USUAL_SPAN = "26w"


class SpanQuery(Input):
    span: Line = ""
    from_: Line = ""
    to: Line = ""


@stats.page("", "journal/stats.html")
async def stats_page(at: Athlete, wanted: SpanQuery) -> dict[str, Any]:
    shown = await _shown(at, WholeJournal(at.store, at.own_id), wanted, STATS)
    return {**layout_context("stats"), **shown, "athlete": "", "timeline": ENTRIES}


@shared_entries.page("/stats", "journal/stats.html")
async def athlete_stats_page(at: CoachOf, wanted: SpanQuery) -> dict[str, Any]:
    timeline = f"{ATHLETES}/{at.athlete_id}"
    shown = await _shown(at, at.shared, wanted, f"{timeline}/stats")
    name = (await names_of(at.store, [at.athlete_id])).get(at.athlete_id, "")
    return {**layout_context("coaches"), **shown, "athlete": name, "timeline": timeline}


async def _shown(at: Athlete | CoachOf, journal: SharedJournal, wanted: SpanQuery, base: str) -> dict[str, Any]:
    time_zone = await time_zone_for(at)
    today = day_of(at.now, zone_of(time_zone))
    chosen, days, wrong = _asked(wanted, today)
    try:
        statistics = await stats_of(journal, days, time_zone, at.now)
    except ValidationError as error:
        chosen, wrong = USUAL_SPAN, error.errors[0].message
        days = _weeks(SPANS[chosen].weeks, today)
        statistics = await stats_of(journal, days, time_zone, at.now)
    assert days.from_ is not UNSET
    assert days.to is not UNSET
    # The heat map always covers at least half a year: a shorter period shows no pattern.
    last = min(days.to, today)
    ends = [last]
    if (last - days.from_).days >= 7 * HEAT_WEEKS:
        # Ends on the Sunday before the first week of the other half.
        ends.insert(0, first_of_week(last) - timedelta(weeks=HEAT_WEEKS - 1, days=1))
    first_drawn = first_of_week(ends[0]) - timedelta(weeks=HEAT_WEEKS - 1)
    whole = statistics
    if first_drawn < days.from_:
        whole = await stats_of(journal, StatsOf(from_=first_drawn, to=last), time_zone, at.now)
    levels = Levels(whole.days)
    heats = [drawn_heat(whole, levels, end, today) for end in ends]
    split_said, split = drawn_split(statistics)
    if chosen in SPANS:
        name = SPANS[chosen].name
    else:
        name = _("%(first)s to %(last)s", first=short_date(days.from_, today), last=short_date(days.to, today))
    return {
        "name": name,
        "zone_unset": await zone_unset(at),
        "spans": [(key, span.name, f"{base}?{urlencode({'span': key})}", key == chosen) for key, span in SPANS.items()],
        "base": base,
        "by_dates": chosen not in SPANS,
        "first": days.from_.isoformat(),
        "last": days.to.isoformat(),
        "today": today.isoformat(),
        "wrong": wrong,
        "facts": fact_list(statistics),
        "any": statistics.total.sessions > 0,
        "heats": heats,
        "heat_table": heats[-1]._replace(
            rows=[row for heat in reversed(heats) for row in heat.rows],
            days=[day for heat in reversed(heats) for day in heat.days],
        ),
        "hours": drawn_hours(statistics),
        "intensity": drawn_intensity(statistics),
        "split_parts": split,
        "split_said": split_said,
        "tags": drawn_tags(statistics),
    }


def _asked(wanted: SpanQuery, today: date) -> tuple[str, StatsOf, str]:
    """The chosen span, its days, and an error message for invalid dates."""
    if wanted.from_.strip() or wanted.to.strip():
        sent = {"from": wanted.from_.strip(), "to": wanted.to.strip() or today.isoformat()}
        if not sent["from"]:
            return USUAL_SPAN, _weeks(SPANS[USUAL_SPAN].weeks, today), _("Please enter the first day.")
        try:
            return "", StatsOf.decode(sent), ""
        except ValidationError as error:
            return USUAL_SPAN, _weeks(SPANS[USUAL_SPAN].weeks, today), error.errors[0].message
    chosen = wanted.span if wanted.span in SPANS else USUAL_SPAN
    return chosen, _weeks(SPANS[chosen].weeks, today), ""


def _weeks(count: int, today: date) -> StatsOf:
    """The last weeks, this one included."""
    return StatsOf(from_=first_of_week(today) - timedelta(weeks=count - 1), to=today)
