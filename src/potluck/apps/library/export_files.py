"""Exporting a library as CSV that can be imported again, as JSON, or as MARCXML for other catalogues."""

import asyncio
import csv
import io
from collections.abc import Iterable
from typing import Annotated, Any, Literal
from xml.sax.saxutils import escape

from starlette.responses import Response

from potluck.apps.library.access import InLibrary
from potluck.apps.library.awaited_titles import is_awaited
from potluck.apps.library.entities import Book, Item, LibraryItem, Video
from potluck.apps.library.import_files import joined_names
from potluck.apps.library.item_views import LibraryItemView, people_of
from potluck.apps.library.libraries import TAG
from potluck.validation import Message, encode
from potluck.web import Actions, Input, attachment, inert

ExportFormat = Literal["csv", "json", "marcxml"]
COLUMNS = (
    "kind", "title", "authors", "isbn", "collection", "order", "summary", "directors", "cast", "releaseYear",
    "duration", "tmdbId", "pictureUrl", "note",
)  # fmt: skip


class ExportQuery(Input):
    format: Annotated[ExportFormat, Message("format must be csv, json or marcxml")] = "csv"


exports: Actions[Any] = Actions(InLibrary, api="/libraries/{library_id}/export", tag=TAG)


@exports.read("", media_type="text/csv", tagged=False)
async def export_library(at: InLibrary, query: ExportQuery) -> Response:
    """Export a library as CSV, JSON or MARCXML. The people it is shared with may do so too."""
    items = await at.store.all(LibraryItem.in_library(at.owner_id, at.library_id))
    if query.format == "csv":
        text = await asyncio.to_thread(as_csv, items, with_notes=at.owns)
        # With a byte order mark, spreadsheets read every letter as written.
        kind, content = "text/csv; charset=utf-8", text.encode("utf-8-sig")
    elif query.format == "json":
        shown = await at.show(LibraryItemView, items)
        document = {"libraryName": at.library.library_name, "description": at.library.description, "items": shown}
        kind, content = "application/json", encode(document)
    else:
        kind, content = "application/marcxml+xml; charset=utf-8", (await asyncio.to_thread(as_marcxml, items)).encode()
    extension = {"csv": "csv", "json": "json", "marcxml": "xml"}[query.format]
    headers = {**attachment(extension, at.library.library_name), "cache-control": "no-store"}
    return Response(content, media_type=kind, headers=headers)


def as_csv(items: Iterable[Item], *, with_notes: bool) -> str:
    """A row for each item, which can be imported again, and in which a spreadsheet finds no formulas.

    A missing title is left out, so that the import looks it up too. Only the owner gets the notes.
    """
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(COLUMNS if with_notes else COLUMNS[:-1])
    for item in items:
        book, video = (item, None) if isinstance(item, Book) else (None, item)
        row = (
            "book" if book else "video",
            "" if is_awaited(item) else item.title,
            joined_names(book.authors) if book else "",
            book.isbn if book else "",
            item.collection_name,
            item.order,
            item.summary,
            joined_names(video.directors) if video else "",
            joined_names(video.cast) if video else "",
            video.release_year if video else "",
            video.duration if video else "",
            video.tmdb_id if video else "",
            item.picture_url,
            *([item.note] if with_notes else []),
        )
        table.writerow(["" if cell is None else inert(str(cell)) for cell in row])
    return text.getvalue()


# --- MARC 21, as XML --------------------------------------------------------------------------------------------------

MARC = "http://www.loc.gov/MARC21/slim"


def as_marcxml(items: Iterable[Item]) -> str:
    """MARCXML bibliographic records: title, people, ISBN, series, summary."""
    records = "\n".join(map(_record, items))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<collection xmlns="{MARC}">\n{records}\n</collection>\n'


def _record(item: Item) -> str:
    is_book = isinstance(item, Book)
    people = people_of(item)
    fields = [
        f"  <leader>00000n{'am' if is_book else 'gm'} a2200000 i 4500</leader>",
        f'  <controlfield tag="001">{item.item_id}</controlfield>',
    ]
    if isinstance(item, Book) and item.isbn is not None:
        fields.append(_field("020", a=item.isbn))
    fields += [_field("100", "1", a=name) for name in people[:1]]
    fields.append(_field("245", "1" if people else "0", "0", a=item.title))
    if isinstance(item, Video):
        if item.release_year is not None:
            fields.append(_field("264", " ", "1", c=str(item.release_year)))
        if item.duration is not None:
            fields.append(_field("300", a=f"{item.duration} min"))
    if item.collection_name is not None:
        fields.append(_field("490", "0", a=item.collection_name, v=str(item.order)))
    if isinstance(item, Video) and item.cast:
        fields.append(_field("511", "1", a=", ".join(item.cast)))
    if item.summary is not None:
        fields.append(_field("520", a=item.summary))
    fields += [_field("700", "1", a=name) for name in people[1:]]
    return "<record>\n" + "\n".join(fields) + "\n</record>"


def _field(tag: str, first: str = " ", second: str = " ", **parts: str) -> str:
    subfields = "".join(f'<subfield code="{code}">{_text(part)}</subfield>' for code, part in parts.items())
    return f'  <datafield tag="{tag}" ind1="{first}" ind2="{second}">{subfields}</datafield>'


def _text(text: str) -> str:
    """The text without the characters that XML does not allow."""
    return escape(
        "".join(
            character
            for character in text
            if character in "\t\n" or (ord(character) >= 0x20 and character not in "\ufffe\uffff")
        )
    )
