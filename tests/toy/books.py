"""Books, and who is in them."""

from typing import Any
from uuid import UUID

from msgspec import Struct
from starlette.responses import Response

from potluck.people.entities import Account, Invitation
from potluck.people.errors import InvitationInvalid
from potluck.people.secrets import new_id
from potluck.store import Store
from potluck.table import absent, check, delete, present, put, the, update
from potluck.web.access import SignedIn
from potluck.web.actions import Actions, PageForm, Show
from potluck.web.endpoints import Call, Endpoints
from potluck.web.errors import NotFound, ProblemError
from potluck.web.inputs import UNSET, Edit, New, Unset
from potluck.web.views import View
from potluck.web.writes import Writes, or_raise
from tests.toy.access import BookAdmin, InBook
from tests.toy.entities import Book, Member, Title


class LastAdmin(
    ProblemError, slug="last-admin", title="The last admin stays", detail="A book keeps its last admin"
):  # fmt: skip
    """A book without an admin would be nobody's."""


class BookView(View[Book]):
    book_id: UUID
    name: str
    version: int


class NewBook(New[Book]):
    name: Title


class BookChange(Edit[Book]):
    name: Title | Unset = UNSET


async def frame(at: Any) -> dict[str, Any]:
    return {"app": "notes", "here": "Notes"}


books = Actions(InBook, Book.by_id, BookView, api="/books", page="/notes", tag="Notes", frame=frame)


@books.create(form=PageForm(then="/notes/{book_id}"))
async def open_book(at: SignedIn, new: NewBook) -> Writes[Book]:
    """Open a book of notes; its opener is its admin."""
    book = at.make(new, book_id=new_id())
    member = Member(book_id=book.book_id, user_id=at.principal.user_id, admin=True)
    return Writes(book, put(book, when=absent), put(member, when=absent))


async def books_of(store: Store, user_id: UUID) -> list[Book]:
    found = await store.get_many([Book.by_id(each.book_id) for each in await store.all(Member.of_user(user_id))])
    # One may have gone after the index was read.
    return [each for each in found if each is not None]


@books.list(order=lambda book: (str(book.book_id),))
async def own_books(at: SignedIn) -> list[Book]:
    """The books that the caller is in, in the order of their ids."""
    return await books_of(at.store, at.principal.user_id)


@books.read()
async def one_book(at: InBook, book: Book) -> Book:
    """A book that the caller is in."""
    return book


@books.change()
async def rename(at: BookAdmin, book: Book, change: BookChange) -> Writes[Book]:
    """Give a book another name."""
    return at.apply(book, change)


@books.page("", "notes/books.html")
async def books_page(at: SignedIn, show: Show) -> dict[str, Any]:
    return {"books": await own_books(at), "form": show.form(NewBook)}


# --- who is in a book -------------------------------------------------------------------------------------------------

members = Actions(BookAdmin, Member.by_id, api="/books/{book_id}/members", tag="Notes")


class LettingIn(BookAdmin):
    user_id: UUID


@members.action("PUT", "/{user_id}")
async def let_in(at: LettingIn) -> Writes[None]:
    """Let somebody into the book."""
    if await at.store.get(Member.by_id(at.book_id, at.user_id)) is not None:
        return Writes(None)
    return Writes(
        None,
        or_raise(check(Account.by_id(at.user_id), when=present), NotFound),
        or_raise(check(Book.by_id(at.book_id), when=present), NotFound),
        put(Member(book_id=at.book_id, user_id=at.user_id)),
    )


@members.delete("", LastAdmin)
async def put_out(at: BookAdmin, member: Member) -> Writes[None]:
    """Put somebody out of the book."""
    one_fewer = update(Book.by_id(at.book_id), the(Book.admin_count).add(-1), when=the(Book.admin_count) > 1)
    return Writes(None, delete(member, when=present), *([or_raise(one_fewer, LastAdmin)] if member.admin else []))


# --- invitations ------------------------------------------------------------------------------------------------------

pages = Endpoints()


@pages.post("/notes/{book_id}/invitations")
async def invite(call: Call) -> Response:
    at = await call.admit(InBook)
    book = await at.store.one(Book.by_id(at.book_id))
    made, writes = await at.core.people.invitations.prepare("notes", str(at.book_id), "member", at.principal.user_id)
    await at.store.transact(*writes)
    return call.page("notes/invited.html", book=book, secret=made.secret, **await frame(at))


async def join(at: SignedIn, invitation: Invitation) -> Writes[Struct]:
    member = Member(book_id=UUID(invitation.place), user_id=at.principal.user_id)
    return Writes(Joined(book_id=member.book_id), or_raise(put(member, when=absent), InvitationInvalid))


class Joined(Struct, rename="camel"):
    book_id: UUID
