"""The functions by which rules of the grammar combine the values of their parts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from math import prod
from typing import Any

from potluck.apps.journal.assistant.mentions import BODY_PARTS, phrase_of
from potluck.apps.journal.assistant.reading import Anchor, Bounds, Filter, Term
from potluck.apps.journal.periods import Period

NumberRange = tuple[str, float, float]
"""How it compares (at least, at most, more, less, exactly, between), and the two numbers."""
Words = tuple[str, ...]


def _bounds(compared: NumberRange) -> Bounds:
    how, low, high = compared
    whole = round(low)
    match how:
        case "at least":
            return Bounds(whole, None)
        case "at most":
            return Bounds(None, whole)
        case "more":
            return Bounds(whole + 1, None, is_open=True)
        case "less":
            return Bounds(None, whole - 1, is_open=True)
    return Bounds(min(whole, round(high)), max(whole, round(high)))


def _amount(measure: str) -> Callable[[NumberRange], Any]:
    return lambda compared: (measure, _bounds(compared))


def _compared(how: str, unit: int = 1) -> Callable[[float], NumberRange]:
    return lambda number: (how, unit * number, unit * number)


def _whole_numbers(compared: NumberRange) -> NumberRange | None:
    """A comparison of whole numbers; None for "1.5 rounds"."""
    return compared if all(number == int(number) for number in compared[1:]) else None


def _intensity(compared: NumberRange) -> Filter | None:
    if _whole_numbers(compared) is None or not all(0 <= number <= 10 for number in compared[1:]):
        return None
    return Filter(intensity=_bounds(compared))


def _hour(half: int) -> Callable[[float], int | None]:
    return lambda number: 60 * (int(number) % 12 + half) if number == int(number) and 1 <= number <= 12 else None


def _time(hour: float, minute: float) -> int | None:
    return 60 * int(hour) + int(minute) if hour <= 23 and minute <= 59 else None


def _term(*some: Words) -> Term:
    return Term(tuple(phrase_of(words) for words in some), "” or “".join(" ".join(words) for words in some))


def _passive(words: Words) -> Filter:
    """ "Get tapped" is not "tapped Jonas"; "get nervous" is "nervous"."""
    if words[-1].endswith("ed") or words[-1] in ("caught", "swept", "thrown", "beaten"):
        phrases = tuple(phrase_of((verb, *words)) for verb in ("got", "was", "were", "been", "being"))
        return Filter(terms=(Term(phrases, f"got {' '.join(words)}"),))
    return Filter(terms=(_term(words)._replace(is_clear=False),))


def _tagged(*terms: Term) -> Filter:
    return Filter(terms=tuple(term._replace(tag_only=True) for term in terms))


def _pain(part: tuple[str, str] | None = None) -> Filter:
    return Filter(pain=True, part=part[0], part_stem=part[1]) if part else Filter(pain=True)


def _event(*parts: Any) -> Filter | None:
    """The filter for the session that bounds a period."""
    if parts and isinstance(parts[0], Filter):
        return parts[0]
    if parts and isinstance(parts[0], Term) and all(phrase[0] in BODY_PARTS for phrase in parts[0].phrases):
        return None
    return Filter(terms=(parts[0],)) if parts and isinstance(parts[0], Term) else _pain(*parts)


def _between_clock(low: float, high: int) -> Filter | None:
    """ "Between 6 and 9 pm": "pm" applies to both numbers."""
    start = int(low) if low > 12 else int(60 * low) + (720 if high >= 720 and low < 12 else 0)
    return Filter(clock=Bounds(start, high - 1)) if start < high else None


def _adjacent(sign: int) -> Callable[..., Period]:
    """This many days before or after a period."""

    def read(*parts: Any) -> Period:
        *numbers, period = parts
        days = timedelta(days=round(prod(numbers)))
        day = timedelta(days=1)
        return (
            Period(period.first - days, period.first - day)
            if sign < 0
            else Period(period.last + day, period.last + days)
        )

    return read


def _near(side: Any) -> Callable[..., Anchor]:
    return lambda number, span, of: Anchor(side, of, round(number) * span)


MEANINGS: dict[str, Callable[..., Any]] = {
    # Numbers.
    "at_least": _compared("at least"), "at_most": _compared("at most"), "more": _compared("more"),
    "less": _compared("less"), "exactly": _compared("exactly"), "at_least_hours": _compared("at least", 60),
    "between": lambda low, high: ("between", low, high),
    "between_hours": lambda low, high: ("between", 60 * low, 60 * high),
    "neighbours": lambda low, high: ("between", low, high) if high == low + 1 else None,
    "whole_numbers": _whole_numbers, "whole": round,
    "hours": lambda number: 60 * number,
    "hours_and_minutes": lambda hours, minutes: 60 * hours + minutes,
    "hours_and_half": lambda hours: 60 * hours + 30,
    "minutes": _amount("minutes"), "rounds": _amount("rounds"), "sessions": _amount("sessions"),
    "with_rounds": lambda compared: Filter(rounds=_bounds(compared)),
    "days": _amount("days"), "no_rounds": lambda: ("rounds", Bounds(0, 0)),
    "intensity": _intensity, "level": lambda number: Bounds(round(number), None) if number <= 10 else None,
    "am": _hour(0), "pm": _hour(12), "time": _time,
    "before_clock": lambda minutes: Filter(clock=Bounds(None, minutes - 1)),
    "after_clock": lambda minutes: Filter(clock=Bounds(minutes, None)),
    "many_days": lambda number, span: round(number) * span,
    "days_or_more": lambda days: Bounds(days, None), "more_days": lambda days: Bounds(days + 1, None, is_open=True),
    # What is asked for.
    "first": lambda *units: units[0],
    "pair": lambda adjective, unit: (adjective, unit),
    "triple": lambda number, adjective, unit: (number, adjective, unit),
    "ranked": lambda number, most, measure: (number, (measure, most[1])),
    "numbered": lambda number, adjective: (round(number), adjective),
    "top": lambda most, measure: (measure, most[1]),
    "days_in_a_row": lambda number: (round(number), "day"),
    "weeks_in_a_row": lambda number: (round(number), "week"),
    # Filters.
    "days_of_week": lambda *days: Filter(weekdays=tuple(sorted({*days}))),
    "weekend": lambda: Filter(weekdays=(5, 6)), "working_days": lambda: Filter(weekdays=(0, 1, 2, 3, 4)),
    "hard": lambda: Filter(intensity=Bounds(8, None)), "easy": lambda: Filter(intensity=Bounds(None, 4)),
    "term": _term, "terms": lambda *terms: terms, "mention": lambda terms: Filter(terms=terms), "tagged": _tagged,
    "mentioned": lambda term: Filter(terms=(term,)),
    "written": lambda *words: Filter(terms=tuple(map(_term, words))),
    "with_tags": lambda: Filter(tagged=True), "without_tags": lambda: Filter(tagged=False),
    "passive": _passive,
    "verb_and_object": lambda verb, thing: Filter(
        terms=tuple(_term(words)._replace(is_clear=False) for words in (verb, thing))
    ),
    "unsure": lambda words: Filter(terms=(_term(words),)),
    "unclear": lambda words: Filter(terms=(_term(words)._replace(is_clear=False),)),
    "pain": _pain,
    "without": lambda left_out: Filter(without=(left_out,)),
    "neither": lambda one, other: Filter(without=(one, other)),
    "without_term": lambda term: Filter(without=(Filter(terms=(term,)),)),
    "outside": lambda period: Filter(outside=(period,)),
    "commented": lambda author="anyone": Filter(commented="" if author == "anyone" else author),
    "not_commented": lambda: Filter(without=(Filter(commented=""),)),
    # Periods.
    "before_period": _adjacent(-1), "after_period": _adjacent(1), "between_clock": _between_clock, "event": _event,
    "after": lambda of: Anchor("after", of), "before": lambda of: Anchor("before", of),
    "days_before": _near("before"), "days_after": _near("after"),
    "span_before": lambda span, of: Anchor("before", of, span),
    "span_after": lambda span, of: Anchor("after", of, span),
}  # fmt: skip
