"""The sessions that an answer is about, and how it names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from potluck.apps.journal.assistant.amounts import Sessions
from potluck.apps.journal.assistant.evidence import Answer, Evidence, Remark, TrainingSession
from potluck.apps.journal.assistant.mentions import NEEDS_PAIN
from potluck.apps.journal.assistant.reading import NOTHING, Filter, Reading, listed
from potluck.apps.journal.periods import Period, long_day
from potluck.apps.journal.quantities import several
from potluck.apps.journal.times import EARLIEST

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MOST_QUOTES = 5


def filtered(where: Filter) -> str:
    """The filter in words, after a space; empty if there is none."""
    return f" {where.words}" if where != NOTHING else ""


class Journal(NamedTuple):
    """Everything that may answer a question, newest first, and the reader's date."""

    sessions: Sessions
    remarks: Sequence[Remark]
    today: date
    within: str = ""
    """What this is, if not the whole journal: "in what Mara shares"."""


class AnswerScope(NamedTuple):
    """The sessions of the period, and those that match the filter."""

    all: Sessions
    counted: Sessions
    remarks: Sequence[Remark]
    """Visible comments."""
    hidden: Sequence[Remark]
    first: date
    """The period's first day, or that of the first session."""
    last: date
    """Its last day, or today."""
    words: str
    """The period, after a space; empty for all time."""
    today: date
    everything: Sessions

    @classmethod
    def of(cls, reading: Reading, journal: Journal) -> AnswerScope | None:
        """None if the period is relative to a session that does not exist."""
        period, words = reading.period, ""
        today = journal.today
        if period is not None:
            words = f" {period.words}{' so far' if period.first <= today < period.last else ''}"
        if reading.anchor is not None:
            anchor = next((session for session in journal.sessions if session.counts(reading.anchor.of)), None)
            if anchor is None:
                return None
            after = reading.anchor.side == "after"
            span = (
                Period(anchor.day + DAY, max(today, anchor.day + DAY)) if after else Period(EARLIEST, anchor.day - DAY)
            )
            length = reading.anchor.days
            if length is not None:
                ends = (
                    (anchor.day + DAY, anchor.day + length * DAY)
                    if after
                    else (anchor.day - length * DAY, anchor.day - DAY)
                )
                span = Period(*ends)
            last_one = f"the last session {reading.anchor.of.words}"
            days = "" if length is None else f" in the {several(length, 'day')}"
            words += f"{days} {'after' if after else 'before'} {long_day(anchor.day)}, {last_one}"
            period = span if period is None else Period(max(span.first, period.first), min(span.last, period.last))
        inside = [session for session in journal.sessions if period is None or session.day in period]
        if reading.among:
            inside = inside[: reading.among]
            words += f" among the latest {several(len(inside), 'session')}"
        counted = [session for session in inside if session.counts(reading.where)]
        if reading.newest:
            counted = counted[: reading.newest]
            words += ", the latest"
        elif reading.oldest:
            counted = counted[-reading.oldest :]
            words += ", the first"
        begun = journal.sessions[-1].day if journal.sessions else today
        first = begun if period is None else max(period.first, begun) if period.first == EARLIEST else period.first
        remarks = [remark for remark in journal.remarks if period is None or remark.session.day in period]
        last = today if period is None else min(period.last, max(today, period.first))
        visible = [remark for remark in remarks if not remark.is_hidden]
        hidden = [remark for remark in remarks if remark.is_hidden]
        return cls(inside, counted, visible, hidden, first, last, words, today, journal.sessions)

    @property
    def days(self) -> int:
        return max(0, (self.last - self.first).days + 1)


def evidence_of(sessions: Iterable[TrainingSession], where: Filter = NOTHING) -> list[Evidence]:
    """The sessions as evidence, with quotes if they were selected by their words."""
    return [Evidence(session, session.quote(where) if where.by_text else "") for session in sessions]


def answered(statement: str, sessions: Iterable[TrainingSession], where: Filter = NOTHING) -> Answer:
    return Answer(statement, evidence_of(sessions, where), where.by_text)


def quoted(statement: str, evidence: Sequence[Evidence]) -> Answer:
    return Answer(with_quotes(statement, evidence), evidence, by_text=True)


def with_quotes(statement: str, evidence: Sequence[Evidence]) -> str:
    """A sentence with quotes under it, each with its date and author."""
    lines = [f"{_by(item)}: “{item.quote}”" for item in evidence if item.quote]
    return "\n".join([statement, *lines])


def _by(evidence: Evidence) -> str:
    day = long_day(evidence.session.day)
    return f"{evidence.author or 'A comment'} on {day}" if evidence.comment_id is not None else day


def worn_note(sessions: Sessions, where: Filter) -> str:
    """How many of the gi or no-gi sessions were in both."""
    if where.worn not in ("gi", "no-gi"):
        return ""
    both = sum(session.entry.metrics.gi_or_no_gi == "both" for session in sessions)
    return f" {both} of them {'was' if both == 1 else 'were'} in both gi and no-gi." if both else ""


def hard_note(reading: Reading) -> str:
    bounds = reading.where.intensity
    if not reading.hard_words or bounds is None:
        return ""
    return f" That takes “{'hard' if bounds.low else 'easy'}” as intensity {bounds.words()}."


def terms_note(sessions: Sessions, where: Filter) -> str:
    """Where the words matched: in tags or in texts."""
    if len(where.terms) != 1 or where.terms[0].tag_only:
        return ""
    (term,) = where.terms
    tagged = sum(session.tagged(term) for session in sessions)
    written = sum(session.says(term) for session in sessions)
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
    terms = [term for term in reading.where.terms if not term.tag_only]
    if len(terms) > 1 or any(not term.is_clear for term in terms):
        return Answer("", by_text=True, closest=True)
    if by_text and reading.kind == "quotes" and not scope.words:
        return Answer("", by_text=True, closest=True)
    return Answer(
        f"No session{where}{scope.words}.{hard_note(reading)}",
        by_text=by_text,
        closest=by_text and not reading.where.pain,
    )


def none_near(reading: Reading, scope: AnswerScope) -> Answer | None:
    """If nothing matches: what comes closest, without counting it."""
    where = reading.where
    if not where.by_text:
        return None
    if where.pain and where.part_stem is not None:
        near = part_mentions(where.part_stem, scope)[:MOST_QUOTES]
        if near:
            return quoted(f"I found no session {where.words}{scope.words}. These mention the {where.part}:", near)
    return None


def part_mentions(stem: str, scope: AnswerScope) -> list[Evidence]:
    """Sentences about a part of the body, with or without a word for pain."""
    return [
        Evidence(session, sentence.text)
        for session in scope.all
        for sentence in session.sentences
        if sentence.has_part(stem) and (stem not in NEEDS_PAIN or sentence.speaks_of(stem))
    ]


def uncounted_note(reading: Reading, scope: AnswerScope) -> str:
    """How many more sessions mention the part of the body, without a known word for pain."""
    stem = reading.where.part_stem
    if stem is None:
        return ""
    counted = {*map(id, scope.counted)}
    more = {
        id(mention.session): mention.session
        for mention in part_mentions(stem, scope)
        if id(mention.session) not in counted
    }
    if not more:
        return ""
    days = listed(some_of([long_day(session.day) for session in more.values()], MOST_QUOTES))
    number = len(more)
    return f" {number} more mention{'s' if number == 1 else ''} the {reading.where.part} without one: {days}."


def some_of(names: Sequence[str], most: int) -> list[str]:
    """The names, or the first of them and how many more there are."""
    return [*names] if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
