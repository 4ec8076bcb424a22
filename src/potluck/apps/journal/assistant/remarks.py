"""Answers from comments, quoted with their authors; never from a hidden comment."""

from __future__ import annotations

from collections import Counter

from potluck.apps.journal.assistant.evidence import Answer, Evidence
from potluck.apps.journal.assistant.reading import Reading, listed
from potluck.apps.journal.assistant.scope import MOST_QUOTES, AnswerScope, quoted
from potluck.apps.journal.quantities import several


def _comments_of(reading: Reading, scope: AnswerScope) -> tuple[list[Evidence], list[Evidence]]:
    """The comments that the question is about, and all by the same author."""
    theirs = [remark for remark in scope.remarks if reading.by is None or remark.author == reading.by]
    every = [
        Evidence(remark.session, remark.comment.body, remark.comment.comment_id, remark.author) for remark in theirs
    ]
    about = [
        Evidence(remark.session, quote, remark.comment.comment_id, remark.author)
        for remark in theirs
        if (quote := remark.quote(reading.where))
    ]
    return about, every


def hidden_note(reading: Reading, scope: AnswerScope) -> str:
    number = sum(reading.by is None or remark.author == reading.by for remark in scope.hidden)
    return f" {several(number, 'hidden comment')} {'is' if number == 1 else 'are'} left out." if number else ""


def comments(reading: Reading, scope: AnswerScope) -> Answer:
    about, every = _comments_of(reading, scope)
    whose = f" by {reading.by}" if reading.by else ""
    terms = listed([f"“{term.words}”" for term in reading.where.terms]) if reading.where.terms else ""
    hidden = hidden_note(reading, scope)
    if not about:
        if not every:
            return Answer(f"No comment{whose}{scope.words}.{hidden}", by_text=True)
        near = [evidence for evidence in every if evidence.session.counts(reading.where)]
        if near:
            statement = (
                f"No comment{whose}{scope.words} has {terms} in its words.{hidden} Comments on sessions with {terms}:"
            )
            return quoted(statement, near[:MOST_QUOTES])
        if len(reading.where.terms) > 1 or not all(term.is_clear for term in reading.where.terms):
            return quoted(f"{hidden.lstrip()} The latest comments{whose}{scope.words}:".lstrip(), every[:2])
        statement = f"No comment{whose}{scope.words} mentions {terms}.{hidden} The latest:"
        return quoted(statement, every[:2])
    mention = f" that mention{'s' if len(about) == 1 else ''} {terms}" if terms else ""
    if reading.number == 1:
        but = f" ({hidden.strip(' .')})" if hidden else ""
        return quoted(f"The latest comment{whose}{mention}{scope.words}{but}:", about[:1])
    newest = f" The newest {MOST_QUOTES}:" if len(about) > MOST_QUOTES else ""
    return quoted(
        f"{several(len(about), 'comment')}{whose}{mention}{scope.words}.{hidden}{newest}", about[:MOST_QUOTES]
    )


def comment_count(reading: Reading, scope: AnswerScope) -> Answer:
    about, _ = _comments_of(reading, scope)
    whose = f" by {reading.by}" if reading.by else ""
    terms = listed([f"“{term.words}”" for term in reading.where.terms]) if reading.where.terms else ""
    mention = f" that mention{'s' if len(about) == 1 else ''} {terms}" if terms else ""
    hidden = hidden_note(reading, scope)
    if not about:
        return Answer(f"No comment{whose}{mention}{scope.words}.{hidden}", by_text=True)
    return Answer(f"{several(len(about), 'comment')}{whose}{mention}{scope.words}.{hidden}", about, by_text=True)


def commenters(reading: Reading, scope: AnswerScope) -> Answer:
    """The authors of comments, and how many each wrote."""
    about, _ = _comments_of(reading, scope)
    hidden = hidden_note(reading, scope)
    if not about:
        return Answer(f"No comment{scope.words}.{hidden}", by_text=True)
    terms = listed([f"“{term.words}”" for term in reading.where.terms]) if reading.where.terms else ""
    names = Counter(remark.author or "someone without a name" for remark in about)
    sign = 1 if reading.least else -1
    statement = ", ".join(
        f"{name} {names[name]}" for name in sorted(names, key=lambda name: (sign * names[name], name))
    )
    mention = f" that mention {terms}" if terms else ""
    first = f"Comments{mention}{scope.words}, by author: {statement}.{hidden}"
    return quoted(first, about[:MOST_QUOTES])._replace(evidence=about) if terms else Answer(first, about, by_text=True)
