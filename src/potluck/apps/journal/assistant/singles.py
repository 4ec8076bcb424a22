"""Answers that are single sessions: the longest, the last, the third."""

from __future__ import annotations

from datetime import date

from potluck.apps.journal.assistant.amounts import Sessions, facts
from potluck.apps.journal.assistant.evidence import Answer, Evidence, TrainingSession
from potluck.apps.journal.assistant.reading import NOTHING, Measure, Reading, listed
from potluck.apps.journal.assistant.scope import (
    MOST_QUOTES,
    AnswerScope,
    answered,
    filtered,
    none_found,
    none_near,
    quoted,
    sessions_words,
    some_of,
)
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.quantities import several


def _of(session: TrainingSession, measure: Measure) -> int:
    metrics = session.entry.metrics
    return {"minutes": metrics.duration_minutes, "rounds": metrics.rounds}.get(measure, metrics.intensity)


_SUPERLATIVES = {
    ("minutes", False): "the longest", ("minutes", True): "the shortest", ("intensity", False): "the hardest",
    ("intensity", True): "the easiest", ("rounds", False): "the most rounds", ("rounds", True): "the fewest rounds",
}  # fmt: skip


_UNITS: dict[Measure, tuple[str, str]] = {
    "minutes": ("", " minutes"), "rounds": ("", " rounds"), "intensity": ("intensity ", ""),
}  # fmt: skip


def extreme(reading: Reading, scope: AnswerScope) -> Answer:
    sessions, measure = scope.counted, reading.measure
    if not sessions:
        return none_found(reading, scope)
    if measure not in _UNITS:
        measure = "minutes"
    sign = 1 if reading.least else -1
    ordered = sorted(sessions, key=lambda session: (sign * _of(session, measure), -session.day.toordinal()))
    of = f"of {sessions_words(len(sessions), reading.where)}{scope.words}"
    before, after = _UNITS[measure]
    name = _SUPERLATIVES[measure, reading.least]
    if reading.nth:
        if reading.number > len(ordered):
            return answered(f"There are only {sessions_words(len(ordered), reading.where)}{scope.words}.", ordered)
        value = _of(ordered[reading.number - 1], measure)
        ties = [session for session in ordered if _of(session, measure) == value]
        named = listed(some_of([long_day(session.day) for session in ties], MOST_QUOTES))
        shared = f", shared by {several(len(ties), 'session')}" if len(ties) > 1 else ""
        statement = f"{named}: number {reading.number} from {name} {of}, with {before}{value}{after}{shared}."
        return answered(statement, ties, reading.where)
    if reading.number > 1:
        chosen = ordered[: reading.number]
        statement = "; ".join(
            f"{long_day(session.day)} with {before}{_of(session, measure)}{after}" for session in chosen
        )
        least = _of(chosen[-1], measure)
        tied = sum(_of(session, measure) == least for session in ordered[reading.number :])
        note = (
            f" {several(tied, 'more session')} {'has' if tied == 1 else 'have'} {before}{least}{after}, too."
            if tied
            else ""
        )
        return answered(f"{name.capitalize()} {of}: {statement}.{note}", chosen, reading.where)
    best = _of(ordered[0], measure)
    ties = [session for session in ordered if _of(session, measure) == best]
    if len(ties) == 1:
        statement = f"{long_day(ties[0].day)}: {name} {of}, with {facts(ties[0])}."
        if reading.asks_how:
            return _single(statement, ties[0], reading)
    else:
        days = some_of([long_day(session.day) for session in ties], MOST_QUOTES)
        statement = f"{before.capitalize()}{best}{after}: {name} {of}, shared by {len(ties)} sessions: {listed(days)}."
    return Answer(statement, [Evidence(session, session.quote(reading.where)) for session in ties], by_text=True)


def last(reading: Reading, scope: AnswerScope) -> Answer:
    if not scope.counted:
        return none_near(reading, scope) or none_found(reading, scope)
    if reading.nth:
        return _numbered(reading, scope, scope.counted, "last")
    session = scope.counted[0]
    which = f", the last session{_which(reading, scope)}" if reading.where != NOTHING or scope.words else ""
    return _single(
        f"On {long_day(session.day)}{_ago(session.day, scope.today)}{which}: {facts(session)}.", session, reading
    )


def first(reading: Reading, scope: AnswerScope) -> Answer:
    if not scope.counted:
        return none_near(reading, scope) or none_found(reading, scope)
    if reading.nth:
        return _numbered(reading, scope, scope.counted[::-1], "first")
    session = scope.counted[-1]
    which = f"the first session{_which(reading, scope)} that I can read"
    return _single(
        f"On {long_day(session.day)}{_ago(session.day, scope.today)}, {which}: {facts(session)}.", session, reading
    )


def _numbered(reading: Reading, scope: AnswerScope, sessions: Sessions, end: str) -> Answer:
    """The session with this number, counted from the first or backwards from the last."""
    if reading.number > len(sessions):
        counted = sessions_words(len(sessions), reading.where)
        return answered(f"There are only {counted}{scope.words}.", sessions, reading.where)
    session = sessions[reading.number - 1]
    order = f"number {reading.number} of {sessions_words(len(sessions), reading.where)}{scope.words}"
    counted_from = "" if end == "first" else ", counted back from the last"
    return _single(f"On {long_day(session.day)}, {order}{counted_from}: {facts(session)}.", session, reading)


def since(reading: Reading, scope: AnswerScope) -> Answer:
    if not scope.counted:
        return none_near(reading, scope) or none_found(reading, scope)
    session = scope.counted[0]
    days = (scope.today - session.day).days
    ago = {0: "0 days, it was today", 1: "1 day, it was yesterday"}.get(days, several(days, "day"))
    which = f"the last session{_which(reading, scope)} was on {long_day(session.day)}"
    return _single(f"{ago}: {which}.", session, reading)


def _which(reading: Reading, scope: AnswerScope) -> str:
    return f"{filtered(reading.where)}{scope.words}"


def _ago(day: date, today: date) -> str:
    days = (today - day).days
    return {0: ", today", 1: ", yesterday"}.get(days, f", {days} days ago" if days > 0 else "")


def _single(statement: str, session: TrainingSession, reading: Reading) -> Answer:
    if reading.asks_how:
        return quoted(statement, [Evidence(session, text) for text in session.entry.texts if text])
    return quoted(statement, [Evidence(session, session.quote(reading.where))])
