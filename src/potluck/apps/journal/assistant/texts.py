"""Answers that quote entries about a topic or a period."""

from __future__ import annotations

from collections.abc import Sequence

from potluck.apps.journal.assistant.amounts import decimal, hours, intensity_of, minutes_of, rounds_of
from potluck.apps.journal.assistant.evidence import Answer, Evidence, TrainingSession
from potluck.apps.journal.assistant.reading import Reading, listed
from potluck.apps.journal.assistant.remarks import hidden_note
from potluck.apps.journal.assistant.scope import (
    MOST_QUOTES,
    AnswerScope,
    none_found,
    none_near,
    notes_on,
    part_mentions,
    quoted,
    sessions_words,
    with_quotes,
)
from potluck.apps.journal.assistant.wording import vocabulary
from potluck.apps.journal.periods import long_day
from potluck.apps.journal.quantities import several

MOST_DAYS_NAMED = 31
SHORT_LIST = 12
FEW = 2
MORE_SENTENCES = 2
"""Sentences quoted after the matching one, if few entries match: the outcome is rarely in the first sentence."""


def _evidence(reading: Reading, scope: AnswerScope) -> list[Evidence]:
    few = len(scope.counted) <= FEW
    phrases = [phrase for term in reading.where.terms for phrase in term.phrases]

    def more(session: TrainingSession) -> int:
        """ "Celtic Open in Dublin." is a heading: the result follows it."""
        headed = reading.asks_how and any(
            tuple(sentence.stems[: len(phrase)]) == phrase for sentence in session.sentences for phrase in phrases
        )
        return MORE_SENTENCES if few or headed else 0

    return [Evidence(session, session.quote(reading.where, more(session))) for session in scope.counted]


def _days(evidence: Sequence[Evidence], shown: Sequence[Evidence]) -> str:
    """All days of a short list, unless the quotes name each of them."""
    days = dict.fromkeys(long_day(item.session.day) for item in reversed(evidence))
    if len(days) > SHORT_LIST or {item.session.day for item in evidence} == {item.session.day for item in shown}:
        return ""
    return f" On {listed([*days])}."


def summary(reading: Reading, scope: AnswerScope) -> Answer:
    sessions = scope.counted
    if not sessions:
        return none_found(reading, scope)
    statement = (
        f"{sessions_words(len(sessions), reading.where)}{scope.words}: {hours(minutes_of(sessions))},"
        f" {several(rounds_of(sessions), 'round')}, average intensity {decimal(intensity_of(sessions))}."
    )
    if 1 < len(sessions) <= MOST_DAYS_NAMED:
        days = dict.fromkeys(long_day(session.day) for session in reversed(sessions))
        statement += f" On {listed([*days])}."
    evidence = [Evidence(session, session.quote(reading.where)) for session in sessions]
    quoted = [item for item in evidence if item.quote][:MOST_QUOTES]
    return Answer(with_quotes(f"{statement}{notes_on(reading, sessions)}", quoted), evidence, by_text=True)


def quotes(reading: Reading, scope: AnswerScope) -> Answer | None:
    sessions = scope.counted
    if not sessions:
        return none_near(reading, scope) or none_found(reading, scope)
    evidence = _evidence(reading, scope)
    quoted = [item for item in evidence if item.quote]
    if reading.asks_how:
        return _in_words(reading, scope, quoted)
    statement = f"{'Yes: ' if reading.asks_whether else ''}{sessions_words(len(sessions), reading.where)}{scope.words}."
    newest = f" The newest {MOST_QUOTES} of {len(quoted)} quotes:" if len(quoted) > MOST_QUOTES else ""
    ordered = [*quoted[:MOST_QUOTES], *(item for item in evidence if item not in quoted[:MOST_QUOTES])]
    days = _days(evidence, quoted[:MOST_QUOTES])
    return Answer(with_quotes(f"{statement}{days}{newest}", quoted[:MOST_QUOTES]), ordered, by_text=True)


def _in_words(reading: Reading, scope: AnswerScope, quoted: Sequence[Evidence]) -> Answer:
    """Quotes, without a number in front."""
    if not quoted:
        return Answer("", by_text=True, closest=True)
    where = reading.where
    about = f"the {where.part}" if where.part else listed([f"“{term.words}”" for term in where.terms] or ["pain"])
    newest = f", the newest {MOST_QUOTES} of {len(quoted)}" if len(quoted) > MOST_QUOTES else ", newest first"
    statement = f"What the entries say about {about}{scope.words}{newest}:"
    return Answer(with_quotes(statement, quoted[:MOST_QUOTES]), quoted, by_text=True)


def pain(reading: Reading, scope: AnswerScope) -> Answer:
    where = reading.where
    if reading.asks_how and where.part_stem is not None:
        # The current state may be described without a word for pain.
        mentions = part_mentions(where.part_stem, scope)
        if mentions:
            return _in_words(reading, scope, mentions)
    if not scope.counted:
        return none_near(reading, scope) or none_found(reading, scope)
    evidence = _evidence(reading, scope)
    if reading.asks_how:
        return _in_words(reading, scope, evidence)
    newest = f" The newest {MOST_QUOTES}:" if len(evidence) > MOST_QUOTES else ""
    yes = "Yes: " if reading.asks_whether else ""
    days = _days(evidence, evidence[:MOST_QUOTES])
    statement = f"{yes}{sessions_words(len(scope.counted), where)}{scope.words}.{days}{newest}"
    return Answer(with_quotes(statement, evidence[:MOST_QUOTES]), evidence, by_text=True)


def advice(reading: Reading, scope: AnswerScope) -> Answer | None:
    """The latest comments, and what went wrong according to the entries; no advice of its own."""
    remarks = [
        Evidence(remark.session, remark.comment.body, remark.comment.comment_id, remark.author)
        for remark in scope.remarks
    ][:3]
    trouble = [
        Evidence(session, sentence.text)
        for session in scope.counted
        for sentence in session.sentences
        if TROUBLE.intersection(sentence.stems)
    ][: MOST_QUOTES - len(remarks)]
    if not remarks and not trouble:
        return None
    statement = f"I only quote, I give no advice.{hidden_note(reading, scope)}"
    if remarks:
        statement += " First what was commented last"
        statement += ", then what entries say went wrong:" if trouble else ":"
    else:
        statement += " Entries that say what went wrong:"
    return quoted(statement, [*remarks, *trouble])


TROUBLE = vocabulary("lost lose stuck late rush fail struggl problem mistak weak troubl tapp tap")
