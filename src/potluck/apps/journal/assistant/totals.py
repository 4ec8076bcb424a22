"""Answers that are sums, averages, rates or shares."""

from __future__ import annotations

from potluck.apps.journal.assistant.amounts import (
    AVERAGED,
    UNIT_DAYS,
    Sessions,
    amount_of,
    decimal,
    hours,
    intensity_of,
    load_of,
    minutes_of,
    percent,
    rounds_of,
    value_of,
)
from potluck.apps.journal.assistant.evidence import Answer
from potluck.apps.journal.assistant.groups import MOST_GROUPS_NAMED, grouped
from potluck.apps.journal.assistant.reading import NOTHING, Measure, Reading
from potluck.apps.journal.assistant.scope import (
    AnswerScope,
    answered,
    none_found,
    none_near,
    notes_on,
    sessions_words,
    uncounted_note,
)
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.quantities import several

MOST_PARTS = 60


def total(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_near(reading, scope) or none_found(reading, scope)
    statement = f"{sessions_words(len(sessions), reading.where)}{scope.words}."
    match reading.measure:
        case "minutes":
            statement = f"{hours(minutes_of(sessions))} in {statement}"
        case "much":
            statement = f"{hours(minutes_of(sessions))} in {statement}"
        case "rounds":
            statement = f"{several(rounds_of(sessions), 'round')} in {statement}"
        case "load":
            statement = f"{load_of(sessions):,} is the load (minutes times intensity) of {statement}"
        case "days":
            days = len({session.day for session in sessions})
            statement = (
                f"{several(days, 'day')} with training{scope.words}: {sessions_words(len(sessions), reading.where)}."
            )
        case "intensity":
            return average(reading, scope)
        case _:
            statement = f"Yes: {statement}" if reading.asks_whether else statement
    if reading.goal is not None:
        statement = f"{'Yes' if _reached(reading, sessions) else 'No'}: {statement}"
    return answered(
        f"{statement}{notes_on(reading, sessions)}{uncounted_note(reading, scope)}", sessions, reading.where
    )


def _reached(reading: Reading, sessions: Sessions) -> bool:
    """Whether the total is within the bounds; rounded, because bounds are whole numbers."""
    return reading.goal is not None and round(amount_of(reading.measure, sessions)) in reading.goal


def average(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    over = f"{sessions_words(len(sessions), reading.where)}{scope.words}"
    match reading.measure:
        case "minutes":
            statement = f"{minutes_of(sessions) / len(sessions):.0f} minutes is the average length of {over}."
        case "rounds":
            statement = f"{decimal(rounds_of(sessions) / len(sessions))} rounds on average, over {over}."
        case _:
            statement = f"{decimal(intensity_of(sessions))} of 10 is the average intensity of {over}."
    return answered(f"{statement}{notes_on(reading, sessions)}", sessions, reading.where)


def rate(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    units = scope.days / UNIT_DAYS[reading.unit]
    if units < 1:
        return total(reading, scope)
    over = f"from {long_day(scope.first)} to {long_day(scope.last)}"
    counted = sessions_words(len(sessions), reading.where)
    match reading.measure:
        case "minutes" | "much":
            whole, number = hours(minutes_of(sessions)), hours(round(minutes_of(sessions) / units))
            statement = f"{number} a {reading.unit} on average: {whole} in {counted} {over}"
        case "rounds":
            whole = several(rounds_of(sessions), "round")
            rounds = decimal(rounds_of(sessions) / units)
            statement = f"{rounds} rounds a {reading.unit} on average: {whole} in {counted} {over}"
        case "days":
            days = len({session.day for session in sessions})
            statement = f"{decimal(days / units)} days a {reading.unit} on average: {days} days with training {over}"
        case _:
            statement = f"{decimal(len(sessions) / units)} sessions a {reading.unit} on average: {counted} {over}"
    listing = ""
    if reading.unit in ("month", "year", "quarter", "week"):
        groups = grouped(sessions, reading.unit)
        if 1 < len(groups) <= MOST_GROUPS_NAMED + 1:
            shown = [f"{name} {value_of(reading.measure, some)}" for name, some in groups]
            listing = f" By {reading.unit}: {', '.join(shown)}."
    note = f", {decimal(units)} {reading.unit}s" if reading.unit != "day" else f", {scope.days} days"
    return answered(f"{statement}{note}.{listing}{notes_on(reading, sessions)}", sessions, reading.where)


def breakdown(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    parts = grouped(sessions, reading.unit)
    if len(parts) > MOST_PARTS:
        return average(reading, scope) if reading.measure == "intensity" else total(reading, scope)
    measure: Measure = "minutes" if reading.measure == "much" else reading.measure
    averaged = reading.average and measure in AVERAGED
    statement = ", ".join(f"{name} {value_of(measure, some, averaged)}" for name, some in parts)
    answer = average if measure == "intensity" or averaged else total
    whole = answer(reading._replace(measure=measure), scope)
    return whole._replace(content=f"{whole.content} By {reading.unit}: {statement}.")


def share(reading: Reading, scope: AnswerScope) -> Answer:
    if reading.measure == "days" and reading.where == NOTHING:
        days = len({session.day for session in scope.counted})
        over = f"from {long_day(scope.first)} to {long_day(scope.last)}"
        statement = f"{percent(days, scope.days)}: {days} of {several(scope.days, 'day')} {over} had training."
        return answered(statement, scope.counted)
    base = reading.sides[0].where if reading.sides else NOTHING
    whole = [session for session in scope.all if session.counts(base)]
    if not whole:
        return none_found(reading._replace(where=base), scope)
    counted = scope.counted
    sessions = sessions_words(len(counted), reading.where)
    if reading.measure in ("minutes", "rounds"):
        part, every = amount_of(reading.measure, counted), amount_of(reading.measure, whole)
        statement = (
            f"{percent(round(part), round(every))}: {value_of(reading.measure, counted)} in {sessions}, of"
            f" {value_of(reading.measure, whole)} in {sessions_words(len(whole), base)}{scope.words}."
        )
    else:
        of = sessions_words(len(whole), base) if base != NOTHING else str(len(whole))
        statement = f"{percent(len(counted), len(whole))}: {sessions} of {of}{scope.words}."
    return answered(f"{statement}{notes_on(reading, counted)}", counted, reading.where)
