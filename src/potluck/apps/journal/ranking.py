"""Which entries match a question best: BM25 over the words that are asked for. Rarer words weigh more, newer wins ties.

Two steps. First candidates, by the keyword rows alone: how many entries have a word tells how much it weighs. Then the
best candidates are read, and ranked by how often and in how long a text they really have the words; what has none any
more is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import log
from typing import NamedTuple
from uuid import UUID

from potluck.apps.journal.journals import SharedEntry
from potluck.apps.journal.tokenizer import forms_of, spans_of, words_in

__all__ = ["MOST_CANDIDATES", "Match", "QueryWords", "Term", "candidates", "query_words", "ranked", "snippet_of"]

# As usual for BM25.
SATURATION = 1.2
LENGTH_MATTERS = 0.75
# The plural of a word that was asked for, or its singular, is worth a little less.
OTHER_FORM = 0.8
MOST_TERMS = 16
MOST_CANDIDATES = 60
SNIPPET_LENGTH = 160
# Where the best part of a text is looked for; beyond, one is as good as another.
MOST_SPANS = 100
ELLIPSIS = "…"

QueryWords = Sequence[tuple[str, ...]]
"""The words of a question, each with its forms."""


class Term(NamedTuple):
    """A word that was asked for, its forms, and when the entries were written that have one of them."""

    forms: tuple[str, ...]
    having: Mapping[UUID, datetime]


class Match(NamedTuple):
    entry: SharedEntry
    score: float
    words: frozenset[str]
    """Which of the words, in which form, it has."""


def query_words(question: str) -> QueryWords:
    """What a question asks for."""
    words = dict.fromkeys(words_in(question))
    return [forms_of(word) for word in words][:MOST_TERMS]


def weight_of(having: int, of: int) -> float:
    """How much a word tells that so many of the entries have."""
    return log(1 + (of - having + 0.5) / (having + 0.5))


def candidates(terms: Sequence[Term], most: int = MOST_CANDIDATES) -> list[UUID]:
    """The entries that are worth reading, by how much the words that they have tell, newer ones first."""
    written = {entry: at for term in terms for entry, at in term.having.items()}
    scores: dict[UUID, float] = dict.fromkeys(written, 0.0)
    for term in terms:
        weight = weight_of(len(term.having), len(written))
        for entry in term.having:
            scores[entry] += weight
    best = sorted(scores, key=lambda each: (-scores[each], -written[each].timestamp(), each.int))
    return best[:most]


def ranked(terms: Sequence[Term], entries: Sequence[SharedEntry]) -> list[Match]:
    """Those of the entries that have any of the words now, the best match first."""
    counts = [Counter(each.words) for each in entries]
    lengths = [max(1, counted.total()) for counted in counts]
    usual = sum(lengths) / max(1, len(lengths))
    everything = len({entry for term in terms for entry in term.having})
    found = []
    for entry, counted, length in zip(entries, counts, lengths, strict=True):
        score, has = 0.0, set()
        for term in terms:
            often = sum(counted[form] * (1.0 if n == 0 else OTHER_FORM) for n, form in enumerate(term.forms))
            if often:
                has |= {form for form in term.forms if counted[form]}
                norm = SATURATION * (1 - LENGTH_MATTERS + LENGTH_MATTERS * length / usual)
                score += weight_of(len(term.having), everything) * often * (SATURATION + 1) / (often + norm)
        if has:
            found.append(Match(entry, score, frozenset(has)))
    return sorted(
        found, key=lambda each: (-round(each.score, 9), -each.entry.date.timestamp(), each.entry.entry_id.int)
    )


def snippet_of(texts: Sequence[str], words: frozenset[str]) -> str:
    """The part of a text where the words are, word for word; the beginning of the first, if they are in none."""
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
    """So much of a text as fits, from a little before a place, cut between words."""
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
