"""Fuzzy search: tolerates accents, case, the order of words, missing words, a word half typed, and a typo or two.

A library's index maps trigrams of words to items. A query's rarest trigrams select candidates, and the best of those
are compared with the whole query. Nothing here does I/O or checks access: the caller passes the indexes of the
libraries that the person may see, and nothing else can be found.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest, nsmallest
from itertools import chain, islice
from typing import NamedTuple
from unicodedata import combining, normalize
from uuid import UUID

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel
from rapidfuzz.process import extractOne

__all__ = ["Entry", "Found", "SearchIndex", "best", "marked", "words_of"]

# A query's trigrams are looked up starting with the rarest: at least LEAST_TRIGRAMS, then until MOST_COUNTED entries.
LEAST_TRIGRAMS = 8
MOST_COUNTED = 20_000
COMPARED = 150
# How many words of an item, and of a query, are compared: each with each, for every candidate.
MOST_WORDS = 200
MOST_ASKED = 16
# From this score on, people take a match for what they meant.
CLOSE_ENOUGH = 62.0


class Entry(NamedTuple):
    """The searchable text of an item or a collection."""

    id: UUID
    title: str
    others: tuple[str, ...] = ()
    """The names of its authors or directors."""
    collection_id: UUID | None = None
    is_collection: bool = False


class Found(NamedTuple):
    """An item that was found, its index, and its score, which is at most 100."""

    where: SearchIndex
    id: UUID
    score: float


class _Slot(NamedTuple):
    entry: Entry
    title: str
    words: tuple[str, ...]


def words_of(text: str) -> list[str]:
    """The words of a text, normalized for search: lower case, without accents and punctuation."""
    if not text.isascii():
        text = "".join(each for each in normalize("NFKD", text) if not combining(each))
    # Apostrophes are dropped rather than separating words, so that "dont" finds "don't".
    text = text.casefold().replace("'", "").replace("\u2019", "")
    return "".join(each if each.isalnum() else " " for each in text).split()


def trigrams(words: Sequence[str], last_is_whole: bool = True) -> set[str]:
    """The trigrams of words, padded at both ends; a last word that is half typed is not padded at its end."""
    found: set[str] = set()
    for number, word in enumerate(words, 1):
        marked = f" {word} " if last_is_whole or number < len(words) else f" {word}"
        found.update(marked[start : start + 3] for start in range(max(1, len(marked) - 2)))
    return found


class SearchIndex:
    """An inverted index of one library's items, by the trigrams of their words."""

    def __init__(self) -> None:
        self._slots: list[_Slot | None] = []
        self._lengths = array("I")
        self._slot_of: dict[UUID, int] = {}
        self._postings: dict[str, array[int]] = {}
        self._in_collection: dict[UUID, set[int]] = {}

    def __len__(self) -> int:
        return len(self._slot_of)

    def put(self, entry: Entry) -> None:
        """Index the entry, replacing any with the same id."""
        self.remove(entry.id)
        number = len(self._slots)
        title = words_of(entry.title)
        others = (word for each in entry.others for word in words_of(each))
        words = tuple(islice(dict.fromkeys(chain(title, others)), MOST_WORDS))
        self._slots.append(_Slot(entry, " ".join(title), words))
        self._lengths.append(sum(map(len, words)))
        self._slot_of[entry.id] = number
        if entry.collection_id is not None:
            self._in_collection.setdefault(entry.collection_id, set()).add(number)
        postings = self._postings
        for each in trigrams(words):
            posting = postings.get(each)
            if posting is None:
                postings[each] = posting = array("I")
            posting.append(number)

    def remove(self, id: UUID) -> None:
        number = self._slot_of.pop(id, None)
        if number is None:
            return
        slot = self._slots[number]
        assert slot is not None
        self._slots[number] = None
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

    def count_of(self, trigram: str) -> int:
        """How many entries contain the trigram."""
        return len(self._postings.get(trigram, ()))

    def candidates(self, rarest: Iterable[str], most: int) -> Iterator[tuple[int, int]]:
        """The items that share the most of these trigrams, as pairs of the number shared and the item's slot."""
        hits: Counter[int] = Counter()
        for each in rarest:
            hits.update(self._postings.get(each, ()))
        for number, shared in self._most_shared(hits, most):
            slot = self._slots[number]
            if slot is None:
                continue
            if slot.entry.is_collection:
                for item in list(self._in_collection.get(slot.entry.id, ()))[:most]:
                    yield shared, item
            else:
                yield shared, number

    def _most_shared(self, hits: Counter[int], most: int) -> Iterator[tuple[int, int]]:
        """The entries with the most hits; among equals the shortest come first."""
        # Sorting all hits would take longer than everything else, so first find out how many hits make the cut.
        enough, left = 1, most
        for shared, having in sorted(Counter(hits.values()).items(), reverse=True):
            left -= having
            if left <= 0:
                enough = shared
                break
        chosen = [(-shared, self._lengths[number], number) for number, shared in hits.items() if shared >= enough]
        for negative, _, number in nsmallest(most, chosen):
            yield number, -negative

    def slot(self, number: int) -> _Slot | None:
        return self._slots[number]

    def collection_words(self, slot: _Slot) -> tuple[str, ...]:
        """The words of the name of an item's collection."""
        number = None if slot.entry.collection_id is None else self._slot_of.get(slot.entry.collection_id)
        found = None if number is None else self._slots[number]
        return () if found is None else found.words


