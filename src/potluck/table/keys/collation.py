"""Collation: texts in the order of an alphabetical list, for index keys and for sorting in memory.

Case, accents and quotes do not count; "Œ", "Ø" and "Ł" are filed under their base letters; a leading article is
skipped; 9 comes before 10.
"""

import re
from functools import lru_cache
from hashlib import blake2b

from potluck.table.keys.folding import LONGEST_NAME, cut, fold

BASE_LETTERS = str.maketrans({
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "n", "ŧ": "t",
    "ĸ": "k", "ƀ": "b", "ɇ": "e", "ǥ": "g", "ɨ": "i", "ɉ": "j", "ɍ": "r", "ƶ": "z", "ŀ": "l",
})  # fmt: skip
"""Lower-case letters with strokes, and ligatures, which Unicode does not decompose."""

# "$" marks a text that was rearranged, so it must not occur in one.
IGNORED = str.maketrans(dict.fromkeys("'`´‘’‚‛“”„‟«»‹›‵′″「」『』$"))

# Of Italian and Portuguese, only those that are not English words: "I, Robot" and "As I Lay Dying" begin with none.
ARTICLES = (
    "the a an "  # English
    "le la les un une "  # French
    "der die das ein eine "  # German
    "el los las una unos unas "  # Spanish
    "il gli uno "  # Italian
    "os um uma "  # Portuguese
    "de het een "  # Dutch
    "den det en et ett"  # Danish, Norwegian, Swedish
)
# Spaces are "_" in a folded text. An article without anything after it is the title itself.
ARTICLE = re.compile(rf"(?:(?:{'|'.join(ARTICLES.split())})_+|(?:l|un)['’ʼ])(?=[^_])")
SPACES = re.compile("__+")
NUMBER = re.compile("0*([0-9]+)")
LONGEST_COUNTED = 9
COUNTED_FROM = ":"
REARRANGED = "$"
DIGEST_BYTES = 6
COLLATED_EXTRA_BYTES = len(REARRANGED) + 2 * DIGEST_BYTES
"""How much longer a collated text can be than a folded one."""


def collate(text: str, /, most_bytes: int | None = None) -> str:
    """The sort key of a text, every character after "#"; distinct if the folded texts are, unless it is cut."""
    collated = _collated(text) if len(text) <= LONGEST_NAME else _collated.__wrapped__(text)
    return collated if most_bytes is None else cut(collated, most_bytes)


@lru_cache(maxsize=4096)
def _collated(text: str) -> str:
    folded = fold(text)
    # Folding writes a straight quote as it writes a space.
    sorted_by = NUMBER.sub(_by_value, _spelled(fold(text.replace('"', ""))))
    if sorted_by == folded:
        return folded
    # "The Foo" and "Foo" sort alike; what is filed under one of them must not mix with what is under the other.
    digest = blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
    return f"{sorted_by}{REARRANGED}{digest}"


def _spelled(folded: str) -> str:
    """The folded text in base letters, without quotes, a leading article, or punctuation before the first word."""
    begun = _from_first_word(folded)
    article = ARTICLE.match(begun)
    rest = begun if article is None else _from_first_word(begun[article.end() :])
    return SPACES.sub("_", rest.translate(IGNORED).translate(BASE_LETTERS))


def _from_first_word(text: str) -> str:
    start = next((place for place, character in enumerate(text) if character.isalnum()), 0)
    return text[start:]


def _by_value(number: re.Match[str]) -> str:
    """A number after the count of its digits, so that texts sort by its value."""
    digits = number[1]
    count = len(digits)
    return f"{count}{digits}" if count <= LONGEST_COUNTED else f"{COUNTED_FROM}{count:03}{digits}"
