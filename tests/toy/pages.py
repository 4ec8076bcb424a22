"""The toy's HTML door: a person's books, and a book whose notes change while one looks."""

from typing import Annotated, Any
from uuid import UUID

from litestar import Request, Response, get, post
from litestar.params import FromPath
from litestar.response import Redirect, Template
from msgspec import Meta

from potluck.people.authentication import Principal
from potluck.people.entities import Account
from potluck.people.invitations import Invitations
from potluck.table import absent, check, present, put
from potluck.web.bodies import Body, Says
from potluck.web.callers import Door
from potluck.web.forms import blank, form
from potluck.web.layout import page
from potluck.web.live import Live, Right
from potluck.web.live.litestar_adapter import event_stream
from potluck.web.people.carrying import carried, dropped
from potluck.web.row_events import row_events, row_text
from tests.toy.entities import Member, Note
from tests.toy.service import NoteChanged, Notes, shown

__all__ = ["PAGES"]

AnyRequest = Request[Any, Any, Any]
Title = Annotated[str, Meta(min_length=1, max_length=100), Says("Title must have 1 to 100 characters")]
BOOK = "/notes/{book_id:str}"
NOTE = f"{BOOK}/notes/{{note_id:str}}"


class NewBook(Body):
    name: Title


class NewNote(Body):
    title: Title


class Retitled(Body):
    title: Title
    version: Annotated[int, Meta(ge=1, le=10**15)]


def _by_htmx(request: AnyRequest) -> bool:
    return "hx-request" in request.headers


def _back(book_id: UUID) -> Redirect:
    return Redirect(f"/notes/{book_id}", status_code=303)


@get("/notes", include_in_schema=False)
async def books(caller: Principal, notes: Notes) -> Template:
    found = await notes.books(caller, 100)
    named = [await notes.book(caller, each.book_id) for each in found.items]
    return page("notes/books.html", caller, app="notes", here="Notes", books=named, form=blank(NewBook))


@post("/notes", include_in_schema=False)
async def open_book(request: AnyRequest, caller: Principal, notes: Notes) -> Response[Any]:
    filled = await form(NewBook, request)
    return _back((await notes.open_book(caller, filled.value.name)).book_id)


@get(BOOK, include_in_schema=False)
async def book(book_id: FromPath[UUID], caller: Principal, notes: Notes, live: Live) -> Template:
    found = await notes.book(caller, book_id)
    position = await live.position(Note.all_of_book(book_id))
    listed = await notes.page(caller, book_id, 100)
    return page(
        "notes/book.html",
        caller,
        app="notes",
        here="Notes",
        book=found,
        notes=[shown(note, caller.user_id) for note in listed.items],
        position=position,
        form=blank(NewNote),
    )


@post(f"{BOOK}/notes", include_in_schema=False)
async def add(book_id: FromPath[UUID], request: AnyRequest, caller: Principal, notes: Notes) -> Response[Any]:
    filled = await form(NewNote, request)
    if not filled.good:
        found = await notes.book(caller, book_id)
        return Template("notes/adding.html", context={"book": found, "form": filled}, status_code=422)
    note = await notes.add(caller, book_id, filled.value.title)
    if not _by_htmx(request):
        return _back(book_id)
    return Response(row_text(request, "notes/row.html", note=note, book_id=book_id), media_type="text/html")


@post(NOTE, include_in_schema=False)
async def retitle(
    book_id: FromPath[UUID], note_id: FromPath[UUID], request: AnyRequest, caller: Principal, notes: Notes
) -> Response[Any]:
    given = (await form(Retitled, request)).value
    clash = None
    try:
        note = await notes.change(caller, book_id, note_id, given.version, given.title)
    except NoteChanged as changed:
        if not _by_htmx(request):
            raise
        note, clash = changed.current, given.title
    if not _by_htmx(request):
        return _back(book_id)
    text = row_text(request, "notes/row.html", note=note, book_id=book_id, clash=clash)
    return Response(text, media_type="text/html", status_code=409 if clash else 200)


@post(f"{NOTE}/delete", include_in_schema=False)
async def remove(
    book_id: FromPath[UUID], note_id: FromPath[UUID], request: AnyRequest, caller: Principal, notes: Notes
) -> Response[Any]:
    await notes.delete(caller, book_id, note_id)
    return Response("", media_type="text/html") if _by_htmx(request) else _back(book_id)


@get(f"{BOOK}/events", include_in_schema=False)
async def events(
    book_id: FromPath[UUID], request: AnyRequest, caller: Principal, notes: Notes, live: Live, door: Door
) -> Response[None]:
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
        render=row_events(request, "notes/row.html", "note", book_id=book_id),
    )


@post(f"{BOOK}/invitations", include_in_schema=False)
async def invite(book_id: FromPath[UUID], caller: Principal, notes: Notes, invitations: Invitations) -> Template:
    found = await notes.book(caller, book_id)
    made = await invitations.make("notes", str(book_id), "member", caller.user_id)
    return page("notes/invited.html", caller, app="notes", here="Notes", book=found, secret=made.secret)


@post("/notes/invitation", include_in_schema=False)
async def come_in(request: AnyRequest, caller: Principal, invitations: Invitations, door: Door) -> Response[Any]:
    def entering(invitation):
        return [
            check(Account.by_id(caller.user_id), when=present),
            put(Member(book_id=UUID(invitation.place), user_id=caller.user_id), when=absent),
        ]

    accepted = await invitations.accept(carried(request, door), caller.user_id, entering)
    return Redirect(f"/notes/{accepted.place}", status_code=303, cookies=[dropped(request, door)])


PAGES = [books, open_book, book, add, retitle, remove, events, invite, come_in]
