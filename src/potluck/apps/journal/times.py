"""Days, weeks and months as somebody lives them: by their own midnight, also on the day the clocks change."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

__all__ = ["EARLIEST", "LATEST", "day_of", "first_of_month", "first_of_week", "span_of"]

MILLISECOND = timedelta(milliseconds=1)
# Midnight at the ends of the calendar is in no other time zone a time at all.
EARLIEST, LATEST = date(1900, 1, 1), date(9000, 1, 1)


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The day that it was there."""
    return moment.astimezone(zone).date()


def span_of(first: date, last: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """The first and the last millisecond of these days there."""
    first, last = min(first, LATEST), min(last, LATEST)
    return _midnight(first, zone), _midnight(last + timedelta(days=1), zone) - MILLISECOND


def _midnight(day: date, zone: tzinfo) -> datetime:
    """When the day begins. Where midnight does not happen, because the clocks go forward, that is the next moment."""
    return datetime.combine(max(EARLIEST, day), time(), zone).astimezone(UTC)


def first_of_week(day: date) -> date:
    """The Monday of its week."""
    return day - timedelta(days=day.weekday())


def first_of_month(day: date) -> date:
    return day.replace(day=1)
