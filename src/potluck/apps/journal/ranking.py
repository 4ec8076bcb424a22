"""Ranks entries by BM25 over the words of a query. Rarer words weigh more; newer entries win ties.

An entry matches by its own words and by the words of its comments.

Candidates are chosen by the keyword rows alone: the number of entries with a word gives its weight. The best of them
are then read, and ranked by the frequency of the words and the length of the text; entries that no longer have any of
the words are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import log
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from potluck.apps.journal.entities import Comment
from potluck.apps.journal.journals import SharedEntry
from potluck.apps.journal.tokenizer import forms_of, spans_of, words_in

# The usual BM25 parameters k1 and b.
SATURATION = 1.2
LENGTH_MATTERS = 0.75
# A match of a word's plural or singular is worth a little less.
OTHER_FORM = 0.8
MOST_TERMS = 16
MOST_CANDIDATES = 60
SNIPPET_LENGTH = 160
# The best snippet is chosen among this many matches; further ones make little difference.
MOST_SPANS = 100
ELLIPSIS = "…"
NO_COMMENTS: Mapping[UUID, Sequence[Comment]] = MappingProxyType({})

QueryWords = Sequence[tuple[str, ...]]
"""The words of a query, each with its forms."""


class QueryWord(NamedTuple):
    """A word of the query: its forms, and the entries that contain one, with the time of writing."""

    forms: tuple[str, ...]
    having: Mapping[UUID, datetime]


class RankedEntry(NamedTuple):
    entry: SharedEntry
    score: float
    words: frozenset[str]
    """The words that matched, as found in its own text or in the comments."""
    comments: tuple[Comment, ...] = ()
    """The comments that contain any of the words, oldest first."""


def query_words(question: str) -> QueryWords:
    """The distinct words of a query, each with its forms."""
    words = dict.fromkeys(words_in(question))
    return [forms_of(word) for word in words][:MOST_TERMS]


def weight_of(having: int, of: int) -> float:
    """The inverse document frequency: the weight of a word that `having` of the entries contain."""
    return log(1 + (of - having + 0.5) / (having + 0.5))


def candidates(terms: Sequence[QueryWord], most: int = MOST_CANDIDATES) -> list[UUID]:
    """The entries worth reading: those with the highest total weight of words, newer ones first on ties."""
    written = {entry: at for term in terms for entry, at in term.having.items()}
    scores: dict[UUID, float] = dict.fromkeys(written, 0.0)
    for term in terms:
        weight = weight_of(len(term.having), len(written))
        for entry in term.having:
            scores[entry] += weight
    best = sorted(scores, key=lambda entry_id: (-scores[entry_id], -written[entry_id].timestamp(), entry_id.int))
    return best[:most]


def ranked(
    terms: Sequence[QueryWord], entries: Sequence[SharedEntry], comments: Mapping[UUID, Sequence[Comment]] = NO_COMMENTS
) -> list[RankedEntry]:
    """The entries that contain any of the words now, best match first. Only comments that contain one count."""
    wanted = {form for term in terms for form in term.forms}
    having = {
        entry.entry_id: tuple(
            comment for comment in comments.get(entry.entry_id, ()) if wanted.intersection(words_in(comment.body))
        )
        for entry in entries
    }
    counts = [Counter([*entry.words, *_words_of(having[entry.entry_id])]) for entry in entries]
    lengths = [max(1, counted.total()) for counted in counts]
    usual = sum(lengths) / max(1, len(lengths))
    everything = len({entry for term in terms for entry in term.having})
    matches = []
    for entry, counted, length in zip(entries, counts, lengths, strict=True):
        score, has = 0.0, set()
        for term in terms:
            often = sum(counted[form] * (1.0 if n == 0 else OTHER_FORM) for n, form in enumerate(term.forms))
            if often:
                has |= {form for form in term.forms if counted[form]}
                norm = SATURATION * (1 - LENGTH_MATTERS + LENGTH_MATTERS * length / usual)
                score += weight_of(len(term.having), everything) * often * (SATURATION + 1) / (often + norm)
        if has:
            matches.append(RankedEntry(entry, score, frozenset(has), having[entry.entry_id]))
    return sorted(
        matches, key=lambda match: (-round(match.score, 9), -match.entry.date.timestamp(), match.entry.entry_id.int)
    )


def _words_of(comments: Sequence[Comment]) -> Iterator[str]:
    return (word for comment in comments for word in words_in(comment.body))


def snippet_of(texts: Sequence[str], words: frozenset[str]) -> str:
    """A verbatim excerpt around most of the words; the beginning of the first text if none contains them."""
    wanted = set(words)
    best: tuple[int, str, int] | None = None
    for text in texts:
        spans = spans_of(text, wanted)[:MOST_SPANS]
        for start, _ in spans:
            inside = sum(1 for first, last in spans if start <= first and last <= start + SNIPPET_LENGTH)
            if best is None or inside > best[0]:
                best = inside, text, start
    if best is None:
        return _cut(next((text for text in texts if text), ""), 0)
    return _cut(best[1], best[2])


def _cut(text: str, around: int) -> str:
    """An excerpt of limited length that begins a little before a position, cut between words."""
    if len(text) <= SNIPPET_LENGTH:
        return text
    start = max(0, min(around - SNIPPET_LENGTH // 4, len(text) - SNIPPET_LENGTH))
    end = start + SNIPPET_LENGTH
    if start:
        space = text.find(" ", start, around)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(start, around + 1), end)
        end = space if space > around else end
    return f"{ELLIPSIS if start else ''}{text[start:end].strip()}{ELLIPSIS if end < len(text) else ''}"
