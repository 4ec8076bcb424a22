"""The expiry in a form: a number of days, or a calendar day."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from potluck.apps.shareables.fields import LONGEST_LIFE
from potluck.validation import FieldError, ValidationError
from potluck.web import Input, Line, _

UNTIL = "until"
OPEN_FOR = (
    ("1", _("1 day")),
    ("7", _("1 week")),
    ("30", _("30 days")),
    ("90", _("90 days")),
    ("365", _("1 year")),
    (UNTIL, _("Until a date")),
)
LAST_SECOND = time(23, 59, 59, tzinfo=UTC)


class TermsForm(Input):
    days: Line = "30"
    """A number of days, or `until`: then the next two fields apply."""
    until: Line = ""
    """A day, in UTC."""
    expires_at: Line = ""
    """The end of that day in the person's own time zone, filled in by a script."""

    def expiry(self) -> dict[str, Any]:
        """The expiry as API input."""
        if self.days != UNTIL:
            return {"expiresInDays": int(self.days) if self.days.isdecimal() else self.days}
        return {"expiresAt": self.expires_at or end_of(self.until).isoformat()}


def end_of(day: str) -> datetime:
    """The last second of a calendar day, in UTC; ValidationError if it is not a date."""
    try:
        return datetime.combine(date.fromisoformat(day), LAST_SECOND)
    except ValueError:
        raise ValidationError(FieldError("until", _("Choose a day"))) from None


def days_to_choose(now: datetime) -> dict[str, str]:
    """The first and the last day to choose from; the last is early enough to be allowed in every time zone."""
    latest = now + LONGEST_LIFE - timedelta(days=2)
    return {"today": now.date().isoformat(), "latest": latest.date().isoformat()}
