"""Questions that are answered by counting: "how many hours in March", "when did I last train no-gi".

`counting_of` parses the question; `counted` and `last_time` answer it, from the entries they are given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple

from potluck.apps.journal.aggregation import totals_of
from potluck.apps.journal.entities import SessionMetrics
from potluck.apps.journal.journals import SharedEntry
from potluck.apps.journal.times import EARLIEST, first_of_month, first_of_week
from potluck.apps.journal.tokenizer import forms_of, words_in

__all__ = ["STOP_WORDS", "Counting", "counted", "counting_of", "last_time", "long_day", "topic_of"]

Measure = Literal["hours", "minutes", "rounds", "sessions", "intensity", "longest", "last"]

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
# Words that say nothing about a question's topic.
STOP_WORDS = frozenset(
    words_in(
        """a about after again all also am an and any anything are as at average be been before but by can could count
        did do does doing done ever every far for from get go got had has have he her hers him his how i if in into is
        it its just last long longest many matches me mine more most much my myself no not nothing of often on or our
        out over past roll rolled said say says session sessions she should since so some still take than that the their
        them then there they this time times to today total train trained training until up was we week weeks went were
        what when where which who why will with work worked would yesterday you your hour hours minute minutes month
        months year years day days round rounds s t d m re ve ll please tell show give find entry entries journal hard
        intensity spend spent write wrote number"""
    )
)
# What was worn is matched by the metrics, not as a word of the text.
WORN_WORDS = frozenset({"gi", "nogi"})

MEASURES: tuple[tuple[str, Measure], ...] = (
    (r"\bwhen (?:did|was|were|have)\b.*\blast\b|\blast time\b|\bhow long (?:ago|since)\b", "last"),
    (r"\blongest (?:session|training|roll)", "longest"),
    (r"\b(?:average|mean) (?:intensity|effort)\b|\bhow hard\b.*\baverage\b|\bon average\b.*\bhard\b", "intensity"),
    (r"\bhow many hours\b|\bhow much time\b|\bhow long did\b|\bhours (?:did|have|of)\b|\btotal hours\b", "hours"),
    (r"\bhow many minutes\b|\btotal minutes\b", "minutes"),
    (r"\bhow many rounds\b|\btotal rounds\b|\bnumber of rounds\b", "rounds"),
    (r"\bhow (?:often|many times|many sessions|many trainings|many days)\b|\bnumber of sessions\b", "sessions"),
)
# "No-gi" first, because it contains "gi".
WORN = ((re.compile(r"\bno[- ]?gi\b"), "no-gi"), (re.compile(r"\bgi\b"), "gi"))


class Counting(NamedTuple):
    measure: Measure
    first: date
    last: date
    period: str
    """The period in words; empty for all time."""
    worn: str | None
    words: tuple[str, ...]
    """The words that a session must contain, all of them."""

    def counts(self, entry: SharedEntry) -> bool:
        """Whether a session counts, judged by what its reader may see of it."""
        worn = entry.metrics.gi_or_no_gi
        if self.worn is not None and worn not in (self.worn, "both"):
            return False
        has = set(entry.words) if self.words else set()
        return all(has.intersection(forms_of(word)) for word in self.words)


def counting_of(question: str, today: date) -> Counting | None:
    """What to count, and over which days; None if the question does not ask for a count."""
    asked = " ".join(question.casefold().split())
    measure = next((measure for pattern, measure in MEASURES if re.search(pattern, asked)), None)
    if measure is None:
        return None
    first, last, period, rest = _period(asked, today)
    worn = next((name for pattern, name in WORN if pattern.search(asked)), None)
    words = tuple(each for each in topic_of(rest) if each not in WORN_WORDS)
    return Counting(measure, first, last, period, worn, words)


def topic_of(question: str) -> tuple[str, ...]:
    """The words that a question is about."""
    return tuple(dict.fromkeys(word for word in words_in(question) if word not in STOP_WORDS and len(word) > 1))


def _period(asked: str, today: date) -> tuple[date, date, str, str]:
    """The period that is meant, its name, and the question without it."""
    for pattern, days in PERIODS:
        found = re.search(pattern, asked)
        if found is not None:
            first, last = days(found, today)
            rest = asked[: found.start()] + " " + asked[found.end() :]
            return first, last, _said(first, last), rest
    return EARLIEST, today, "", asked


def _month(found: re.Match[str], today: date) -> tuple[date, date]:
    month = MONTHS.index(found["month"]) + 1
    year = int(found["year"]) if found["year"] else today.year if month <= today.month else today.year - 1
    return _whole_month(date(year, month, 1))


def _whole_month(first: date) -> tuple[date, date]:
    return first, first_of_month(first + timedelta(days=31)) - timedelta(days=1)


def _since(found: re.Match[str], today: date) -> tuple[date, date]:
    return _month(found, today)[0], today


def _year(found: re.Match[str], today: date) -> tuple[date, date]:
    year = int(found["year"])
    return date(year, 1, 1), date(year, 12, 31)


def _past(found: re.Match[str], today: date) -> tuple[date, date]:
    number = min(int(found["number"]), 3_650)
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[found["unit"]]
    return max(EARLIEST, today - timedelta(days=number * days - 1)), today


def _this_or_last(found: re.Match[str], today: date) -> tuple[date, date]:
    before = found["which"] != "this"
    if found["unit"] == "week":
        monday = first_of_week(today) - timedelta(days=7 * before)
        return monday, monday + timedelta(days=6)
    if found["unit"] == "month":
        month = first_of_month(today)
        return _whole_month(first_of_month(month - timedelta(days=1)) if before else month)
    return date(today.year - before, 1, 1), date(today.year - before, 12, 31)


def _today(found: re.Match[str], today: date) -> tuple[date, date]:
    return today, today


def _yesterday(found: re.Match[str], today: date) -> tuple[date, date]:
    return (today - timedelta(days=1),) * 2


OF_MONTH = rf"(?P<month>{'|'.join(MONTHS)})(?: of)?(?: (?P<year>(?:19|20)\d\d))?\b"
PERIODS = (
    (rf"\bsince {OF_MONTH}", _since),
    (rf"\b(?:in|of|during|for) {OF_MONTH}", _month),
    (r"\b(?:in|of|during|for) (?P<year>(?:19|20)\d\d)\b", _year),
    (r"\b(?:last|past) (?P<number>\d{1,4}) (?P<unit>day|week|month|year)s?\b", _past),
    (r"\b(?P<which>this|last) (?P<unit>week|month|year)\b", _this_or_last),
    (r"\btoday\b", _today),
    (r"\byesterday\b", _yesterday),
)


# --- the answers ------------------------------------------------------------------------------------------------------


def counted(asked: Counting, entries: Sequence[SharedEntry]) -> str:
    """The answer, given all entries of the period."""
    metrics = [each.metrics for each in entries if asked.counts(each)]
    about = _about(asked)
    if not metrics:
        return f"No session{about}."
    total = totals_of(metrics)
    sessions = _several(total.sessions, "session")
    match asked.measure:
        case "hours":
            said = f"{_hours(total.minutes)} in {sessions}{about}"
        case "minutes":
            said = f"{_several(total.minutes, 'minute')} in {sessions}{about}"
        case "rounds":
            said = f"{_several(total.rounds, 'round')} in {sessions}{about}"
        case "intensity":
            said = f"{_average(metrics)} of 10 on average, over {sessions}{about}"
        case "longest":
            longest = max(each.duration_minutes for each in metrics)
            said = f"{_several(longest, 'minute')} was the longest of {sessions}{about}"
        case _:
            said = f"{sessions}{about}"
    return f"{said}. Counted from the numbers."


def last_time(asked: Counting, found: SharedEntry | None, day: date | None) -> str:
    """The answer to when it last was, if ever."""
    if found is None or day is None:
        return f"No session{_about(asked)}."
    metrics = found.metrics
    long = f"{_several(metrics.duration_minutes, 'minute')}, {_several(metrics.rounds, 'round')}"
    return f"On {long_day(day)}{_about(asked._replace(period=''))}: {long}, {metrics.intensity} of 10."


def long_day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _about(asked: Counting) -> str:
    worn = "" if asked.worn is None else f" in {'the gi' if asked.worn == 'gi' else 'no-gi'}"
    words = f" with “{' '.join(asked.words)}”" if asked.words else ""
    return f"{worn}{words}{asked.period}"


def _said(first: date, last: date) -> str:
    if first == last:
        return f" on {long_day(first)}"
    if first == EARLIEST:
        return ""
    return f" from {long_day(first)} to {long_day(last)}"


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02}" if rest else f"{hours} h"


def _several(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def _average(metrics: Sequence[SessionMetrics]) -> str:
    return f"{sum(each.intensity for each in metrics) / len(metrics):.1f}"
