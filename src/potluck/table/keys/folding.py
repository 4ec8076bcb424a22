"""Text as people look for it, whatever its accents, case and spacing; made for index keys, where "#" separates."""

from unicodedata import combining, normalize

__all__ = ["FOLDED_BYTES_PER_CHARACTER", "caseless", "fold"]

FOLDED_BYTES_PER_CHARACTER = 6
"""No character becomes more, folded or caseless: some letters of India are written as two, of three bytes each."""

LONGEST_CHARACTER = 4
"""How many bytes a character can take in UTF-8."""

# Accents are put above, below or across a letter, in one of the classes from 200. The marks in the classes below make
# another letter (the voicing of kana, the nukta) or are the vowel, and stay.
FIRST_ACCENT_CLASS = 200

# A space sorts before "#", so "Foo Bar" would land inside "Foo#...".
BEFORE_SEPARATOR = dict.fromkeys(range(ord("#")), "_") | {ord("#"): None}


def fold(text: str, /, most_bytes: int | None = None) -> str:
    """Lower case without accents, every character sorting after "#"; cut texts keep their order; can be empty."""
    text = text.replace("#", "")
    if text.isascii():
        text = " ".join(text.lower().split())
    else:
        text = normalize("NFC", " ".join(_without_accents(text).casefold().split()))
    text = text.translate(BEFORE_SEPARATOR)
    return text if most_bytes is None else _cut(text, most_bytes)


def caseless(text: str) -> str:
    """The same for texts that differ only in case, surrounding space, or how an accent is put on its letter."""
    return _composed(_composed(text.strip()).casefold())


def _composed(text: str) -> str:
    # The few characters that composing takes apart stay as they are: it would make them longer than keys allow for.
    composed = normalize("NFC", text)
    return composed if len(composed.encode()) <= len(text.encode()) else text


def _without_accents(text: str) -> str:
    return "".join(each for each in normalize("NFD", text) if combining(each) < FIRST_ACCENT_CLASS)


def _cut(text: str, most_bytes: int) -> str:
    # A character stays if any character could: were "a" kept where "é" is not, "xa" would sort after "xé".
    written = text.encode()
    end = most_bytes - LONGEST_CHARACTER + 1
    if len(written) <= end:
        return text
    end = max(end, 0)
    while end < len(written) and written[end] & 0xC0 == 0x80:
        end += 1
    return written[:end].decode()
