"""Reads questions that modify the previous one: "and in April?", "only gi", "how many hours was that?"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from potluck.apps.journal.assistant.bag import Bag
from potluck.apps.journal.assistant.chart import Phrase
from potluck.apps.journal.assistant.reading import NOTHING, Filter, Kind, Reading, Side, merged
from potluck.apps.journal.assistant.shapes import shaped
from potluck.apps.journal.assistant.sides import shifted

_CHANGES = {"period", "where", "relative", "weekday", "hard", "amount", "topic", "every"}


TRAINED = frozenset(["train", "trained", "training", "session", "sessions", "class", "classes", "roll", "spar"])


def followed_up(
    phrases: Sequence[Phrase], words: Sequence[str], previous: Reading, earlier: Reading | None, today: date
) -> Reading | None:
    """The previous question with another period, filter or measure, if the question changes nothing else."""
    keys = {phrase.key for phrase in phrases}
    follows = "follow" in keys or bool(phrases and phrases[0].key == "link" and phrases[0].value == "and")
    rest = [
        phrase
        for phrase in phrases[follows:]
        if phrase.key != "follow" and (phrase.key, phrase.value) != ("ask", "summary")
    ]
    asks = {phrase.value for phrase in rest if phrase.key == "ask"}
    keys = {phrase.key for phrase in rest}
    if keys == {"relative"} and previous.kind in ("last", "first") and rest[0].value == "before":
        return previous._replace(number=previous.number + 1, nth=True) if previous.kind == "last" else None
    if (
        keys <= {"ask", "noun"}
        and asks
        and asks <= {"list", "which"}
        and previous.kind in ("total", "average", "rate", "share")
    ):
        return previous._replace(kind="summary", asks_whether=False, goal=None)
    if keys == {"ask", "that"} and previous.kind in ("extreme", "last", "first") and asks <= {"quotes", "how"}:
        return previous._replace(asks_how=True)
    if keys & {"cmp", "two"} and keys <= {"ask", "cmp", "noun", "avg", "two", "compare"}:
        both = previous if previous.kind in ("compare", "worn") else _both(earlier, previous)
        if both is not None:
            return _another_comparison(Bag(rest, words, today), both)
    if keys == {"adj"} and previous.kind == "extreme" and rest[0].value[0] in ("minutes", "rounds", "intensity"):
        measure, least = rest[0].value
        return previous._replace(measure=measure, least=least)
    if keys == {"per"} and previous.kind in ("total", "rate"):
        return previous._replace(kind="rate", unit=rest[0].value)
    if (
        keys == {"ask", "period"}
        and asks <= {"count", "often"}
        and not TRAINED & {*words}
        and previous.where != NOTHING
    ):
        # "How many times this year?" keeps the filter of the previous question.
        bag = Bag(rest, words, today)
        return bag.reading("total", where=previous.where) if bag.settled() else None
    if {"them", "those", "these"} & {*words} and keys <= {"ask", "noun", "where", "hard", "amount", "topic", "weekday"}:
        return _some_of_them(Bag(rest, words, today), previous)
    if "link" in keys and previous.period is not None and len(words) <= 5:
        # "Gi or no-gi?" keeps the period of the previous question.
        reading = shaped(rest, words, today)
        return (
            reading._replace(periods=previous.periods)
            if reading is not None and reading.kind == "worn" and not reading.periods
            else None
        )
    if len(words) > 8 or not rest or keys - _CHANGES - {"noun", "ask", "avg", "said", "by"}:
        return None
    bag = Bag(rest, words, today)
    relative = bag.one("relative")
    bag.values.pop("relative", None)
    if not bag.settled() or len(bag.values.get("period", ())) > 1:
        return None
    changes: dict[str, Any] = {}
    if relative is not None:
        if relative == "year" and previous.period is not None and previous.period.days < 360:
            relative = "year ago"
        if previous.period is None or (shift := shifted(previous.period, relative)) is None:
            return None
        changes["periods"] = (shift,)
    if keys & {"said", "by"}:
        if not previous.kind.startswith("comment") or keys - {"said", "by"}:
            return None
        return previous._replace(by=bag.one("said") or bag.one("by"))
    if "noun" in bag or asks:
        return _another_measure(bag, asks, previous, follows or "that" in words or "those" in words)
    if not follows and len(words) > 5:
        return None
    if previous.kind in ("worn", "trend", "streak", "gap", "tags") or (previous.kind == "compare" and bag.values):
        return None
    if "period" in bag:
        changes["periods"] = tuple(bag.values["period"])
        changes["anchor"] = None
    if set(bag.values) - {"period"}:
        return None
    if bag.where != NOTHING:
        conditions = previous.where._asdict()
        conditions |= {name: value for name, value in bag.where._asdict().items() if value != getattr(NOTHING, name)}
        changes["where"] = Filter(**conditions)
    return previous._replace(**changes) if changes else None


def _some_of_them(bag: Bag, previous: Reading) -> Reading | None:
    """ "How many of them were no-gi?" """
    if previous.kind not in ("total", "summary", "average", "quotes") or bag.asks - {"count", "often", "list", "which"}:
        return None
    if not bag.settled() or bag.where == NOTHING or bag.values.keys() - {"noun"} or bag.noun not in (None, "sessions"):
        return None
    where = merged([previous.where, bag.where])
    kind: Kind = "total" if bag.asks & {"count", "often"} else "summary"
    return where and previous._replace(kind=kind, measure="sessions", where=where, goal=None, asks_whether=False)


def _both(earlier: Reading | None, previous: Reading) -> Reading | None:
    """Two questions that differ in period or filter, as the sides of a comparison."""
    if earlier is None or {earlier.kind, previous.kind} - {"total", "average", "summary", "rate"}:
        return None
    sides = tuple(Side(reading.where, reading.period) for reading in (earlier, previous))
    if sides[0] == sides[1] or earlier.anchor or previous.anchor or len(earlier.periods) != len(previous.periods):
        return None
    return Reading("compare", measure=previous.measure, sides=sides, current=True)


def _another_comparison(bag: Bag, previous: Reading) -> Reading | None:
    """ "Which of the two was harder?" """
    if not bag.asks <= {"which", "list", "summary", "whether"} or bag.one("cmp", (None, None))[0] == "better":
        return None
    measure = bag.measure if bag.values.keys() & {"cmp", "noun"} else previous.measure
    averaged = "avg" in bag or bag.noun == "length" or (bag.noun is None and measure == "minutes")
    return previous._replace(measure=measure, average=averaged, per=None, judges=False)


def _another_measure(bag: Bag, asks: set[Any], previous: Reading, refers: bool) -> Reading | None:
    """ "How many hours was that?" """
    if not refers and (bag.asks - {"count", "much", "long"} or len(bag.words) > 4):
        return None
    if (
        bag.where != NOTHING
        or bag.values.keys() - {"noun", "avg"}
        or bag.noun not in ("minutes", "rounds", "intensity", "sessions")
    ):
        return None
    if not refers and bag.asks:
        return None
    if previous.kind not in ("total", "average", "summary", "compare"):
        return None
    kind: Kind = (
        "compare"
        if previous.kind == "compare"
        else "average"
        if bag.measure == "intensity" or "avg" in bag
        else "total"
    )
    return previous._replace(kind=kind, measure=bag.measure, goal=None, asks_whether=False)
