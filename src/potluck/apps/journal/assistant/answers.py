"""Answers a Reading from sessions. Pure; each sentence names what it is about, so that it is true on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from potluck.apps.journal.assistant import comparing, groups, remarks, runs, singles, texts, totals
from potluck.apps.journal.assistant.evidence import Answer
from potluck.apps.journal.assistant.reading import Kind, Reading
from potluck.apps.journal.assistant.scope import AnswerScope, Journal

_ANSWERS: dict[Kind, Callable[[Reading, AnswerScope], Answer | None]] = {
    "total": totals.total, "average": totals.average, "rate": totals.rate, "breakdown": totals.breakdown,
    "share": totals.share, "extreme": singles.extreme, "last": singles.last, "first": singles.first,
    "since": singles.since, "streak": runs.streak, "gap": runs.gap, "days off": runs.days_off, "doubles": runs.doubles,
    "groups": groups.groups, "having": groups.having, "tags": groups.tags, "compare": comparing.compare,
    "worn": comparing.worn, "trend": comparing.trend, "summary": texts.summary, "quotes": texts.quotes,
    "pain": texts.pain, "advice": texts.advice, "comments": remarks.comments, "comment count": remarks.comment_count,
    "commenters": remarks.commenters,
}  # fmt: skip


def answer_to(reading: Reading, journal: Journal) -> Answer | None:
    """The answer; None if there is nothing to say and a search for the words may do better."""
    scope = AnswerScope.of(reading, journal)
    if scope is None:
        assert reading.anchor is not None
        return Answer(f"No session {reading.anchor.of.words}, so there is no time since then.", by_text=True)
    answer = _ANSWERS[reading.kind](reading, scope)
    if answer is None or not journal.within or not answer.content:
        return answer
    return answer._replace(content=_scoped(answer.content, journal.within))


def answers_to(readings: Sequence[Reading], journal: Journal) -> Answer | None:
    """One answer to all parts of a question; None if a part has none."""
    answers = [answer for reading in readings if (answer := answer_to(reading, journal)) is not None]
    if len(answers) == 1 == len(readings):
        return answers[0]
    if len(answers) != len(readings) or any(answer.closest for answer in answers):
        return None
    parts = [answer.content.partition("\n") for answer in answers]
    return Answer(
        "\n".join([" ".join(first for first, _, _ in parts), *(rest for _, _, rest in parts if rest)]),
        list(dict.fromkeys(evidence for answer in answers for evidence in answer.evidence)),
        any(answer.by_text for answer in answers),
    )


def _scoped(content: str, within: str) -> str:
    """The answer; a negative one says that it is based on a part of the journal."""
    first, newline, rest = content.partition("\n")
    if re.match(r"(?:No|0|Nothing)\b", first):
        first = f"{within[:1].upper()}{within[1:]}, {first[:1].lower()}{first[1:]}"
    elif re.search(r"\b(?:no|0) (?:session|comment|round|day|hour|min|%|of )|\bwithout\b", first):
        first += f" That is {within}."
    return f"{first}{newline}{rest}"
