"""What differs between what was recorded and what was answered now, one difference at a time."""

import difflib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.differential.recording import Entry

__all__ = ["Difference", "Intended", "differences", "report", "unexpected"]

# Compared member by member; everything else of an entry is compared line by line or as it is.
BY_MEMBER = ("headers", "guards", "json", "zip", "events", "sent")
BY_LINE = ("html", "around", "text", "cookies")
ABSENT = "(absent)"
LONGEST_SHOWN = 30


@dataclass(frozen=True)
class Difference:
    """One thing that is otherwise in one step."""

    step: str
    where: str
    """`status`, `headers/etag`, `json/items/0/name`, `html`, `around`, `cookies`, `step` and so on."""
    was: str
    now: str


@dataclass(frozen=True)
class Intended:
    """A difference that is meant; `step` and `where` are patterns with *, and `now` is a part of what is there now.

    With `rewrite`, what is there now is what was there, rewritten by it, and nothing else.
    """

    step: str
    where: str
    reason: str
    now: str = ""
    rewrite: Callable[[str], str] | None = None

    def covers(self, difference: Difference) -> bool:
        return (
            fnmatchcase(difference.step, self.step)
            and fnmatchcase(difference.where, self.where)
            and self.now in difference.now
            and (self.rewrite is None or difference.was != self.rewrite(difference.was) == difference.now)
        )


def differences(recorded: Sequence[Entry], played: Sequence[Entry]) -> list[Difference]:
    """Everything that differs, in the order of the script."""
    now = {entry["step"]: entry for entry in played}
    before = {entry["step"]: entry for entry in recorded}
    found: list[Difference] = []
    for step, entry in before.items():
        if step not in now:
            found.append(Difference(step, "step", "played", ABSENT))
        else:
            found += _in_step(step, entry, now[step])
    found += [
        Difference(step, "step", ABSENT, _text(now[step].get("error", "played"))) for step in now if step not in before
    ]
    return found


def _in_step(step: str, was: Entry, now: Entry) -> Iterator[Difference]:
    for part in dict.fromkeys([*was, *now]):
        old, new = was.get(part, ABSENT), now.get(part, ABSENT)
        if old == new:
            continue
        if part in BY_LINE:
            yield from _by_line(step, part, *([] if each == ABSENT else each for each in (old, new)))
        elif part in BY_MEMBER:
            yield from _by_member(step, part, old, new)
        else:
            yield Difference(step, part, _text(old), _text(new))


def _by_line(step: str, part: str, was: list[str], now: list[str]) -> Iterator[Difference]:
    for kind, a, b, c, d in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Difference(step, part, "\n".join(was[a:b]), "\n".join(now[c:d]))


def _by_member(step: str, where: str, was: Any, now: Any) -> Iterator[Difference]:
    if was == now:
        return
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted({*was, *now}):
            if name not in was or name not in now:
                yield Difference(step, f"{where}/{name}", _text(was.get(name, ABSENT)), _text(now.get(name, ABSENT)))
            else:
                yield from _by_member(step, f"{where}/{name}", was[name], now[name])
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, (old, new) in enumerate(zip(was, now, strict=True)):
            yield from _by_member(step, f"{where}/{number}", old, new)
    else:
        yield Difference(step, where, _text(was), _text(now))


def _text(told: Any) -> str:
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False, sort_keys=True)


def unexpected(found: Sequence[Difference], intended: Sequence[Intended]) -> tuple[list[Difference], list[Intended]]:
    """The differences that nobody intended, and the intended ones that are not there (any more)."""
    left = [each for each in found if not any(one.covers(each) for one in intended)]
    stale = [one for one in intended if not any(one.covers(each) for each in found)]
    return left, stale


def report(found: Sequence[Difference]) -> str:
    """All of them for people: alike in several steps is said once, with the steps."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for each in found:
        alike.setdefault((each.where, each.was, each.now), []).append(each.step)
    steps = {each.step for each in found}
    lines = [f"{_counted(len(found), 'difference')} in {_counted(len(steps), 'step')}:"]
    for (where, was, now), where_from in alike.items():
        shown = ", ".join(where_from[:4]) + (f" and {len(where_from) - 4} more" if len(where_from) > 4 else "")
        lines += ["", f"{where} in {shown}", *_marked("-", was), *_marked("+", now)]
    return "\n".join(
        [*lines, "", "If a difference is meant, list it with its reason in tests/differential/intended.py."]
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _marked(mark: str, text: str) -> list[str]:
    lines = [f"  {mark} {line[:400]}" for line in text.split("\n") if line]
    return lines if len(lines) <= LONGEST_SHOWN else [*lines[:LONGEST_SHOWN], f"  {mark} … {len(lines)} lines"]
