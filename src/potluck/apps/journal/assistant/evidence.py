"""Sessions and comments as evidence: which of them match a filter, and the words that show it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from potluck.apps.journal.assistant.mentions import Phrase, Sentence, phrase_of, sentences_in
from potluck.apps.journal.assistant.reading import Filter, Term, TimeOfDay
from potluck.apps.journal.entities import Comment
from potluck.apps.journal.fields import wears
from potluck.apps.journal.journals import SharedEntry
from potluck.apps.journal.tokenizer import with_next


class TrainingSession:
    """An entry as its reader may see it, with its date in the reader's time zone."""

    def __init__(self, entry: SharedEntry, day: date, hour: int = 0, minute: int = 0) -> None:
        self.entry = entry
        self.day = day
        self.hour = hour
        """The hour in which it began, in the reader's time zone."""
        self.minute = minute
        self.authors: Collection[str] = ()
        """The authors of its visible comments."""

    @property
    def time(self) -> TimeOfDay:
        return "morning" if self.hour < 12 else "afternoon" if self.hour < 17 else "evening"

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        return sentences_in(self.entry.texts)

    @cached_property
    def tags(self) -> Sequence[Sentence]:
        return [Sentence(tag, phrase_of(tag.split())) for tag in self.entry.metrics.tags]

    def tagged(self, term: Term) -> bool:
        return any(tag.has(phrase) for tag in self.tags for phrase in term.phrases)

    def says(self, term: Term) -> bool:
        return any(sentence.has(phrase) for sentence in self.sentences for phrase in term.phrases)

    def counts(self, where: Filter) -> bool:
        """Whether the session matches the filter, judged by what its reader may see."""
        metrics = self.entry.metrics
        worn = metrics.gi_or_no_gi
        return (
            (where.worn is None or wears(where.worn, worn) or where.worn == f"{worn} only")
            and (where.intensity is None or metrics.intensity in where.intensity)
            and (where.minutes is None or metrics.duration_minutes in where.minutes)
            and (where.rounds is None or metrics.rounds in where.rounds)
            and (where.time is None or self.time == where.time)
            and (where.clock is None or 60 * self.hour + self.minute in where.clock)
            and (where.tagged is None or where.tagged == bool(metrics.tags))
            and (
                where.commented is None or (where.commented in self.authors if where.commented else bool(self.authors))
            )
            and not any(self.counts(condition) for condition in where.without)
            and not any(self.day in period for period in where.outside)
            and (not where.weekdays or self.day.weekday() in where.weekdays)
            and all(self.tagged(term) or (not term.tag_only and self.says(term)) for term in where.terms)
            and (not where.pain or any(sentence.has_pain(where.part_stem) for sentence in self.sentences))
        )

    def quote(self, where: Filter, more: int = 0) -> str:
        """The sentence that matches the filter best, with this many more; the first if the filter has no words."""
        phrases = [phrase for term in where.terms for phrase in term.phrases]
        scores = [_score(sentence, phrases, where) for sentence in self.sentences]
        if not scores:
            return ""
        best = max(range(len(scores)), key=lambda place: (scores[place], -place))
        if not scores[best] and where.by_text:
            return ""
        sentence = self.sentences[best].text
        return next(with_next(text, sentence, more) for text in self.entry.texts if sentence in text)


def _score(sentence: Sentence, phrases: Sequence[Phrase], where: Filter) -> int:
    return sum(sentence.has(phrase) for phrase in phrases) + (where.pain and sentence.has_pain(where.part_stem))


class Remark(NamedTuple):
    """A comment, with the session it is about and the name of its author."""

    session: TrainingSession
    comment: Comment
    author: str

    @property
    def is_hidden(self) -> bool:
        return self.comment.visibility != "visible"

    def quote(self, where: Filter) -> str:
        """The sentence that matches the filter, or the whole comment; empty if nothing matches."""
        if not where.terms:
            return self.comment.body
        for sentence in sentences_in([self.comment.body]):
            if all(any(sentence.has(phrase) for phrase in term.phrases) for term in where.terms):
                return sentence.text
        whole = sentences_in([self.comment.body])
        phrases = [term.phrases for term in where.terms]
        if all(any(sentence.has(one) for sentence in whole for one in some) for some in phrases):
            return self.comment.body
        return ""


class Evidence(NamedTuple):
    """The content of a citation: an entry, and a verbatim quote of it or a comment; none if it was only counted."""

    session: TrainingSession
    quote: str = ""
    comment_id: UUID | None = None
    author: str = ""


class Answer(NamedTuple):
    """An answer in words, and every entry that it is based on."""

    content: str
    evidence: Sequence[Evidence] = ()
    by_text: bool = False
    """Whether it is based on texts, and not on numbers alone."""
    closest: bool = False
    """Whether nothing matched, so that a search may show what comes closest."""
