"""Fuzzy search. It ignores accents, case, the order of words, missing words, and one or two typos, and completes words.

A library's index maps words to items. Each word of a query is matched with the words in the index, exactly, as a prefix
or with typos. The items that match most of them, weighted by how rare the words are, are then compared with the whole
query. Nothing here does I/O or checks access: the caller passes the indexes of the libraries that a person may view,
and nothing else can be found.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from math import log
from typing import NamedTuple
from uuid import UUID

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract, extractOne

from potluck.apps.library.search_words import UNSPACED, number_word, readings, text_words, words_of

MOST_FOUND = 1000
"""The most results that a search returns."""
# The best matches, word by word, that are compared with the query as a whole.
COMPARED = 300
# Words of a query that are in more entries than this select no candidates, except the rarest word.
MOST_COUNTED = 20_000
# The words of an item, and of a query, that are used.
MOST_WORDS = 200
MOST_QUERY_WORDS = 16
# The words of an index that one word of a query can match.
MOST_SPELLINGS = 4000
# People recognize a match from this score on.
CLOSE_ENOUGH = 62.0
# A title or name that is this similar as a whole is found even if its words do not match.
ALIKE = 0.74
# Items that match less of a query than this are not compared as a whole.
LEAST_SHARE = 0.3
PREFIX = 0.9
LEAST_SIMILAR = 0.6
MOST_TYPOS = 2
SHORTEST_WITH_TYPO = 3
# Numbers of up to this many digits have no typos: volume 3 is not volume 4.
SHORT_NUMBER = 3
RANK_OF_WORDS = 0.62
# A title is preferred to a person or a collection that matches as well.
OF_OTHERS = 0.97


class SearchEntry(NamedTuple):
    """The searchable text of an item or a collection."""

    id: UUID
    title: str
    others: tuple[str, ...] = ()
    """The authors, or the directors and the cast."""
    collection_id: UUID | None = None
    is_collection: bool = False
    order: int | None = None
    """Its number in the collection."""
    isbn: str | None = None


class ScoredItem(NamedTuple):
    """A result: the item, its index, and its score of at most 100."""

    where: SearchIndex
    id: UUID
    score: float


class _Text(NamedTuple):
    """A query, title or name that is compared as a whole: as it is, and with its words sorted."""

    text: str
    shuffled: str

    @classmethod
    def of(cls, text: str) -> _Text:
        words = words_of(text)
        return cls(" ".join(words), " ".join(sorted(words)))

    def similarity(self, name: _Text) -> float:
        """How similar the name is, up to 1. A name that only begins like this is less similar than a whole one."""
        text, known = self.text, name.text
        if text == known:
            return 1.0
        as_typed = fuzz.ratio(text, known)
        shuffled = fuzz.ratio(self.shuffled, name.shuffled)
        beginning = fuzz.ratio(text, known[: len(text)]) if len(known) > len(text) else 0.0
        return float(max(as_typed, shuffled, 0.6 * beginning + 0.4 * as_typed)) / 100


class _Slot(NamedTuple):
    entry: SearchEntry
    title: _Text
    others: tuple[_Text, ...]
    words: frozenset[str]


_Item = tuple[int, int]
"""An item during a search: the position of its index among those searched, and its slot there."""

Spellings = Mapping[str, float]
"""The words of an index that match a word of a query, each with its similarity of at most 1."""


class SearchIndex:
    """An inverted index of one library's items, by their words."""

    def __init__(self) -> None:
        self._slots: list[_Slot | None] = []
        self._slot_of: dict[UUID, int] = {}
        self._postings: dict[str, array[int]] = {}
        self._counts: Counter[str] = Counter()
        """How many entries have each word. A posting may also list removed entries."""
        self._in_collection: dict[UUID, set[int]] = {}
        self._by_length: dict[int, list[str]] = {}
        """The words of the index by length, to compare with words of similar length, and sorted, to find prefixes."""
        self._sorted: list[str] = []
        self._unsorted: list[str] = []

    def __len__(self) -> int:
        return len(self._slot_of)

    def put(self, entry: SearchEntry) -> None:
        """Index the entry, replacing any with the same id."""
        self.remove(entry.id)
        number = len(self._slots)
        words = frozenset(islice(_words_in(entry), MOST_WORDS))
        self._slots.append(_Slot(entry, _Text.of(entry.title), tuple(map(_Text.of, entry.others)), words))
        self._slot_of[entry.id] = number
        if entry.collection_id is not None:
            self._in_collection.setdefault(entry.collection_id, set()).add(number)
        self._counts.update(words)
        for word in words:
            posting = self._postings.get(word)
            if posting is None:
                posting = self._postings[word] = array("I")
                self._by_length.setdefault(len(word), []).append(word)
                self._unsorted.append(word)
            posting.append(number)

    def remove(self, id: UUID) -> None:
        number = self._slot_of.pop(id, None)
        if number is None:
            return
        slot = self._slots[number]
        assert slot is not None
        self._slots[number] = None
        self._counts.subtract(slot.words)
        if slot.entry.collection_id is not None:
            self._in_collection[slot.entry.collection_id].discard(number)
        # Removed entries stay in the postings and are skipped, until half of all entries are removed.
        if len(self._slots) > 64 and len(self._slot_of) * 2 < len(self._slots):
            self._rebuild()

    def _rebuild(self) -> None:
        entries = [slot.entry for slot in self._slots if slot is not None]
        self.__init__()  # type: ignore[misc]
        for entry in entries:
            self.put(entry)

    # --- words --------------------------------------------------------------------------------------------------

    def count_of(self, word: str) -> int:
        """How many entries have the word."""
        return self._counts[word]

    def beginning_with(self, prefix: str) -> Iterator[str]:
        """The longer words that begin with this prefix."""
        if self._unsorted:
            self._sorted = sorted(self._sorted + self._unsorted)
            self._unsorted = []
        for place in range(bisect_left(self._sorted, prefix), len(self._sorted)):
            word = self._sorted[place]
            if not word.startswith(prefix):
                return
            if word != prefix and self._counts[word]:
                yield word

    def similar_to(self, word: str, most_typos: int) -> Iterator[tuple[str, float]]:
        """The other words that differ by at most `most_typos`, each with its similarity."""
        for length in range(len(word) - most_typos, len(word) + most_typos + 1):
            known = self._by_length.get(length, ())
            for other, typos, _ in extract(word, known, scorer=OSA.distance, score_cutoff=most_typos, limit=None):
                if typos and self._counts[other]:
                    yield other, 1 - typos / max(length, len(word))

    def beginning_like(self, word: str, most_typos: int) -> Iterator[tuple[str, float]]:
        """The longer words whose beginning differs by at most `most_typos`, each with its similarity."""
        size = len(word)
        longer = [other for length, words in self._by_length.items() if length > size for other in words]
        beginnings = [other[:size] for other in longer]
        for _, typos, place in extract(word, beginnings, scorer=OSA.distance, score_cutoff=most_typos, limit=None):
            if self._counts[longer[place]]:
                yield longer[place], PREFIX * (1 - typos / size)

    # --- items --------------------------------------------------------------------------------------------------

    def having(self, word: str) -> Iterator[int]:
        """The slots of the items that have the word, or whose collection has it."""
        for number in self._postings.get(word, ()):
            slot = self._slots[number]
            if slot is None:
                continue
            if slot.entry.is_collection:
                yield from self._in_collection.get(slot.entry.id, ())
            else:
                yield number

    def slot(self, number: int) -> _Slot:
        slot = self._slots[number]
        assert slot is not None
        return slot

    def collection_of(self, slot: _Slot) -> _Slot | None:
        number = None if slot.entry.collection_id is None else self._slot_of.get(slot.entry.collection_id)
        return None if number is None else self._slots[number]


