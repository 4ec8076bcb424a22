"""Days, weeks and months in a person's time zone, across clock changes."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

MILLISECOND = timedelta(milliseconds=1)
# At the ends of the calendar, converting midnight to another time zone overflows.
EARLIEST, LATEST = date(1900, 1, 1), date(9000, 1, 1)


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The date of this time in the time zone."""
    return moment.astimezone(zone).date()


def span_of(first: date, last: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """The first and the last millisecond of these days in the time zone."""
    first, last = min(first, LATEST), min(last, LATEST)
    return _midnight(first, zone), _midnight(last + timedelta(days=1), zone) - MILLISECOND


def _midnight(day: date, zone: tzinfo) -> datetime:
    """When the day begins; the first instant after midnight if the clocks skip it."""
    return datetime.combine(max(EARLIEST, day), time(), zone).astimezone(UTC)


def first_of_week(day: date) -> date:
    """The Monday of its week."""
    return day - timedelta(days=day.weekday())


def first_of_month(day: date) -> date:
    return day.replace(day=1)


def runs_of(days: Sequence[date], step: timedelta) -> list[list[date]]:
    """Ordered days as runs whose members are one step apart."""
    runs: list[list[date]] = []
    for day in days:
        if runs and day - runs[-1][-1] == step:
            runs[-1].append(day)
        else:
            runs.append([day])
    return runs
