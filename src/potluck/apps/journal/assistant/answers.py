"""Answers a Reading from sessions: pure, and each sentence says what it is about, so that it is true by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from potluck.apps.journal.assistant.evidence import Answer, Evidence, Remark, TrainingSession
from potluck.apps.journal.assistant.reading import NOTHING, TIMES_OF_DAY, Filter, Measure, Reading, listed
from potluck.apps.journal.assistant.wording import vocabulary
from potluck.apps.journal.periods import MONTHS, WEEKDAYS, Period, long_day, months_before
from potluck.apps.journal.times import EARLIEST, first_of_month, first_of_week

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MOST_QUOTES = 5
MOST_DAYS_NAMED = 31
MOST_GROUPS_NAMED = 12
MOST_TAGS = 5
MOST_TAGS_NAMED = 20
TREND_DAYS = 28

Sessions = Sequence[TrainingSession]


class Journal(NamedTuple):
    """Everything that a question may be answered from, newest first, and the reader's date."""

    sessions: Sessions
    remarks: Sequence[Remark]
    today: date
    within: str = ""
    """Of what this is a part, if not everything: "in what Mara shares"."""


def answer_to(reading: Reading, journal: Journal) -> Answer | None:
    """The answer; None if the journal has nothing to say and a search of the words may do better."""
    found = _answered(reading, journal)
    if found is None or not journal.within or not found.content:
        return found
    return found._replace(content=_scoped(found.content, journal.within))


def answers_to(readings: Sequence[Reading], journal: Journal) -> Answer | None:
    """One answer to all that a question asks; None if a part of it has none."""
    found = [answer for reading in readings if (answer := answer_to(reading, journal)) is not None]
    if len(found) == 1 == len(readings):
        return found[0]
    if len(found) != len(readings) or any(each.closest for each in found):
        return None
    parts = [each.content.partition("\n") for each in found]
    return Answer(
        "\n".join([" ".join(first for first, _, _ in parts), *(rest for _, _, rest in parts if rest)]),
        list(dict.fromkeys(evidence for each in found for evidence in each.evidence)),
        any(each.by_text for each in found),
    )


def _scoped(content: str, within: str) -> str:
    """A negative answer from a part of the journal says so."""
    first, newline, rest = content.partition("\n")
    if re.match(r"(?:No|0|Nothing)\b", first):
        first = f"{within[:1].upper()}{within[1:]}, {first[:1].lower()}{first[1:]}"
    elif re.search(r"\b(?:no|0) (?:session|comment|round|day|hour|min|%|of )|\bwithout\b", first):
        first += f" That is {within}."
    return f"{first}{newline}{rest}"


def _answered(reading: Reading, journal: Journal) -> Answer | None:
    scope = _Scope.of(reading, journal)
    if scope is None:
        assert reading.anchor is not None
        return Answer(f"No session {reading.anchor.of.words}, so there is no time since then.", by_text=True)
    return _ANSWERS[reading.kind](reading, scope)


def with_quotes(said: str, evidence: Sequence[Evidence]) -> str:
    """A sentence with quotes under it, each with its date and author."""
    lines = [f"{_by(each)}: “{each.quote}”" for each in evidence if each.quote]
    return "\n".join([said, *lines])


def _by(evidence: Evidence) -> str:
    day = long_day(evidence.session.day)
    return f"{evidence.author or 'A comment'} on {day}" if evidence.comment_id is not None else day


# --- what counts ------------------------------------------------------------------------------------------------------


class _Scope(NamedTuple):
    """The sessions of the period, and those of them that count."""

    all: Sessions
    counted: Sessions
    remarks: Sequence[Remark]
    """Those that are not hidden."""
    hidden: Sequence[Remark]
    first: date
    """The period's first day, or that of the first session."""
    last: date
    """Its last day, or today."""
    words: str
    """The period, after a blank; empty for all time."""
    today: date
    everything: Sessions

    @classmethod
    def of(cls, reading: Reading, journal: Journal) -> _Scope | None:
        """None if the period is said by a session that there is not."""
        period, words = reading.period, ""
        today = journal.today
        if period is not None:
            words = f" {period.words}{' so far' if period.first <= today < period.last else ''}"
        if reading.anchor is not None:
            found = next((each for each in journal.sessions if each.counts(reading.anchor.of)), None)
            if found is None:
                return None
            after = reading.anchor.side == "after"
            span = Period(found.day + DAY, max(today, found.day + DAY)) if after else Period(EARLIEST, found.day - DAY)
            last_one = f"the last session {reading.anchor.of.words}"
            words += f" {'after' if after else 'before'} {long_day(found.day)}, {last_one}"
            period = span if period is None else Period(max(span.first, period.first), min(span.last, period.last))
        inside = [each for each in journal.sessions if period is None or each.day in period]
        counted = [each for each in inside if each.counts(reading.where)]
        if reading.newest:
            counted = counted[: reading.newest]
            words += ", the latest"
        begun = journal.sessions[-1].day if journal.sessions else today
        first = begun if period is None else max(period.first, begun) if period.first == EARLIEST else period.first
        remarks = [each for each in journal.remarks if period is None or each.session.day in period]
        last = today if period is None else min(period.last, max(today, period.first))
        visible = [each for each in remarks if not each.is_hidden]
        hidden = [each for each in remarks if each.is_hidden]
        return cls(inside, counted, visible, hidden, first, last, words, today, journal.sessions)

    @property
    def days(self) -> int:
        return max(0, (self.last - self.first).days + 1)


