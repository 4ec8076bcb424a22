"""The import page: a preview of the import, with the reason for each row that is left out."""

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

from msgspec import UNSET

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.drawn_books import face
from potluck.apps.library.fields import LARGEST_FILE, FileText
from potluck.apps.library.import_columns import ColumnRead, Field, UnreadableFile, columns_of
from potluck.apps.library.import_files import NOT_OWNED, FileFormat, format_of
from potluck.apps.library.importing import (
    LARGEST_IMPORT,
    ROWS,
    Columns,
    ImportFile,
    LeftOut,
    LibraryImported,
    import_file,
    imports,
)
from potluck.apps.library.libraries import LibraryView
from potluck.apps.library.page_frame import LIBRARY
from potluck.validation import Message, ValidationError
from potluck.web import Input, Line, Show, Unset, Writes, _, ngettext

# Percent-encoding in a form turns a byte into up to three characters.
LARGEST_FORM = 3 * LARGEST_IMPORT
SHOWN_OF_A_REASON = 200

FORMATS: dict[FileFormat, str] = {
    "csv": _("Table"),
    "goodreads": _("Goodreads export"),
    "isbns": _("ISBNs"),
    "titles": _("Titles"),
}
READ_AS: dict[FileFormat, str] = {
    "csv": _("Read as a table"),
    "goodreads": _("Read as a Goodreads export"),
    "isbns": _("Read as ISBNs"),
    "titles": _("Read as titles"),
}
FIELD_NAMES: dict[Field, str] = {
    "skip": _("Leave out"),
    "title": _("Title"),
    "authors": _("Authors"),
    "isbn": _("ISBN"),
    "collection": _("Collection"),
    "order": _("Number in the collection"),
    "summary": _("Summary"),
    "note": _("Note"),
    "kind": _("Book or video"),
    "directors": _("Directors"),
    "cast": _("Cast"),
    "releaseYear": _("Year"),
    "duration": _("Minutes"),
    "tmdbId": _("TMDB id"),
    "pictureUrl": _("Cover address"),
}


class PastedFile(Input):
    text: FileText
    name: Line = ""
    """The name of the file, if one was chosen."""
    format: Annotated[FileFormat, Message(_("Choose the type of list."))] | Unset = UNSET
    columns: Columns | Unset = UNSET
    to_read: bool = False


class Preview(NamedTuple):
    """What an import would add. If a table has no known columns, just these, so that the user can name their fields."""

    pasted: PastedFile
    format: FileFormat
    columns: list[ColumnRead]
    report: LibraryImported | None
    wrong: str = ""


@imports.page("", "library/import.html")
async def import_page(at: OwnLibrary, show: Show) -> dict[str, Any]:
    (library,) = await at.show(LibraryView, [at.library])
    preview: Preview | None = show.done
    report = None if preview is None else preview.report
    left_out = [] if report is None else report.left_out
    return {
        "library": library,
        "form": show.form(PastedFile),
        "preview": preview,
        "pasted": None if preview is None else preview.pasted,
        "report": report,
        "groups": _by_reason(left_out),
        "not_owned": sum(row.reason == NOT_OWNED for row in left_out),
        "adjusted": [] if report is None else _by_reason(report.adjusted),
        "formats": FORMATS,
        "read_as": "" if preview is None else READ_AS[preview.format],
        "fields": FIELD_NAMES,
        "shown": SHOWN_OF_A_REASON,
        "largest": LARGEST_FILE,
        "face": face,
    }


class ReasonedRow(NamedTuple):
    """A row of the file, under a reason that it shares with others."""

    number: int
    what: str
    detail: str
    """What the reason says of this row alone."""


def _by_reason(rows: Iterable[LeftOut]) -> list[tuple[str, list[ReasonedRow]]]:
    """The rows grouped by the first sentence of their reason, the most frequent first."""
    groups: dict[str, list[ReasonedRow]] = {}
    for row in rows:
        # In the language of the page.
        reason, _stop, detail = str(row.reason).partition(". ")
        groups.setdefault(reason.rstrip("."), []).append(ReasonedRow(row.row, row.what, detail))
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _sent(pasted: PastedFile, *, apply: bool) -> ImportFile:
    return ImportFile(
        text=pasted.text, format=pasted.format, columns=pasted.columns, to_read=pasted.to_read, apply=apply
    )


def _columns(pasted: PastedFile) -> list[ColumnRead]:
    """The columns of a table; none for another format."""
    try:
        if (pasted.format or format_of(pasted.text)) != "csv":
            return []
        return columns_of(pasted.text, None if pasted.columns is UNSET else pasted.columns)
    except UnreadableFile:
        return []


@imports.form("", then="", on=import_page, rate_limit=ROWS, largest_body=LARGEST_FORM)
async def preview(at: OwnLibrary, pasted: PastedFile) -> Writes[Preview]:
    try:
        dry_run = await import_file(at, _sent(pasted, apply=False))
    except ValidationError as wrong:
        columns = await asyncio.to_thread(_columns, pasted)
        if len(columns) < 2:
            raise
        return Writes(Preview(pasted, "csv", columns, None, wrong.errors[0].message))
    report = dry_run.answer
    return dry_run.answering(Preview(pasted, report.format, report.columns, report))


def _imported(at: OwnLibrary, added: LibraryImported) -> str:
    return ngettext(
        "%(num)s item added to %(shelf)s.",
        "%(num)s items added to %(shelf)s.",
        added.new,
        shelf=at.library.library_name,
    )


@imports.form(
    "/apply",
    then=LIBRARY,
    flash=_imported,
    on=import_page,
    rate_limit=ROWS,
    largest_body=LARGEST_FORM,
)
async def apply(at: OwnLibrary, pasted: PastedFile) -> Writes[LibraryImported]:
    return await import_file(at, _sent(pasted, apply=True))
