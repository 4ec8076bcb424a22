"""Fuzzy search: tolerates accents, case, the order of words, missing words, a word half typed, and a typo or two.

A library's index maps words to items. Each word of a query is matched with the words that the index knows, exactly, as
a prefix or with typos; the items that have most of them, counted by how rare they are, are then compared with the whole
query. Nothing here does I/O or checks access: the caller passes the indexes of the libraries that the person may see,
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
"""How many results a search has at most."""
# How many of the items that match best, word by word, are compared with the query as a whole.
COMPARED = 300
# Words of a query that are in more entries than this do not select candidates, except the rarest one.
MOST_COUNTED = 20_000
# How many words of an item, and of a query, are looked at.
MOST_WORDS = 200
MOST_ASKED = 16
# How many words one word of a query may stand for.
MOST_SPELLINGS = 4000
# From this score on, people take a match for what they meant.
CLOSE_ENOUGH = 62.0
# A title or name that is this similar as a whole is found although its words are not.
ALIKE = 0.74
# Nothing that has less of the words of a query is similar as a whole.
LEAST_SHARE = 0.3
PREFIX = 0.9
LEAST_SIMILAR = 0.6
MOST_TYPOS = 2
SHORTEST_WITH_TYPO = 3
# Numbers of up to so many digits have no typos: volume 3 is not volume 4.
SHORT_NUMBER = 3
RANK_OF_WORDS = 0.62
# A title that fits is preferred to a person or collection that fits as well.
OF_OTHERS = 0.97


class SearchEntry(NamedTuple):
    """The searchable text of an item or a collection."""

    id: UUID
    title: str
    others: tuple[str, ...] = ()
    """The names of its authors, or of its directors and cast."""
    collection_id: UUID | None = None
    is_collection: bool = False
    order: int | None = None
    """Its number in the collection."""
    isbn: str | None = None


class ScoredItem(NamedTuple):
    """An item that was found, its index, and its score, which is at most 100."""

    where: SearchIndex
    id: UUID
    score: float


class _Text(NamedTuple):
    """A query, a title or a name, to compare as a whole: as it is, and with its words sorted."""

    text: str
    shuffled: str

    @classmethod
    def of(cls, text: str) -> _Text:
        words = words_of(text)
        return cls(" ".join(words), " ".join(sorted(words)))

    def similarity(self, name: _Text) -> float:
        """How similar the name is, up to 1: whole names more so than those that only begin like this."""
        text, known = self.text, name.text
        if text == known:
            return 1.0
        as_typed = fuzz.ratio(text, known)
        shuffled = fuzz.ratio(self.shuffled, name.shuffled)
        begun = fuzz.ratio(text, known[: len(text)]) if len(known) > len(text) else 0.0
        return float(max(as_typed, shuffled, 0.6 * begun + 0.4 * as_typed)) / 100


class _Slot(NamedTuple):
    entry: SearchEntry
    title: _Text
    others: tuple[_Text, ...]
    words: frozenset[str]


_Item = tuple[int, int]
"""An item while it is searched for: the place of its index among those searched, and its slot there."""

Spellings = Mapping[str, float]
"""The words of an index that a word of a query may stand for, each with how similar it is, up to 1."""


class SearchIndex:
    """An inverted index of one library's items, by their words."""

    def __init__(self) -> None:
        self._slots: list[_Slot | None] = []
        self._slot_of: dict[UUID, int] = {}
        self._postings: dict[str, array[int]] = {}
        self._counts: Counter[str] = Counter()
        """In how many entries each word is. Those that were removed may still be in its posting."""
        self._in_collection: dict[UUID, set[int]] = {}
        self._by_length: dict[int, list[str]] = {}
        """The words that it knows, for comparing with those of similar length; and sorted, for prefixes."""
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
        # Removed entries stay in the postings, and are skipped, until they are half of them.
        if len(self._slots) > 64 and len(self._slot_of) * 2 < len(self._slots):
            self._rebuild()

    def _rebuild(self) -> None:
        left = [slot.entry for slot in self._slots if slot is not None]
        self.__init__()  # type: ignore[misc]
        for entry in left:
            self.put(entry)

    # --- words --------------------------------------------------------------------------------------------------

    def count_of(self, word: str) -> int:
        """How many entries have the word."""
        return self._counts[word]

    def beginning_with(self, prefix: str) -> Iterator[str]:
        """The words that begin with this and are longer."""
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
        """The other words that differ by at most so many typos, each with how similar it is."""
        for length in range(len(word) - most_typos, len(word) + most_typos + 1):
            known = self._by_length.get(length, ())
            for other, typos, _ in extract(word, known, scorer=OSA.distance, score_cutoff=most_typos, limit=None):
                if typos and self._counts[other]:
                    yield other, 1 - typos / max(length, len(word))

    def begun_like(self, word: str, most_typos: int) -> Iterator[tuple[str, float]]:
        """The longer words whose beginning differs from this by at most so many typos."""
        size = len(word)
        longer = [each for length, words in self._by_length.items() if length > size for each in words]
        begun = [each[:size] for each in longer]
        for _, typos, place in extract(word, begun, scorer=OSA.distance, score_cutoff=most_typos, limit=None):
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
    for each in entry.others:
        yield from text_words(each)


