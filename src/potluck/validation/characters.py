"""Which characters text may contain, on one line or on several, and which of them are visible.

The ranges are listed here rather than left to `str.isprintable`: Python's Unicode tables are as old as the Python, and
would refuse the newest letters and emoji, and the spaces of Japanese and French.
"""

import re
from collections.abc import Callable
from unicodedata import bidirectional, category, combining

TextRule = Callable[[str], str | None]
"""The problem with a text, worded to follow the field's name; None if there is none."""

VIRAMA_CLASS = 9
"""The combining class of virama marks, which remove a letter's vowel."""

OTHER_LINE_ENDS = "\r\x85\u2028\u2029"
LINE_END = re.compile(f"\r\n|[\n{OTHER_LINE_ENDS}]")

# All control characters but tab and line feed, which are allowed in text of several lines.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
# Bidirectional embeddings and overrides: they display the text after them in a different order.
OVERRIDES = "\u202a-\u202e"
# Hidden text: interlinear annotations and tag characters, with the ranges reserved for more of them.
HIDDEN_TEXT = "\ufff9-\ufffb\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
# Lone surrogates, private use, and noncharacters: how they are displayed is undefined.
MEANINGLESS = "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\U000f0000-\U0010ffff" + "".join(
    chr(plane * 0x10000 + end) for plane in range(15) for end in (0xFFFE, 0xFFFF)
)
# Bidirectional isolates reorder at most their own paragraph, but a single line is one paragraph. Directional marks
# (U+200E, U+200F, U+061C) are allowed: each acts as one invisible letter, and names in two scripts need them.
ISOLATES = "\u2066-\u2069"
# Invisible, and needed by no script: soft hyphens, word joiners, byte order marks, and the format characters of
# mathematics, shorthand and music. Harmless in prose, but in a name they would let one pass for another.
NEVER_SEEN = "\u00ad\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"

NOT_IN_LINES = re.compile(f"[{CONTROLS}{OVERRIDES}{HIDDEN_TEXT}{MEANINGLESS}]")
NOT_IN_ONE_LINE = re.compile(f"[\t\n{ISOLATES}{NEVER_SEEN}{NOT_IN_LINES.pattern[1:]}")
# The flags of England, Scotland and Wales are a black flag followed by the country's code in invisible tag characters.
FLAG_OF_TAGS = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

# Invisible, and allowed only where a script or an emoji needs them (IN_PLACE): joiners, directional marks, fillers,
# blanks, variation selectors, and the controls that arrange hieroglyphs. With the ranges refused above, these are all
# of Unicode's default-ignorable characters.
UNSEEN = re.compile(
    "[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2800\u3164\ufe00-\ufe0f\uffa0\U00013430-\U0001343f"
    "\U00016fe4\U000e0100-\U000e01ef]"
)

