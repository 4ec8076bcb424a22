"""Days, weeks and months in a person's own time zone, also when the clocks change."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

MILLISECOND = timedelta(milliseconds=1)
# At the ends of the calendar, converting midnight to another time zone overflows.
EARLIEST, LATEST = date(1900, 1, 1), date(9000, 1, 1)


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The date of this moment in the time zone."""
    return moment.astimezone(zone).date()


def span_of(first: date, last: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """The first and the last millisecond of these days in the time zone."""
    first, last = min(first, LATEST), min(last, LATEST)
    return _midnight(first, zone), _midnight(last + timedelta(days=1), zone) - MILLISECOND


def _midnight(day: date, zone: tzinfo) -> datetime:
    """When the day begins; where the clocks skip midnight, the first moment after it."""
    return datetime.combine(max(EARLIEST, day), time(), zone).astimezone(UTC)


def first_of_week(day: date) -> date:
    """The Monday of its week."""
    return day - timedelta(days=day.weekday())


def first_of_month(day: date) -> date:
    return day.replace(day=1)
