"""The field types of the library: the bounds of each field and its message."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from potluck.apps.library.isbn import BadIsbn, isbn_13
from potluck.people import Email
from potluck.validation import (
    BadAddress,
    Check,
    FieldError,
    Integer,
    Length,
    ManyLines,
    Message,
    OneLine,
    Text,
    must_be_public,
)

__all__ = [
    "FIRST_ORDER",
    "LAST_ORDER",
    "LONGEST_NOTE",
    "LONGEST_TITLE",
    "NOTHING_SOUGHT",
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
    "Year",
    "owner_of",
    "user_of",
]

LONGEST_TITLE = 200
LONGEST_NOTE = 4000
FIRST_ORDER, LAST_ORDER = 1, 1000
TOP_OF_CAST = 5
LARGEST_FILE = 9_000_000
"""In characters; with what JSON adds, an import stays under its 10 MB."""

# The userId of an account without its dashes, uppercase.
OwnerId = Annotated[str, Text(32, 32, pattern="^[0-9A-F]{32}$", trim=False)]


def owner_of(user_id: UUID) -> str:
    """The OwnerId of an account."""
    return user_id.hex.upper()


def user_of(owner_id: str) -> UUID:
    """The account of an OwnerId."""
    return UUID(owner_id)


LibraryId = Annotated[UUID, Message("Invalid library ID format")]
CollectionId = Annotated[UUID, Message("Invalid collection ID format")]
ItemId = Annotated[UUID, Message("Invalid item ID format")]

LibraryName = Annotated[str, OneLine(1, 20, "Name must have 1 to 20 characters")]
LibraryDescription = Annotated[str, OneLine(0, 100, "Description must have at most 100 characters")]
CollectionName = Annotated[str, OneLine(1, 100, "Name must have 1 to 100 characters")]
CollectionDescription = Annotated[str, ManyLines(0, 500, "Description must have at most 500 characters")]
Title = Annotated[str, OneLine(1, LONGEST_TITLE, f"Title must have 1 to {LONGEST_TITLE} characters")]
Summary = Annotated[str, ManyLines(0, 4000, "Summary must have at most 4,000 characters")]
Note = Annotated[str, ManyLines(0, LONGEST_NOTE, f"The note must have at most {LONGEST_NOTE:,} characters")]
PersonName = Annotated[str, OneLine(1, 100, "A name must have 1 to 100 characters")]
People = Annotated[list[PersonName], Length(0, 50, "There can be at most 50 names")]
Cast = Annotated[list[PersonName], Length(0, TOP_OF_CAST, "The cast is the first five")]
# The whole cast may be sent; only the first five are stored.
ManyCast = Annotated[list[PersonName], Length(0, 200, "There can be at most 200 names")]
Order = Annotated[int, Integer(FIRST_ORDER, LAST_ORDER, "Order must be a whole number from 1 to 1000")]
Year = Annotated[int, Integer(1800, 2100, "Year must be a whole number from 1800 to 2100")]
Duration = Annotated[int, Integer(0, 1000, "Duration must be 0 to 1,000 minutes")]
TmdbId = Annotated[int, Integer(1, 10**12, "The TMDB id must be a positive whole number")]
Borrower = Annotated[str, OneLine(1, 50, "Say in 1 to 50 characters who has it")]
Due = Annotated[date, Message("The date must be one such as 2025-12-24")]
CoverHash = Annotated[str, Text(64, 64, pattern="^[0-9a-f]{64}$", trim=False)]
Force = Annotated[Literal["true", "false"], Message("force must be true or false")]
NOTHING_SOUGHT = "Search for 1 to 200 characters"
SearchText = Annotated[str, Text(1, 200, NOTHING_SOUGHT)]
FileText = Annotated[
    str, Text(1, LARGEST_FILE, "Paste a list or choose a file, of up to 9,000,000 characters", trim=False)
]

# As it is stored: thirteen digits. The design allows ten as well, so rows of ten can be read.
Isbn = Annotated[str, Text(10, 13, pattern="^([0-9]{9}[0-9X]|[0-9]{13})$", trim=False)]


def _is_isbn(text: str) -> Iterator[FieldError]:
    try:
        isbn_13(text)
    except BadIsbn as bad:
        yield FieldError("", str(bad))


IsbnText = Annotated[str, Text(0, 30, "An ISBN has ten or thirteen digits"), Check(_is_isbn)]
"""As people type it: ten or thirteen digits, with hyphens or spaces."""

PictureUrl = Annotated[str, Text(1, 2000, "The address of a picture must have at most 2,000 characters")]


def _is_public(address: str) -> Iterator[FieldError]:
    try:
        must_be_public(address)
    except BadAddress as bad:
        yield FieldError("", str(bad))


PictureAddress = Annotated[PictureUrl, Check(_is_public)]
"""Where a cover may be fetched from; what its name leads to is looked at again when it is."""