def _words_in(entry: SearchEntry) -> Iterator[str]:
    yield from text_words(entry.title)
    if entry.order is not None:
        yield number_word(entry.order)
    if entry.isbn is not None:
        yield entry.isbn
    for name in entry.others:
        yield from text_words(name)


# --- one search -------------------------------------------------------------------------------------------------------


class _Vocabulary:
    """The words of all indexes."""

    def __init__(self, indexes: Sequence[SearchIndex]) -> None:
        self._indexes = indexes

    def has(self, word: str) -> bool:
        return any(index.count_of(word) for index in self._indexes)

    def has_prefix(self, prefix: str) -> bool:
        return any(True for index in self._indexes for _ in index.beginning_with(prefix))


class _Term(NamedTuple):
    """A word of a query: the words that it matches in each index, and its weight."""

    spellings: Sequence[Spellings]
    weight: float
    entries: int


def best(indexes: Sequence[SearchIndex], query: str, most: int = MOST_FOUND) -> list[ScoredItem]:
    """The closest items of these indexes, best first; none below CLOSE_ENOUGH, and MOST_FOUND at most."""
    text = _Text.of(query)
    scores: dict[_Item, float] = {}
    for words in readings(query, _Vocabulary(indexes)):
        for item, score in _scored(indexes, words[:MOST_QUERY_WORDS], text):
            scores[item] = max(score, scores.get(item, 0.0))
    # A total order, so that all pages of the results come from the same list.
    ranked = sorted(scores.items(), key=lambda result: (-result[1], *_reading_order(indexes, result[0])))
    return [
        ScoredItem(indexes[place], indexes[place].slot(number).entry.id, score)
        for (place, number), score in ranked[: min(most, MOST_FOUND)]
    ]


