"""What the toy stores: books, who is in them, and their notes."""

from typing import Annotated
from uuid import UUID

from potluck.table import Counter, Entity, ItemCollection, Seconds, Table, Version, get, query
from potluck.validation.field_types import Text

notes_table = Table("Notes", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="kind", names="camel")
# Apart from the notes: what a consumer writes must not be a change of what it reads.
tallies_table = Table("NoteTallies", "PK", "SK", type_attribute="kind", names="camel")

Title = Annotated[str, Text(1, 100, "Title must have 1 to 100 characters")]
LongText = Annotated[str, Text(0, 5000, kind="lines", trim=False)]


class Book(Entity, table=notes_table, type="Book", key=("BOOK#{book_id}", "BOOK")):
    book_id: UUID
    name: Title
    version: Version = 1
    admin_count: Counter = 1

    @get(consistent=True)
    def by_id(book_id: UUID) -> None:
        """What is this book called?"""


class Member(
    Entity,
    table=notes_table,
    type="Member",
    key=("BOOK#{book_id}", "MEMBER#{user_id}"),
    GSI1=("USER#{user_id}", "BOOK#{book_id}"),
):
    book_id: UUID
    user_id: UUID
    admin: bool = False
    # Set before what is theirs goes: from then on they add nothing, and whoever is interrupted finds the way again.
    leaving: bool = False

    @get(consistent=True)
    def by_id(book_id: UUID, user_id: UUID) -> None:
        """Is this person in the book?"""

    @query("GSI1")
    def of_user(user_id: UUID) -> None:
        """Which books is this person in?"""


class Note(Entity, table=notes_table, type="Note", key=("BOOK#{book_id}", "NOTE#{note_id}")):
    book_id: UUID
    note_id: UUID
    title: Title
    text: LongText = ""
    # Seen by its author alone.
    private: LongText = ""
    author: UUID
    version: Version = 1
    updated_at: Seconds

    @get(consistent=True)
    def by_id(book_id: UUID, note_id: UUID) -> None:
        """What does this note say?"""

    @query(consistent=True)
    def all_of_book(book_id: UUID) -> None:
        """Which notes are in the book, by id?"""

    @query(consistent=True, filter=("author",))
    def by_author(book_id: UUID, author: UUID) -> None:
        """Which notes of the book are this person's, by id?"""


class Tally(Entity, table=tallies_table, type="Tally", key=("TALLY#{book_id}", "TALLY")):
    """How many notes a book has, kept by a consumer of the stream."""

    book_id: UUID
    notes: Counter = 0

    @get(consistent=True)
    def of_book(book_id: UUID) -> None:
        """How many notes are in the book?"""


class EverythingInBook(ItemCollection):
    book: Book | None
    members: list[Member]
    notes: list[Note]

    @query(consistent=True)
    def of(book_id: UUID) -> None:
        """What goes with the book?"""
