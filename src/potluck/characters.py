"""Which characters people's text may contain, on one line or on several, and which of them are visible.

The ranges are listed here rather than left to `str.isprintable`: Python's Unicode tables are as old as the Python, and
would refuse the newest letters and emoji, and the spaces of Japanese and French.
"""

import re
from collections.abc import Callable
from unicodedata import category

__all__ = [
    "ONE_LINE_IN_WORDS",
    "SEVERAL_LINES_IN_WORDS",
    "TextRule",
    "one_line",
    "seen",
    "several_lines",
    "with_line_ends",
]

TextRule = Callable[[str], str | None]
"""What is wrong with a text, worded to follow the field's name; None if nothing is."""

LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

# All control characters but tab and line feed, which are allowed in text of several lines.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
# Bidirectional embeddings and overrides: they display the text after them in a different order.
OVERRIDES = "\u202a-\u202e"
# Text hidden in the text: interlinear annotations and tag characters, with the ranges reserved for more of them.
HIDDEN_TEXT = "\ufff9-\ufffb\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
# Lone surrogates, private use, and noncharacters: there is no telling how they are displayed.
MEANINGLESS = "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\U000f0000-\U0010ffff" + "".join(
    chr(plane * 0x10000 + end) for plane in range(15) for end in (0xFFFE, 0xFFFF)
)
# Bidirectional isolates reorder at most their own paragraph, but a single line is one paragraph. Directional marks
# (U+200E, U+200F, U+061C) are allowed: each acts as one invisible letter, and names in two scripts need them.
ISOLATES = "\u2066-\u2069"
# Invisible, and needed by no script: soft hyphens, word joiners, byte order marks, and the format characters of
# mathematics, shorthand and music. Harmless in prose, but in a name they would let one pass for another.
NEVER_SEEN = "\u00ad\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"

NOT_IN_LINES = re.compile(f"[{CONTROLS}{OVERRIDES}{HIDDEN_TEXT}{MEANINGLESS}]")
NOT_IN_ONE_LINE = re.compile(f"[\t\n{ISOLATES}{NEVER_SEEN}{NOT_IN_LINES.pattern[1:]}")
# The flags of England, Scotland and Wales are a black flag followed by the country's code in invisible tag characters.
FLAG_OF_TAGS = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

# Allowed because scripts and emoji need them, but invisible: joiners, directional marks, fillers, blanks, and
# variation selectors.
UNSEEN = re.compile(
    "[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)

ONE_LINE_IN_WORDS = (
    "One line with at least one visible character; without control characters, overrides of direction, private use, "
    "and characters that are never seen, but for the joiners, marks and selectors that scripts and emoji need."
)
SEVERAL_LINES_IN_WORDS = (
    "Line ends become U+000A, and tabs stay; without other control characters, overrides of direction and private use."
)

NOT_SEEN = "must have a visible character"


def one_line(text: str) -> str | None:
    """Why the text is not one visible line; None if it is, or is empty."""
    if text.isascii() and text.isprintable() and not text.isspace():
        return None
    if LINE_END.search(text):
        return "must be one line"
    return _wrong_character(NOT_IN_ONE_LINE, text) or (None if not text or _is_seen(text) else NOT_SEEN)


def several_lines(text: str) -> str | None:
    """Why the text is not acceptable as several lines, with U+000A as the line end; None if it is."""
    return None if text.isascii() and text.isprintable() else _wrong_character(NOT_IN_LINES, text)


def with_line_ends(text: str) -> str:
    """The text with every line end normalized to U+000A."""
    return LINE_END.sub("\n", text)


def seen(text: str) -> str:
    """The text without its invisible characters."""
    return UNSEEN.sub("", text)


def _wrong_character(refused: re.Pattern[str], text: str) -> str | None:
    found = refused.search(text)
    if found is not None:
        found = refused.search(FLAG_OF_TAGS.sub("", text))
    return None if found is None else f"must not contain U+{ord(found[0]):04X}"


def _is_seen(text: str) -> bool:
    # A combining mark alone is not visible text: it would attach to whatever precedes it. "Cn" (unassigned) may be a
    # character that is newer than this Python.
    return any(category(each)[0] in "LNPS" or category(each) == "Cn" for each in seen(text))
