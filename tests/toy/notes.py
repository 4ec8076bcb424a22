"""The notes of a book. What is private in one is for its author alone."""

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.people.secrets import new_id
from potluck.table import Query, absent, delete, present, put
from potluck.web.access import SignedIn
from potluck.web.actions import Actions, PageForm, Show
from potluck.web.errors import ALREADY_EXISTS, ProblemError
from potluck.web.inputs import UNSET, Edit, Input, New, Unset
from potluck.web.views import View, computed
from potluck.web.writes import Writes, or_raise
from tests.toy.access import AdminsOnly, InBook, Writer
from tests.toy.books import books, frame
from tests.toy.entities import Book, LongText, Note, Title


class NoteTaken(ProblemError, detail="There is a note with this id"):
    problem = ALREADY_EXISTS


class Reader(Struct, frozen=True):
    """Whoever looks: an author sees more than others do."""

    user_id: UUID

    @classmethod
    async def load(cls, at: SignedIn, notes: Any) -> "Reader":
        return cls(at.principal.user_id)


class NoteView(View[Note]):
    note_id: UUID
    title: str
    text: str
    author: UUID
    version: int
    updated_at: datetime

    @computed
    def private(note: Note, reader: Reader) -> str | Unset:
        return note.private if note.author == reader.user_id else UNSET


class NewNote(New[Note]):
    title: Title
    note_id: UUID | Unset = UNSET
    text: LongText = ""
    private: LongText = ""


class NoteChange(Edit[Note]):
    title: Title | Unset = UNSET
    text: LongText | Unset = UNSET
    private: LongText | Unset = UNSET


class ByAuthor(Input):
    author: UUID | Unset = UNSET


notes = Actions(
    InBook, Note.by_id, NoteView, api="/books/{book_id}/notes", page="/notes/{book_id}/notes", tag="Notes", frame=frame
)


@books.page("", "notes/book.html")
async def book_page(at: InBook, book: Book, show: Show) -> dict[str, Any]:
    position = await at.position(Note.all_of_book(at.book_id))
    notes = await at.show(NoteView, await at.store.all(Note.all_of_book(at.book_id)))
    changing = show.form(NoteChange)
    return {
        "book": book,
        "notes": notes,
        "position": position,
        "form": show.form(NewNote),
        "conflict": changing.conflict(show.clash, {"title": "Title"}),
        "clash": show.clash,
    }


@notes.list(live=lambda at: Note.all_of_book(at.book_id), row="notes/row.html")
def listed(at: InBook, wanted: ByAuthor) -> Query[Note]:
    """The notes of a book, or those of one author, in the order of their ids."""
    return Note.all_of_book(at.book_id) if wanted.author is UNSET else Note.by_author(at.book_id, wanted.author)


@notes.read()
async def one(at: InBook, note: Note) -> Note:
    """One note."""
    return note


@notes.create(NoteTaken, form=PageForm(on=book_page, then="/notes/{book_id}"))
async def add(at: Writer, new: NewNote) -> Writes[Note]:
    """Add a note."""
    note = at.make(new, book_id=at.book_id, note_id=new.note_id or new_id(), author=at.principal.user_id)
    return Writes(note, or_raise(put(note, when=absent), NoteTaken))


@notes.change(AdminsOnly, form=PageForm(then="/notes/{book_id}", on=book_page))
async def change(at: InBook, note: Note, change: NoteChange) -> Writes[Note]:
    """Edit a note."""
    if change.private is not UNSET and note.author != at.principal.user_id:
        raise AdminsOnly
    return at.apply(note, change)


@notes.delete(form=PageForm(path="/delete", then="/notes/{book_id}"))
async def remove(at: InBook, note: Note) -> Writes[None]:
    """Delete a note."""
    return Writes(None, delete(note, when=present))
