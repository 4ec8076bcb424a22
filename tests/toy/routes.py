"""The toy's JSON door: decode, call, render."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import Request, Response, delete, get, patch, post, put
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET, Meta, UnsetType

from potluck.people.authentication import Principal
from potluck.store import Page
from potluck.web.bodies import Body, Says
from potluck.web.callers import Door
from potluck.web.cursors import Listed, Part, View
from potluck.web.live import Changes, Live, Right
from potluck.web.live.litestar_adapter import event_stream
from potluck.web.once import Made, Once, Told
from potluck.web.versions import etag, expected, seen, tag_of, unchanged
from tests.toy.entities import Member, Note
from tests.toy.service import BookShown, Notes, NoteShown, book_shown, shown

__all__ = ["ROUTES"]

AnyRequest = Request[Any, Any, Any]
Title = Annotated[str, Meta(min_length=1, max_length=100), Says("Title must have 1 to 100 characters")]
Text = Annotated[str, Meta(max_length=5000)]
BOOK = "/books/{book_id:str}"
NOTE = f"{BOOK}/notes/{{note_id:str}}"


class NewBook(Body):
    name: Title


class BookChange(Body):
    version: Annotated[int, Meta(ge=1, le=10**15)] | UnsetType = UNSET
    name: Title | UnsetType = UNSET


class NewNote(Body):
    title: Title
    note_id: UUID | UnsetType = UNSET
    text: Text = ""
    private: Text = ""


class NoteChange(Body):
    version: Annotated[int, Meta(ge=1, le=10**15)] | UnsetType = UNSET
    title: Title | UnsetType = UNSET
    text: Text | UnsetType = UNSET
    private: Text | UnsetType = UNSET


def note_tag(note: NoteShown) -> str:
    """Its author sees more than others do, so a version alone would not say which of the two it is."""
    return tag_of(msgspec.json.encode(note))


@post("/books", tags=["Notes"])
async def open_book(data: JSONBody[NewBook], caller: Principal, notes: Notes, once: Once) -> Response[BookShown]:
    """Open a book of notes; its opener is its admin."""
    return await once(
        lambda alongside: notes.open_book(caller, data.name, alongside),
        lambda book: Made(book_shown(book), book.book_id, headers={"etag": etag(book.version)}),
        account_checked=True,
    )


@get(BOOK, tags=["Notes"])
async def one_book(
    book_id: FromPath[UUID], caller: Principal, notes: Notes, request: AnyRequest
) -> Response[BookShown | None]:
    """A book that the caller is in."""
    book = await notes.book(caller, book_id)
    tag = etag(book.version)
    return unchanged(request, tag) or Response(book_shown(book), headers={"etag": tag})


@get("/books", tags=["Notes"])
async def own_books(caller: Principal, notes: Notes, part: Part) -> Listed[BookShown]:
    """The books that the caller is in, in the order of their ids."""
    page = await notes.books(caller, part.limit, part.after)
    named = await notes.named(page.items)
    return part.answer(Page(named, page.next), book_shown)


@patch(BOOK, tags=["Notes"])
async def rename(
    book_id: FromPath[UUID],
    data: JSONBody[BookChange],
    caller: Principal,
    notes: Notes,
    once: Once,
    request: AnyRequest,
) -> Response[BookShown]:
    """Give a book another name."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: notes.rename(caller, book_id, version, data.name, alongside),
        lambda book: Told(body=book_shown(book), headers={"etag": etag(book.version)}),
        may=lambda: notes.must_be_in(caller, book_id),
    )


@put(f"{BOOK}/members/{{user_id:str}}", tags=["Notes"], status_code=204)
async def let_in(book_id: FromPath[UUID], user_id: FromPath[UUID], caller: Principal, notes: Notes) -> None:
    """Let somebody into the book."""
    await notes.let_in(caller, book_id, user_id)


@delete(f"{BOOK}/members/{{user_id:str}}", tags=["Notes"])
async def put_out(
    book_id: FromPath[UUID], user_id: FromPath[UUID], caller: Principal, notes: Notes, once: Once
) -> Response[None]:
    """Put somebody out of the book."""
    return await once(
        lambda alongside: notes.put_out(caller, book_id, user_id, alongside),
        lambda _: Told(body=None, status=204),
    )