def _cited(sessions: Iterable[TrainingSession], where: Filter = NOTHING) -> list[Evidence]:
    """The sessions as evidence; with a quote where they were chosen by their words."""
    return [Evidence(each, each.quote(where) if where.by_text else "") for each in sessions]


def _answer(said: str, sessions: Iterable[TrainingSession], where: Filter = NOTHING) -> Answer:
    return Answer(said, _cited(sessions, where), where.by_text)


def _quoted(said: str, evidence: Sequence[Evidence]) -> Answer:
    return Answer(with_quotes(said, evidence), evidence, by_text=True)


# --- words ------------------------------------------------------------------------------------------------------------


def _several(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02}" if rest else f"{hours} h"


def _decimal(number: float) -> str:
    return f"{number:.1f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _facts(session: TrainingSession) -> str:
    metrics = session.entry.metrics
    worn = {"gi": "gi", "no-gi": "no-gi", "both": "gi and no-gi"}[metrics.gi_or_no_gi]
    rounds = _several(metrics.rounds, "round")
    return f"{metrics.duration_minutes} minutes, {rounds}, intensity {metrics.intensity}, {worn}"


def _minutes(sessions: Sessions) -> int:
    return sum(each.entry.metrics.duration_minutes for each in sessions)


def _rounds(sessions: Sessions) -> int:
    return sum(each.entry.metrics.rounds for each in sessions)


def _load(sessions: Sessions) -> int:
    return sum(each.entry.metrics.duration_minutes * each.entry.metrics.intensity for each in sessions)


def _intensity(sessions: Sessions) -> float:
    return sum(each.entry.metrics.intensity for each in sessions) / len(sessions)


def _worn_note(sessions: Sessions, where: Filter) -> str:
    """How many of the sessions in the gi, or in no-gi, were in both."""
    if where.worn not in ("gi", "no-gi"):
        return ""
    both = sum(each.entry.metrics.gi_or_no_gi == "both" for each in sessions)
    return f" {both} of them {'was' if both == 1 else 'were'} in both gi and no-gi." if both else ""


def _hard_note(reading: Reading) -> str:
    bounds = reading.where.intensity
    if not reading.hard_words or bounds is None:
        return ""
    return f" That takes “{'hard' if bounds.low else 'easy'}” as intensity {bounds.words()}."


def _terms_note(sessions: Sessions, where: Filter) -> str:
    """Where the words were found: as tags, in texts."""
    if len(where.terms) != 1 or where.terms[0].tag_only:
        return ""
    (term,) = where.terms
    tagged = sum(each.tagged(term) for each in sessions)
    written = sum(each.says(term) for each in sessions)
    if not tagged:
        return ""
    return f" {tagged} tagged with it, {written} mention it in their text."


def _notes(reading: Reading, sessions: Sessions) -> str:
    notes = (_terms_note(sessions, reading.where), _worn_note(sessions, reading.where), _hard_note(reading))
    return "".join(notes)


def _sessions_words(number: int, where: Filter) -> str:
    words = f" {where.words}" if where != NOTHING else ""
    return f"{_several(number, 'session')}{words}"


def _none(reading: Reading, scope: _Scope) -> Answer:
    where = f" {reading.where.words}" if reading.where != NOTHING else ""
    if reading.period is not None and reading.period.first > scope.today:
        return Answer(f"No session yet{scope.words}: that is still to come.")
    by_text = reading.where.by_text
    terms = [each for each in reading.where.terms if not each.tag_only]
    if len(terms) > 1 or any(not each.is_clear for each in terms):
        return Answer("", by_text=True, closest=True)
    if by_text and reading.kind == "quotes" and not scope.words:
        return Answer("", by_text=True, closest=True)
    return Answer(
        f"No session{where}{scope.words}.{_hard_note(reading)}",
        by_text=by_text,
        closest=by_text and not reading.where.pain,
    )


# --- sums and averages ------------------------------------------------------------------------------------------------


