"""Parsing files to import: a table, a Goodreads export, or a list of ISBNs or titles, row by row.

Nothing here reads or writes the library. Each row becomes an item to add, or has the reason why it cannot be added.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from potluck.apps.library.collections import NewCollection
from potluck.apps.library.fields import FIRST_ORDER, LAST_ORDER, LONGEST_NOTE
from potluck.apps.library.goodreads import is_goodreads, isbn_of, note_of, only_wanted, split_series
from potluck.apps.library.import_columns import (
    Field,
    UnreadableFile,
    columns_of,
    header_of,
    is_separated,
    is_table,
    table_rows,
    too_many_rows,
)
from potluck.apps.library.isbn import BETWEEN, LABEL, BadIsbn, is_meant_as_isbn, isbn_13
from potluck.apps.library.items import NewBook, NewVideo
from potluck.apps.library.placement import NO_COLLECTION
from potluck.validation import ValidationError
from potluck.web import _, inert

__all__ = [
    "LONGEST_LINE",
    "MOST_LINES",
    "MOST_ROWS",
    "FileFormat",
    "Row",
    "UnreadableFile",
    "format_of",
    "joined_names",
    "must_have_lines",
    "rows_of",
]

FileFormat = Literal["csv", "goodreads", "isbns", "titles"]

MOST_ROWS = 20_000
LONGEST_SHOWN = 200
LINES_LOOKED_AT = 1000
LONGEST_LINE = 100_000
# More than rows, because of empty lines, line ends of two characters, and cells of several lines.
MOST_LINES = 20 * MOST_ROWS
BETWEEN_NAMES = "; "
# A semicolon inside a name is escaped with a backslash.
UNESCAPED = re.compile(r"((?:[^;\\]|\\.|\\$)*)(?:;|$)", re.DOTALL)
WHOLE = re.compile(r"[0-9]{1,9}")
VIDEO_KINDS = ("video", "film", "movie", "dvd", "blu-ray", "bluray")
NOT_OWNED = _("On your to-read shelf, so you may not own it.")


class Row(NamedTuple):
    """A row of a file: what it would add, or why it adds nothing."""

    number: int
    """As a spreadsheet counts: the header is row 1."""
    what: str
    """The start of the row, so that people can find it in their file."""
    new: NewBook | NewVideo | None = None
    collection: str | None = None
    isbn: str | None = None
    """Set if the row has an ISBN but no title, which then has to be looked up."""
    reason: str | None = None
    """Why it adds nothing."""
    remark: str | None = None
    """Which part of it is not added, and why."""
    states_people: bool = True
    """Whether the file has a column for people, even if this row has none."""
    states_collection: bool = True
    """Whether the file has a column for collections, even if this row is in none."""


def format_of(text: str) -> FileFormat:
    """The format of a file, detected by its header or, if it has none, by its lines."""
    try:
        if is_goodreads(header_of(text)):
            return "goodreads"
        if {column.field for column in columns_of(text)} & {"title", "isbn"} or is_table(text):
            return "csv"
    except UnreadableFile:
        # A list of titles may have quotes anywhere.
        if is_separated(text):
            raise
    lines = [line for line in _lines(text)[:LINES_LOOKED_AT] if line]
    plain = all(re.fullmatch("[0-9]*[0-9xX]", BETWEEN.sub("", LABEL.sub("", line))) for line in lines)
    return "isbns" if lines and plain and 2 * sum(map(is_meant_as_isbn, lines)) >= len(lines) else "titles"


def rows_of(
    text: str, format: FileFormat, columns: Sequence[Field] | None = None, *, to_read: bool = False
) -> Iterator[Row]:
    """Every row that is not empty; UnreadableFile if the file is not of this format.

    `columns` has the field of each column, where the header does not name it. With `to_read`, books that are only on
    the to-read shelf of Goodreads are added as well.
    """
    if format in ("isbns", "titles"):
        yield from _listed(text, format)
        return
    if format == "goodreads":
        names = [name.lower() for name in header_of(text)]
        if "title" not in names:
            raise UnreadableFile(_("This isn’t a Goodreads export: it has no column named Title."))
        rows = table_rows(text, names, MOST_ROWS)
        yield from (_goodreads(number, cells, to_read) for number, cells in rows if any(cells.values()))
        return
    fields = [column.field for column in columns_of(text, columns)]
    known = {*fields}
    if not known & {"title", "isbn"}:
        raise UnreadableFile(_("Choose which column has the titles or the ISBNs."))
    for number, cells in table_rows(text, fields, MOST_ROWS):
        if any(cells.values()):
            row = _own(number, cells)
            peopled = bool(known & {"authors", "directors"})
            yield row._replace(states_people=peopled, states_collection="collection" in known)


def joined_names(names: Iterable[str]) -> str:
    """Several names in one cell, which `rows_of` can split again."""
    return BETWEEN_NAMES.join(re.sub(r"([\\;])", r"\\\1", name) for name in names)


def _names_in(cell: str) -> list[str]:
    parts = (re.sub(r"\\([\\;])", r"\1", part).strip() for part in UNESCAPED.findall(cell))
    return [part for part in parts if part]


def must_have_lines(text: str) -> None:
    """UnreadableFile if there are too many lines or one is too long: parsing them would delay other requests."""
    if text.count("\n") + text.count("\r") > MOST_LINES:
        raise UnreadableFile(
            _(
                "This list has more than %(lines)s lines, and can have %(rows)s rows. Split it, and import the parts"
                " one after another.",
                lines=f"{MOST_LINES:,}",
                rows=f"{MOST_ROWS:,}",
            )
        )
    start = 0
    while len(text) - start > LONGEST_LINE:
        window = start, start + LONGEST_LINE + 1
        start = max(text.rfind("\n", *window), text.rfind("\r", *window)) + 1
        if not start > window[0]:
            raise UnreadableFile(
                _("A line in this list is longer than %(number)s characters.", number=f"{LONGEST_LINE:,}")
            )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.removeprefix("\ufeff").splitlines()]


def _listed(text: str, format: FileFormat) -> Iterator[Row]:
    for number, line in enumerate(_lines(text), 1):
        if number > MOST_ROWS:
            raise UnreadableFile(too_many_rows(MOST_ROWS))
        if not line:
            continue
        what = line[:LONGEST_SHOWN]
        try:
            isbn = isbn_13(line)
        except BadIsbn as bad:
            if format == "isbns" or is_meant_as_isbn(line):
                yield Row(number, what, reason=bad.reason)
            else:
                row = _validated(number, NewBook, {"title": line}, None)
                yield row._replace(states_people=False, states_collection=False)
        else:
            new = NewBook(isbn=isbn)
            yield Row(number, what, new, isbn=isbn, states_people=False, states_collection=False)


def _goodreads(number: int, cells: Mapping[str, str], to_read: bool) -> Row:
    title, collection, order = cells.get("title", ""), None, None
    if (series := split_series(title)) is not None:
        title, collection, number_in_it = series
        order = number_in_it if FIRST_ORDER <= number_in_it <= LAST_ORDER else None
    authors = [cells.get("author", ""), *cells.get("additional authors", "").split(",")]
    values = {
        "title": title,
        "authors": [" ".join(author.split()) for author in authors if author.strip()],
        "isbn": isbn_of(cells),
        "order": order,
        "note": note_of(cells),
    }
    row = _validated(number, NewBook, values, collection)._replace(states_collection=collection is not None)
    if only_wanted(cells) and not to_read and row.reason is None:
        return Row(number, row.what, reason=NOT_OWNED)
    return row


def _own(number: int, cells: Mapping[str, str]) -> Row:
    shown = {field: _shown(cell) for field, cell in cells.items()}
    is_video = shown.get("kind", "").lower() in VIDEO_KINDS
    lists = ("directors", "cast") if is_video else ("authors",)
    plain = ("title", "summary", "note", "pictureUrl", "order")
    others = ("releaseYear", "duration", "tmdbId") if is_video else ("isbn",)
    values: dict[str, object] = {name: shown.get(name) or None for name in (*plain, *others)}
    values |= {name: _names_in(shown.get(name, "")) for name in lists}
    return _validated(number, NewVideo if is_video else NewBook, values, shown.get("collection") or None)


def _shown(cell: str) -> str:
    """A cell without the apostrophe that an export adds so that spreadsheets do not run it as a formula."""
    return cell[1:] if cell[:1] == "'" and inert(cell[1:]) == cell else cell


def _validated(
    number: int, kind: type[NewBook] | type[NewVideo], values: Mapping[str, Any], collection: str | None
) -> Row:
    """The row validated like input of the API, or with its first error as the reason.

    A book with a title is added without its ISBN if that is invalid.
    """
    people = values.get("authors") or values.get("directors") or []
    title, order = values.get("title") or "", values.get("order")
    shown = (title or ", ".join(people) or str(values.get("isbn") or "") or str(_("(no title)")))[:LONGEST_SHOWN]
    if order is not None and collection is None:
        return Row(number, shown, reason=NO_COLLECTION)
    tree: dict[str, Any] = {name: _number(value) if name not in TEXTS else value for name, value in values.items()}
    remarks = []
    isbn = None
    try:
        isbn = isbn_13(tree["isbn"]) if tree.get("isbn") else None
    except BadIsbn as bad:
        if not title:
            return Row(number, shown, reason=bad.reason)
        remarks.append(_("Added without its ISBN. %(reason)s", reason=bad.reason))
        tree["isbn"] = None
    if len(note := tree.get("note") or "") > LONGEST_NOTE:
        remarks.append(_("Its note is too long and was cut."))
        tree["note"] = f"{note[: LONGEST_NOTE - 1]}…"
    if not title and isbn is not None:
        del tree["title"]
    else:
        tree["title"] = title
    try:
        name = None if collection is None else NewCollection.decode({"name": collection}).name
        new = kind.decode(tree)
    except ValidationError as wrong:
        return Row(number, shown, reason=wrong.errors[0].message)
    return Row(number, shown, new, name, isbn if not title else None, remark=_joined(remarks))


def _joined(remarks: Sequence[str]) -> str | None:
    if len(remarks) < 2:
        return remarks[0] if remarks else None
    return _("%(first)s %(second)s", first=remarks[0], second=remarks[1])


TEXTS = ("title", "summary", "note", "isbn", "pictureUrl")


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and WHOLE.fullmatch(value) else value
