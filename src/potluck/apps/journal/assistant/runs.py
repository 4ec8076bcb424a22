"""Answers about days: streaks, breaks, days with two sessions, days without any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from itertools import pairwise

from potluck.apps.journal.assistant.amounts import Sessions
from potluck.apps.journal.assistant.evidence import Answer
from potluck.apps.journal.assistant.groups import MOST_GROUPS_NAMED
from potluck.apps.journal.assistant.reading import NOTHING, Bounds, Reading, listed
from potluck.apps.journal.assistant.scope import (
    DAY,
    MOST_QUOTES,
    WEEK,
    AnswerScope,
    answered,
    filtered,
    none_found,
    some_of,
)
from potluck.apps.journal.periods import MONTHS, WEEKDAYS, long_day
from potluck.apps.journal.quantities import several
from potluck.apps.journal.times import first_of_week, runs_of

MOST_DAYS_NAMED = 31


def streak(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    weekly = reading.unit == "week"
    start: Callable[[date], date] = first_of_week if weekly else lambda day: day
    step = WEEK if weekly else DAY
    runs = runs_of(sorted({start(session.day) for session in sessions}), step)
    best = max(runs, key=lambda run: (len(run), run[-1]))
    times = sum(len(run) == len(best) for run in runs)
    unit = "week" if weekly else "day"
    running = start(scope.today) - runs[-1][-1] <= step
    current = runs[-1] if running else []
    chosen = current if reading.current else best
    last = min(best[-1] + (6 * DAY if weekly else timedelta()), scope.today)
    longest = (
        f"{several(len(best), unit)} in a row is the longest streak{filtered(reading.where)}{scope.words},"
        f" {f'reached {times} times, the latest time ' if times > 1 else ''}from {long_day(best[0])}"
        f" to {long_day(last)}."
    )
    now = (
        f"{several(len(current), unit)} in a row is the streak{filtered(reading.where)} right now."
        if current
        else (
            f"No streak{filtered(reading.where)} of {unit}s right now: the last session{filtered(reading.where)}"
            f" was on {long_day(sessions[0].day)}."
        )
    )
    statement = f"{now} {longest}" if reading.current else f"{longest} {now}" if scope.last >= scope.today else longest
    if reading.goal is not None:
        goal = reading.goal.low or 0
        reached = [run for run in runs if len(run) in reading.goal]
        wanted = f"{several(goal, unit)} in a row"
        if not reached:
            return answered(
                f"No, never {wanted}: {longest}",
                [session for session in sessions if start(session.day) in best],
                reading.where,
            )
        end = min(reached[-1][-1] + (6 * DAY if weekly else timedelta()), scope.today)
        often = "once" if len(reached) == 1 else f"{len(reached)} times, the latest time"
        statement = f"Yes, {wanted} or more {often}, from {long_day(reached[-1][0])} to {long_day(end)}. {longest}"
        chosen = [day for run in reached for day in run]
        return answered(statement, [session for session in sessions if start(session.day) in chosen], reading.where)
    if not weekly:
        weeks = runs_of(sorted({first_of_week(session.day) for session in sessions}), WEEK)
        statement += f" Counted in weeks with a session, the longest is {several(max(map(len, weeks)), 'week')}"
        runs_on = first_of_week(scope.today) - weeks[-1][-1] <= WEEK
        statement += f", the current one {several(len(weeks[-1]), 'week')}." if runs_on else "."
    return answered(
        statement, [session for session in sessions if start(session.day) in (chosen or best)], reading.where
    )


def gap(reading: Reading, scope: AnswerScope) -> Answer:
    """The longest break that overlaps the period, or all breaks of a length; breaks are never cut at the period."""
    # An excluded period excludes breaks, not sessions: the sessions at its ends stay.
    left_out = reading.where.outside
    counted = [session for session in scope.everything if session.counts(reading.where._replace(outside=()))]
    days = sorted({session.day for session in counted})
    if len(days) < 2:
        return (
            none_found(reading, scope)
            if not days
            else answered(f"There is one day with training{filtered(reading.where)}.", counted)
        )
    breaks = [
        (before, after)
        for before, after in pairwise([*days, scope.today + DAY])
        if after - before > DAY
        and before < scope.last
        and after > scope.first
        and not any(before < period.last and after > period.first for period in left_out)
    ]
    if reading.goal is not None:
        return _breaks(reading, scope, breaks, counted)
    if not breaks:
        return answered(f"No day without a session{filtered(reading.where)}{scope.words}.", counted)
    longest = max(after - before for before, after in breaks)
    breaks = [pair for pair in breaks if pair[1] - pair[0] == longest]
    statement = (
        f"{several(longest.days - 1, 'day')} without a session{filtered(reading.where)}:"
        f" {_between(breaks[-1], scope)}, the longest break{scope.words}."
    )
    if len(breaks) > 1:
        others = some_of([_between(gap, scope) for gap in breaks[:-1]], MOST_QUOTES)
        statement += f" As long: {'; '.join(others)}."
    ends = {day for pair in breaks for day in pair}
    return answered(statement, [session for session in counted if session.day in ends], reading.where)


def _between(ends: tuple[date, date], scope: AnswerScope) -> str:
    before, after = ends
    return f"since {long_day(before)}" if after > scope.today else f"between {long_day(before)} and {long_day(after)}"


def _breaks(reading: Reading, scope: AnswerScope, breaks: Sequence[tuple[date, date]], counted: Sessions) -> Answer:
    goal = reading.goal or Bounds(1, None)
    reached = [pair for pair in breaks if (pair[1] - pair[0]).days - 1 in goal]
    what = f"of {goal.words('days')} without a session{filtered(reading.where)}{scope.words}"
    if not reached:
        return Answer(f"No break {what}.")
    named = [f"{_between(pair, scope)} ({(pair[1] - pair[0]).days - 1} days)" for pair in reversed(reached)]
    ends = {day for pair in reached for day in pair}
    statement = f"{'Yes: ' if reading.asks_whether else ''}{several(len(reached), 'break')} {what}"
    return answered(
        f"{statement}: {'; '.join(some_of(named, MOST_GROUPS_NAMED))}.",
        [session for session in counted if session.day in ends],
        reading.where,
    )


def doubles(reading: Reading, scope: AnswerScope) -> Answer:
    """The days with two sessions or more."""
    days = Counter(session.day for session in scope.counted)
    doubled = sorted(day for day, number in days.items() if number > 1)
    if not doubled:
        return Answer(
            f"No day with two or more sessions{filtered(reading.where)}{scope.words}.", by_text=reading.where.by_text
        )
    named = listed(some_of([long_day(day) for day in reversed(doubled)], MOST_GROUPS_NAMED))
    statement = (
        f"{several(len(doubled), 'day')} with two or more sessions{filtered(reading.where)}{scope.words}: {named}."
    )
    return answered(statement, [session for session in scope.counted if session.day in doubled], reading.where)


def days_off(reading: Reading, scope: AnswerScope) -> Answer:
    trained = {session.day for session in scope.counted}
    days = [scope.first + number * DAY for number in range(scope.days)]
    weekdays = reading.where.weekdays
    if reading.where._replace(weekdays=()) != NOTHING:
        return none_found(reading, scope)
    days = [day for day in days if not weekdays or day.weekday() in weekdays]
    off = [day for day in days if day not in trained]
    over = f"from {long_day(scope.first)} to {long_day(scope.last)}"
    kind = f" {listed([f'{WEEKDAYS[day].capitalize()}s' for day in weekdays])}" if weekdays else " days"
    statement = f"{len(off)} of {len(days)}{kind} {over} were without training"
    if 0 < len(off) <= MOST_DAYS_NAMED:
        named = listed(
            [
                f"{WEEKDAYS[day.weekday()][:3].capitalize()} {day.day} {MONTHS[day.month - 1][:3].capitalize()}"
                for day in off
            ]
        )
        statement += f": {named}"
    return answered(f"{statement}.", scope.counted)
