"""When a poll closes, as a form says it: by the person's own clock, or by UTC where there is no script."""

from datetime import UTC, datetime

from potluck.people.errors import InvalidFields, WrongField

__all__ = ["as_typed", "closing_time"]


def closing_time(expires: str, expires_at: str) -> datetime | None:
    """The moment that was typed; `expires_at` has it with its offset, from the script. InvalidFields for no time."""
    text = (expires_at or expires).strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidFields(WrongField("expires", "Choose a day and a time, such as 2030-01-31 18:00")) from None


def as_typed(expires_at: datetime | None) -> dict[str, str]:
    """The two fields of a form that say it already."""
    if expires_at is None:
        return {"expires": "", "expiresAt": ""}
    return {"expires": f"{expires_at:%Y-%m-%dT%H:%M}", "expiresAt": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}"}