@post(f"{BOOK}/notes", tags=["Notes"])
async def add(
    book_id: FromPath[UUID],
    data: JSONBody[NewNote],
    caller: Principal,
    notes: Notes,
    once: Once,
) -> Response[NoteShown]:
    """Add a note."""
    return await once(
        lambda alongside: notes.add(
            caller, book_id, data.title, data.text, data.private, data.note_id or None, alongside
        ),
        lambda note: Made(note, note.note_id, headers={"etag": note_tag(note)}),
        may=lambda: notes.must_be_in(caller, book_id),
    )


@get(f"{BOOK}/notes", tags=["Notes"])
async def listed(
    book_id: FromPath[UUID],
    caller: Principal,
    notes: Notes,
    part: Part,
    live: Live,
    author: FromQuery[UUID | None] = None,
) -> Listed[NoteShown]:
    """The notes of a book, or those of one author, in the order of their ids."""
    position = await live.position(Note.all_of_book(book_id))
    page = await notes.page(caller, book_id, part.limit, part.after, author)
    return part.answer(page, View(shown, caller.user_id), position)


@get(NOTE, tags=["Notes"])
async def one(
    book_id: FromPath[UUID],
    note_id: FromPath[UUID],
    caller: Principal,
    notes: Notes,
    request: AnyRequest,
) -> Response[NoteShown | None]:
    """One note."""
    note = await notes.one(caller, book_id, note_id)
    tag = note_tag(note)
    return unchanged(request, tag) or Response(note, headers={"etag": tag})


@patch(NOTE, tags=["Notes"])
async def change(
    book_id: FromPath[UUID],
    note_id: FromPath[UUID],
    data: JSONBody[NoteChange],
    caller: Principal,
    notes: Notes,
    once: Once,
    request: AnyRequest,
) -> Response[NoteShown]:
    """Change a note."""
    version = seen(request, data.version)
    return await once(
        lambda alongside: notes.change(
            caller, book_id, note_id, version, data.title, data.text, data.private, alongside
        ),
        lambda note: Told(body=note, headers={"etag": note_tag(note)}),
        may=lambda: notes.must_be_in(caller, book_id),
    )


@delete(NOTE, tags=["Notes"], opt={"if_match": True})
async def remove(
    book_id: FromPath[UUID],
    note_id: FromPath[UUID],
    caller: Principal,
    notes: Notes,
    once: Once,
    request: AnyRequest,
) -> Response[None]:
    """Delete a note."""
    return await once(
        lambda alongside: notes.delete(caller, book_id, note_id, expected(request), alongside),
        lambda _: Told(body=None, status=204),
    )


@get(f"{BOOK}/notes/events", tags=["Notes"])
async def events(
    book_id: FromPath[UUID],
    caller: Principal,
    notes: Notes,
    live: Live,
    door: Door,
    request: AnyRequest,
) -> Response[Any]:
    """The changes of a book's notes, as they happen."""
    await notes.must_be_in(caller, book_id)

    async def allowed() -> bool:
        return await door.still(request, caller) and await notes.is_in(caller, book_id)

    return event_stream(
        live,
        request,
        of=Note.all_of_book(book_id),
        see=lambda note: shown(note, caller.user_id),
        allowed=allowed,
        by=caller,
        right=Right(Member.by_id(book_id, caller.user_id)),
    )


@get(f"{BOOK}/notes/changes", tags=["Notes"])
async def changes(
    book_id: FromPath[UUID],
    caller: Principal,
    notes: Notes,
    live: Live,
    since: FromQuery[str],
) -> Changes:
    """The changes of a book's notes since a position."""
    await notes.must_be_in(caller, book_id)
    found = await live.changes(
        since,
        of=Note.all_of_book(book_id),
        see=lambda note: shown(note, caller.user_id),
        right=Right(Member.by_id(book_id, caller.user_id)),
    )
    if found.reset:
        await notes.must_be_in(caller, book_id)
    return found


ROUTES = [open_book, own_books, one_book, rename, let_in, put_out, add, listed, one, change, remove, events, changes]
