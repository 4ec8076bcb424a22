"""The words of titles, names and queries, in the form in which search compares them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Protocol
from unicodedata import combining, normalize

from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.table import BASE_LETTERS

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han. A run of them is indexed in pairs of characters.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+"
)
# "20 000", "20,000" and "20.000" are one number, with whatever space a language has there.
THOUSANDS = re.compile(r"(?<![0-9])([0-9]{1,3})((?:[\s.,'\u2019][0-9]{3})+)(?![0-9])")
DROPPED = str.maketrans(dict.fromkeys("'`\u2018\u2019\u02bc"))
# "l'été" is also looked for as "été", and "O'Brien" never as "Brien".
ELIDED = re.compile(r"(?<!\w)(?:l|d|j|m|n|s|t|c|qu|un|dell|all|nell|sull)['\u2019\u02bc](?=\w)", re.IGNORECASE)
NUMERALS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
ROMAN = {name: str(number) for number, name in enumerate(NUMERALS.split(), 1)}
ISBN_SIGNS = re.compile(r"^isbn(-?1[03])?:?|[\s.\-\u00ad\u2010-\u2015\u2212]")
SHORTEST_ISBN_PREFIX = 7
SHORTEST_PART = 2


def words_of(text: str) -> list[str]:
    """The words of a text, normalized: lower case, in base letters, without accents and punctuation."""
    if not text.isascii():
        text = "".join(each for each in normalize("NFKD", text) if not combining(each)).casefold()
        text = text.translate(BASE_LETTERS)
    # Apostrophes are dropped rather than separating words, so that "dont" finds "don't".
    text = THOUSANDS.sub(lambda found: found[1] + re.sub("[^0-9]", "", found[2]), text.lower()).translate(DROPPED)
    return "".join(each if each.isalnum() else " " for each in text).split()


def text_words(text: str) -> Iterator[str]:
    """The words by which a title or a name is found: its own, and other ways in which people type them."""
    words = words_of(text)
    for word in words:
        yield from _parts(word)
    if ELIDED.search(text):
        for word in words_of(ELIDED.sub(" ", text)):
            yield from _parts(word)
    # "J. R. R. Tolkien" is also typed "JRR".
    for short, run in groupby(words, key=lambda word: len(word) == 1 and word.isalpha()):
        if short and len(initials := "".join(run)) > 1:
            yield initials
    yield from (ROMAN[word] for word in words[1:] if word in ROMAN)


def _parts(word: str) -> Iterator[str]:
    """The word itself; of a run without spaces its characters, and the pairs of neighbours."""
    if not UNSPACED.search(word):
        yield word
        return
    for run in _runs(word):
        yield run
        if UNSPACED.match(run):
            yield from run
            yield from map("".join, pairwise(run))


def _runs(word: str) -> Iterator[str]:
    end = 0
    for run in UNSPACED.finditer(word):
        yield from (part for part in (word[end : run.start()], run[0]) if part)
        end = run.end()
    if word[end:]:
        yield word[end:]


def number_word(number: int) -> str:
    """The word under which an item is indexed by its number in a collection; nothing that people type is like it."""
    return f"#{number}"


class Vocabulary(Protocol):
    """The words that can be found."""

    def has(self, word: str) -> bool: ...
    def has_prefix(self, prefix: str) -> bool: ...


def readings(query: str, known: Vocabulary) -> list[list[str]]:
    """The words to look for, in each way in which the query can be read; none if it has none.

    An ISBN is one word, and a run without spaces is read in pairs. Where a space was forgotten, or typed too many, the
    query is also read as it was probably meant.
    """
    digits = re.sub(ISBN_SIGNS, "", query.strip().lower())
    found: list[list[str]] = []
    if re.fullmatch("[0-9]+x?", digits):
        try:
            return [[isbn_13(digits)]]
        except BadIsbn:
            if len(digits) >= SHORTEST_ISBN_PREFIX:
                found.append([digits])
    words: list[str] = []
    for word in words_of(query):
        for run in _runs(word):
            words += map("".join, pairwise(run)) if UNSPACED.match(run) and len(run) > 1 else [run]
    for reading in (words, _respaced(words, known)):
        if reading and reading not in found:
            found.append(reading)
    return found


def _respaced(words: Sequence[str], known: Vocabulary) -> list[str]:
    """The words with a space less where two are one word, and one more where one is two."""
    joined: list[str] = []
    for word in words:
        if joined and not (known.has(word) and known.has(joined[-1])) and known.has(joined[-1] + word):
            joined[-1] += word
        else:
            joined.append(word)
    return [
        part
        for place, word in enumerate(joined, 1)
        for part in ([word] if known.has(word) else _split(word, known, place == len(joined)))
    ]


def _split(word: str, known: Vocabulary, is_last: bool) -> Sequence[str]:
    """The two known words that an unknown one consists of, perhaps with another letter for the space."""
    for between in (0, 1):
        for end in range(len(word) - SHORTEST_PART - between, SHORTEST_PART - 1, -1):
            first, second = word[:end], word[end + between :]
            if known.has(first) and (known.has(second) or (is_last and known.has_prefix(second))):
                return [first, second]
    return [word]
