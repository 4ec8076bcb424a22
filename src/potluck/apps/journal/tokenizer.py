"""Splits text into normalized words, in the same way for entries and for queries, so that they match."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from potluck.apps.journal.fields import LONGEST_WORD

# One word in every spelling: its parts mean the opposite.
NO_GI = re.compile(r"no[-‐‑– ]?gi", re.IGNORECASE)
# Letters and digits of any script, joined by the apostrophe in "don't" or the hyphen in "half-guard".
WORD = re.compile(rf"(?<![^\W_]){NO_GI.pattern}(?![^\W_])|[^\W_]+(?:['’‐‑-][^\W_]+)*", re.IGNORECASE)
JOINER = re.compile(r"['’‐‑-]")
# The decimal point of "57.4 kg" ends no sentence.
SENTENCE = re.compile(r"(?:[^.!?…\n]|(?<=\d)\.(?=\d))+[.!?…]*", re.UNICODE)
# A final "s" is a plural only in words of at least this many letters.
SHORTEST_PLURAL = 4
SHORTEST_QUOTE = 19

NO_GI_WORD = "nogi"
GI_WORDS = {"gi": ("gi",), "no-gi": (NO_GI_WORD,), "both": ("gi", NO_GI_WORD)}


def folded(word: str) -> str:
    """The word without case and accents, cut to the length that fits in a key."""
    if word.isascii() and word.isalnum():
        return word.lower()[:LONGEST_WORD]
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", JOINER.sub("", plain))[:LONGEST_WORD]


def words_in(text: str) -> list[str]:
    """The words of a text, in order and with repetitions."""
    return [word for match in WORD.finditer(text) for word in _of_match(match[0])]


def _of_match(match: str) -> list[str]:
    """The word, and the parts of a joined one: "half-guard" is found by halfguard, half and guard."""
    if NO_GI.fullmatch(match):
        return [NO_GI_WORD]
    whole = folded(match)
    if match.isalnum():
        return [whole] if whole else []
    parts = [folded(part) for part in JOINER.split(match)]
    return [part for part in dict.fromkeys((whole, *parts)) if part]


def words_of(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words_in(text)}


def metric_words(gi_or_no_gi: str) -> tuple[str, ...]:
    """The words that find a session by what was worn."""
    return GI_WORDS[gi_or_no_gi]


def forms_of(word: str) -> tuple[str, ...]:
    """The word, and its regular English plural or singular."""
    if len(word) >= SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        return word, word[:-1]
    return (word, f"{word}s"[:LONGEST_WORD]) if len(word) >= SHORTEST_PLURAL - 1 else (word,)


def spans_of(text: str, wanted: set[str]) -> list[tuple[int, int]]:
    """The spans of these words in a text."""
    return [match.span() for match in WORD.finditer(text) if wanted.intersection(_of_match(match[0]))]


def sentences_of(text: str) -> Sequence[str]:
    """The sentences of a text, verbatim."""
    return [sentence for match in SENTENCE.finditer(text) if (sentence := match[0].strip())]


def with_next(text: str, sentence: str, more: int = 0) -> str:
    """The sentence, verbatim, with this many more of its line, or more if it is short: "Autumn Cup, no-gi."."""
    start = text.find(sentence)
    end = start + len(sentence)
    line = text.find("\n", end)
    for number, following in enumerate(sentences_of(text[end : len(text) if line < 0 else line])):
        if end - start >= SHORTEST_QUOTE and number >= more:
            break
        end = text.index(following, end) + len(following)
    return text[start:end]
