"""How a form says until when something is open: a number of days, or a day of the calendar."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from potluck.apps.shareables.fields import LONGEST_LIFE
from potluck.people.errors import InvalidFields, WrongField
from potluck.web.forms import Line
from potluck.web.inputs import Input

__all__ = ["OPEN_FOR", "TermsForm", "days_to_choose", "end_of"]

UNTIL = "until"
OPEN_FOR = (
    ("1", "a day"),
    ("7", "a week"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "a year"),
    (UNTIL, "until …"),
)
LAST_SECOND = time(23, 59, 59, tzinfo=UTC)


class TermsForm(Input):
    days: Line = "30"
    """A number, or `until`: then one of the two below counts."""
    until: Line = ""
    """A day, by UTC."""
    expires_at: Line = ""
    """The end of that day by the person's own clock, from a script."""

    def expiry(self) -> dict[str, Any]:
        """The same as a program would send it."""
        if self.days != UNTIL:
            return {"expiresInDays": int(self.days) if self.days.isdecimal() else self.days}
        return {"expiresAt": self.expires_at or end_of(self.until).isoformat()}


def end_of(day: str) -> datetime:
    """The last second of a day of the calendar, by UTC; InvalidFields for what is none."""
    try:
        return datetime.combine(date.fromisoformat(day), LAST_SECOND)
    except ValueError:
        raise InvalidFields(WrongField("until", "Choose a day")) from None


def days_to_choose(now: datetime) -> dict[str, str]:
    """The first and the last day that may be chosen, wherever on earth that one ends."""
    latest = now + LONGEST_LIFE - timedelta(days=2)
    return {"today": now.date().isoformat(), "latest": latest.date().isoformat()}
