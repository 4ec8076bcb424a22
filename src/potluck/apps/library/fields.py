"""The field types of the library: the bounds of each field and its message."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.people import Email
from potluck.validation import (
    FieldError,
    Integer,
    Length,
    Message,
    Text,
)
from potluck.web import _

__all__ = [
    "FIRST_ORDER",
    "LAST_ORDER",
    "LONGEST_NOTE",
    "LONGEST_TITLE",
    "Borrower",
    "Cast",
    "CollectionDescription",
    "CollectionId",
    "CollectionName",
    "CoverHash",
    "Due",
    "Duration",
    "Email",
    "FileText",
    "Force",
    "Isbn",
    "IsbnText",
    "ItemId",
    "LibraryDescription",
    "LibraryId",
    "LibraryName",
    "ManyCast",
    "Note",
    "Order",
    "OwnerId",
    "People",
    "PersonName",
    "PictureAddress",
    "PictureUrl",
    "SearchText",
    "Summary",
    "Title",
    "TmdbId",
    "TypedEmail",
    "Year",
    "owner_of",
    "user_of",
]

LONGEST_TITLE = 200
LONGEST_NOTE = 4000
FIRST_ORDER, LAST_ORDER = 1, 1000
TOP_OF_CAST = 5
LARGEST_FILE = 9_000_000
"""In characters, so that an import with its JSON escapes stays below 10 MB."""

# The userId of an account without its dashes, uppercase.
# Only compared with what is stored: an address that could never be valid is simply not there.
TypedEmail = Annotated[str, Text(0, 254, kind="raw", trim=False)]
OwnerId = Annotated[str, Text(32, 32, kind="raw", pattern="^[0-9A-F]{32}$", trim=False)]


def owner_of(user_id: UUID) -> str:
    """The OwnerId of an account."""
    return user_id.hex.upper()


def user_of(owner_id: str) -> UUID:
    """The account of an OwnerId."""
    return UUID(owner_id)


LibraryId = Annotated[UUID, Message("Invalid library ID format")]
CollectionId = Annotated[UUID, Message("Invalid collection ID format")]
ItemId = Annotated[UUID, Message("Invalid item ID format")]

LibraryName = Annotated[str, Text(1, 20, _("Enter a name of up to 20 characters."))]
LibraryDescription = Annotated[str, Text(0, 100, _("Use at most 100 characters for the description."))]
CollectionName = Annotated[str, Text(1, 100, _("Enter a collection name of up to 100 characters."))]
CollectionDescription = Annotated[str, Text(0, 500, _("Use at most 500 characters for the description."), kind="lines")]
Title = Annotated[str, Text(1, LONGEST_TITLE, _("Enter a title of up to 200 characters."))]
Summary = Annotated[str, Text(0, 4000, _("Use at most 4,000 characters for the summary."), kind="lines")]
Note = Annotated[str, Text(0, LONGEST_NOTE, _("Use at most 4,000 characters for the note."), kind="lines")]
PersonName = Annotated[str, Text(1, 100, _("Use 1 to 100 characters for each name."))]
People = Annotated[list[PersonName], Length(0, 50, _("Name at most 50 people."))]
Cast = Annotated[list[PersonName], Length(0, TOP_OF_CAST, _("Name at most 5 people in the cast."))]
# The whole cast may be sent; only the first five are stored.
ManyCast = Annotated[list[PersonName], Length(0, 200, _("Name at most 200 people."))]
Order = Annotated[int, Integer(FIRST_ORDER, LAST_ORDER, _("Enter a number in the collection from 1 to 1,000."))]
Year = Annotated[int, Integer(1800, 2100, _("Enter a year from 1800 to 2100."))]
Duration = Annotated[int, Integer(0, 1000, _("Enter a length of 0 to 1,000 minutes."))]
TmdbId = Annotated[int, Integer(1, 10**12, _("Enter a positive whole number as the TMDB id."))]
Borrower = Annotated[str, Text(1, 50, _("Enter a name of up to 50 characters."))]
Due = Annotated[date, Message(_("Enter a date such as 2026-12-24."))]
CoverHash = Annotated[str, Text(64, 64, kind="raw", pattern="^[0-9a-f]{64}$", trim=False)]
Force = Annotated[Literal["true", "false"], Message("force must be true or false")]
BAD_SEARCH = _("Search for 1 to 200 characters.")
SearchText = Annotated[str, Text(1, 200, BAD_SEARCH, kind="raw")]
FileText = Annotated[
    str, Text(1, LARGEST_FILE, _("Paste a list, or choose a file of up to 9 MB."), kind="raw", trim=False)
]

# Stored with thirteen digits. The design allows ten as well, so such rows can be read.
Isbn = Annotated[str, Text(10, 13, kind="raw", pattern="^([0-9]{9}[0-9X]|[0-9]{13})$", trim=False)]


def _is_isbn(text: str) -> Iterator[FieldError]:
    try:
        isbn_13(text)
    except BadIsbn as error:
        yield FieldError("", error.reason)


IsbnText = Annotated[str, Text(0, 30, _("An ISBN has 10 or 13 digits."), kind="raw", check=_is_isbn)]
"""An ISBN as people type it: ten or thirteen digits, with hyphens or spaces."""

TOO_LONG_AN_ADDRESS = _("Use an address of up to 2,000 characters for the cover.")
PictureUrl = Annotated[str, Text(1, 2000, TOO_LONG_AN_ADDRESS, kind="raw")]
PictureAddress = Annotated[str, Text(1, 2000, TOO_LONG_AN_ADDRESS, kind="public-url")]
"""Where a cover may be fetched from. The address that its host name resolves to is checked when it is fetched."""
