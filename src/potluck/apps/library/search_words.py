"""The words of titles, names and queries, normalized for searching."""

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
# "20 000", "20,000" and "20.000" are the same number, with any kind of space.
THOUSANDS = re.compile(r"(?<![0-9])([0-9]{1,3})((?:[\s.,'\u2019][0-9]{3})+)(?![0-9])")
DROPPED = str.maketrans(dict.fromkeys("'`\u2018\u2019\u02bc"))
# "l'été" is also found by "été", but "O'Brien" not by "Brien".
ELIDED = re.compile(r"(?<!\w)(?:l|d|j|m|n|s|t|c|qu|un|dell|all|nell|sull)['\u2019\u02bc](?=\w)", re.IGNORECASE)
NUMERALS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
ROMAN = {name: str(number) for number, name in enumerate(NUMERALS.split(), 1)}
ISBN_SIGNS = re.compile(r"^isbn(-?1[03])?:?|[\s.\-\u00ad\u2010-\u2015\u2212]")
SHORTEST_ISBN_PREFIX = 7
SHORTEST_PART = 2


def words_of(text: str) -> list[str]:
    """The words of a text, normalized: lower case, in base letters, without accents and punctuation."""
    if not text.isascii():
        text = "".join(character for character in normalize("NFKD", text) if not combining(character)).casefold()
        text = text.translate(BASE_LETTERS)
    # Apostrophes are dropped rather than separating words, so that "dont" finds "don't".
    text = THOUSANDS.sub(lambda match: match[1] + re.sub("[^0-9]", "", match[2]), text.lower()).translate(DROPPED)
    return "".join(character if character.isalnum() else " " for character in text).split()


def text_words(text: str) -> Iterator[str]:
    """The words by which a title or a name is found: its own words, and other ways to type them."""
    words = words_of(text)
    for word in words:
        yield from _parts(word)
    if ELIDED.search(text):
        for word in words_of(ELIDED.sub(" ", text)):
            yield from _parts(word)
    # "J. R. R. Tolkien" is also found by "JRR".
    for short, run in groupby(words, key=lambda word: len(word) == 1 and word.isalpha()):
        if short and len(initials := "".join(run)) > 1:
            yield initials
    yield from (ROMAN[word] for word in words[1:] if word in ROMAN)


def _parts(word: str) -> Iterator[str]:
    """The word itself; in a script without spaces, also its characters and its pairs of characters."""
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
    """The index word for an item's number in its collection. No word of a query looks like it."""
    return f"#{number}"


class Vocabulary(Protocol):
    """The words in the searched indexes."""

    def has(self, word: str) -> bool: ...
    def has_prefix(self, prefix: str) -> bool: ...


def readings(query: str, known: Vocabulary) -> list[list[str]]:
    """The words to search for, for each interpretation of the query; none for a query without words.

    An ISBN is one word, and a script without spaces is read in pairs of characters. If a space seems to be missing or
    superfluous, the query is also read with that corrected.
    """
    digits = re.sub(ISBN_SIGNS, "", query.strip().lower())
    options: list[list[str]] = []
    if re.fullmatch("[0-9]+x?", digits):
        try:
            return [[isbn_13(digits)]]
        except BadIsbn:
            if len(digits) >= SHORTEST_ISBN_PREFIX:
                options.append([digits])
    words: list[str] = []
    for word in words_of(query):
        for run in _runs(word):
            words += map("".join, pairwise(run)) if UNSPACED.match(run) and len(run) > 1 else [run]
    for reading in (words, _respaced(words, known)):
        if reading and reading not in options:
            options.append(reading)
    return options


def _respaced(words: Sequence[str], known: Vocabulary) -> list[str]:
    """The words with superfluous spaces removed and missing spaces inserted."""
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
    """The two known words of which an unknown word consists, possibly with a wrong letter instead of the space."""
    for between in (0, 1):
        for end in range(len(word) - SHORTEST_PART - between, SHORTEST_PART - 1, -1):
            first, second = word[:end], word[end + between :]
            if known.has(first) and (known.has(second) or (is_last and known.has_prefix(second))):
                return [first, second]
    return [word]