def _total(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none_near(reading, scope) or _none(reading, scope)
    said = f"{_sessions_words(len(sessions), reading.where)}{scope.words}."
    match reading.measure:
        case "minutes":
            said = f"{_hours(_minutes(sessions))} in {said}"
        case "much":
            said = f"{_hours(_minutes(sessions))} in {said}"
        case "rounds":
            said = f"{_several(_rounds(sessions), 'round')} in {said}"
        case "load":
            said = f"{_load(sessions):,} is the load (minutes times intensity) of {said}"
        case "days":
            days = len({each.day for each in sessions})
            said = (
                f"{_several(days, 'day')} with training{scope.words}: {_sessions_words(len(sessions), reading.where)}."
            )
        case "intensity":
            return _average(reading, scope)
        case _:
            said = f"Yes: {said}" if reading.asks_whether else said
    if reading.goal is not None:
        said = f"{'Yes' if _reached(reading, sessions) else 'No'}: {said}"
    return _answer(f"{said}{_notes(reading, sessions)}", sessions, reading.where)


def _reached(reading: Reading, sessions: Sessions) -> bool:
    """Whether the total is what was asked for; minutes are whole, so that bounds are, too."""
    return reading.goal is not None and round(_amount(reading.measure, sessions)) in reading.goal


def _average(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    over = f"{_sessions_words(len(sessions), reading.where)}{scope.words}"
    match reading.measure:
        case "minutes":
            said = f"{_minutes(sessions) / len(sessions):.0f} minutes is the average length of {over}."
        case "rounds":
            said = f"{_decimal(_rounds(sessions) / len(sessions))} rounds on average, over {over}."
        case _:
            said = f"{_decimal(_intensity(sessions))} of 10 is the average intensity of {over}."
    return _answer(f"{said}{_notes(reading, sessions)}", sessions, reading.where)


_UNIT_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "quarter": 365.25 / 4, "year": 365.25}


def _rate(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    units = scope.days / _UNIT_DAYS[reading.unit]
    if units < 1:
        return _total(reading, scope)
    over = f"from {long_day(scope.first)} to {long_day(scope.last)}"
    counted = _sessions_words(len(sessions), reading.where)
    match reading.measure:
        case "minutes" | "much":
            total, number = _hours(_minutes(sessions)), _hours(round(_minutes(sessions) / units))
            said = f"{number} a {reading.unit} on average: {total} in {counted} {over}"
        case "rounds":
            total = _several(_rounds(sessions), "round")
            said = (
                f"{_decimal(_rounds(sessions) / units)} rounds a {reading.unit} on average: {total} in {counted} {over}"
            )
        case "days":
            days = len({each.day for each in sessions})
            said = f"{_decimal(days / units)} days a {reading.unit} on average: {days} days with training {over}"
        case _:
            said = f"{_decimal(len(sessions) / units)} sessions a {reading.unit} on average: {counted} {over}"
    listing = ""
    if reading.unit in ("month", "year", "quarter", "week"):
        groups = _grouped(sessions, reading.unit)
        if 1 < len(groups) <= MOST_GROUPS_NAMED + 1:
            listing = (
                f" By {reading.unit}: {', '.join(f'{name} {_value(reading.measure, each)}' for name, each in groups)}."
            )
    note = f", {_decimal(units)} {reading.unit}s" if reading.unit != "day" else f", {scope.days} days"
    return _answer(f"{said}{note}.{listing}{_notes(reading, sessions)}", sessions, reading.where)


def _breakdown(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    groups = _grouped(sessions, reading.unit)
    if len(groups) > 60:
        return _average(reading, scope)
    said = ", ".join(f"{name} {_decimal(_intensity(each))}" for name, each in groups)
    return _answer(
        f"{_decimal(_intensity(sessions))} of 10 is the average intensity of"
        f" {_sessions_words(len(sessions), reading.where)}{scope.words}. By {reading.unit}: {said}.",
        sessions,
        reading.where,
    )


def _share(reading: Reading, scope: _Scope) -> Answer:
    if reading.measure == "days" and reading.where == NOTHING:
        days = len({each.day for each in scope.counted})
        over = f"from {long_day(scope.first)} to {long_day(scope.last)}"
        said = f"{_percent(days, scope.days)}: {days} of {_several(scope.days, 'day')} {over} had training."
        return _answer(said, scope.counted)
    if not scope.all:
        return _none(reading._replace(where=NOTHING), scope)
    counted = len(scope.counted)
    sessions = _sessions_words(counted, reading.where)
    said = f"{_percent(counted, len(scope.all))}: {sessions} of {len(scope.all)}{scope.words}."
    return _answer(f"{said}{_notes(reading, scope.counted)}", scope.counted, reading.where)


# --- single sessions --------------------------------------------------------------------------------------------------


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


def _extreme(reading: Reading, scope: _Scope) -> Answer:
    sessions, measure = scope.counted, reading.measure
    if not sessions:
        return _none(reading, scope)
    if measure not in _UNITS:
        measure = "minutes"
    sign = 1 if reading.least else -1
    ordered = sorted(sessions, key=lambda each: (sign * _of(each, measure), -each.day.toordinal()))
    of = f"of {_sessions_words(len(sessions), reading.where)}{scope.words}"
    before, after = _UNITS[measure]
    name = _SUPERLATIVES[measure, reading.least]
    if reading.number > 1:
        chosen = ordered[: reading.number]
        said = "; ".join(f"{long_day(each.day)} with {before}{_of(each, measure)}{after}" for each in chosen)
        least = _of(chosen[-1], measure)
        tied = sum(_of(each, measure) == least for each in ordered[reading.number :])
        note = (
            f" {_several(tied, 'more session')} {'has' if tied == 1 else 'have'} {before}{least}{after}, too."
            if tied
            else ""
        )
        return _answer(f"{name.capitalize()} {of}: {said}.{note}", chosen, reading.where)
    best = _of(ordered[0], measure)
    ties = [each for each in ordered if _of(each, measure) == best]
    if len(ties) == 1:
        said = f"{long_day(ties[0].day)}: {name} {of}, with {_facts(ties[0])}."
    else:
        days = [long_day(each.day) for each in ties[:MOST_QUOTES]]
        days += [f"{len(ties) - MOST_QUOTES} more"] if len(ties) > MOST_QUOTES else []
        said = f"{before.capitalize()}{best}{after}: {name} {of}, shared by {len(ties)} sessions: {listed(days)}."
    return Answer(said, [Evidence(each, each.quote(reading.where)) for each in ties], by_text=True)


def _last(reading: Reading, scope: _Scope) -> Answer:
    if not scope.counted:
        return _none_near(reading, scope) or _none(reading, scope)
    found = scope.counted[0]
    which = f", the last session{_which(reading, scope)}" if reading.where != NOTHING or scope.words else ""
    return _single(f"On {long_day(found.day)}{_ago(found.day, scope.today)}{which}: {_facts(found)}.", found, reading)


def _first(reading: Reading, scope: _Scope) -> Answer:
    if not scope.counted:
        return _none_near(reading, scope) or _none(reading, scope)
    if reading.number > 1:
        chosen = scope.counted[::-1][: reading.number]
        days = listed([long_day(each.day) for each in chosen])
        return _answer(
            f"The first {_sessions_words(len(chosen), reading.where)}{scope.words}: {days}.", chosen, reading.where
        )
    found = scope.counted[-1]
    which = f"the first session{_which(reading, scope)} that I can read"
    return _single(f"On {long_day(found.day)}{_ago(found.day, scope.today)}, {which}: {_facts(found)}.", found, reading)


def _since(reading: Reading, scope: _Scope) -> Answer:
    if not scope.counted:
        return _none_near(reading, scope) or _none(reading, scope)
    found = scope.counted[0]
    days = (scope.today - found.day).days
    ago = {0: "0 days, it was today", 1: "1 day, it was yesterday"}.get(days, _several(days, "day"))
    which = f"the last session{_which(reading, scope)} was on {long_day(found.day)}"
    return _single(f"{ago}: {which}.", found, reading)


def _which(reading: Reading, scope: _Scope) -> str:
    return f"{f' {reading.where.words}' if reading.where != NOTHING else ''}{scope.words}"


def _ago(day: date, today: date) -> str:
    days = (today - day).days
    return {0: ", today", 1: ", yesterday"}.get(days, f", {days} days ago" if days > 0 else "")


def _single(said: str, session: TrainingSession, reading: Reading) -> Answer:
    quote = session.quote(reading.where)
    return _quoted(said, [Evidence(session, quote)])


# --- days -------------------------------------------------------------------------------------------------------------


def _runs(days: Sequence[date], step: timedelta) -> list[list[date]]:
    """The runs without a gap, oldest first."""
    runs: list[list[date]] = []
    for day in days:
        if runs and day - runs[-1][-1] == step:
            runs[-1].append(day)
        else:
            runs.append([day])
    return runs


def _streak(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    weekly = reading.unit == "week"
    start: Callable[[date], date] = first_of_week if weekly else lambda day: day
    step = WEEK if weekly else DAY
    runs = _runs(sorted({start(each.day) for each in sessions}), step)
    best = max(runs, key=lambda run: (len(run), run[-1]))
    times = sum(len(run) == len(best) for run in runs)
    unit = "week" if weekly else "day"
    running = start(scope.today) - runs[-1][-1] <= step
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    current = runs[-1] if running else []
    chosen = current if reading.current else best
    last = min(best[-1] + (6 * DAY if weekly else timedelta()), scope.today)
    longest = (
        f"{_several(len(best), unit)} in a row is the longest streak{filtered}{scope.words},"
        f" {f'reached {times} times, the latest time ' if times > 1 else ''}from {long_day(best[0])}"
        f" to {long_day(last)}."
    )
    now = (
        f"{_several(len(current), unit)} in a row is the streak{filtered} right now."
        if current
        else (
            f"No streak{filtered} of {unit}s right now: the last session{filtered} was on {long_day(sessions[0].day)}."
        )
    )
    said = f"{now} {longest}" if reading.current else f"{longest} {now}" if scope.last >= scope.today else longest
    if reading.goal is not None:
        goal = reading.goal.low or 0
        reached = [run for run in runs if len(run) in reading.goal]
        wanted = f"{_several(goal, unit)} in a row"
        if not reached:
            return _answer(
                f"No, never {wanted}: {longest}", [each for each in sessions if start(each.day) in best], reading.where
            )
        end = min(reached[-1][-1] + (6 * DAY if weekly else timedelta()), scope.today)
        often = "once" if len(reached) == 1 else f"{len(reached)} times, the latest time"
        said = f"Yes, {wanted} or more {often}, from {long_day(reached[-1][0])} to {long_day(end)}. {longest}"
        chosen = [day for run in reached for day in run]
        return _answer(said, [each for each in sessions if start(each.day) in chosen], reading.where)
    if not weekly:
        weeks = _runs(sorted({first_of_week(each.day) for each in sessions}), WEEK)
        said += f" Counted in weeks with a session, the longest is {_several(max(map(len, weeks)), 'week')}"
        runs_on = first_of_week(scope.today) - weeks[-1][-1] <= WEEK
        said += f", the current one {_several(len(weeks[-1]), 'week')}." if runs_on else "."
    return _answer(said, [each for each in sessions if start(each.day) in (chosen or best)], reading.where)


def _gap(reading: Reading, scope: _Scope) -> Answer:
    days = sorted({each.day for each in scope.counted})
    if len(days) < 2:
        return (
            _none(reading, scope)
            if not days
            else _answer(f"There is one day with training{scope.words}.", scope.counted)
        )
    longest = max(after - before for before, after in pairwise(days))
    breaks = [pair for pair in pairwise(days) if pair[1] - pair[0] == longest]
    before, after = breaks[-1]
    free = (after - before).days - 1
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    said = (
        f"{_several(free, 'day')} without a session{filtered}{scope.words}: between {long_day(before)} and"
        f" {long_day(after)}, the longest break."
    )
    if len(breaks) > 1:
        others = _some([f"{long_day(one)} and {long_day(other)}" for one, other in breaks[:-1]], MOST_QUOTES)
        said += f" As long: between {'; between '.join(others)}."
    ends = {day for pair in breaks for day in pair}
    return _answer(said, [each for each in scope.counted if each.day in ends], reading.where)


def _doubles(reading: Reading, scope: _Scope) -> Answer:
    """The days with two sessions or more."""
    days = Counter(each.day for each in scope.counted)
    doubled = sorted(day for day, number in days.items() if number > 1)
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    if not doubled:
        return Answer(f"No day with two or more sessions{filtered}{scope.words}.", by_text=reading.where.by_text)
    named = listed(_some([long_day(day) for day in reversed(doubled)], MOST_GROUPS_NAMED))
    said = f"{_several(len(doubled), 'day')} with two or more sessions{filtered}{scope.words}: {named}."
    return _answer(said, [each for each in scope.counted if each.day in doubled], reading.where)


def _days_off(reading: Reading, scope: _Scope) -> Answer:
    trained = {each.day for each in scope.counted}
    days = [scope.first + number * DAY for number in range(scope.days)]
    weekdays = reading.where.weekdays
    if reading.where._replace(weekdays=()) != NOTHING:
        return _none(reading, scope)
    days = [day for day in days if not weekdays or day.weekday() in weekdays]
    off = [day for day in days if day not in trained]
    over = f"from {long_day(scope.first)} to {long_day(scope.last)}"
    kind = f" {listed([f'{WEEKDAYS[day].capitalize()}s' for day in weekdays])}" if weekdays else " days"
    said = f"{len(off)} of {len(days)}{kind} {over} were without training"
    if 0 < len(off) <= MOST_DAYS_NAMED:
        named = listed(
            [
                f"{WEEKDAYS[day.weekday()][:3].capitalize()} {day.day} {MONTHS[day.month - 1][:3].capitalize()}"
                for day in off
            ]
        )
        said += f": {named}"
    return _answer(f"{said}.", scope.counted)


# --- comparisons ------------------------------------------------------------------------------------------------------


def _key(unit: str) -> Callable[[date], tuple[date | int, str]]:
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


def _grouped(sessions: Sessions, unit: str) -> list[tuple[str, list[TrainingSession]]]:
    """The sessions by week, month and so on, the earliest first."""
    groups: dict[tuple[date | int, str], list[TrainingSession]] = {}
    times = [*TIMES_OF_DAY]
    for each in sessions:
        by_time = unit == "time of day"
        key = (times.index(each.time), f"the {TIMES_OF_DAY[each.time]}") if by_time else _key(unit)(each.day)
        groups.setdefault(key, []).append(each)
    return [(name, groups[place, name]) for place, name in sorted(groups, key=lambda each: each[0])]


def _amount(measure: Measure, sessions: Sessions, average: bool = False) -> float:
    """The exact number that is compared; what is shown of it is rounded."""
    each = max(1, len(sessions)) if average else 1
    match measure:
        case "minutes" | "much":
            return _minutes(sessions) / each
        case "rounds":
            return _rounds(sessions) / each
        case "intensity":
            return _intensity(sessions) if sessions else 0
        case "load":
            return _load(sessions) / each
        case "days":
            return len({session.day for session in sessions})
    return len(sessions)


def _values(measure: Measure, groups: Sequence[Sessions], average: bool = False) -> list[str]:
    """The numbers in words, with so many decimals that different ones look different."""
    digits = _digits(measure, [_amount(measure, each, average) for each in groups if each])
    return [_value(measure, each, average, digits) for each in groups]


def _digits(measure: Measure, amounts: Sequence[float]) -> int:
    """The fewest decimals that hide no difference."""
    fewest = 0 if measure in ("minutes", "much") else 1
    different = {*amounts}
    return next(
        (each for each in range(fewest, 4) if len({round(one, each) for one in different}) == len(different)), 4
    )


def _value(measure: Measure, sessions: Sessions, average: bool = False, digits: int = 1) -> str:
    if not sessions and (average or measure == "intensity"):
        return "no session"
    amount = _amount(measure, sessions, average)
    match measure:
        case "minutes" | "much":
            return f"{amount:.{digits}f} minutes a session" if average else _hours(_minutes(sessions))
        case "rounds":
            return f"{amount:.{digits}f} rounds a session" if average else _several(_rounds(sessions), "round")
        case "intensity":
            return f"{amount:.{digits}f} of 10 on average"
        case "load":
            return f"a load of {amount:,.0f}"
        case "days":
            return _several(round(amount), "day")
    return _several(len(sessions), "session")


def _groups(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    measure: Measure = "sessions" if reading.measure == "days" else reading.measure
    groups = _grouped(sessions, reading.unit)
    if reading.least and reading.unit in ("day", "week", "month", "quarter", "year") and measure != "intensity":
        groups = _with_empty(groups, reading.unit, scope)
    elif reading.least and reading.unit == "weekday" and measure != "intensity":
        names = [f"{day.capitalize()}s" for day in WEEKDAYS]
        had = dict(groups)
        groups = [(name, had.get(name, [])) for name in names]
    note = ""
    if reading.least and measure != "intensity" and reading.unit in ("week", "month", "quarter", "year"):
        groups, note = _complete(groups, reading.unit, scope)
    average = reading.average and measure in ("minutes", "rounds")
    best = (min if reading.least else max)(_amount(measure, each, average) for _, each in groups)
    winners = [(name, each) for name, each in groups if _amount(measure, each, average) == best]
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    order = "lowest" if reading.least else "highest"
    about = {"intensity": f"the {order} average intensity"}.get(
        measure,
        f"the {order} average"
        if average
        else f"the {'fewest' if reading.least else 'most'} {'minutes' if measure in ('minutes', 'much') else measure}",
    )
    values = dict(
        zip((name for name, _ in groups), _values(measure, [each for _, each in groups], average), strict=True)
    )
    names = [name for name, _ in winners]
    named = listed(_some(names, MOST_GROUPS_NAMED))
    said = f"{named[:1].upper()}{named[1:]}: {about}{filtered}{scope.words}, with {values[names[0]]}.{note}"
    if 1 < len(groups) <= MOST_GROUPS_NAMED + 1:
        said += f" All: {', '.join(f'{name} {value}' for name, value in values.items())}."
    return _answer(
        f"{said}{_hard_note(reading)}", [each for _, some in winners for each in some] or sessions, reading.where
    )


def _some(names: Sequence[str], most: int) -> list[str]:
    """The names, or the first of them and how many more there are."""
    return [*names] if len(names) <= most else [*names[:most], f"{len(names) - most} more"]


def _complete(
    groups: list[tuple[str, list[TrainingSession]]], unit: str, scope: _Scope
) -> tuple[list[tuple[str, list[TrainingSession]]], str]:
    """The groups without the first and the last one where days are missing from them, and a sentence that says so."""
    key = _key(unit)
    begun, today = scope.everything[-1].day, scope.today
    cut: dict[str, str] = {}
    if scope.first <= begun and key(begun)[1] == key(begun - DAY)[1]:
        cut[key(begun)[1]] = f"the first session that I can read is on {long_day(begun)}"
    if key(today)[1] == key(today + DAY)[1]:
        cut[key(today)[1]] = "not over yet"
    left_out = [f"{name} ({cut[name]})" for name, _ in groups if name in cut]
    whole = [each for each in groups if each[0] not in cut]
    if not left_out or not whole:
        return groups, ""
    return whole, f" Left out as incomplete: {listed(left_out)}."


def _with_empty(
    groups: list[tuple[str, list[TrainingSession]]], unit: str, scope: _Scope
) -> list[tuple[str, list[TrainingSession]]]:
    """The groups with those in between that have no session."""
    key, had = _key(unit), dict(groups)
    names = dict.fromkeys(key(scope.first + number * DAY)[1] for number in range(scope.days))
    return [(name, had.get(name, [])) for name in names]


def _compare(reading: Reading, scope: _Scope) -> Answer:
    periods = list(reading.periods)
    if reading.judges:
        found = _compare(reading._replace(judges=False), scope)
        return found._replace(content=f"I can’t say what is better, but here are the numbers. {found.content}")
    if reading.current:
        periods = [_present(periods[0], scope.today), periods[0]]
    parts = []
    for period in periods:
        inside = [each for each in scope.everything if each.day in period and each.counts(reading.where)]
        so_far = " so far" if period.first <= scope.today < period.last else ""
        parts.append((f"{period.words}{so_far}", inside))
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    measure = reading.measure
    average = reading.average and measure in ("minutes", "rounds", "load")
    values = (
        [_both(each) for _, each in parts]
        if measure == "much"
        else _values(measure, [each for _, each in parts], average)
    )
    said = "; ".join(f"{words}: {value}{filtered}" for (words, _), value in zip(parts, values, strict=True))
    said = f"{said[:1].upper()}{said[1:]}."
    if len(parts) == 2:
        said += f" {_difference('sessions' if measure == 'much' else measure, parts[0], parts[1], average)}"
    summed = measure in ("sessions", "minutes", "rounds", "much") and not average
    if not reading.current and summed and len(parts) > 1:
        whole = [each for _, some in parts for each in some]
        said += f" Together: {_both(whole) if measure == 'much' else _value(measure, whole)}."
    return _answer(f"{said}{_hard_note(reading)}", [each for _, some in parts for each in some], reading.where)


def _both(sessions: Sessions) -> str:
    if not sessions:
        return "no session"
    return (
        f"{_several(len(sessions), 'session')}, {_hours(_minutes(sessions))}, {_several(_rounds(sessions), 'round')},"
        f" average intensity {_decimal(_intensity(sessions))}"
    )


def _difference(measure: Measure, one: tuple[str, Sessions], other: tuple[str, Sessions], average: bool = False) -> str:
    first, second = _amount(measure, one[1], average), _amount(measure, other[1], average)
    if (average or measure == "intensity") and not (one[1] and other[1]):
        return "So there is nothing to compare."
    if first == second:
        return "That is the same."
    more = max((first, one[0]), (second, other[0]), key=lambda each: each[0])
    gap = abs(first - second)
    if average or measure == "intensity":
        shown = _digits(measure, (first, second))
        digits = next((each for each in range(shown, 4) if round(gap, each)), 4)
        unit = {"minutes": " minutes", "rounds": " rounds"}.get(measure, "")
        return f"That is {gap:.{digits}f}{unit} more {more[1]}."
    amount = {
        "minutes": _hours(round(gap)), "rounds": _several(round(gap), "round"), "load": f"{gap:,.0f}",
        "days": _several(round(gap), "day"),
    }.get(measure, _several(round(gap), "session"))  # fmt: skip
    return f"That is {amount} more {more[1]}."


def _present(period: Period, today: date) -> Period:
    """The period of the same kind that today is in."""
    if period.first == period.last:
        return Period(today, today)
    if period.days == 7 and period.first.weekday() == 0:
        return Period(first_of_week(today), first_of_week(today) + 6 * DAY)
    if period.first.day == 1 and (period.last + DAY).day == 1:
        months = (period.last.year - period.first.year) * 12 + period.last.month - period.first.month + 1
        if months in (1, 3, 12):
            first = months_before(first_of_month(today), (today.month - 1) % months)
            return Period(first, months_before(first, -months) - DAY)
    return Period(today - (period.days - 1) * DAY, today)


def _worn(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    worn = Counter(each.entry.metrics.gi_or_no_gi for each in sessions)
    gi, no_gi, both = worn["gi"], worn["no-gi"], worn["both"]
    if reading.measure in ("intensity", "minutes", "rounds"):
        return _worn_by(reading, scope)
    more = "The same number of each." if gi == no_gi else f"{'Gi' if gi > no_gi else 'No-gi'} more often."
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    shares = [_percent(each, len(sessions)) for each in (gi, no_gi)]
    said = (
        f"{more} {gi} gi ({shares[0]}), {no_gi} no-gi ({shares[1]}) and {both} both,"
        f" of {_several(len(sessions), 'session')}{filtered}{scope.words}."
    )
    return _answer(said, sessions, reading.where)


def _worn_by(reading: Reading, scope: _Scope) -> Answer:
    """Hours, rounds or intensity in the gi, in no-gi and in both."""
    groups = [
        (name, some)
        for name in ("gi", "no-gi", "both")
        if (some := [each for each in scope.counted if each.entry.metrics.gi_or_no_gi == name])
    ]
    values = _values(reading.measure, [some for _, some in groups], reading.average)
    parts = [
        f"{name} {value} ({_several(len(some), 'session')})" for (name, some), value in zip(groups, values, strict=True)
    ]
    said = ", ".join(parts)
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    return _answer(f"{said[:1].upper()}{said[1:]}{filtered}{scope.words}.", scope.counted, reading.where)


def _trend(reading: Reading, scope: _Scope) -> Answer:
    today = scope.today
    measure: Measure = "sessions" if reading.measure in ("much", "days") else reading.measure
    now = Period(today - (TREND_DAYS - 1) * DAY, today)
    before = Period(now.first - TREND_DAYS * DAY, now.first - DAY)
    parts = [
        (name, [each for each in scope.counted if each.day in period])
        for name, period in (("in the last 4 weeks", now), ("in the 4 weeks before", before))
    ]
    if not any(each for _, each in parts):
        return Answer(f"No session since {long_day(before.first)}, so there is no trend to see.")
    filtered = f" {reading.where.words}" if reading.where != NOTHING else ""
    values = _values(measure, [each for _, each in parts], reading.average)
    said = "; ".join(f"{name}: {value}{filtered}" for (name, _), value in zip(parts, values, strict=True))
    difference = _difference(measure, parts[0], parts[1], reading.average and measure in ("minutes", "rounds"))
    return _answer(
        f"{said[:1].upper()}{said[1:]}. {difference}", [each for _, some in parts for each in some], reading.where
    )


def _tags(reading: Reading, scope: _Scope) -> Answer:
    tags: Counter[str] = Counter()
    names: dict[str, str] = {}
    for each in scope.counted:
        for tag in each.entry.metrics.tags:
            names.setdefault(tag.casefold(), tag)
            tags[tag.casefold()] += 1
    if not tags:
        return Answer(f"No session{scope.words} has a tag.")
    sign = 1 if reading.least else -1
    ordered = sorted(tags, key=lambda tag: (sign * tags[tag], tag))
    number = max(MOST_TAGS, reading.number)
    top = [tag for place, tag in enumerate(ordered) if place < number or tags[tag] == tags[ordered[number - 1]]]
    said = ", ".join(_some([f"“{names[tag]}” {tags[tag]}" for tag in top], MOST_TAGS_NAMED))
    which = "least" if reading.least else "most"
    first = [tag for tag in top if tags[tag] == tags[top[0]]]
    cited = [each for each in scope.counted if any(tag.casefold() in first for tag in each.entry.metrics.tags)]
    named = listed(_some([f"“{names[tag]}”" for tag in first], MOST_TAGS_NAMED))
    return _answer(
        f"The {which} used tags{scope.words}, with the number of sessions: {said}."
        f" The entries tagged {named} are cited.",
        cited,
    )


# --- texts ------------------------------------------------------------------------------------------------------------


def _summary(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none(reading, scope)
    said = (
        f"{_sessions_words(len(sessions), reading.where)}{scope.words}: {_hours(_minutes(sessions))},"
        f" {_several(_rounds(sessions), 'round')}, average intensity {_decimal(_intensity(sessions))}."
    )
    if 1 < len(sessions) <= MOST_DAYS_NAMED:
        days = dict.fromkeys(long_day(each.day) for each in reversed(sessions))
        said += f" On {listed([*days])}."
    evidence = [Evidence(each, each.quote(reading.where)) for each in sessions]
    quoted = [each for each in evidence if each.quote][:MOST_QUOTES]
    return Answer(with_quotes(f"{said}{_notes(reading, sessions)}", quoted), evidence, by_text=True)


def _quotes(reading: Reading, scope: _Scope) -> Answer | None:
    sessions = scope.counted
    if not sessions:
        return _none_near(reading, scope) or _none(reading, scope)
    evidence = [Evidence(each, each.quote(reading.where)) for each in sessions]
    quoted = [each for each in evidence if each.quote]
    if reading.asks_how:
        return _in_words(reading, scope, quoted)
    found = _mentions(reading, len(sessions), scope)
    newest = f" The newest {MOST_QUOTES} of {len(quoted)} quotes:" if len(quoted) > MOST_QUOTES else ""
    ordered = [*quoted[:MOST_QUOTES], *(each for each in evidence if each not in quoted[:MOST_QUOTES])]
    return Answer(with_quotes(f"{found}{newest}", quoted[:MOST_QUOTES]), ordered, by_text=True)


def _in_words(reading: Reading, scope: _Scope, quoted: Sequence[Evidence]) -> Answer:
    """What the entries say, and no number in front of it."""
    if not quoted:
        return Answer("", by_text=True, closest=True)
    where = reading.where
    about = f"the {where.part}" if where.part else listed([f"“{term.words}”" for term in where.terms] or ["pain"])
    newest = f", the newest {MOST_QUOTES} of {len(quoted)}" if len(quoted) > MOST_QUOTES else ", newest first"
    said = f"What the entries say about {about}{scope.words}{newest}:"
    return Answer(with_quotes(said, quoted[:MOST_QUOTES]), quoted, by_text=True)


def _mentions(reading: Reading, number: int, scope: _Scope) -> str:
    return f"{_sessions_words(number, reading.where)}{scope.words}."


def _none_near(reading: Reading, scope: _Scope) -> Answer | None:
    """Where nothing has all that was looked for: what comes closest, without counting it."""
    where = reading.where
    if not where.by_text:
        return None
    if where.pain and where.part_stem is not None:
        stem = where.part_stem
        near = [
            Evidence(each, sentence.text)
            for each in scope.all
            for sentence in each.sentences
            if sentence.has_part(stem)
        ][:MOST_QUOTES]
        if near:
            return _quoted(f"No session {where.words}{scope.words}. These mention the {where.part}:", near)
    return None


def _pain(reading: Reading, scope: _Scope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return _none_near(reading, scope) or _none(reading, scope)
    evidence = [Evidence(each, each.quote(reading.where)) for each in sessions]
    if reading.asks_how:
        return _in_words(reading, scope, evidence)
    newest = f" The newest {MOST_QUOTES}:" if len(evidence) > MOST_QUOTES else ""
    said = f"{_sessions_words(len(sessions), reading.where)}{scope.words}.{newest}"
    return Answer(with_quotes(said, evidence[:MOST_QUOTES]), evidence, by_text=True)


# --- comments ---------------------------------------------------------------------------------------------------------


def _their(reading: Reading, scope: _Scope) -> tuple[list[Evidence], list[Evidence]]:
    """The comments that were asked about, and all by the same author."""
    theirs = [each for each in scope.remarks if reading.by is None or each.author == reading.by]
    every = [Evidence(each.session, each.comment.body, each.comment.comment_id, each.author) for each in theirs]
    about = [
        Evidence(each.session, quote, each.comment.comment_id, each.author)
        for each in theirs
        if (quote := each.quote(reading.where))
    ]
    return about, every


def _hidden_note(reading: Reading, scope: _Scope) -> str:
    number = sum(reading.by is None or each.author == reading.by for each in scope.hidden)
    return f" {_several(number, 'hidden comment')} {'is' if number == 1 else 'are'} left out." if number else ""


def _comments(reading: Reading, scope: _Scope) -> Answer:
    about, every = _their(reading, scope)
    whose = f" by {reading.by}" if reading.by else ""
    terms = listed([f"“{term.words}”" for term in reading.where.terms]) if reading.where.terms else ""
    hidden = _hidden_note(reading, scope)
    if not about:
        if not every:
            return Answer(f"No comment{whose}{scope.words}.{hidden}", by_text=True)
        if len(reading.where.terms) > 1 or not all(term.is_clear for term in reading.where.terms):
            return _quoted(f"{hidden.lstrip()} The latest comments{whose}{scope.words}:".lstrip(), every[:2])
        said = f"No comment{whose}{scope.words} mentions {terms}.{hidden} The latest:"
        return _quoted(said, every[:2])
    mention = f" that mention{'s' if len(about) == 1 else ''} {terms}" if terms else ""
    if reading.number == 1:
        but = f" ({hidden.strip(' .')})" if hidden else ""
        return _quoted(f"The latest comment{whose}{mention}{scope.words}{but}:", about[:1])
    newest = f" The newest {MOST_QUOTES}:" if len(about) > MOST_QUOTES else ""
    return _quoted(
        f"{_several(len(about), 'comment')}{whose}{mention}{scope.words}.{hidden}{newest}", about[:MOST_QUOTES]
    )


def _comment_count(reading: Reading, scope: _Scope) -> Answer:
    about, _ = _their(reading, scope)
    whose = f" by {reading.by}" if reading.by else ""
    terms = listed([f"“{term.words}”" for term in reading.where.terms]) if reading.where.terms else ""
    mention = f" that mention{'s' if len(about) == 1 else ''} {terms}" if terms else ""
    hidden = _hidden_note(reading, scope)
    if not about:
        return Answer(f"No comment{whose}{mention}{scope.words}.{hidden}", by_text=True)
    return Answer(f"{_several(len(about), 'comment')}{whose}{mention}{scope.words}.{hidden}", about, by_text=True)


def _advice(reading: Reading, scope: _Scope) -> Answer | None:
    """What coaches wrote last, and what the entries say went wrong; no advice of its own."""
    remarks = [
        Evidence(each.session, each.comment.body, each.comment.comment_id, each.author) for each in scope.remarks
    ][:3]
    trouble = [
        Evidence(each, sentence.text)
        for each in scope.counted
        for sentence in each.sentences
        if TROUBLE.intersection(sentence.stems)
    ][: MOST_QUOTES - len(remarks)]
    if not remarks and not trouble:
        return None
    said = f"I only quote, I give no advice.{_hidden_note(reading, scope)}"
    if remarks:
        said += " First what was commented last"
        said += ", then what entries say went wrong:" if trouble else ":"
    else:
        said += " Entries that say what went wrong:"
    return _quoted(said, [*remarks, *trouble])


TROUBLE = vocabulary("lost lose stuck late rush fail struggl problem mistak weak troubl tapp tap")

_ANSWERS: dict[str, Callable[[Reading, _Scope], Answer | None]] = {
    "total": _total, "average": _average, "rate": _rate, "extreme": _extreme, "last": _last, "first": _first,
    "since": _since, "streak": _streak, "gap": _gap, "compare": _compare, "worn": _worn, "share": _share,
    "groups": _groups, "breakdown": _breakdown, "tags": _tags, "days off": _days_off, "summary": _summary,
    "quotes": _quotes, "comments": _comments, "comment count": _comment_count, "pain": _pain, "advice": _advice,
    "trend": _trend, "doubles": _doubles,
}  # fmt: skip
