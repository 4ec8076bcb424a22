"""Answers that compare two things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from potluck.apps.journal.assistant.amounts import (
    AVERAGED,
    UNIT_DAYS,
    Sessions,
    all_measures,
    amount_of,
    difference,
    hours,
    percent,
    value_of,
    values_of,
)
from potluck.apps.journal.assistant.evidence import Answer
from potluck.apps.journal.assistant.reading import NOTHING, Measure, Reading, Side
from potluck.apps.journal.assistant.scope import DAY, AnswerScope, answered, filtered, hard_note, none_found
from potluck.apps.journal.periods import Period, long_day
from potluck.apps.journal.quantities import several

TREND_DAYS = 28


def compare(reading: Reading, scope: AnswerScope) -> Answer:
    if reading.judges:
        answer = compare(reading._replace(judges=False), scope)
        return answer._replace(content=f"I can’t say what is better, but here are the numbers. {answer.content}")
    parts = [_side(side, reading, scope) for side in reading.sides]
    measure = reading.measure
    if reading.per is not None:
        return _rates(reading, parts, scope)
    average = reading.average and measure in AVERAGED
    shown = (
        [all_measures(some) for _, some in parts]
        if measure == "much"
        else values_of(measure, [some for _, some in parts], average)
    )
    statement = "; ".join(f"{words}: {value}" for (words, _), value in zip(parts, shown, strict=True))
    statement = f"{statement[:1].upper()}{statement[1:]}."
    if len(parts) == 2:
        statement += f" {difference('sessions' if measure == 'much' else measure, parts[0], parts[1], average)}"
    apart = len({session for _, some in parts for session in some}) == sum(len(some) for _, some in parts)
    if apart and not reading.current and measure in ("sessions", "minutes", "rounds", "much") and not average:
        whole = [session for _, some in parts for session in some]
        statement += f" Together: {all_measures(whole) if measure == 'much' else value_of(measure, whole)}."
    counted = list(dict.fromkeys(session for _, some in parts for session in some))
    by_text = any(side.where.by_text for side in reading.sides)
    return answered(f"{statement}{hard_note(reading)}", counted)._replace(by_text=by_text)


def _side(side: Side, reading: Reading, scope: AnswerScope) -> tuple[str, Sessions]:
    """The name and the sessions of one side."""
    period = side.period
    inside = [
        session
        for session in scope.everything
        if (period is None or session.day in period) and session.counts(side.where)
    ]
    if period is None:
        return side.where.words, inside
    so_far = " so far" if period.first <= scope.today < period.last else ""
    return f"{period.words}{so_far}{f', {side.where.words}' if side.where != NOTHING else ''}", inside


def _rates(reading: Reading, parts: Sequence[tuple[str, Sessions]], scope: AnswerScope) -> Answer:
    """Periods of different lengths, compared by their rates per week or month."""
    unit = reading.per or "week"
    begun = scope.everything[-1].day if scope.everything else scope.today
    rates = []
    for side, (_, some) in zip(reading.sides, parts, strict=True):
        first = max(begun, side.period.first) if side.period else begun
        last = min(scope.today, side.period.last) if side.period else scope.today
        units = max(1, (last - first).days + 1) / UNIT_DAYS[unit]
        rates.append(amount_of(reading.measure, some) / max(units, 1 / 7))
    if reading.measure in ("minutes", "much"):
        shown = [hours(round(rate)) for rate in rates]
        gap = hours(round(abs(rates[0] - rates[1])))
    else:
        digits = 1 if round(rates[0], 1) != round(rates[1], 1) else 2
        name = reading.measure if reading.measure in ("rounds", "days") else "sessions"
        shown = [f"{rate:.{digits}f} {name}" for rate in rates]
        gap = f"{abs(rates[0] - rates[1]):.{digits}f} {name}"
    statement = "; ".join(
        f"{words}: {rate} a {unit} ({several(len(some), 'session')})"
        for (words, some), rate in zip(parts, shown, strict=True)
    )
    more = parts[0][0] if rates[0] > rates[1] else parts[1][0]
    end = "That is the same." if rates[0] == rates[1] else f"That is {gap} a {unit} more {more}."
    counted = list(dict.fromkeys(session for _, some in parts for session in some))
    return answered(f"{statement[:1].upper()}{statement[1:]}. {end}{hard_note(reading)}", counted)


def worn(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    worn = Counter(session.entry.metrics.gi_or_no_gi for session in sessions)
    gi, no_gi, both = worn["gi"], worn["no-gi"], worn["both"]
    if reading.measure in ("intensity", "minutes", "rounds"):
        return _worn_by(reading, scope)
    more = "The same number of each." if gi == no_gi else f"{'Gi' if gi > no_gi else 'No-gi'} more often."
    shares = [percent(count, len(sessions)) for count in (gi, no_gi)]
    statement = (
        f"{more} {gi} gi ({shares[0]}), {no_gi} no-gi ({shares[1]}) and {both} both,"
        f" of {several(len(sessions), 'session')}{filtered(reading.where)}{scope.words}."
    )
    return answered(statement, sessions, reading.where)


def _worn_by(reading: Reading, scope: AnswerScope) -> Answer:
    """Hours, rounds or intensity by gi, no-gi and both."""
    groups = [
        (name, some)
        for name in ("gi", "no-gi", "both")
        if (some := [session for session in scope.counted if session.entry.metrics.gi_or_no_gi == name])
    ]
    values = values_of(reading.measure, [some for _, some in groups], reading.average)
    parts = [
        f"{name} {value} ({several(len(some), 'session')})" for (name, some), value in zip(groups, values, strict=True)
    ]
    statement = ", ".join(parts)
    return answered(
        f"{statement[:1].upper()}{statement[1:]}{filtered(reading.where)}{scope.words}.", scope.counted, reading.where
    )


def trend(reading: Reading, scope: AnswerScope) -> Answer:
    today = scope.today
    measure: Measure = "sessions" if reading.measure in ("much", "days") else reading.measure
    now = Period(today - (TREND_DAYS - 1) * DAY, today)
    before = Period(now.first - TREND_DAYS * DAY, now.first - DAY)
    parts = [
        (name, [session for session in scope.counted if session.day in period])
        for name, period in (("in the last 4 weeks", now), ("in the 4 weeks before", before))
    ]
    if not any(some for _, some in parts):
        return Answer(f"No session since {long_day(before.first)}, so there is no trend to see.")
    values = values_of(measure, [some for _, some in parts], reading.average)
    statement = "; ".join(
        f"{name}: {value}{filtered(reading.where)}" for (name, _), value in zip(parts, values, strict=True)
    )
    gap = difference(measure, parts[0], parts[1], reading.average and measure in ("minutes", "rounds"))
    return answered(
        f"{statement[:1].upper()}{statement[1:]}. {gap}",
        [session for _, some in parts for session in some],
        reading.where,
    )
