"""What the pages share: the sections of the app, and ways to format times and texts."""

from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from typing import Any, NamedTuple

from potluck.apps.journal.addresses import ASK, COACHES, ENTRIES, STATS, WRITE
from potluck.apps.journal.times import day_of
from potluck.apps.journal.tokenizer import spans_of
from potluck.web import Section, _, formats

PARTS = (
    ("write", "notebook-pen", _("Write"), WRITE),
    ("timeline", "calendar-days", _("Timeline"), ENTRIES),
    ("stats", "chart-column", _("Stats"), STATS),
    ("ask", "message-circle", _("Ask"), ASK),
    ("coaches", "users", _("Coaches"), COACHES),
)
# Characters of a text that fit in a row of a list.
EXCERPT = 400


def layout_context(current: str) -> dict[str, Any]:
    """What the layout of every page needs."""
    sections = [Section(address, icon, name, part == current) for part, icon, name, address in PARTS]
    return {"sections": sections}


# --- words ------------------------------------------------------------------------------------------------------------


def long_date(day: date, today: date) -> str:
    """Friday 13 November, with the year if it is not this one."""
    return formats.date_text(day, "day" if day.year == today.year else "full")


def short_date(day: date, today: date) -> str:
    return formats.date_text(day, "short" if day.year == today.year else "short with year")


def month_name(day: date, today: date) -> str:
    return formats.date_text(day, "month name" if day.year == today.year else "month")


def written_day(moment: datetime, zone: tzinfo, now: datetime) -> str:
    """The day of a session: Today, Yesterday, or the date."""
    day, today = day_of(moment, zone), day_of(now, zone)
    return {0: _("Today"), 1: _("Yesterday")}.get((today - day).days) or long_date(day, today)


# --- texts in which words are marked ----------------------------------------------------------------------------------


class Piece(NamedTuple):
    text: str
    is_marked: bool = False


def plain(text: str) -> list[Piece]:
    """A text with nothing marked; no pieces for an empty one."""
    return [Piece(text)] if text else []


def marked(text: str, words: set[str]) -> list[Piece]:
    """The text, with these words marked."""
    return pieces(text, spans_of(text, words))


def pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    parts, place = [], 0
    for first, last in spans:
        parts += [Piece(text[place:first]), Piece(text[first:last], is_marked=True)]
        place = last
    return [part for part in (*parts, Piece(text[place:])) if part.text]


def excerpt(text: str, most: int = EXCERPT) -> str:
    """The part of a text that fits in a row, cut between words."""
    if len(text) <= most:
        return text
    space = text.rfind(" ", most // 2, most)
    return f"{text[: space if space > 0 else most].rstrip()} …"
