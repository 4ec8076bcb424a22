"""Folds text so that search ignores accents, case and spacing; for index keys, where "#" separates."""

from functools import lru_cache
from unicodedata import combining, normalize

FOLDED_BYTES_PER_CHARACTER = 6
"""The most that a character becomes, folded or caseless: some Indic letters become two, of three bytes each."""

LONGEST_CHARACTER = 4
"""How many bytes a character can take in UTF-8."""

LONGEST_NAME = 200
"""How many characters a text can have for its folded form to be cached."""

# Accents above, below or across a letter have combining classes from 200. Marks in lower classes make another letter
# (the voicing of kana, the nukta) or are the vowel, and stay.
FIRST_ACCENT_CLASS = 200

# A space sorts before "#", so "Foo Bar" would land inside "Foo#...".
BEFORE_SEPARATOR = dict.fromkeys(range(ord("#")), "_") | {ord("#"): None}


def fold(text: str, /, most_bytes: int | None = None) -> str:
    """Lower case without accents, every character sorting after "#"; cutting keeps the order; may be empty."""
    folded = _folded(text) if len(text) <= LONGEST_NAME else _folded.__wrapped__(text)
    return folded if most_bytes is None else cut(folded, most_bytes)


# A list that is sorted by name folds the same names after every write to it. Longer texts would fill the memory.
@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    text = text.replace("#", "")
    if text.isascii():
        text = " ".join(text.lower().split())
    else:
        text = normalize("NFC", " ".join(_without_accents(text).casefold().split()))
    return text.translate(BEFORE_SEPARATOR)


def caseless(text: str) -> str:
    """Equal for texts that differ only in case, surrounding space, or how an accented letter is encoded."""
    return _composed(_composed(text.strip()).casefold())


def _composed(text: str) -> str:
    # NFC decomposes a few characters; they stay as they are, since they would become longer than keys allow for.
    composed = normalize("NFC", text)
    return composed if len(composed.encode()) <= len(text.encode()) else text


def _without_accents(text: str) -> str:
    return "".join(each for each in normalize("NFD", text) if combining(each) < FIRST_ACCENT_CLASS)


def cut(text: str, most_bytes: int) -> str:
    """At most so many bytes of the text, so that cut texts keep their order."""
    # A character stays only if any character would fit: were "a" kept where "é" is not, "xa" would sort after "xé".
    written = text.encode()
    end = most_bytes - LONGEST_CHARACTER + 1
    if len(written) <= end:
        return text
    end = max(end, 0)
    while end < len(written) and written[end] & 0xC0 == 0x80:
        end += 1
    return written[:end].decode()