# --- one search -------------------------------------------------------------------------------------------------------


class _Vocabulary:
    """The words that the indexes know."""

    def __init__(self, indexes: Sequence[SearchIndex]) -> None:
        self._indexes = indexes

    def has(self, word: str) -> bool:
        return any(index.count_of(word) for index in self._indexes)

    def has_prefix(self, prefix: str) -> bool:
        return any(True for index in self._indexes for _ in index.beginning_with(prefix))


class _SearchQuery(NamedTuple):
    """A word of a query: what it stands for in each index, and how much it counts."""

    spellings: Sequence[Spellings]
    weight: float
    entries: int


def best(indexes: Sequence[SearchIndex], query: str, most: int = MOST_FOUND) -> list[ScoredItem]:
    """The closest items of these indexes, best first; none below CLOSE_ENOUGH, and MOST_FOUND at most."""
    text = _Text.of(query)
    scores: dict[_Item, float] = {}
    for words in readings(query, _Vocabulary(indexes)):
        for item, score in _scored(indexes, words[:MOST_ASKED], text):
            scores[item] = max(score, scores.get(item, 0.0))
    # The order is total, so that every page of the results comes from the same list.
    ranked = sorted(scores.items(), key=lambda each: (-each[1], *_reading_order(indexes, each[0])))
    return [
        ScoredItem(indexes[place], indexes[place].slot(number).entry.id, score)
        for (place, number), score in ranked[: min(most, MOST_FOUND)]
    ]


def _reading_order(indexes: Sequence[SearchIndex], item: _Item) -> tuple[str, int, str, int]:
    """What matches equally well is in the order of its collection, or by title."""
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
    asked = [_asked(indexes, word, place == len(words)) for place, word in enumerate(words, 1)]
    total = sum(each.weight for each in asked)
    candidates = _candidates(indexes, asked, LEAST_SHARE * total, text.text)
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
            # After all that were compared.
            yield (place, number), lowest * share


def _likeness(text: _Text, slot: _Slot, collection: _Slot | None) -> float:
    """How similar the query is to the title, or else to a person or the collection."""
    others = slot.others if collection is None else (*slot.others, collection.title)
    return max(text.similarity(slot.title), OF_OTHERS * max(map(text.similarity, others), default=0.0))


def _asked(indexes: Sequence[SearchIndex], word: str, is_last: bool) -> _SearchQuery:
    spellings = [_spellings(index, word, is_last) for index in indexes]
    exact = sum(index.count_of(word) for index in indexes)
    counts = [index.count_of(each) for index, known in zip(indexes, spellings, strict=True) for each in known]
    total = sum(map(len, indexes))
    # A word that nothing has counts as much as the rarest: it was meant to say something.
    weight = log(1 + (1 + total) / (1 + (exact or max(counts, default=0))))
    return _SearchQuery(spellings, weight, sum(counts))


