"""Reads questions that compare two sides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from potluck.apps.journal.assistant.bag import Bag
from potluck.apps.journal.assistant.chart import Phrase
from potluck.apps.journal.assistant.reading import NOTHING, Filter, Measure, Reading, Side, Unit, merged
from potluck.apps.journal.assistant.sides import one_period


def compared(
    rest: Sequence[Phrase], words: Sequence[str], today: date, sides: tuple[Side, ...], link: str
) -> Reading | None:
    """The reading of a comparison, by the other phrases of the question."""
    bag = Bag(rest, words, today)
    if not bag.settled():
        return None
    allowed = {
        "noun",
        "cmp",
        "compare",
        "avg",
        "single",
        "total",
        "per",
        "top",
        "period",
        "ever",
        "group",
        "share",
        "lately",
    }
    if not bag.values.keys() <= allowed or bag.noun in ("tags", "comments", "weeks", "months"):
        return None
    if bag.asks - {"count", "often", "much", "long", "hard", "which", "whether", "summary", "how", "list", "when"}:
        return None
    if "group" in bag and bag.one("group") not in ("weekday", "day", "time of day", "month", "tag"):
        return None
    if "top" in bag and ("cmp" in bag or bag.one("top")[1]):
        return None
    periods = one_period(bag.values.get("period", ()))
    if periods is None or len(periods) > 1:
        return None
    if periods and any(side.period is not None for side in sides):
        return None
    whole = [merged([bag.where, side.where]) for side in sides]
    if any(condition is None for condition in whole):
        return None
    sides = tuple(
        Side(where or NOTHING, side.period or (periods[0] if periods else None))
        for where, side in zip(whole, sides, strict=True)
    )
    judgement, least = bag.one("cmp", (None, False))
    if bag.noun is None and not bag.asks - {"whether", "which", "how", "summary"} and judgement is None:
        # "Compare June and July" names no measure, so all of them are compared.
        measure: Measure = "sessions" if "cmp" in bag or "top" in bag or "whether" in bag.asks else "much"
    else:
        measure = bag.measure
    judges = judgement == "better"
    if judges:
        if any(side.period is None for side in sides):
            return None
        measure = "much" if bag.noun is None else bag.measure
    per = bag.one("per")
    if per is not None and (
        measure == "intensity" or ("avg" in bag and measure not in ("sessions", "minutes", "rounds", "days"))
    ):
        return None
    averaged = measure in ("minutes", "rounds") and (
        "avg" in bag
        or "single" in bag
        or bag.noun == "length"
        or (judgement == "minutes" and not {"train", "trained", "training"} & {*words})
    )
    if ("avg" in bag or "single" in bag) and not averaged and measure != "intensity" and per is None:
        return None
    lengths = {side.period.days if side.period else 0 for side in sides}
    if (
        link == "than now"
        and per is None
        and len(lengths) > 1
        and max(lengths) - min(lengths) > 3
        and measure != "intensity"
    ):
        per = "week"
    shown: Measure = "sessions" if measure == "much" else measure
    reading = Reading(
        "compare",
        measure=shown,
        average=averaged,
        least=least,
        hard_words=bag.hard_words,
        periods=periods,
        where=bag.where,
    )
    if per is None and len({side.period for side in sides}) == 1:
        shared = {side.where._replace(worn=None) for side in sides}
        if {side.where.worn for side in sides} == {"gi", "no-gi"} and len(shared) == 1:
            return reading._replace(kind="worn", where=shared.pop())
        unit = _parts_of_time(sides)
        if unit is not None:
            return reading._replace(kind="groups", unit=unit, average=averaged or measure == "intensity")
    return reading._replace(
        measure=measure, periods=(), sides=sides, judges=judges, current=link == "than now", per=per
    )


def _parts_of_time(sides: Sequence[Side]) -> Unit | None:
    wheres = {side.where for side in sides}
    if wheres == {Filter(weekdays=(5, 6)), Filter(weekdays=(0, 1, 2, 3, 4))}:
        return "part of the week"
    times = [where.time for where in wheres]
    if all(times) and all(where == Filter(time=where.time) for where in wheres):
        return "time of day"
    return None
