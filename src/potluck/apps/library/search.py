"""Search that forgives: accents, case, the order of words, words left out, a word half typed, and a typo or two.

A library's index knows its items by the trigrams of their words. Of a query, the rarest trigrams name candidates; the
best of those are compared with the query as a whole. Nothing here reads or knows who asks: whoever searches hands over
the indexes of the libraries that they may look into, and nothing else can be found.
"""

from __future__ import annotations

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

__all__ = ["Entry", "Found", "SearchIndex", "best", "words_of"]

# A query's trigrams are looked up from the rarest on: at least so many, and on until so many entries were counted.
LEAST_TRIGRAMS = 8
MOST_COUNTED = 20_000
COMPARED = 150
# Of one item, and of a query, as many words are compared: each with each, for every candidate.
MOST_WORDS = 200
MOST_ASKED = 16
# Of what is as close as this, or closer, people think that it was meant.
CLOSE_ENOUGH = 62.0


class Entry(NamedTuple):
    """What an item or a collection is found by."""

    id: UUID
    title: str
    others: tuple[str, ...] = ()
    """The people who made it."""
    collection_id: UUID | None = None
    is_collection: bool = False


class Found(NamedTuple):
    """An item that was found, in which of the indexes, and how close it is to what was asked for: at most 100."""

    where: SearchIndex
    id: UUID
    score: float


class _Slot(NamedTuple):
    entry: Entry
    title: str
    words: tuple[str, ...]


def words_of(text: str) -> list[str]:
    """The words of a text as people look for them: lower case, without accents and signs."""
    if not text.isascii():
        text = "".join(each for each in normalize("NFKD", text) if not combining(each))
    # An apostrophe is inside a word for some and between two for others: "dont" and "don't" are one here.
    text = text.casefold().replace("'", "").replace("\u2019", "")
    return "".join(each if each.isalnum() else " " for each in text).split()


def trigrams(words: Sequence[str], last_is_whole: bool = True) -> set[str]:
    """The trigrams of words, their beginnings and ends marked; of a word half typed, the end is not known."""
    found: set[str] = set()
    for number, word in enumerate(words, 1):
        marked = f" {word} " if last_is_whole or number < len(words) else f" {word}"
        found.update(marked[start : start + 3] for start in range(max(1, len(marked) - 2)))
    return found


class SearchIndex:
    """The items of one library, by the trigrams of their words."""

    def __init__(self) -> None:
        self._slots: list[_Slot | None] = []
        self._lengths = array("I")
        self._slot_of: dict[UUID, int] = {}
        self._postings: dict[str, array[int]] = {}
        self._in_collection: dict[UUID, set[int]] = {}

    def __len__(self) -> int:
        return len(self._slot_of)

    def put(self, entry: Entry) -> None:
        """Find this from now on, instead of what had its id."""
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
        # What is gone stays in the postings, unseen, until it is half of them.
        if len(self._slots) > 64 and len(self._slot_of) * 2 < len(self._slots):
            self._rebuild()

    def _rebuild(self) -> None:
        left = [slot.entry for slot in self._slots if slot is not None]
        self.__init__()  # type: ignore[misc]
        for entry in left:
            self.put(entry)

    def count_of(self, trigram: str) -> int:
        """How many entries have it."""
        return len(self._postings.get(trigram, ()))

    def candidates(self, rarest: Iterable[str], most: int) -> Iterator[tuple[int, int]]:
        """The items that share the most of these trigrams: how many, and the item's slot."""
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
        """Those with the most hits. Of as many, the one that says least besides comes first."""
        # Sorting all that share anything would take longer than everything else: first, how many hits are enough.
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
        """The words of the name of the collection that an item is in."""
        number = None if slot.entry.collection_id is None else self._slot_of.get(slot.entry.collection_id)
        found = None if number is None else self._slots[number]
        return () if found is None else found.words


def best(indexes: Sequence[SearchIndex], query: str, most: int) -> list[Found]:
    """The closest items of these indexes, the closest first; nothing that is too far."""
    words = words_of(query)[:MOST_ASKED]
    if not words:
        return []
    # Somebody who types on has typed only a part of the last word.
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
    """How close an item is to a query: word by word, as a whole, and as the beginning of its title."""
    known = (*slot.words, *collection)
    matched = sum(_closest(word, known, number == len(words)) for number, word in enumerate(words, 1)) / len(words)
    title = slot.title
    as_typed = fuzz.ratio(text, title)
    shuffled = fuzz.ratio(in_order, " ".join(sorted(title.split())))
    begun = fuzz.ratio(text, title[: len(text)])
    return 0.6 * matched + 0.25 * max(as_typed, shuffled) + 0.15 * max(begun, as_typed)


def _closest(word: str, known: Sequence[str], is_last: bool) -> float:
    """How close the closest word of an item is; the last of a query may be the beginning of one."""
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
