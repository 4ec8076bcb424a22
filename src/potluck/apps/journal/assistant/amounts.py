"""Sums and averages, and how answers write them: with as many decimals as it takes to tell them apart."""

from __future__ import annotations

from collections.abc import Sequence

from potluck.apps.journal.assistant.evidence import TrainingSession
from potluck.apps.journal.assistant.reading import Measure
from potluck.apps.journal.quantities import several

Sessions = Sequence[TrainingSession]
AVERAGED: tuple[Measure, ...] = ("minutes", "rounds", "load")
"""Measures that have a sum and an average per session."""
UNIT_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "quarter": 365.25 / 4, "year": 365.25}


def hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02}" if rest else f"{hours} h"


def decimal(number: float) -> str:
    return f"{number:.1f}"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def facts(session: TrainingSession) -> str:
    metrics = session.entry.metrics
    worn = {"gi": "gi", "no-gi": "no-gi", "both": "gi and no-gi"}[metrics.gi_or_no_gi]
    rounds = several(metrics.rounds, "round")
    return f"{metrics.duration_minutes} minutes, {rounds}, intensity {metrics.intensity}, {worn}"


def minutes_of(sessions: Sessions) -> int:
    return sum(session.entry.metrics.duration_minutes for session in sessions)


def rounds_of(sessions: Sessions) -> int:
    return sum(session.entry.metrics.rounds for session in sessions)


def load_of(sessions: Sessions) -> int:
    return sum(session.entry.metrics.duration_minutes * session.entry.metrics.intensity for session in sessions)


def intensity_of(sessions: Sessions) -> float:
    return sum(session.entry.metrics.intensity for session in sessions) / len(sessions)


def amount_of(measure: Measure, sessions: Sessions, average: bool = False) -> float:
    """The exact number, for comparisons; answers show it rounded."""
    divisor = max(1, len(sessions)) if average else 1
    match measure:
        case "minutes" | "much":
            return minutes_of(sessions) / divisor
        case "rounds":
            return rounds_of(sessions) / divisor
        case "intensity":
            return intensity_of(sessions) if sessions else 0
        case "load":
            return load_of(sessions) / divisor
        case "days":
            return len({session.day for session in sessions})
    return len(sessions)


def values_of(measure: Measure, groups: Sequence[Sessions], average: bool = False) -> list[str]:
    """The numbers as answers write them, with enough decimals that different ones look different."""
    digits = digits_of(measure, [amount_of(measure, group, average) for group in groups if group])
    return [value_of(measure, group, average, digits) for group in groups]


def digits_of(measure: Measure, amounts: Sequence[float]) -> int:
    """The fewest decimals that hide no difference."""
    fewest = 0 if measure in ("minutes", "much") else 1
    different = {*amounts}
    return next(
        (digits for digits in range(fewest, 4) if len({round(one, digits) for one in different}) == len(different)), 4
    )


def value_of(measure: Measure, sessions: Sessions, average: bool = False, digits: int = 1) -> str:
    if not sessions and (average or measure == "intensity"):
        return "no session"
    amount = amount_of(measure, sessions, average)
    match measure:
        case "minutes" | "much":
            return f"{amount:.{digits}f} minutes a session" if average else hours(minutes_of(sessions))
        case "rounds":
            return f"{amount:.{digits}f} rounds a session" if average else several(rounds_of(sessions), "round")
        case "intensity":
            return f"{amount:.{digits}f} of 10 on average"
        case "load":
            return f"a load of {amount:,.0f}"
        case "days":
            return several(round(amount), "day")
    return several(len(sessions), "session")


def all_measures(sessions: Sessions) -> str:
    if not sessions:
        return "no session"
    return (
        f"{several(len(sessions), 'session')}, {hours(minutes_of(sessions))}, {several(rounds_of(sessions), 'round')},"
        f" average intensity {decimal(intensity_of(sessions))}"
    )


def difference(measure: Measure, one: tuple[str, Sessions], other: tuple[str, Sessions], average: bool = False) -> str:
    first, second = amount_of(measure, one[1], average), amount_of(measure, other[1], average)
    if (average or measure == "intensity") and not (one[1] and other[1]):
        return "So there is nothing to compare."
    if first == second:
        return "That is the same."
    more = max((first, one[0]), (second, other[0]), key=lambda pair: pair[0])
    gap = abs(first - second)
    if average or measure == "intensity":
        shown = digits_of(measure, (first, second))
        rounded = abs(round(first, shown) - round(second, shown))
        # The difference of the numbers as shown, or with one more decimal if that differs.
        least = shown + (round(rounded, shown) != round(gap, shown))
        digits = next((count for count in range(least, 4) if round(gap, count)), 4)
        unit = {"minutes": " minutes", "rounds": " rounds"}.get(measure, "")
        return f"That is {gap:.{digits}f}{unit} more {more[1]}."
    amount = {
        "minutes": hours(round(gap)), "rounds": several(round(gap), "round"), "load": f"{gap:,.0f}",
        "days": several(round(gap), "day"),
    }.get(measure, several(round(gap), "session"))  # fmt: skip
    return f"That is {amount} more {more[1]}."
