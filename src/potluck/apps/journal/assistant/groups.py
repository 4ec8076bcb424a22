"""Answers by week, month, weekday or tag: which has the most, and which reach a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date

from potluck.apps.journal.assistant.amounts import Sessions, amount_of, values_of
from potluck.apps.journal.assistant.evidence import Answer, TrainingSession
from potluck.apps.journal.assistant.reading import TIMES_OF_DAY, Bounds, Measure, Reading, listed
from potluck.apps.journal.assistant.scope import DAY, AnswerScope, answered, filtered, hard_note, none_found, some_of
from potluck.apps.journal.periods import MONTHS, WEEKDAYS, long_day
from potluck.apps.journal.times import first_of_month, first_of_week

MOST_GROUPS_NAMED = 12
MOST_TAGS = 5
MOST_TAGS_NAMED = 20


def key_of(unit: str) -> Callable[[date], tuple[date | int, str]]:
    def month(day: date) -> tuple[date | int, str]:
        return first_of_month(day), f"{MONTHS[day.month - 1].capitalize()} {day.year}"

    def week(day: date) -> tuple[date | int, str]:
        monday = first_of_week(day)
        return monday, f"the week of {long_day(monday)}"

    def quarter(day: date) -> tuple[date | int, str]:
        first = (day.month - 1) // 3 * 3 + 1
        return date(day.year, first, 1), f"Q{first // 3 + 1} {day.year}"

    names: dict[str, Callable[[date], tuple[date | int, str]]] = {
        "month": month,
        "week": week,
        "quarter": quarter,
        "year": lambda day: (date(day.year, 1, 1), str(day.year)),
        "weekday": lambda day: (day.weekday(), f"{WEEKDAYS[day.weekday()].capitalize()}s"),
        "day": lambda day: (day, long_day(day)),
        "part of the week": lambda day: (day.weekday() // 5, "weekends" if day.weekday() >= 5 else "weekdays"),
    }
    return names[unit]


def grouped(sessions: Sessions, unit: str) -> list[tuple[str, list[TrainingSession]]]:
    """The sessions by week, month and so on, the earliest first."""
    groups: dict[tuple[date | int, str], list[TrainingSession]] = {}
    times = [*TIMES_OF_DAY]
    for session in sessions:
        by_time = unit == "time of day"
        key = (times.index(session.time), f"the {TIMES_OF_DAY[session.time]}") if by_time else key_of(unit)(session.day)
        groups.setdefault(key, []).append(session)
    return [(name, groups[place, name]) for place, name in sorted(groups, key=lambda group: group[0])]


def groups(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    measure: Measure = "sessions" if reading.measure == "days" else reading.measure
    groups = grouped(sessions, reading.unit)
    if reading.least and reading.unit in ("day", "week", "month", "quarter", "year") and measure != "intensity":
        groups = _with_empty(groups, reading.unit, scope)
    elif reading.least and reading.unit == "weekday" and measure != "intensity":
        names = [f"{day.capitalize()}s" for day in WEEKDAYS]
        had = dict(groups)
        groups = [(name, had.get(name, [])) for name in names]
    note = ""
    if reading.least and measure != "intensity" and reading.unit in ("week", "month", "quarter", "year"):
        groups, note = _complete(groups, reading.unit, scope, is_cut=True)
    average = reading.average and measure in ("minutes", "rounds")
    amounts = sorted((amount_of(measure, some, average) for _, some in groups), reverse=not reading.least)
    if reading.number > len(amounts):
        return answered(
            f"There are only {len(amounts)}{scope.words}: {listed([name for name, _ in groups])}.", sessions
        )
    best = amounts[reading.number - 1]
    winners = [(name, some) for name, some in groups if amount_of(measure, some, average) == best]
    order = "lowest" if reading.least else "highest"
    about = {"intensity": f"the {order} average intensity"}.get(
        measure,
        f"the {order} average"
        if average
        else f"the {'fewest' if reading.least else 'most'} {'minutes' if measure in ('minutes', 'much') else measure}",
    )
    values = dict(
        zip((name for name, _ in groups), values_of(measure, [some for _, some in groups], average), strict=True)
    )
    if reading.number > 1:
        about = f"number {reading.number} from {about}"
    names = [name for name, _ in winners]
    named = listed(some_of(names, MOST_GROUPS_NAMED))
    statement = (
        f"{named[:1].upper()}{named[1:]}: {about}{filtered(reading.where)}{scope.words}, with {values[names[0]]}.{note}"
    )
    if 1 < len(groups) <= MOST_GROUPS_NAMED + 1:
        statement += f" All: {', '.join(f'{name} {value}' for name, value in values.items())}."
    return answered(
        f"{statement}{hard_note(reading)}",
        [session for _, some in winners for session in some] or sessions,
        reading.where,
    )


def having(reading: Reading, scope: AnswerScope) -> Answer:
    """How many weeks or months reach a number, and which."""
    goal = reading.goal or Bounds(1, None)
    parts, note = grouped(scope.counted, reading.unit), ""
    if 0 in goal or goal.low is None:
        # The current week may have few sessions because it is not over.
        parts, note = _complete(_whole_units(reading, scope), reading.unit, scope)
    reached = [(name, some) for name, some in parts if round(amount_of(reading.measure, some)) in goal]
    name = {"minutes": "minutes of training", "rounds": "rounds", "days": "days of training"}.get(
        reading.measure, "sessions"
    )
    bounds = goal.words(name) if goal != Bounds(1, None) else "a session"
    bounds = {"1 sessions": "with 1 session", "0 sessions": "without a session"}.get(bounds, f"with {bounds}")
    if reading.every:
        return _every(reading, scope, [name for name, _ in reached], note)
    kind = f"{reading.unit}{'' if len(reached) == 1 else 's'} {bounds}{filtered(reading.where)}{scope.words}"
    if not reached:
        return Answer(f"No {reading.unit} {bounds}{filtered(reading.where)}{scope.words}.{note}")
    named = listed(some_of([name for name, _ in reversed(reached)], MOST_GROUPS_NAMED))
    yes = "Yes: " if reading.asks_whether else ""
    statement = f"{yes}{len(reached):,} {kind}: {named}.{note}{hard_note(reading)}"
    return answered(statement, [session for _, some in reversed(reached) for session in some], reading.where)


def _whole_units(reading: Reading, scope: AnswerScope) -> list[tuple[str, list[TrainingSession]]]:
    """The weeks or months that overlap the period, each whole: sessions outside the period count for them, too."""
    key = key_of(reading.unit)
    names = dict.fromkeys(key(scope.first + number * DAY)[1] for number in range(scope.days))
    counted = [session for session in scope.everything if session.counts(reading.where)]
    had = dict(grouped(counted, reading.unit))
    return [(name, had.get(name, [])) for name in names]


def _every(reading: Reading, scope: AnswerScope, empty: list[str], note: str) -> Answer:
    """Whether each week or month has a session, and which have none."""
    what = f"a session{filtered(reading.where)}{scope.words}"
    if not empty:
        return answered(f"Yes: each {reading.unit} has {what}.{note}", scope.counted, reading.where)
    named = listed(some_of([*reversed(empty)], MOST_GROUPS_NAMED))
    units = f"{reading.unit}{'' if len(empty) == 1 else 's'}"
    return answered(f"No: {len(empty):,} {units} without {what}: {named}.{note}", scope.counted, reading.where)


def _complete(
    groups: list[tuple[str, list[TrainingSession]]], unit: str, scope: AnswerScope, is_cut: bool = False
) -> tuple[list[tuple[str, list[TrainingSession]]], str]:
    """The groups without an incomplete first or last one, and a sentence that says so."""
    key = key_of(unit)
    begun, today = scope.everything[-1].day, scope.today
    cut: dict[str, str] = {}
    if scope.first <= begun and key(begun)[1] == key(begun - DAY)[1]:
        cut[key(begun)[1]] = f"the first session that I can read is on {long_day(begun)}"
    if scope.words:
        # Groups that the period cuts off are not meant.
        for edge, beyond in ((scope.first, -DAY), (scope.last, DAY)):
            if len(groups) > 2 and unit != "day" and key(edge)[1] == key(edge + beyond)[1] and is_cut:
                cut[key(edge)[1]] = "only partly in that time"
    if key(today)[1] == key(today + DAY)[1]:
        cut[key(today)[1]] = "not over yet"
    left_out = [f"{name} ({cut[name]})" for name, _ in groups if name in cut]
    whole = [group for group in groups if group[0] not in cut]
    if not left_out or not whole:
        return groups, ""
    return whole, f" Left out as incomplete: {listed(left_out)}."


def _with_empty(
    groups: list[tuple[str, list[TrainingSession]]], unit: str, scope: AnswerScope
) -> list[tuple[str, list[TrainingSession]]]:
    """The groups, including empty ones in between."""
    key, had = key_of(unit), dict(groups)
    names = dict.fromkeys(key(scope.first + number * DAY)[1] for number in range(scope.days))
    return [(name, had.get(name, [])) for name in names]


def tags(reading: Reading, scope: AnswerScope) -> Answer:
    tags: Counter[str] = Counter()
    names: dict[str, str] = {}
    for session in scope.counted:
        for tag in session.entry.metrics.tags:
            names.setdefault(tag.casefold(), tag)
            tags[tag.casefold()] += 1
    if not tags:
        return Answer(f"No session{scope.words} has a tag.")
    sign = 1 if reading.least else -1
    ordered = sorted(tags, key=lambda tag: (sign * tags[tag], tag))
    if reading.nth:
        return _nth_tag(reading, scope, [(names[tag], tags[tag]) for tag in ordered])
    number = max(MOST_TAGS, reading.number)
    top = [tag for place, tag in enumerate(ordered) if place < number or tags[tag] == tags[ordered[number - 1]]]
    statement = ", ".join(some_of([f"“{names[tag]}” {tags[tag]}" for tag in top], MOST_TAGS_NAMED))
    which = "least" if reading.least else "most"
    first = [tag for tag in top if tags[tag] == tags[top[0]]]
    cited = [session for session in scope.counted if any(tag.casefold() in first for tag in session.entry.metrics.tags)]
    named = listed(some_of([f"“{names[tag]}”" for tag in first], MOST_TAGS_NAMED))
    return answered(
        f"The {which} used of {len(tags)} tags{scope.words}, with the number of sessions: {statement}."
        f" The entries tagged {named} are cited.",
        cited,
    )


def _nth_tag(reading: Reading, scope: AnswerScope, ordered: list[tuple[str, int]]) -> Answer:
    """The tag at this rank, with all others of the same frequency."""
    if reading.number > len(ordered):
        return answered(f"There are only {len(ordered)} tags{scope.words}.", scope.counted)
    number = ordered[reading.number - 1][1]
    chosen = [name for name, count in ordered if count == number]
    cited = [session for session in scope.counted if {*chosen} & {*session.entry.metrics.tags}]
    named = listed(some_of([f"“{name}”" for name in chosen], MOST_TAGS_NAMED))
    most = ", ".join(f"“{name}” {count}" for name, count in ordered[: max(MOST_TAGS, reading.number)])
    order = "fewest" if reading.least else "most"
    return answered(
        f"{named}: number {reading.number} by the {order} sessions{scope.words}, with {number}. In order: {most}.",
        cited,
    )
