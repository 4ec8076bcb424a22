"""A made-up language: every message, in letters that English does not have, and 40 % longer.

It calls itself Greek, so that dates and months have no letters of English either.
"""

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from tools.messages import METHODS, SUITE, collected

__all__ = ["LANGUAGE", "made_up", "with_catalogues"]

LANGUAGE = "el"
ENGLISH_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = str.maketrans(ENGLISH_LETTERS, "āƀçðēƒğħīĵķłɱñøþɋřšŧūʋŵẋýžĀƁÇÐĒƑĞĦĪĴĶŁƜÑØÞɊŘŠŦŪƲŴẊÝŽ")
# Placeholders, tags and entities stay as they are.
NO_TEXT = re.compile(r"(%\(\w+\)s|%%|<[^>]*>|&\w+;)")
LONGER = 0.4
FILLER = "øū"


def made_up(message: str) -> str:
    """The message in the made-up language."""
    pieces = NO_TEXT.split(message)
    letters = sum(len(piece) for piece in pieces[::2])
    # A short text becomes a longer word, a long one has more words.
    filler = (FILLER * letters)[: round(letters * LONGER)]
    space = "" if letters < 20 else " "
    pieces[::2] = [piece.translate(LETTERS) for piece in pieces[::2]]
    last = max((index for index in range(0, len(pieces), 2) if pieces[index].strip()), default=0)
    stripped = pieces[last].rstrip(".!?…: ")
    pieces[last] = stripped + space + re.sub(r"(.{8})", r"\1 ", filler).strip() + pieces[last][len(stripped) :]
    return "".join(pieces)


def with_catalogues(folder: Path) -> Path:
    """This folder, with the catalogues of the language in it."""
    into = folder / LANGUAGE / "LC_MESSAGES"
    into.mkdir(parents=True)
    for name in METHODS:
        catalogue = Catalog(locale=LANGUAGE)
        for message in collected(SUITE, name):
            if message.id:
                texts = made_up(message.id) if isinstance(message.id, str) else tuple(map(made_up, message.id))
                catalogue.add(message.id, texts)
        with (into / f"{name}.po").open("wb") as file:
            write_po(file, catalogue)
    return folder
