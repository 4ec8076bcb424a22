"""Two people changed the same thing at once: whose value to keep, field by field.

A form carries a fingerprint of each value that it was loaded with, in the hidden field `base`. If someone else saves
first, the fingerprints tell which fields each of them changed. What only one of them changed is kept; where both did,
the person chooses. The page that asks sends both values of each field back, and the choice, under these names:

    name=Flags   theirs:name=Bunting   keep:name=theirs
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import msgspec

# Hexadecimal digits; someone who finds two texts with the same ones can only overlook a change of their own.
FINGERPRINT = 16
THEIRS = "theirs:"
KEEP = "keep:"
VERSION = "version"

Side = Literal["mine", "theirs"]
Value = str | bool | Sequence[str]
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ConflictingField:
    """A field that the two versions disagree on."""

    name: str
    label: str
    mine: Any
    """As people read it: a text, or a time."""
    theirs: Any
    kept: Side | None
    """Whose value is kept unless the person decides otherwise; None where both changed it, and they must."""


@dataclass(frozen=True, slots=True)
class FormConflict:
    """A form whose thing someone else has saved meanwhile; the template `components/conflicts.html` shows it."""

    version: int
    """The version that is saved now."""
    base: str
    fields: Sequence[ConflictingField]
    sent: Sequence[tuple[str, str]]
    """Names and values that the answer sends back."""

    @property
    def must_choose(self) -> bool:
        return any(field.kept is None for field in self.fields)


def fingerprints(values: Mapping[str, Any]) -> str:
    """The field `base` of a form that is loaded with these values."""
    return ",".join(f"{name}:{_fingerprint(value)}" for name, value in values.items() if name != VERSION)


def conflict_between(
    mine: Values,
    theirs: Values,
    base: str,
    version: int,
    labels: Mapping[str, str],
    shown: Mapping[str, Callable[[Any], Any]],
) -> FormConflict:
    """The conflict between what was sent and what is saved, about the fields that have a label."""
    theirs = {name: value if isinstance(value, bool | list | tuple) else str(value) for name, value in theirs.items()}
    before = dict(part.split(":", 1) for part in base.split(",") if ":" in part)
    fields = []
    for name, label in labels.items():
        if name not in mine:
            continue
        own, other = mine[name], theirs.get(name, "")
        if _fingerprint(own) != _fingerprint(other):
            text = shown.get(name, _text)
            side = _kept(own, other, before.get(name))
            fields.append(ConflictingField(name, label, text(own) or "", text(other) or "", side))
    # A field without a label is not shown: it stays as it was sent, unless only the other person changed it.
    typed = {
        name: theirs[name]
        if name not in labels and name in theirs and _kept(value, theirs[name], before.get(name)) == "theirs"
        else value
        for name, value in mine.items()
        if name != VERSION
    }
    others = {field.name: theirs.get(field.name, "") for field in fields}
    sent = [*_pairs("", typed), *_pairs(THEIRS, others)]
    return FormConflict(version, fingerprints(theirs), fields, sent)


def chosen(sent: dict[str, list[str]], *, editing: bool) -> dict[str, list[str]]:
    """The form that the person chose, from the answer to a conflict; any other form as it is.

    A field without a choice is saved as theirs: what was saved is never undone without a word. It is shown for editing
    as mine, because that is saved nowhere.
    """
    for name in [key.removeprefix(THEIRS) for key in sent if key.startswith(THEIRS)]:
        choice = sent.get(KEEP + name, ["mine" if editing else "theirs"])
        if choice != ["mine"]:
            sent[name] = sent[THEIRS + name]
    return sent


def _kept(mine: Value, theirs: Value, before: str | None) -> Side | None:
    if before == _fingerprint(theirs):
        return "mine"
    return "theirs" if before == _fingerprint(mine) else None


def _fingerprint(value: Any) -> str:
    """Equal for values that a form sends alike: browsers change line ends, and boxes have an order of their own."""
    if isinstance(value, list | tuple):
        value = sorted(map(str, value))
    elif not isinstance(value, bool):
        value = str(value).replace("\r\n", "\n").strip()
    return sha256(msgspec.json.encode(value)).hexdigest()[:FINGERPRINT]


def _pairs(prefix: str, values: Values) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, bool):
            yield prefix + name, str(value).lower()
        elif isinstance(value, str):
            yield prefix + name, value
        else:
            # An empty one says that there is none.
            yield from ((prefix + name, item) for item in value or [""])


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return value if isinstance(value, str) else ", ".join(value)
