"""Goodreads exports: series that are part of titles, shelves, and ratings and reviews as a note."""

import html
import re
from collections.abc import Mapping

# "The Hunger Games (The Hunger Games, #1)" is the first of a series. Matched in two anchored steps: a single pattern
# would take quadratic time on a title that consists of brackets.
SERIES = re.compile(r"\S\s+\(")
NUMBERED = re.compile(r"#(\d{1,4})(?:\.\d{1,4})?\)")
# Goodreads writes ="0439023483", so that a spreadsheet keeps the leading zero.
QUOTED = re.compile(r'^="?(.*?)"?$')
BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
TAG = re.compile(r"<[^<>]{1,200}>")
WANTED = "to-read"

Cells = Mapping[str, str]


def is_goodreads(header: list[str]) -> bool:
    """Whether a table with this header is an export from Goodreads."""
    return {"title", "author", "isbn13"} <= {column.lower() for column in header}


def split_series(title: str) -> tuple[str, str, int] | None:
    """The title without its series, the series, and the number in it; None if no series is named."""
    start, hash_sign = SERIES.search(title), title.rfind("#")
    number = None if start is None else NUMBERED.fullmatch(title, hash_sign)
    if start is None or number is None:
        return None
    before = title[start.end() : hash_sign]
    series = before.rstrip().removesuffix(",").strip()
    if not series or before == before.rstrip():
        return None
    return title[: start.start() + 1], series, int(number[1])


def isbn_of(cells: Cells) -> str | None:
    """The ISBN as the file has it: ISBN-13 or, without one, ISBN-10."""
    isbns = (QUOTED.sub(r"\1", cells.get(name, "")).strip() for name in ("isbn13", "isbn"))
    return next(filter(None, isbns), None)


def only_wanted(cells: Cells) -> bool:
    """Whether the book is on the to-read shelf, with no copies owned."""
    shelf = cells.get("exclusive shelf", "").lower()
    shelves = [shelf.strip().lower() for shelf in cells.get("bookshelves", "").split(",")]
    owned = cells.get("owned copies", "")
    return (shelf == WANTED if shelf else WANTED in shelves) and not (owned.isdecimal() and owned.strip("0"))


def note_of(cells: Cells) -> str | None:
    """The rating, the review and the private notes as one note; None if there are none."""
    rating = cells.get("my rating", "")
    rated = f"Rated {rating} of 5 on Goodreads" if rating in [*"12345"] else ""
    texts = (_plain(cells.get(name, "")) for name in ("my review", "private notes"))
    return "\n\n".join(filter(None, (rated, *texts))) or None


def _plain(text: str) -> str:
    """A review without its markup."""
    return html.unescape(TAG.sub("", BREAK.sub("\n", text))).strip()
