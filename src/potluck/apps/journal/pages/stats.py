"""The statistics pages: of one's own training, and of an athlete whom one coaches."""

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
from potluck.validation import ValidationError, decode_tree
from potluck.web import UNSET, Input, Line


class ChartSpan(NamedTuple):
    name: str
    weeks: int


SPANS = {"4w": ChartSpan("4 weeks", 4), "26w": ChartSpan("Half a year", HEAT_WEEKS), "52w": ChartSpan("A year", 52)}
USUAL_SPAN = "26w"


class SpanQuery(Input):
    span: Line = ""
    from_: Line = ""
    to: Line = ""


@stats.page("", "journal/stats.html")
async def stats_page(at: Athlete, wanted: SpanQuery) -> dict[str, Any]:
    shown = await _shown(at, WholeJournal(at.store, at.own_id), wanted, STATS)
    return {**layout_context("stats"), **shown, "athlete": "", "timeline": ENTRIES, "back": ""}


@shared_entries.page("/stats", "journal/stats.html")
async def athlete_stats_page(at: CoachOf, wanted: SpanQuery) -> dict[str, Any]:
    back = f"{ATHLETES}/{at.athlete_id}"
    shown = await _shown(at, at.shared, wanted, f"{back}/stats")
    name = (await names_of(at.store, [at.athlete_id])).get(at.athlete_id, "")
    return {**layout_context("coaches"), **shown, "athlete": name, "timeline": back, "back": back}


async def _shown(at: Athlete | CoachOf, journal: SharedJournal, wanted: SpanQuery, base: str) -> dict[str, Any]:
    time_zone = await time_zone_for(at)
    today = day_of(at.now, zone_of(time_zone))
    chosen, asked, wrong = _asked(wanted, today)
    try:
        found = await stats_of(journal, asked, time_zone, at.now)
    except ValidationError as error:
        chosen, wrong = USUAL_SPAN, error.errors[0].message
        asked = _weeks(SPANS[chosen].weeks, today)
        found = await stats_of(journal, asked, time_zone, at.now)
    assert asked.from_ is not UNSET
    assert asked.to is not UNSET
    # The heat map always covers half a year or more: a shorter period shows no pattern.
    last = min(asked.to, today)
    ends = [last]
    if (last - asked.from_).days >= 7 * HEAT_WEEKS:
        # Ends on the Sunday before the first week of the other half.
        ends.insert(0, first_of_week(last) - timedelta(weeks=HEAT_WEEKS - 1, days=1))
    first_drawn = first_of_week(ends[0]) - timedelta(weeks=HEAT_WEEKS - 1)
    whole = found
    if first_drawn < asked.from_:
        whole = await stats_of(journal, StatsOf(from_=first_drawn, to=last), time_zone, at.now)
    levels = Levels(whole.days)
    heats = [drawn_heat(whole, levels, end, today) for end in ends]
    split_said, split = drawn_split(found)
    name = (
        SPANS[chosen].name if chosen in SPANS else f"{short_date(asked.from_, today)} to {short_date(asked.to, today)}"
    )
    return {
        "name": name,
        "zone_unset": await zone_unset(at),
        "spans": [(key, each.name, f"{base}?{urlencode({'span': key})}", key == chosen) for key, each in SPANS.items()],
        "base": base,
        "by_dates": chosen not in SPANS,
        "first": asked.from_.isoformat(),
        "last": asked.to.isoformat(),
        "today": today.isoformat(),
        "wrong": wrong,
        "facts": fact_list(found),
        "any": found.total.sessions > 0,
        "heats": heats,
        "heat_table": heats[-1]._replace(
            rows=[row for each in reversed(heats) for row in each.rows],
            days=[day for each in reversed(heats) for day in each.days],
        ),
        "hours": drawn_hours(found),
        "intensity": drawn_intensity(found),
        "split_parts": split,
        "split_said": split_said,
        "tags": drawn_tags(found),
    }


def _asked(wanted: SpanQuery, today: date) -> tuple[str, StatsOf, str]:
    """The chosen span, its days, and an error message for invalid dates."""
    if wanted.from_.strip() or wanted.to.strip():
        said = {"from": wanted.from_.strip(), "to": wanted.to.strip() or today.isoformat()}
        if not said["from"]:
            return USUAL_SPAN, _weeks(SPANS[USUAL_SPAN].weeks, today), "Say from which day on"
        try:
            return "", decode_tree(StatsOf, said), ""
        except ValidationError as error:
            return USUAL_SPAN, _weeks(SPANS[USUAL_SPAN].weeks, today), error.errors[0].message
    chosen = wanted.span if wanted.span in SPANS else USUAL_SPAN
    return chosen, _weeks(SPANS[chosen].weeks, today), ""


def _weeks(count: int, today: date) -> StatsOf:
    """The last weeks, this one included."""
    return StatsOf(from_=first_of_week(today) - timedelta(weeks=count - 1), to=today)
