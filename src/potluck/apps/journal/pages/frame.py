"""What the pages share: the sections of the app, and ways to format times and texts."""

from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from typing import Any, NamedTuple

from potluck.apps.journal.addresses import ASK, COACHES, ENTRIES, STATS, WRITE
from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.times import day_of
from potluck.apps.journal.tokenizer import spans_of
from potluck.web import Section

PARTS = (
    ("write", "notebook-pen", "Write", WRITE),
    ("timeline", "calendar-days", "Timeline", ENTRIES),
    ("stats", "chart-column", "Stats", STATS),
    ("ask", "message-circle", "Ask", ASK),
    ("coaches", "users", "Coaches", COACHES),
)
WORN = (("gi", "Gi"), ("no-gi", "No-gi"), ("both", "Both"))
# How much of a text fits in a row of a list.
EXCERPT = 400


def layout_context(current: str) -> dict[str, Any]:
    """What every page shows."""
    sections = [Section(address, icon, name, part == current) for part, icon, name, address in PARTS]
    return {"sections": sections, "worn": dict(WORN)}


# --- words ------------------------------------------------------------------------------------------------------------


def several(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def hours(minutes: int) -> str:
    """A duration as people write it: 45 min, 3 h, 3 h 15."""
    whole, rest = divmod(minutes, 60)
    if not whole:
        return f"{rest} min"
    return f"{whole:,} h {rest:02}" if rest else f"{whole:,} h"


def facts(metrics: SessionMetrics) -> str:
    """The metrics of a session in one line."""
    long = f"{metrics.duration_minutes} min · {several(metrics.rounds, 'round')}"
    return f"{long} · {metrics.intensity} of 10 · {dict(WORN)[metrics.gi_or_no_gi]}"


def long_date(day: date, today: date) -> str:
    """Friday 13 November, with the year if it is not this one."""
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day:%A} {day.day} {day:%B}{year}"


def short_date(day: date, today: date) -> str:
    return f"{day.day} {day:%b}" + ("" if day.year == today.year else f" {day.year}")


def written_day(moment: datetime, zone: tzinfo, now: datetime) -> str:
    """The day of a session: Today, Yesterday, or the date."""
    day, today = day_of(moment, zone), day_of(now, zone)
    return {0: "Today", 1: "Yesterday"}.get((today - day).days) or long_date(day, today)


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
    found, place = [], 0
    for first, last in spans:
        found += [Piece(text[place:first]), Piece(text[first:last], is_marked=True)]
        place = last
    return [each for each in (*found, Piece(text[place:])) if each.text]


def excerpt(text: str, most: int = EXCERPT) -> str:
    """As much of a text as fits in a row, cut between words."""
    if len(text) <= most:
        return text
    space = text.rfind(" ", most // 2, most)
    return f"{text[: space if space > 0 else most].rstrip()} …"