def _reading_order(indexes: Sequence[SearchIndex], item: _Item) -> tuple[str, int, str, int]:
    """Sorts equally good matches by the order of their collection, or by title."""
    place, number = item
    slot = indexes[place].slot(number)
    collection = indexes[place].collection_of(slot)
    return (
        "" if collection is None else collection.title.text,
        slot.entry.order or 0,
        slot.title.text,
        slot.entry.id.int,
    )


def _scored(indexes: Sequence[SearchIndex], words: Sequence[str], text: _Text) -> Iterator[tuple[_Item, float]]:
    terms = [_term(indexes, word, place == len(words)) for place, word in enumerate(words, 1)]
    total = sum(term.weight for term in terms)
    candidates = _candidates(indexes, terms, LEAST_SHARE * total, text.text)
    ranked = sorted(((share / total, *item) for share, item in candidates), reverse=True)
    lowest = 100.0
    for share, place, number in ranked[:COMPARED]:
        index = indexes[place]
        slot = index.slot(number)
        alike = _likeness(text, slot, index.collection_of(slot))
        if 100 * share >= CLOSE_ENOUGH or alike >= ALIKE:
            score = 100 * (RANK_OF_WORDS * share + (1 - RANK_OF_WORDS) * alike)
            lowest = min(score, lowest)
            yield (place, number), score
    for share, place, number in ranked[COMPARED:]:
        if 100 * share >= CLOSE_ENOUGH:
            # After all items that were compared.
            yield (place, number), lowest * share


def _likeness(text: _Text, slot: _Slot, collection: _Slot | None) -> float:
    """How similar the query is to the title, a person or the collection, whichever is most similar."""
    others = slot.others if collection is None else (*slot.others, collection.title)
    return max(text.similarity(slot.title), OF_OTHERS * max(map(text.similarity, others), default=0.0))


def _term(indexes: Sequence[SearchIndex], word: str, is_last: bool) -> _Term:
    spellings = [_spellings(index, word, is_last) for index in indexes]
    exact = sum(index.count_of(word) for index in indexes)
    counts = [index.count_of(other) for index, known in zip(indexes, spellings, strict=True) for other in known]
    total = sum(map(len, indexes))
    # A word that no entry has counts as much as the rarest word: it was typed for a reason.
    weight = log(1 + (1 + total) / (1 + (exact or max(counts, default=0))))
    return _Term(spellings, weight, sum(counts))


