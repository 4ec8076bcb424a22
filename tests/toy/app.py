"""The toy, as it is handed to the assembly: its rules, a consumer, and its share of what the suite asks of apps."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.people.authentication import Principal
from potluck.people.entities import InvitationOfPlace
from potluck.streams import Consumer, created, deleted
from potluck.table import NotFound, delete, present, the, update, upsert
from potluck.table.operations import Operation
from potluck.web.access import SignedIn
from potluck.web.app import App, Core, HomeCard
from potluck.web.writes import Writes
from tests.toy.books import BookView, books, books_of, join, members, pages
from tests.toy.entities import Book, EverythingInBook, Member, Note, Tally, notes_table, tallies_table
from tests.toy.notes import NoteView, Reader, notes


class NotesApp(App):
    name = "notes"
    title = "Notes"
    icon = "notebook-pen"
    does = "Notes in books that people share."
    address = "/notes"
    hue = "blueberry"
    joined_page = "/notes/{book_id}"
    tables = (notes_table, tallies_table)
    subjects = (books, members, notes)
    endpoints = (pages,)
    templates = Path(__file__).parent / "templates"

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._store = core.store

    def consumers(self) -> list[Consumer]:
        return [
            Consumer(
                "note-tallies",
                created(Note, do=self.note_created),
                deleted(Note, do=self.note_deleted),
                deleted(Book, do=self.book_deleted),
                lost=None,
            )
        ]

    async def join(self, at: SignedIn, invitation: InvitationOfPlace) -> Writes[Any] | None:
        return await join(at, invitation)

    async def note_created(self, note: Note) -> list[Operation]:
        """One more, in the same transaction as the consumer's position."""
        return [upsert(Tally.of_book(note.book_id), the(Tally.notes).add(1))]

    async def note_deleted(self, note: Note) -> list[Operation]:
        """One fewer; no tally without its book."""
        tally = Tally.of_book(note.book_id)
        # Only this consumer writes it, one change at a time, so what is read is still so when it is written.
        return [] if await self._store.get(tally) is None else [upsert(tally, the(Tally.notes).add(-1))]

    async def book_deleted(self, book: Book) -> list[Operation]:
        return [delete(Tally.of_book(book.book_id))]

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        books = await books_of(self._store, user_id)
        for book in books:
            yield "books", BookView.show(book)
        for book in books:
            async for note in self._store.each(Note.by_author(book.book_id, user_id)):
                yield "notes", NoteView.show(note, Reader(user_id))

    async def place_name(self, place: str) -> str | None:
        book = await self._store.get(Book.by_id(UUID(place)))
        return None if book is None else book.name

    async def still_needed(self, user_id: UUID) -> list[str]:
        """Books that others are in and that would have no admin."""
        needed = []
        for book in await books_of(self._store, user_id):
            everything = await self._store.gather(EverythingInBook.of(book.book_id))
            admins = [each.user_id for each in everything.members if each.admin]
            if admins == [user_id] and len(everything.members) > 1:
                needed.append(book.name)
        return needed

    async def forget(self, user_id: UUID) -> None:
        """Books of theirs alone go; in others, they and their notes."""
        for member in await self._store.all(Member.of_user(user_id)):
            with suppress(NotFound):
                await self._store.update(member, the(Member.leaving).becomes(True))
            everything = await self._store.gather(EverythingInBook.of(member.book_id))
            alone = len(everything.members) <= 1 or everything.book is None
            gone = [note for note in everything.notes if alone or note.author == user_id]
            await self._store.write_each(map(delete, gone))
            if alone:
                await self._store.write_each([] if everything.book is None else [delete(everything.book)])
                await self._store.delete(member)
                continue
            one_fewer = update(Book.by_id(member.book_id), the(Book.admin_count).add(-1), when=present)
            with suppress(NotFound):
                await self._store.transact(delete(member, when=present), *([one_fewer] if member.admin else []))

    async def home_card(self, caller: Principal) -> HomeCard:
        books = await self._store.all(Member.of_user(caller.user_id))
        card = HomeCard(f"{len(books)} books")
        for book in books[:1]:
            card.add("A book waits", "with its notes", f"/notes/{book.book_id}", "notebook-pen")
        return card
