"""Stable names for what is different in every run: ids, secrets, cursors, positions, fingerprints."""

import re
import uuid
from typing import Any

__all__ = ["CHOSEN", "NAMED", "Names"]

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
FOLDED_UUID = re.compile(r"\b[0-9A-F]{12}4[0-9A-F]{19}\b")
# Ids that the script chooses itself begin so, and stand in the recording as they are.
CHOSEN = "00000000-"
CHOSEN_SHORT_IDS = {"abc-def-12345", "zzz-zzz-99999"}

# A short id of Shareables, and a passcode that Shareables generated.
SHORT_ID = re.compile(r"(?<![0-9A-Za-z-])[a-z]{3}-[a-z]{3}-[0-9]{5}(?![0-9A-Za-z-])", re.IGNORECASE)
PASSCODE = re.compile(r"(?<![0-9A-Za-z-])[0-9a-hjkmnp-tv-z]{4}(?:-[0-9a-hjkmnp-tv-z]{4}){2}(?![0-9A-Za-z-])")
# What ids are called in a recording. The names depend on the step where an id appears first, so a comparison matches
# the names of two runs with each other.
NAMED = re.compile("⟦[^⟦⟧]*⟧")

# By the name of the field: these are opaque, and a shorter form of them would be no other behaviour.
OPAQUE_FIELDS = {
    "requestId": "<request id>",
    "position": "<position>",
    "nextCursor": "<cursor>",
}
# Whose order is drawn by lot.
DRAWN = "lotOrder"

SECRET = re.compile(r"\b(pl[a-z])_[0-9a-f]{40,}")
CODE = re.compile(r"(?<![0-9A-Za-z-])[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}(?![0-9A-Za-z-])")
PLACES = (
    (re.compile(r"\bsince=[A-Za-z0-9_%=-]{20,}"), "since=<position>"),
    (re.compile(r"\bcursor=[A-Za-z0-9_%=-]{20,}"), "cursor=<cursor>"),
    (re.compile(r"\?v=[0-9a-f]{12}\b"), "?v=<fingerprint>"),
    (re.compile(r"/files/[0-9a-f]{12}/"), "/files/<fingerprint>/"),
    # Static files, by the addresses that they had when this was recorded.
    (re.compile(r"/static/[0-9a-f]{12}/web/static/(vendor/[\w./-]+\.(?:css|woff2))"), r"/static/\1"),
    (re.compile(r"/static/[0-9a-f]{12}/web/static/([\w./-]+)"), r"/static/\1?v=<fingerprint>"),
    (re.compile(r"/static/[0-9a-f]{12}/apps/(\w+)/static/"), r"/\1/files/<fingerprint>/"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<sha256>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<request id>"),
    (CODE, "<code>"),
    (PASSCODE, "<passcode>"),
    # In a file of ballots, the order of the lots.
    (re.compile(r"\[tie [0-9 ]+\]"), "[tie …]"),
    (re.compile(r"lot order \(1 is favoured\)(,[0-9]+)+"), "lot order (1 is favoured),…"),
    # What a form was loaded with: some of it are ids.
    (re.compile(r"\b(\w+):[0-9a-f]{16}(?=,|$)"), r"\1:<fingerprint>"),
)
LONG = re.compile(r"[A-Za-z0-9_-]{40,}")
TAG = re.compile(r'(?:W/)?"[^"]*"')
VERSION_TAG = re.compile(r'"[0-9]{1,15}"')


class Names:
    """Names ids by the step and the field in which they first appeared, so that a change in one step moves no other."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._taken: set[str] = set()
        self._step = ""

    def at(self, step: str) -> None:
        self._step = step

    def text(self, text: str, field: str = "id") -> str:
        text = SECRET.sub(r"<secret \1>", text)
        text = FOLDED_UUID.sub(lambda match: f"{self._id(str(uuid.UUID(match[0])), field)} folded", text)
        for pattern in (UUID, SHORT_ID):
            text = pattern.sub(lambda match: self._id(match[0], field), text)
        for pattern, name in PLACES:
            text = pattern.sub(name, text)
        return LONG.sub(lambda match: "<opaque>" if _looks_random(match[0]) else match[0], text)

    def json(self, told: Any, field: str = "id") -> Any:
        """The same with names, and with fields in one order, so that first appearances do not depend on theirs."""
        match told:
            case dict():
                return {self.text(key): self._member(key, told[key]) for key in sorted(told)}
            case list():
                return [self.json(each, field) for each in told]
            case str():
                return self.text(told, field)
        return told

    def tag(self, text: str) -> str:
        """An entity tag: a version as it is, a hash as one."""
        return TAG.sub(lambda match: match[0] if VERSION_TAG.fullmatch(match[0]) else '"<hash>"', text)

    def _member(self, key: str, told: Any) -> Any:
        if key in OPAQUE_FIELDS and isinstance(told, str):
            return OPAQUE_FIELDS[key]
        if key == DRAWN and isinstance(told, list):
            return sorted(told)
        return self.json(told, key)

    def _id(self, found: str, field: str) -> str:
        if found.isupper():
            return f"{self._id(found.lower(), field)} in capitals"
        if found.startswith(CHOSEN) or found in CHOSEN_SHORT_IDS:
            return found
        if found not in self._ids:
            name, number = f"⟦{field} of {self._step}⟧", 1
            while name in self._taken:
                number += 1
                name = f"⟦{field} {number} of {self._step}⟧"
            self._taken.add(name)
            self._ids[found] = name
        return self._ids[found]


def _looks_random(word: str) -> bool:
    return len(set(word)) > 12 and any(each.isdigit() for each in word)