def _spellings(index: SearchIndex, word: str, is_last: bool) -> Spellings:
    """The words that match a word of a query. People search as they type, so the last word may be incomplete."""
    similarities: dict[str, float] = {}
    if index.count_of(word):
        similarities[word] = 1.0
    is_number = word.isdecimal()
    if is_number:
        ordinal = number_word(int(word))
        if index.count_of(ordinal):
            similarities[ordinal] = 1.0
    if is_last:
        longer = islice(index.beginning_with(word), 4 * MOST_SPELLINGS)
        for other in sorted(longer, key=len)[:MOST_SPELLINGS]:
            similarities[other] = PREFIX + (1 - PREFIX) * len(word) / (len(other) + 1)
    typos = _typos_in(word)
    if typos and not (similarities and is_number):
        for other, similarity in index.similar_to(word, typos):
            if similarity >= LEAST_SIMILAR and similarity > similarities.get(other, 0.0):
                similarities[other] = similarity
        if is_last and not similarities:
            similarities |= dict(
                nlargest(MOST_SPELLINGS, index.beginning_like(word, typos), key=lambda match: match[1])
            )
    return similarities


def _typos_in(word: str) -> int:
    """How many typos a word may have."""
    if len(word) < SHORTEST_WITH_TYPO or UNSPACED.search(word):
        return 0
    if word[:-1].isdecimal():
        # Another digit makes another number. A long number is probably an ISBN, whose check digit reveals a typo.
        return 0 if len(word) <= SHORT_NUMBER else 1
    return 1 if len(word) < SHORTEST_WITH_TYPO + MOST_TYPOS else MOST_TYPOS


def _candidates(
    indexes: Sequence[SearchIndex], terms: Sequence[_Term], least: float, text: str
) -> Iterable[tuple[float, _Item]]:
    """The items that match words of the query, each with the sum of the words' weights times their similarity.

    Rare words come first. Once the other words cannot add up to `least`, or are in very many items, they select none.
    """
    counted = 0
    left = sum(term.weight for term in terms)
    shares: dict[_Item, float] = {}
    common: list[_Term] = []
    for term in sorted(terms, key=lambda term: term.entries):
        if shares and (left < least or counted + term.entries > MOST_COUNTED):
            common.append(term)
            continue
        left -= term.weight
        counted += term.entries
        for place, (index, spellings) in enumerate(zip(indexes, term.spellings, strict=True)):
            matched: dict[int, float] = {}
            for word, similarity in spellings.items():
                for number in index.having(word):
                    if similarity > matched.get(number, 0.0):
                        matched[number] = similarity
            for number, similarity in matched.items():
                item = place, number
                shares[item] = shares.get(item, 0.0) + term.weight * similarity
    # Thousands of items may have the same words: titles that begin like the query come first, then short ones.
    likely = nlargest(
        MOST_FOUND,
        (
            (share, (title := indexes[item[0]].slot(item[1]).title.text).startswith(text), -len(title), item)
            for item, share in shares.items()
            if share + left >= least
        ),
    )
    return [(share + _share_of(indexes[item[0]], item, common), item) for share, _, _, item in likely]


def _share_of(index: SearchIndex, item: _Item, terms: Iterable[_Term]) -> float:
    """The weights of these words, as far as the item matches them."""
    place, number = item
    slot = index.slot(number)
    collection = index.collection_of(slot)
    words = slot.words if collection is None else slot.words | collection.words
    return sum(
        term.weight * max((term.spellings[place][word] for word in words & term.spellings[place].keys()), default=0.0)
        for term in terms
    )


# --- highlighting -------------------------------------------------------------------------------------------------

MARKED_FROM = 0.7
WORD = re.compile(r"[\w'\u2019]+")


def marked(text: str, query: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it matches the query. Adjacent matching words are one piece."""
    words = words_of(query)
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in WORD.finditer(text):
        known = list(text_words(match[0]))
        hit = any(_is_like(word, known) for word in words if len(word) > 1 or word in known)
        between = text[end : match.start()]
        if hit and pieces and pieces[-1][1] and not between.strip():
            pieces[-1] = (pieces[-1][0] + between + match[0], True)
        else:
            pieces += [(between, False), (match[0], hit)]
        end = match.end()
    pieces.append((text[end:], False))
    return [(piece, hit) for piece, hit in pieces if piece]


def _is_like(word: str, known: Sequence[str]) -> bool:
    if any(other.startswith(word) for other in known):
        return True
    return bool(_typos_in(word) and extractOne(word, known, scorer=OSA.normalized_similarity, score_cutoff=MARKED_FROM))
