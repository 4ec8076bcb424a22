"""The forms of a book or a video, and their conversion to what an API client would send."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from potluck.apps.library.item_views import LibraryItemView
from potluck.validation import FieldError, Text, ValidationError
from potluck.web import Input, Line, Versioned

LongText = Annotated[str, Text(0, 20_000, "That is too long", trim=False)]


class HandForm(Input):
    """Something that is put on the shelf by hand."""

    kind: Line = "book"
    title: Line = ""
    people: Line = ""
    """Who made it, with commas or semicolons between."""
    isbn: Line = ""
    cast: Line = ""
    release_year: Line = ""
    duration: Line = ""
    summary: LongText = ""
    note: LongText = ""
    picture_url: Line = ""
    tmdb_id: Line = ""
    collection: Line = ""
    """The name of one that is there, or of a new one."""
    order: Line = ""


class ItemForm(Versioned):
    """The same of something that is there."""

    title: Line = ""
    people: Line = ""
    isbn: Line = ""
    cast: Line = ""
    release_year: Line = ""
    duration: Line = ""
    summary: LongText = ""
    note: LongText = ""
    picture_url: Line = ""


def sent_of(form: HandForm | ItemForm, kind: str) -> dict[str, Any]:
    """The form as an API client would send it; blank fields are null."""
    texts = {"summary": form.summary, "note": form.note, "pictureUrl": form.picture_url}
    said: dict[str, Any] = {"title": form.title, **{name: text or None for name, text in texts.items()}}
    if kind == "book":
        return {**said, "authors": _names(form.people), "isbn": form.isbn or None}
    numbers = {"releaseYear": _number(form.release_year), "duration": _number(form.duration)}
    return {**said, "directors": _names(form.people), "cast": _names(form.cast), **numbers}


def typed_of(item: LibraryItemView) -> dict[str, Any]:
    """The form values of an existing item."""
    shown = {
        # What stands in for a title is not offered for editing: typing one ends the search for it.
        "title": "" if item.title_awaited else item.title,
        "people": _joined(item.authors if item.kind == "book" else item.directors),
        "isbn": item.isbn,
        "cast": _joined(item.cast or ()),
        "releaseYear": item.release_year,
        "duration": item.duration,
        "summary": item.summary,
        "note": item.note,
        "pictureUrl": item.picture_url,
    }
    return {name: "" if not value else str(value) for name, value in shown.items()}


def beside_fields(wrong: ValidationError) -> ValidationError:
    """The errors under the form's field names: authors and directors share one field."""
    named = {"authors": "people", "directors": "people", "collectionId": "collection"}
    return ValidationError(
        *(FieldError(named.get(base := each.field.partition("[")[0], base), each.message) for each in wrong.errors)
    )


def _names(typed: str) -> list[str]:
    # A name may contain a comma: if there is any semicolon, only semicolons separate names.
    between = ";" if ";" in typed else ","
    return [" ".join(each.split()) for each in typed.split(between) if each.strip()]


def _joined(names: Any) -> str:
    found: Iterable[str] = names or ()
    listed = list(found)
    if any("," in each for each in listed):
        return "; ".join(listed) + (";" if len(listed) == 1 else "")
    return ", ".join(listed)


def _number(typed: str) -> int | str | None:
    text = typed.strip()
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text or None
