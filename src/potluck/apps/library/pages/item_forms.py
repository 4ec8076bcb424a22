"""The forms of a book or a video, and their conversion to what an API client would send."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from potluck.apps.library.item_views import LibraryItemView
from potluck.validation import FieldError, Text, ValidationError
from potluck.web import Input, Line, Versioned, _

LongText = Annotated[str, Text(0, 20_000, _("Shorten this text."), kind="raw", trim=False)]


class NewItemForm(Input):
    """A new book or video, entered manually."""

    kind: Line = "book"
    title: Line = ""
    people: Line = ""
    """The authors or directors, separated by commas or semicolons."""
    isbn: Line = ""
    cast: Line = ""
    release_year: Line = ""
    duration: Line = ""
    summary: LongText = ""
    note: LongText = ""
    picture_url: Line = ""
    tmdb_id: Line = ""
    collection: Line = ""
    """The name of an existing collection, or of a new one."""
    order: Line = ""


class ItemForm(Versioned):
    """The form to edit a book or a video."""

    title: Line = ""
    people: Line = ""
    isbn: Line = ""
    cast: Line = ""
    release_year: Line = ""
    duration: Line = ""
    summary: LongText = ""
    note: LongText = ""
    picture_url: Line = ""


def sent_of(form: NewItemForm | ItemForm, kind: str) -> dict[str, Any]:
    """The form as an API client would send it; blank fields are null."""
    texts = {"summary": form.summary, "note": form.note, "pictureUrl": form.picture_url}
    values: dict[str, Any] = {"title": form.title, **{name: text or None for name, text in texts.items()}}
    if kind == "book":
        return {**values, "authors": _names(form.people), "isbn": form.isbn or None}
    numbers = {"releaseYear": _number(form.release_year), "duration": _number(form.duration)}
    return {**values, "directors": _names(form.people), "cast": _names(form.cast), **numbers}


def typed_of(item: LibraryItemView) -> dict[str, Any]:
    """The form values of an existing item."""
    shown = {
        # The placeholder of a missing title cannot be edited: entering a title ends the search for it.
        "title": "" if item.title_awaited else item.title,
        "people": _joined((item.authors if item.kind == "book" else item.directors) or ()),
        "isbn": item.isbn,
        "cast": _joined(item.cast or ()),
        "releaseYear": item.release_year,
        "duration": item.duration,
        "summary": item.summary,
        "note": item.note,
        "pictureUrl": item.picture_url,
    }
    return {name: "" if not value else str(value) for name, value in shown.items()}


def under_form_fields(wrong: ValidationError) -> ValidationError:
    """The errors under the form's field names: authors and directors share one field."""
    fields = {"authors": "people", "directors": "people", "collectionId": "collection"}
    return ValidationError(
        *(FieldError(fields.get(base := error.field.partition("[")[0], base), error.message) for error in wrong.errors)
    )


def _names(typed: str) -> list[str]:
    # Names may contain commas: with a semicolon, only semicolons separate names.
    separator = ";" if ";" in typed else ","
    return [" ".join(name.split()) for name in typed.split(separator) if name.strip()]


def _joined(names: Sequence[str]) -> str:
    if any("," in name for name in names):
        return "; ".join(names) + (";" if len(names) == 1 else "")
    return ", ".join(names)


def _number(typed: str) -> int | str | None:
    text = typed.strip()
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text or None
