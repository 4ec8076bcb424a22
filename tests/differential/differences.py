"""What differs between what was recorded and what is answered now, one difference at a time."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.differential.intended import Rule, normalise
from tests.differential.names import NAMED
from tests.differential.recording import Entry

__all__ = ["Difference", "differences", "report", "unexpected"]

# Compared member by member; everything else of an entry is compared line by line or whole.
BY_MEMBER = ("headers", "guards", "json", "zip", "events", "sent")
BY_LINE = ("html", "around", "text", "cookies")
ABSENT = "(absent)"
MOST_LINES = 30


@dataclass(frozen=True)
class Difference:
    """One difference in one step."""

    step: str
    where: str
    """`status`, `headers/etag`, `json/items/0/name`, `html`, `around`, `cookies`, `step` and so on."""
    was: str
    now: str


def differences(recorded: Sequence[Entry], played: Sequence[Entry], rules: Sequence[Rule] = ()) -> list[Difference]:
    """Everything that differs, in the order of the script, without what the rules leave out."""
    before = {entry["step"]: normalise(entry, rules) for entry in recorded}
    now = {entry["step"]: normalise(entry, rules) for entry in played}
    names = _matched_names(before, now)
    result: list[Difference] = []
    for step, entry in before.items():
        if step not in now:
            result.append(Difference(step, "step", "played", ABSENT))
        else:
            result += _in_step(step, entry, _renamed(now[step], names))
    result += [
        Difference(step, "step", ABSENT, _text(entry.get("error", "played")))
        for step, entry in now.items()
        if step not in before
    ]
    return result


# --- the names of ids in two runs -------------------------------------------------------------------------------------


def _matched_names(before: dict[str, Entry], now: dict[str, Entry]) -> dict[str, str]:
    """Which name of this run is which name of the recording: ids at the same place are the same id."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for step, entry in before.items():
        if step in now:
            for old, new in _pairs(entry, now[step]):
                if new not in names and old not in taken:
                    names[new] = old
                    taken.add(old)
    return names


def _pairs(was: Any, now: Any) -> Iterator[tuple[str, str]]:
    match was, now:
        case dict(), dict():
            for name in was:
                if name in now:
                    yield from _pairs(was[name], now[name])
        case list(), list():
            if len(was) == len(now):
                for old, new in zip(was, now, strict=True):
                    yield from _pairs(old, new)
            else:
                matcher = difflib.SequenceMatcher(None, [*map(_masked, was)], [*map(_masked, now)], autojunk=False)
                for a, b, size in matcher.get_matching_blocks():
                    yield from _pairs(was[a : a + size], now[b : b + size])
        case str(), str() if _masked(was) == _masked(now):
            yield from zip(NAMED.findall(was), NAMED.findall(now), strict=True)


def _masked(value: Any) -> str:
    return NAMED.sub("⟦⟧", _text(value))


def _renamed(value: Any, names: dict[str, str]) -> Any:
    match value:
        case dict():
            return {
                NAMED.sub(lambda m: names.get(m[0], m[0]), key): _renamed(item, names) for key, item in value.items()
            }
        case list():
            return [_renamed(item, names) for item in value]
        case str():
            return NAMED.sub(lambda match: names.get(match[0], match[0]), value)
    return value


# --- one step ---------------------------------------------------------------------------------------------------------


def _in_step(step: str, was: Entry, now: Entry) -> Iterator[Difference]:
    if now.get("status", 0) >= 500 > was.get("status", 0):
        # What else its page says is of no interest.
        yield Difference(step, "status", _text(was["status"]), _text(now["status"]))
        return
    for part in dict.fromkeys([*was, *now]):
        old, new = was.get(part, ABSENT), now.get(part, ABSENT)
        if old == new or part == "step":
            continue
        if part in BY_LINE:
            yield from _by_line(step, part, *([] if lines == ABSENT else lines for lines in (old, new)))
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


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


# --- for people -------------------------------------------------------------------------------------------------------


def unexpected(found: Sequence[Difference], rules: Sequence[Rule]) -> list[Difference]:
    """The differences that no rule accepts."""
    return [
        item for item in found if not any(rule.accepts(item.step, item.where, item.was, item.now) for rule in rules)
    ]


def report(found: Sequence[Difference]) -> str:
    """The differences as text; the same difference in several steps is shown once, with the steps."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for item in found:
        alike.setdefault((item.where, item.was, item.now), []).append(item.step)
    steps = {item.step for item in found}
    lines = [f"{_counted(len(found), 'difference')} in {_counted(len(steps), 'step')}:"]
    for (where, was, now), where_from in sorted(alike.items(), key=lambda pair: -len(pair[1])):
        shown = ", ".join(where_from[:4]) + (f" and {len(where_from) - 4} more" if len(where_from) > 4 else "")
        lines += ["", f"{where} in {shown}", *_marked("-", was), *_marked("+", now)]
    hint = "If a difference is meant, add a rule with its reason to tests/differential/intended.toml."
    return "\n".join([*lines, "", hint])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _marked(mark: str, text: str) -> list[str]:
    lines = [f"  {mark} {line[:400]}" for line in text.split("\n") if line]
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"  {mark} … {len(lines)} lines"]
