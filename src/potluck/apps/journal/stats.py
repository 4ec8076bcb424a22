"""Statistics of the caller's own training, or of an athlete they coach."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from potluck.apps.journal.access import Athlete
from potluck.apps.journal.addresses import STATS
from potluck.apps.journal.aggregation import CountedSession, Statistics, statistics_of
from potluck.apps.journal.fields import AthleteId, zone_of
from potluck.apps.journal.journals import SharedJournal
from potluck.apps.journal.profile import time_zone_for
from potluck.apps.journal.times import EARLIEST, LATEST, day_of, span_of
from potluck.validation import FieldError, ValidationError
from potluck.web import UNSET, Actions, Input, Unset

USUAL_DAYS = 365
MOST_DAYS = 3_660


class StatsOf(Input):
    """Days are in the time zone of the caller's profile. The default is the last year."""

    from_: date | Unset = UNSET
    to: date | Unset = UNSET
    athlete_id: AthleteId | Unset = UNSET
    """An athlete you coach; your own training by default."""

    @staticmethod
    def check(sent: StatsOf) -> Iterator[FieldError]:
        for name, day in (("from", sent.from_), ("to", sent.to)):
            if day is not UNSET and not EARLIEST <= day < LATEST:
                yield FieldError(name, f"Days must be between {EARLIEST} and {LATEST}")


stats: Actions[Any] = Actions(Athlete, api="/journal/stats", page=STATS, tag="Journal")


@stats.read()
async def training_stats(at: Athlete, wanted: StatsOf) -> Statistics:
    """Get training statistics by day, week and month: sessions, minutes, rounds, load, gi, tags and streaks."""
    journal = await at.readable(None if wanted.athlete_id is UNSET else wanted.athlete_id)
    return await stats_of(journal, wanted, await time_zone_for(at), at.now)


async def stats_of(journal: SharedJournal, wanted: StatsOf, time_zone: str, now: datetime) -> Statistics:
    """The statistics of a journal, with days in this time zone."""
    zone = zone_of(time_zone)
    last = day_of(now, zone) if wanted.to is UNSET else wanted.to
    first = max(EARLIEST, last - timedelta(days=USUAL_DAYS - 1)) if wanted.from_ is UNSET else wanted.from_
    if last < first:
        raise ValidationError(FieldError("to", "The last day must not come before the first"))
    if last - first > timedelta(days=MOST_DAYS):
        raise ValidationError(FieldError("from", "Ask for at most ten years at once"))
    entries = await journal.between(*span_of(first, last, zone))
    sessions = [CountedSession(entry.date, entry.metrics) for entry in entries]
    return statistics_of(sessions, first, last, zone, time_zone)
