"""Folds text so that search ignores accents, case and spacing; for index keys, where "#" separates."""

from functools import lru_cache
from unicodedata import combining, normalize

FOLDED_BYTES_PER_CHARACTER = 6
"""The most bytes of a character, folded or caseless: some Indic letters become two of three bytes each."""

LONGEST_CHARACTER = 4
"""The most bytes of a character in UTF-8."""

LONGEST_NAME = 200
"""Longer texts are not cached in folded form."""

# Accents above, below or across a letter have combining classes from 200. Marks in lower classes make another letter
# (the voicing of kana, the nukta) or are the vowel, and stay.
FIRST_ACCENT_CLASS = 200

# A space sorts before "#", so "Foo Bar" would land inside "Foo#...".
BEFORE_SEPARATOR = dict.fromkeys(range(ord("#")), "_") | {ord("#"): None}


def fold(text: str, /, most_bytes: int | None = None) -> str:
    """Lower case without accents, every character sorting after "#"; cutting keeps the order; may be empty."""
    folded = _folded(text) if len(text) <= LONGEST_NAME else _folded.__wrapped__(text)
    return folded if most_bytes is None else cut(folded, most_bytes)


# A list sorted by name folds the same names after every write. Longer texts would fill the memory.
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
    # NFC decomposes a few characters; they are left alone, since they would become longer than keys allow.
    composed = normalize("NFC", text)
    return composed if len(composed.encode()) <= len(text.encode()) else text


def _without_accents(text: str) -> str:
    return "".join(character for character in normalize("NFD", text) if combining(character) < FIRST_ACCENT_CLASS)


def cut(text: str, most_bytes: int) -> str:
    """The text cut to at most this many bytes, so that cut texts keep their order."""
    # A character stays only if any character would fit: were "a" kept where "é" is not, "xa" would sort after "xé".
    written = text.encode()
    end = most_bytes - LONGEST_CHARACTER + 1
    if len(written) <= end:
        return text
    end = max(end, 0)
    while end < len(written) and written[end] & 0xC0 == 0x80:
        end += 1
    return written[:end].decode()