# Scripts whose letters change shape with their neighbours, in which a joiner makes another word: from Arabic to
# Myanmar without Hebrew, Thai, Lao and Georgian, from Tagalog to Vedic, and those of the other planes.
SHAPED = (
    "\u0600-\u060b\u0610-\u061a\u0620-\u085f\u0860-\u0dff\u0f00-\u109f\u1700-\u17b3\u17b6-\u17ff\u1806-\u180a\u1810-\u18af"
    "\u1900-\u1cff\ua800-\ua95f\ua980-\uab2f\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
# A vowel killer at the end of a word may be followed by a joiner and nothing else: ന്\u200d is one letter of Malayalam.
VIRAMA = "".join(
    chr(code) for code in (*range(0x0900, 0x1C00), *range(0xA800, 0xAC00)) if combining(chr(code)) == VIRAMA_CLASS
)
# Scripts written without spaces, in which a zero-width space ends a word.
UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
MONGOLIAN = "\u1807\u180a\u1810-\u18af"
IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
EMOJI = "\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff"
# After an emoji, its variation selector, its skin tone or the end of its tags.
AFTER_EMOJI = f"{EMOJI}\ufe0f\U000e007f"
VARIED = (
    "\u1000-\u109f\u2018-\u201f\u3001\u3002\ua840-\ua877\uaa60-\uaa7f\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
    "\U00010ac0-\U00010aff"
)
HIEROGLYPHS = "\U00013000-\U0001342f\U00013440-\U00013455\U00013460-\U000143ff"

IN_PLACE = re.compile(
    "|".join(
        [
            f"(?<=[{SHAPED}])\u200c(?=[{SHAPED}])|(?<=[{VIRAMA}])[\u200c\u200d]|(?<=[{SHAPED}])\u200d",
            f"(?<=[{AFTER_EMOJI}])\u200d(?=[{EMOJI}])",
            f"(?<=[{UNSPACED}])\u200b(?=[{UNSPACED}])",
            f"(?<=[{MONGOLIAN}])[\u180b-\u180d\u180f]|(?<=[{MONGOLIAN}\u180b-\u180d])\u180e(?=[{MONGOLIAN}])",
            "(?<=[\u0591-\u05f4])\u034f(?=[\u0591-\u05f4])",
            "\u115f(?=[\u1160-\u11a7\ud7b0-\ud7c6])|(?<=[\u1100-\u115f\ua960-\ua97c])\u1160|\u1160(?=[\u11a8-\u11ff])",
            "(?<=[\u2801-\u28ff])\u2800(?=[\u2800-\u28ff])|(?<=\u2800)\u2800(?=[\u2801-\u28ff])",
            "(?<=[0-9#*])\ufe0f(?=\u20e3)",
            f"(?<=[{EMOJI}{IDEOGRAPHS}{VARIED}{HIEROGLYPHS}])[\ufe00-\ufe0f]",
            f"(?<=[{IDEOGRAPHS}])[\U000e0100-\U000e01ef]",
            f"(?<=[{HIEROGLYPHS}\U00013430-\U0001343f\ufe00-\ufe06])[\U00013430-\U0001343f]|[\U00013430-\U0001343f](?=[{HIEROGLYPHS}])",
            "(?<=[\U00018b00-\U00018cff])\U00016fe4",
        ]
    )
)
DIRECTIONAL_MARKS = "\u061c\u200e\u200f"

ONE_LINE_IN_WORDS = (
    "One line with at least one visible character; without control characters, overrides of direction, private use, "
    "and characters that are never seen, but for joiners, marks and selectors where scripts and emoji need them."
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
    wrong = _wrong_character(NOT_IN_ONE_LINE, text)
    if wrong is None and text:
        wrong = _out_of_place(text) if _is_seen(text) else NOT_SEEN
    return wrong


def several_lines(text: str) -> str | None:
    """Why the text is not acceptable as several lines, with U+000A as the line end; None if it is."""
    return None if text.isascii() and text.isprintable() else _wrong_character(NOT_IN_LINES, text)


def with_line_ends(text: str) -> str:
    """The text with every line end normalized to U+000A."""
    # Several times as fast as LINE_END.sub, which would block the process with a text of megabytes.
    text = text.replace("\r\n", "\n")
    for end in OTHER_LINE_ENDS:
        text = text.replace(end, "\n")
    return text


def seen(text: str) -> str:
    """The text without its invisible characters."""
    return UNSEEN.sub("", text)


def _wrong_character(refused: re.Pattern[str], text: str) -> str | None:
    match = refused.search(text)
    if match is not None:
        match = refused.search(FLAG_OF_TAGS.sub("", text))
    return None if match is None else _refused(match[0])


def _out_of_place(text: str) -> str | None:
    """The problem with the first invisible character that no script or emoji needs there."""
    for match in UNSEEN.finditer(text):
        if match[0] in DIRECTIONAL_MARKS:
            # Between a name and what is shown after it, a mark matters only if the name has letters of both directions.
            needed = any(
                bidirectional(character) in ("R", "AL", "AN")
                for character in text
                if character not in DIRECTIONAL_MARKS
            )
        else:
            needed = IN_PLACE.match(text, match.start()) is not None
        if not needed:
            return _refused(match[0])
    return None


def _refused(character: str) -> str:
    return f"must not contain U+{ord(character):04X}"


def _is_seen(text: str) -> bool:
    # A combining mark alone is not visible text: it would attach to whatever precedes it. "Cn" (unassigned) may be a
    # character that is newer than this Python.
    return any(category(character)[0] in "LNPS" or category(character) == "Cn" for character in seen(text))
