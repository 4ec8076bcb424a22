"""A typeface with what our pages use of it: some weights, and kerning that is the same at every weight."""

import string
from collections.abc import Collection
from io import BytesIO

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

# What else a typeface offers, pages do not use: these are composed accents, forms of a language, figures of one width.
FEATURES = ["ccmp", "locl", "mark", "mkmk", "rvrn", "tnum"]
KERNING = "kern"
# Kerning of everything takes as much as the letters; that of each weight as much again. These are kerned alike with and
# without accents, in “Töpfe” as in “Topf”.
KERNED = frozenset([*map(ord, string.ascii_letters + " ,.-"), *range(0xC0, 0x100)])
ACCENTS = range(0x300, 0x370)
# Copyright, name and licence.
NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]
WITHOUT_NAMES_OF_GLYPHS = 3.0


# What texts in the languages of Western Europe have, with the punctuation of our pages. Others load the rest too.
COMMON = {
    *range(0x20, 0x7F),
    *range(0xC0, 0x100),
    *(0xA0, 0xA1, 0xAB, 0xB0, 0xB7, 0xBB, 0xBF, 0x131, 0x152, 0x153, 0x178, 0x20AC, 0x2122, 0x2191, 0x2193, 0x2212),
    *(0x2009, 0x2013, 0x2014, 0x2018, 0x2019, 0x201A, 0x201C, 0x201D, 0x201E, 0x2022, 0x2026, 0x202F, 0x2032, 0x2033),
    *(0x2039, 0x203A),
}


def smaller(font: bytes, lightest: int, boldest: int, letters: Collection[int]) -> bytes:
    """These letters of the font, as woff2."""
    whole = _with(font, letters, FEATURES)
    whole = instancer.instantiateVariableFont(whole, {"wght": (lightest, boldest)})
    if KERNED.issubset(letters):
        kerned = [code for code in letters if code in KERNED or code in ACCENTS]
        middle = _with(font, kerned, [*FEATURES, KERNING])
        whole["GPOS"] = instancer.instantiateVariableFont(middle, {"wght": (lightest + boldest) / 2})["GPOS"]
    whole["post"].formatType = WITHOUT_NAMES_OF_GLYPHS
    return _written(whole, "woff2")


def letters_of(font: bytes) -> list[int]:
    return sorted(_read(font).getBestCmap())


def _with(font: bytes, letters: Collection[int], features: list[str]) -> TTFont:
    options = subset.Options(layout_features=features, name_IDs=NAMES, glyph_names=True, notdef_outline=True)
    part = _read(font)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=letters)
    subsetter.subset(part)
    return _read(_written(part, None))


def _read(font: bytes) -> TTFont:
    return TTFont(BytesIO(font), recalcTimestamp=False)


def _written(font: TTFont, flavor: str | None) -> bytes:
    font.flavor = flavor
    file = BytesIO()
    font.save(file)
    return file.getvalue()
