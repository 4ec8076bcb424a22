"""The import page: a preview of everything before anything is added, with the reason for each row left out."""

from collections.abc import Iterable
from typing import Any

from potluck.apps.library.access import OwnLibrary
from potluck.apps.library.drawn_books import face
from potluck.apps.library.fields import FileText
from potluck.apps.library.importing import LARGEST_IMPORT, ROWS, Imported, ImportFile, LeftOut, import_file, imports
from potluck.apps.library.libraries import LibraryView
from potluck.apps.library.page_frame import HOME
from potluck.web.actions import Show
from potluck.web.forms import Line
from potluck.web.inputs import Input
from potluck.web.writes import Writes

__all__ = ["import_page"]

# Percent-encoding in a form turns a byte into up to three characters.
LARGEST_FORM = 3 * LARGEST_IMPORT
SHOWN_OF_A_REASON = 200


class PastedFile(Input):
    text: FileText
    name: Line = ""
    """What the file is called, if it was one."""


@imports.page("", "library/import.html")
async def import_page(at: OwnLibrary, show: Show) -> dict[str, Any]:
    (library,) = await at.show(LibraryView, [at.library])
    done: tuple[PastedFile, Imported] | None = show.done
    pasted, found = (None, None) if done is None else done
    return {
        "library": library,
        "form": show.form(PastedFile),
        "pasted": pasted,
        "found": found,
        "groups": [] if found is None else _by_reason(found.left_out),
        "shown": SHOWN_OF_A_REASON,
        "face": face,
    }


def _by_reason(rows: Iterable[LeftOut]) -> list[tuple[str, list[LeftOut]]]:
    """The rows grouped by reason, the most frequent first; details of a single row in the reason are ignored."""
    found: dict[str, list[LeftOut]] = {}
    for each in rows:
        found.setdefault(each.reason.partition(". ")[0].partition(";")[0], []).append(each)
    return sorted(found.items(), key=lambda each: -len(each[1]))


@imports.form("", then="", on=import_page, rate_limit=ROWS, largest_body=LARGEST_FORM)
async def preview(at: OwnLibrary, pasted: PastedFile) -> Writes[tuple[PastedFile, Imported]]:
    looked = await import_file(at, ImportFile(text=pasted.text))
    return looked.answering((pasted, looked.answer))


@imports.form(
    "/apply",
    then=lambda at, added: f"{HOME}/{at.library_id}?said=imported&many={added.new}",
    on=import_page,
    rate_limit=ROWS,
    largest_body=LARGEST_FORM,
)
async def apply(at: OwnLibrary, pasted: PastedFile) -> Writes[Imported]:
    return await import_file(at, ImportFile(text=pasted.text, apply=True))