def _spellings(index: SearchIndex, word: str, is_last: bool) -> Spellings:
    """What a word of a query may stand for. People search as they type, so the last one may be incomplete."""
    found: dict[str, float] = {}
    if index.count_of(word):
        found[word] = 1.0
    is_number = word.isdecimal()
    if is_number:
        ordinal = number_word(int(word))
        if index.count_of(ordinal):
            found[ordinal] = 1.0
    if is_last:
        longer = islice(index.beginning_with(word), 4 * MOST_SPELLINGS)
        for each in sorted(longer, key=len)[:MOST_SPELLINGS]:
            found[each] = PREFIX + (1 - PREFIX) * len(word) / (len(each) + 1)
    typos = _typos_in(word)
    if typos and not (found and is_number):
        for each, similarity in index.similar_to(word, typos):
            if similarity >= LEAST_SIMILAR and similarity > found.get(each, 0.0):
                found[each] = similarity
        if is_last and not found:
            found |= dict(nlargest(MOST_SPELLINGS, index.begun_like(word, typos), key=lambda each: each[1]))
    return found


def _typos_in(word: str) -> int:
    """How many typos are tolerated in a word."""
    if len(word) < SHORTEST_WITH_TYPO or UNSPACED.search(word):
        return 0
    if word[:-1].isdecimal():
        # Other digits are another number; an ISBN has a check digit, so a wrong one can be told.
        return 0 if len(word) <= SHORT_NUMBER else 1
    return 1 if len(word) < SHORTEST_WITH_TYPO + MOST_TYPOS else MOST_TYPOS


def _candidates(
    indexes: Sequence[SearchIndex], asked: Sequence[_SearchQuery], least: float, text: str
) -> Iterable[tuple[float, _Item]]:
    """The items that match words of the query, each with the sum of the weights of those, by how well they match.

    Rare words come first. Once the others cannot add up to `least`, or are in very many items, they select none.
    """
    counted = 0
    left = sum(each.weight for each in asked)
    shares: dict[_Item, float] = {}
    common: list[_SearchQuery] = []
    for each in sorted(asked, key=lambda each: each.entries):
        if shares and (left < least or counted + each.entries > MOST_COUNTED):
            common.append(each)
            continue
        left -= each.weight
        counted += each.entries
        for place, (index, spellings) in enumerate(zip(indexes, each.spellings, strict=True)):
            matched: dict[int, float] = {}
            for word, similarity in spellings.items():
                for number in index.having(word):
                    if similarity > matched.get(number, 0.0):
                        matched[number] = similarity
            for number, similarity in matched.items():
                item = place, number
                shares[item] = shares.get(item, 0.0) + each.weight * similarity
    # Thousands may have the same words: those whose title begins like the query come first, then the shortest.
    likely = nlargest(
        MOST_FOUND,
        (
            (share, (title := indexes[item[0]].slot(item[1]).title.text).startswith(text), -len(title), item)
            for item, share in shares.items()
            if share + left >= least
        ),
    )
    return [(share + _share_of(indexes[item[0]], item, common), item) for share, _, _, item in likely]


def _share_of(index: SearchIndex, item: _Item, asked: Iterable[_SearchQuery]) -> float:
    """The weights of those words that an item matches, looked up in the item."""
    place, number = item
    slot = index.slot(number)
    collection = index.collection_of(slot)
    words = slot.words if collection is None else slot.words | collection.words
    return sum(
        each.weight * max((each.spellings[place][word] for word in words & each.spellings[place].keys()), default=0.0)
        for each in asked
    )


# --- what to highlight ------------------------------------------------------------------------------------------------

MARKED_FROM = 0.7
WORD = re.compile(r"[\w'\u2019]+")


def marked(text: str, query: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it matches the query; adjacent matching words are one piece."""
    wanted = words_of(query)
    pieces: list[tuple[str, bool]] = []
    end = 0
    for found in WORD.finditer(text):
        known = list(text_words(found[0]))
        hit = any(_is_like(word, known) for word in wanted if len(word) > 1 or word in known)
        between = text[end : found.start()]
        if hit and pieces and pieces[-1][1] and not between.strip():
            pieces[-1] = (pieces[-1][0] + between + found[0], True)
        else:
            pieces += [(between, False), (found[0], hit)]
        end = found.end()
    pieces.append((text[end:], False))
    return [(piece, hit) for piece, hit in pieces if piece]


def _is_like(word: str, known: Sequence[str]) -> bool:
    if any(each.startswith(word) for each in known):
        return True
    return bool(_typos_in(word) and extractOne(word, known, scorer=OSA.normalized_similarity, score_cutoff=MARKED_FROM))
