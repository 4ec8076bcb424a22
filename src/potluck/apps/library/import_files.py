"""Parsing files to import: our own CSV, a Goodreads export, or a list of ISBNs, row by row.

Nothing here reads the library or writes to it. Each row becomes something to add, or says why it cannot be.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from potluck.apps.library.collections import NewCollection
from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.apps.library.items import NewBook, NewVideo
from potluck.people.errors import InvalidFields
from potluck.web.schema.decoding import decode_tree

__all__ = ["MOST_ROWS", "BetweenNames", "FileFormat", "Row", "UnreadableFile", "format_of", "rows_of"]

FileFormat = Literal["csv", "goodreads", "isbns"]

MOST_ROWS = 20_000
LONGEST_SHOWN = 200
BetweenNames = "; "

# "The Hunger Games (The Hunger Games, #1)" is the first of a series. Matched in two anchored steps: a single pattern
# would take quadratic time on a title of nothing but brackets.
SERIES = re.compile(r"\S\s+\(")
NUMBERED = re.compile(r"#(\d{1,4})(?:\.\d{1,4})?\)")
# Goodreads writes ="0439023483", so that a spreadsheet keeps the leading zero.
QUOTED = re.compile(r'^="?(.*?)"?$')
WHOLE = re.compile(r"[0-9]{1,9}")


class UnreadableFile(ValueError):
    """Why a file cannot be read at all."""


class Row(NamedTuple):
    """A row of a file: what it would add, or why it adds nothing."""

    number: int
    """As a spreadsheet counts: the header is row 1."""
    what: str
    """The text of the row, so that people can find it in their file."""
    new: NewBook | NewVideo | None = None
    collection: str | None = None
    isbn: str | None = None
    """Set if the row has only an ISBN, and the rest has to be looked up."""
    reason: str | None = None


def format_of(text: str) -> FileFormat:
    """The format of a file, judged by its first line."""
    try:
        first = next(csv.reader(io.StringIO(_without_mark(text))), [])
    except csv.Error as error:
        raise UnreadableFile(f"The file cannot be read: {error}") from error
    header = {each.strip().lower() for each in first}
    if {"title", "author", "isbn13"} <= header:
        return "goodreads"
    return "csv" if "title" in header else "isbns"


def rows_of(text: str, format: FileFormat) -> Iterator[Row]:
    """Every row that is not empty; UnreadableFile if the file is not of this format."""
    if format == "isbns":
        yield from _isbns(text)
        return
    taking = _goodreads if format == "goodreads" else _own
    for number, cells in _table(text):
        if any(cells.values()):
            yield taking(number, cells)


def _without_mark(text: str) -> str:
    return text.removeprefix("\ufeff")


def _table(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by the names in its header, whatever their case."""
    try:
        reader = csv.reader(io.StringIO(_without_mark(text)), strict=True)
        header = [each.strip().lower() for each in next(reader, [])]
        if "title" not in header:
            raise UnreadableFile("The first row must name the columns, and one of them must be title")
        for number, cells in enumerate(reader, 2):
            if number > MOST_ROWS + 1:
                raise UnreadableFile(f"The file has more than {MOST_ROWS:,} rows; split it")
            yield number, {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
    except csv.Error as error:
        raise UnreadableFile(f"The file is no CSV: {error}") from error


def _isbns(text: str) -> Iterator[Row]:
    for number, line in enumerate(_without_mark(text).splitlines(), 1):
        if number > MOST_ROWS:
            raise UnreadableFile(f"The list has more than {MOST_ROWS:,} rows; split it")
        if not line.strip():
            continue
        what = line.strip()[:LONGEST_SHOWN]
        try:
            yield Row(number, what, isbn=isbn_13(line))
        except BadIsbn as bad:
            yield Row(number, what, reason=str(bad))


def _goodreads(number: int, cells: Mapping[str, str]) -> Row:
    title, collection, order = cells.get("title", ""), None, None
    if (series := _in_series(title)) is not None:
        title, collection, number_in_it = series
        order = number_in_it if 1 <= number_in_it <= 1000 else None
    authors = [cells.get("author", ""), *cells.get("additional authors", "").split(",")]
    isbns = (QUOTED.sub(r"\1", cells.get(name, "")).strip() for name in ("isbn13", "isbn"))
    said = {
        "title": title,
        "authors": [" ".join(each.split()) for each in authors if each.strip()],
        "isbn": next(filter(None, isbns), None),
        "order": order,
    }
    return _taken(number, NewBook, said, collection)


def _in_series(title: str) -> tuple[str, str, int] | None:
    """The title without its series, the series, and the number in it; None if no series is named."""
    begins, at = SERIES.search(title), title.rfind("#")
    numbered = None if begins is None else NUMBERED.fullmatch(title, at)
    if begins is None or numbered is None:
        return None
    before = title[begins.end() : at]
    series = before.rstrip().removesuffix(",").strip()
    if not series or before == before.rstrip():
        return None
    return title[: begins.start() + 1], series, int(numbered[1])


def _own(number: int, cells: Mapping[str, str]) -> Row:
    is_video = cells.get("kind", "book").lower() == "video"
    lists = ("directors", "cast") if is_video else ("authors",)
    plain = ("title", "summary", "pictureurl", "order")
    numbers = ("releaseyear", "duration", "tmdbid") if is_video else ()
    names = {"pictureurl": "pictureUrl", "releaseyear": "releaseYear", "tmdbid": "tmdbId"}
    said: dict[str, object] = {
        names.get(name, name): _shown(cells.get(name, "")) or None
        for name in (*plain, *numbers, *(() if is_video else ("isbn",)))
    }
    said["title"] = said["title"] or ""
    said |= {name: [each.strip() for each in _shown(cells.get(name, "")).split(";") if each.strip()] for name in lists}
    return _taken(number, NewVideo if is_video else NewBook, said, _shown(cells.get("collection", "")) or None)


def _shown(cell: str) -> str:
    """A cell without the apostrophe that an export adds to keep a spreadsheet from running it."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell


def _taken(
    number: int, kind: type[NewBook] | type[NewVideo], said: Mapping[str, object], collection: str | None
) -> Row:
    """The row validated as the API would, or the first thing that is wrong with it."""
    people = said.get("authors") or said.get("directors")
    what = str(said["title"]) or (", ".join(people) if isinstance(people, list) else "") or "(no title)"
    shown = what[:LONGEST_SHOWN]
    order = said.get("order")
    if order is not None and collection is None:
        return Row(number, shown, reason="Only what is in a collection has an order")
    tree = {name: _number(value) if name not in ("title", "summary", "isbn") else value for name, value in said.items()}
    try:
        name = None if collection is None else decode_tree(NewCollection, {"name": collection}).name
        return Row(number, shown, new=decode_tree(kind, tree), collection=name)
    except InvalidFields as wrong:
        return Row(number, shown, reason=wrong.errors[0].message)


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and WHOLE.fullmatch(value) else value
