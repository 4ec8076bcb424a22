"""Which sessions an answer is about, and how it says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from potluck.apps.journal.assistant.amounts import Sessions, several
from potluck.apps.journal.assistant.evidence import Answer, Evidence, Remark, TrainingSession
from potluck.apps.journal.assistant.mentions import NEEDS_PAIN
from potluck.apps.journal.assistant.reading import NOTHING, Filter, Reading, listed
from potluck.apps.journal.periods import Period, long_day
from potluck.apps.journal.times import EARLIEST

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MOST_QUOTES = 5


def filtered(where: Filter) -> str:
    """The filter in words, after a blank; empty if there is none."""
    return f" {where.words}" if where != NOTHING else ""


class Journal(NamedTuple):
    """Everything that a question may be answered from, newest first, and the reader's date."""

    sessions: Sessions
    remarks: Sequence[Remark]
    today: date
    within: str = ""
    """Of what this is a part, if not everything: "in what Mara shares"."""


class AnswerScope(NamedTuple):
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
    def of(cls, reading: Reading, journal: Journal) -> AnswerScope | None:
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
            length = reading.anchor.days
            if length is not None:
                ends = (
                    (found.day + DAY, found.day + length * DAY)
                    if after
                    else (found.day - length * DAY, found.day - DAY)
                )
                span = Period(*ends)
            last_one = f"the last session {reading.anchor.of.words}"
            days = "" if length is None else f" in the {several(length, 'day')}"
            words += f"{days} {'after' if after else 'before'} {long_day(found.day)}, {last_one}"
            period = span if period is None else Period(max(span.first, period.first), min(span.last, period.last))
        inside = [each for each in journal.sessions if period is None or each.day in period]
        if reading.among:
            inside = inside[: reading.among]
            words += f" among the latest {several(len(inside), 'session')}"
        counted = [each for each in inside if each.counts(reading.where)]
        if reading.newest:
            counted = counted[: reading.newest]
            words += ", the latest"
        elif reading.oldest:
            counted = counted[-reading.oldest :]
            words += ", the first"
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


def evidence_of(sessions: Iterable[TrainingSession], where: Filter = NOTHING) -> list[Evidence]:
    """The sessions as evidence; with a quote where they were chosen by their words."""
    return [Evidence(each, each.quote(where) if where.by_text else "") for each in sessions]


def answered(said: str, sessions: Iterable[TrainingSession], where: Filter = NOTHING) -> Answer:
    return Answer(said, evidence_of(sessions, where), where.by_text)


def quoted(said: str, evidence: Sequence[Evidence]) -> Answer:
    return Answer(with_quotes(said, evidence), evidence, by_text=True)


def with_quotes(said: str, evidence: Sequence[Evidence]) -> str:
    """A sentence with quotes under it, each with its date and author."""
    lines = [f"{_by(each)}: “{each.quote}”" for each in evidence if each.quote]
    return "\n".join([said, *lines])


def _by(evidence: Evidence) -> str:
    day = long_day(evidence.session.day)
    return f"{evidence.author or 'A comment'} on {day}" if evidence.comment_id is not None else day


def worn_note(sessions: Sessions, where: Filter) -> str:
    """How many of the sessions in the gi, or in no-gi, were in both."""
    if where.worn not in ("gi", "no-gi"):
        return ""
    both = sum(each.entry.metrics.gi_or_no_gi == "both" for each in sessions)
    return f" {both} of them {'was' if both == 1 else 'were'} in both gi and no-gi." if both else ""


def hard_note(reading: Reading) -> str:
    bounds = reading.where.intensity
    if not reading.hard_words or bounds is None:
        return ""
    return f" That takes “{'hard' if bounds.low else 'easy'}” as intensity {bounds.words()}."


def terms_note(sessions: Sessions, where: Filter) -> str:
    """Where the words were found: as tags, in texts."""
    if len(where.terms) != 1 or where.terms[0].tag_only:
        return ""
    (term,) = where.terms
    tagged = sum(each.tagged(term) for each in sessions)
    written = sum(each.says(term) for each in sessions)
    if not tagged:
        return ""
    return f" {tagged} tagged with it, {written} mention it in their text."


def notes_on(reading: Reading, sessions: Sessions) -> str:
    notes = (terms_note(sessions, reading.where), worn_note(sessions, reading.where), hard_note(reading))
    return "".join(notes)


def sessions_words(number: int, where: Filter) -> str:
    return f"{several(number, 'session')}{filtered(where)}"


def none_found(reading: Reading, scope: AnswerScope) -> Answer:
    where = filtered(reading.where)
    if reading.period is not None and reading.period.first > scope.today:
        return Answer(f"No session yet{scope.words}: that is still to come.")
    by_text = reading.where.by_text
    terms = [each for each in reading.where.terms if not each.tag_only]
    if len(terms) > 1 or any(not each.is_clear for each in terms):
        return Answer("", by_text=True, closest=True)
    if by_text and reading.kind == "quotes" and not scope.words:
        return Answer("", by_text=True, closest=True)
    return Answer(
        f"No session{where}{scope.words}.{hard_note(reading)}",
        by_text=by_text,
        closest=by_text and not reading.where.pain,
    )


def none_near(reading: Reading, scope: AnswerScope) -> Answer | None:
    """Where nothing has all that was looked for: what comes closest, without counting it."""
    where = reading.where
    if not where.by_text:
        return None
    if where.pain and where.part_stem is not None:
        near = part_mentions(where.part_stem, scope)[:MOST_QUOTES]
        if near:
            return quoted(f"I found no session {where.words}{scope.words}. These mention the {where.part}:", near)
    return None


def part_mentions(stem: str, scope: AnswerScope) -> list[Evidence]:
    """What the entries say about a part of the body, with and without a word for pain."""
    return [
        Evidence(each, sentence.text)
        for each in scope.all
        for sentence in each.sentences
        if sentence.has_part(stem) and (stem not in NEEDS_PAIN or sentence.speaks_of(stem))
    ]


def uncounted_note(reading: Reading, scope: AnswerScope) -> str:
    """How many more sessions mention a part of the body, without a word for pain that is known."""
    stem = reading.where.part_stem
    if stem is None:
        return ""
    counted = {*map(id, scope.counted)}
    more = {id(each.session): each.session for each in part_mentions(stem, scope) if id(each.session) not in counted}
    if not more:
        return ""
    days = listed(some_of([long_day(each.day) for each in more.values()], MOST_QUOTES))
    number = len(more)
    return f" {number} more mention{'s' if number == 1 else ''} the {reading.where.part} without one: {days}."


def some_of(names: Sequence[str], most: int) -> list[str]:
    """The names, or the first of them and how many more there are."""
    return [*names] if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
