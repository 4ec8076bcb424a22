"""Errors in the file of a journal, in the words of its owner: which entry, of which day, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.times import day_of
from potluck.validation import FieldError

NO_JOURNAL = "This is not the export of a journal"

NOUNS = {"entries": "entry", "threads": "conversation", "links": "link", "comments": "comment", "messages": "message"}
LABELS = {"Created at": "time of creation", "Updated at": "time of the last change", "Last active at": "last time"}

PLACE = re.compile(
    r"(?:(?P<profile>profile|profiles\[0\])|(?P<list>entries|threads|links)\[(?P<number>[0-9]+)\]"
    r"(?:\.(?P<inner>comments|messages)\[(?P<within>[0-9]+)\])?)(?:\.(?P<field>.+))?"
)
# Messages that do not name their field.
THIS = re.compile(r"This(?: field| id)?\b")
UNKNOWN = "There is no such field"

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


# --- errors -----------------------------------------------------------------------------------------------------------


def explained(file: Any, wrong: FieldError) -> FieldError:
    """The error, prefixed with the entry, conversation, link or profile it is in: "Entry 4 of 119 (12 March 2026): …".

    `file` is a JournalFile, or its parsed JSON.
    """
    place = PLACE.fullmatch(wrong.field)
    if place is None:
        return wrong
    noun = "profile" if place["profile"] else NOUNS[place["inner"] or place["list"]]
    return FieldError(wrong.field, f"{_where(file, place)}: {_what(wrong, place['field'], noun)}")


def is_within(wrong: FieldError) -> bool:
    """Whether the error is inside a journal, so that the file is one."""
    return PLACE.fullmatch(wrong.field) is not None


def _where(file: Any, place: re.Match[str]) -> str:
    if place["profile"]:
        return "Profile"
    items = _get(file, place["list"])
    number = int(place["number"])
    where = f"{NOUNS[place['list']].capitalize()} {number + 1:,} of {len(items):,}"
    if day := _day(file, items[number]):
        where += f" ({day})"
    return where if place["inner"] is None else f"{where}, {NOUNS[place['inner']]} {int(place['within']) + 1:,}"


def _what(wrong: FieldError, path: str | None, noun: str) -> str:
    if path is None:
        return f"this is not {'an' if noun == 'entry' else 'a'} {noun}"
    if wrong.message == UNKNOWN:
        return f"there is no field “{path.rpartition('.')[2]}”"
    label = LABELS.get(wrong.label, wrong.label)
    sentence = THIS.sub(label, wrong.message, count=1) if THIS.match(wrong.message) else wrong.message
    return sentence[:1].lower() + sentence[1:]


def _day(file: Any, item: Any) -> str:
    """The day of an entry, in the time zone of its owner."""
    time = _get(item, "date")
    try:
        time = datetime.fromisoformat(time) if isinstance(time, str) else time
        if not isinstance(time, datetime):
            return ""
        return long_day(day_of(time if time.tzinfo else time.replace(tzinfo=UTC), zone_of(_zone(file))))
    except (ValueError, OverflowError):
        return ""


def _zone(file: Any) -> str | None:
    profiles = _get(file, "profiles")
    profile = _get(file, "profile") or (profiles[0] if isinstance(profiles, list) and profiles else None)
    zone = _get(profile, "timeZone") or _get(profile, "time_zone")
    return zone if isinstance(zone, str) else None


def _get(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


# --- older files ------------------------------------------------------------------------------------------------------


def upgraded(tree: Any) -> Any:
    """An account's export once listed its profile under the name of a single one."""
    if type(tree) is dict and isinstance(tree.get("profile"), list) and "profiles" not in tree:
        return {"profiles" if name == "profile" else name: value for name, value in tree.items()}
    return tree


# --- files that end too early -----------------------------------------------------------------------------------------


def cut_off(text: str) -> str:
    """The message for a truncated file: where it ends."""
    return f"The file is cut off: it ends {_end(text)}. Download it again."


def _end(text: str) -> str:
    depth, part, number = 0, "", 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in ("{", "["):
            number += depth == 2
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
        elif depth == 1 and token[1:-1] in PARTS:
            part, number = token[1:-1], 0
    if part in ("profile", "profiles"):
        return "in the middle of the profile" if depth > 1 else "after the profile"
    if depth < 2 or not part or (depth == 2 and not number):
        return "too early"
    return f"{'in the middle of' if depth > 2 else 'after'} {NOUNS[part]} {number:,}"


PARTS = ("profile", "profiles", "links", "entries", "threads")