def best(indexes: Sequence[SearchIndex], query: str, most: int) -> list[Found]:
    """The closest items of these indexes, best first; none below CLOSE_ENOUGH."""
    words = words_of(query)[:MOST_ASKED]
    if not words:
        return []
    # People search as they type, so the last word may be incomplete.
    wanted = trigrams(words, last_is_whole=False)
    counts = {each: sum(index.count_of(each) for index in indexes) for each in wanted}
    rarest: list[str] = []
    counted = 0
    for each in sorted((each for each in wanted if counts[each]), key=lambda each: (counts[each], each)):
        if len(rarest) >= LEAST_TRIGRAMS and counted + counts[each] > MOST_COUNTED:
            break
        rarest.append(each)
        counted += counts[each]
    named = {
        (place, number): shared
        for place, index in enumerate(indexes)
        for shared, number in index.candidates(rarest, COMPARED)
    }
    closest = nlargest(COMPARED, named.items(), key=lambda each: each[1])
    text = " ".join(words)
    in_order = " ".join(sorted(words))
    found: list[Found] = []
    for (place, number), _ in closest:
        slot = indexes[place].slot(number)
        if slot is not None:
            score = closeness(words, text, in_order, slot, indexes[place].collection_words(slot))
            if score >= CLOSE_ENOUGH:
                found.append(Found(indexes[place], slot.entry.id, score))
    return nlargest(most, found, key=lambda each: (each.score, each.id.int))


def closeness(words: Sequence[str], text: str, in_order: str, slot: _Slot, collection: Sequence[str]) -> float:
    """The score of an item for a query: word by word, as a whole, and as a prefix of its title."""
    known = (*slot.words, *collection)
    matched = sum(_closest(word, known, number == len(words)) for number, word in enumerate(words, 1)) / len(words)
    title = slot.title
    as_typed = fuzz.ratio(text, title)
    shuffled = fuzz.ratio(in_order, " ".join(sorted(title.split())))
    begun = fuzz.ratio(text, title[: len(text)])
    return 0.6 * matched + 0.25 * max(as_typed, shuffled) + 0.15 * max(begun, as_typed)


MARKED_FROM = 70.0
WORD = re.compile(r"[\w'\u2019]+")


def marked(text: str, query: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it matches the query; adjacent matching words are one piece."""
    wanted = words_of(query)
    pieces: list[tuple[str, bool]] = []
    end = 0
    for found in WORD.finditer(text):
        known = words_of(found[0])
        hit = any(_closest(word, known, True) >= MARKED_FROM for word in wanted if len(word) > 1 or word in known)
        between = text[end : found.start()]
        if hit and pieces and pieces[-1][1] and not between.strip():
            pieces[-1] = (pieces[-1][0] + between + found[0], True)
        else:
            pieces += [(between, False), (found[0], hit)]
        end = found.end()
    pieces.append((text[end:], False))
    return [(piece, hit) for piece, hit in pieces if piece]


def _closest(word: str, known: Sequence[str], is_last: bool) -> float:
    """The score of the best matching word; the last word of a query may also match as a prefix."""
    if word in known:
        return 100.0
    whole = 100.0 * _most_similar(word, known)
    begun = (
        98.0 * _most_similar(word, {each[: len(word)] for each in known if len(each) > len(word)}) if is_last else 0.0
    )
    return max(whole, begun)


def _most_similar(word: str, known: Iterable[str]) -> float:
    found = extractOne(word, known, scorer=Indel.normalized_similarity, score_cutoff=0.5)
    return 0.0 if found is None else float(found[1])
