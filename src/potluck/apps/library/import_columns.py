"""Tables in text files: separated by commas, semicolons or tabs, with headers in several languages."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from msgspec import Struct

from potluck.table import fold
from potluck.web import _, ngettext

Field = Literal[
    "title", "authors", "isbn", "collection", "order", "summary", "note", "kind", "directors", "cast", "releaseYear",
    "duration", "tmdbId", "pictureUrl", "skip",
]  # fmt: skip
"""What a column may hold; `skip` leaves it out."""
SKIP: Field = "skip"

SEPARATORS = ",;\t"
# Excel writes this line above the header if the separator is not the usual one of the country.
DIRECTIVE = "sep="
LOOKED_AT = 50
LONGEST_EXAMPLE = 60
MOST_COLUMNS = 100

# Headers by which other programs and languages name a column, folded.
NAMES: dict[Field, str] = {
    "title": "titel titre titulo titolo tytul book_title buchtitel titre_du_livre naslov otsikko tittel cim nazev",
    "authors": "author autor autoren auteur auteurs autores autore autori auteur(s) author(s) verfasser writer writers"
    " forfattare forfatter schrijver kirjailija szerzo autorzy",
    "isbn": "isbn13 isbn_13 isbn-13 isbn10 isbn_10 isbn-10 ean barcode",
    "collection": "series serie serien reihe saga collana cykl seria buchreihe",
    "order": "volume vol vol. band nummer numero number no nr nr. tome tomo bandnummer series_number position",
    "summary": "description beschreibung resume descripcion descrizione resumen inhalt synopsis zusammenfassung opis",
    "note": "notes notiz notizen remarque remarques nota notas comment comments kommentar anmerkung bemerkung",
    "kind": "type typ art tipo medium media",
    "directors": "director regie regisseur realisateur regista",
    "cast": "actors schauspieler acteurs actores attori darsteller",
    "releaseYear": "release_year year jahr annee ano anno erscheinungsjahr",
    "duration": "runtime minutes minuten dauer duree duracion durata",
    "pictureUrl": "picture_url cover cover_url image image_url bild",
    "tmdbId": "tmdb_id tmdb",
}
BY_HEADER: dict[str, Field] = {fold(name): name for name in get_args(Field)} | {
    header: field for field, headers in NAMES.items() for header in headers.split()
}


class UnreadableFile(ValueError):
    """The file cannot be read at all; the reason says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def too_many_rows(most: int) -> str:
    return ngettext(
        "This list has more than %(num)s row. Split it, and import the parts one after another.",
        "This list has more than %(num)s rows. Split it, and import the parts one after another.",
        most,
    )


class ColumnRead(Struct, rename="camel", frozen=True, kw_only=True):
    header: str
    field: Field
    """The field of the column; `skip` if it is left out."""
    example: str


def header_of(text: str) -> list[str]:
    """The cells of the first row; UnreadableFile if there is no such row."""
    try:
        return [cell.strip() for cell in next(_reader(text), [])]
    except csv.Error as error:
        raise UnreadableFile(_("This file can’t be read as a table. %(reason)s", reason=error)) from error


def columns_of(text: str, chosen: Sequence[Field] | None = None) -> list[ColumnRead]:
    """All columns, each with the field that was chosen for it or that its header names; no field is used twice."""
    header = header_of(text)
    if len(header) > MOST_COLUMNS:
        raise UnreadableFile(_("Use a table with at most %(number)s columns.", number=MOST_COLUMNS))
    names = [BY_HEADER.get(fold(name), SKIP) for name in header] if chosen is None else [*chosen]
    fields: list[Field] = []
    for field in [*names, *[SKIP] * len(header)][: len(header)]:
        fields.append(field if field not in fields else SKIP)
    examples = [""] * len(header)
    for cells, _looked_at in zip(_rows_below(text), range(LOOKED_AT), strict=False):
        for place, cell in enumerate(cells[: len(header)]):
            examples[place] = examples[place] or cell[:LONGEST_EXAMPLE]
    columns = zip(header, fields, examples, strict=True)
    return [ColumnRead(header=name, field=field, example=example) for name, field, example in columns]


def is_table(text: str) -> bool:
    """Whether the first rows have several cells each, all of them equally many."""
    widths = {len(header_of(text))}
    rows = 1
    for cells, _looked_at in zip(_rows_below(text), range(LOOKED_AT), strict=False):
        if any(cells):
            widths.add(len(cells))
            rows += 1
    return rows > 1 and len(widths) == 1 and widths.pop() > 1


def table_rows(text: str, fields: Sequence[str], most: int) -> Iterator[tuple[int, dict[str, str]]]:
    """The cells of each row by field, with the row's number in a spreadsheet, where the header is row 1."""
    for number, cells in enumerate(_rows_below(text), 2):
        if number > most + 1:
            raise UnreadableFile(too_many_rows(most))
        yield number, {field: cell for field, cell in zip(fields, cells, strict=False) if field != SKIP}


def is_separated(text: str) -> bool:
    """Whether the first line has a separator outside of quotes."""
    return any(separator in _outside_quotes(_first_line(text)) for separator in SEPARATORS)


def _first_line(text: str) -> str:
    return io.StringIO(text.removeprefix("\ufeff"), newline="").readline()


def _rows_below(text: str) -> Iterator[list[str]]:
    try:
        reader = _reader(text)
        next(reader, None)
        for cells in reader:
            yield [cell.strip() for cell in cells]
    except csv.Error as error:
        raise UnreadableFile(_("This file can’t be read as a table. %(reason)s", reason=error)) from error


def _reader(text: str) -> Iterator[list[str]]:
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    start, first = 0, lines.readline()
    if first.lower().startswith(DIRECTIVE) and first[len(DIRECTIVE) :].strip("\r\n") in [*SEPARATORS]:
        separator, start = first[len(DIRECTIVE)], lines.tell()
    else:
        separator = max(SEPARATORS, key=_outside_quotes(first).count)
    lines.seek(start)
    return csv.reader(lines, delimiter=separator, strict=True)


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2])
