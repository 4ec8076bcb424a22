"""What is wrong with the file of a journal, in the words of its owner: which entry, of which day, and what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from potluck.apps.journal.fields import zone_of
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.times import day_of
from potluck.validation import FieldError, label_of

NO_JOURNAL = "This is not the export of a journal"

NOUNS = {"entries": "entry", "threads": "conversation", "links": "link", "comments": "comment", "messages": "message"}
LABELS = {"createdAt": "time of creation", "updatedAt": "time of the last change", "lastActiveAt": "last time"}

PLACE = re.compile(
    r"(?:(?P<profile>profile|profiles\[0\])|(?P<list>entries|threads|links)\[(?P<number>[0-9]+)\]"
    r"(?:\.(?P<inner>comments|messages)\[(?P<within>[0-9]+)\])?)(?:\.(?P<field>.+))?"
)
# Messages that leave it to the caller to know which field they are about.
THIS = re.compile(r"This(?: field| id)?\b")
UNKNOWN = "There is no such field"

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


# --- errors -----------------------------------------------------------------------------------------------------------


def explained(file: Any, wrong: FieldError) -> FieldError:
    """The error, with the entry, conversation, link or profile that it is about: "Entry 4 of 119 (12 March 2026): …".

    `file` is a JournalFile, or its parsed JSON.
    """
    place = PLACE.fullmatch(wrong.field)
    if place is None:
        return wrong
    noun = "profile" if place["profile"] else NOUNS[place["inner"] or place["list"]]
    return FieldError(wrong.field, f"{_where(file, place)}: {_what(place['field'], noun, wrong.message)}")


def is_within(wrong: FieldError) -> bool:
    """Whether the error is in a part of a journal, so that the file is one."""
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


def _what(path: str | None, noun: str, message: str) -> str:
    if path is None:
        return f"this is not {'an' if noun == 'entry' else 'a'} {noun}"
    name = re.sub(r"\[[0-9]+\]$", "", path.rpartition(".")[2])
    if message == UNKNOWN:
        return f"there is no field “{name}”"
    said = THIS.sub(LABELS.get(name) or label_of(name), message, count=1) if THIS.match(message) else message
    return said[:1].lower() + said[1:]


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
    """Says that the file ends too early, and where."""
    return f"The file is cut off: it ends {_end(text)}. Download it again."


def _end(text: str) -> str:
    depth, part, number = 0, "", 0
    for found in TOKEN.finditer(text):
        token = found[0]
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
