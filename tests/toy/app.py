"""The toy, as it is handed to the assembly: its rules, a consumer, and its share of what the suite asks of apps."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from msgspec import Struct

from potluck.leases import Rows
from potluck.people.authentication import Principal
from potluck.store import Store
from potluck.streams import Action, Change, Consumer
from potluck.table import NotFound, delete, present, the, update, upsert
from potluck.table.operations import Operation
from potluck.web.app import App, Core, HomeCard, Waiting
from potluck.web.app_catalogue import AppEntry
from potluck.web.views import view_plan
from tests.toy.books import BookView, books, members, newcomers, pages
from tests.toy.entities import Book, EverythingInBook, Member, Note, Tally, notes_table, tallies_table
from tests.toy.notes import NoteView, Reader, notes

__all__ = ["notes_app"]


def notes_app(core: Core) -> App:
    suite = NotesInSuite(core.store)
    return App(
        name="notes",
        tables=[notes_table, tallies_table],
        subjects=[books, members, newcomers, notes],
        endpoints=[pages],
        templates=Path(__file__).parent / "templates",
        entry=AppEntry(
            "notes", "Notes", "notebook-pen", "Notes in books that people share.", "/notes", hue="blueberry"
        ),
        consumers=[Consumer(core.engine, "note-tallies", notes_table.name, suite.tally, rows=Rows("ToyWork"))],
        export=suite.export,
        still_needed=suite.still_needed,
        forget=suite.forget,
        place_name=suite.place_name,
        home_card=suite.home_card,
    )


class NotesInSuite:
    """What the suite asks of the app."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def tally(self, change: Change) -> list[Action] | None:
        """One more or one fewer, in the same transaction as the consumer's position; no tally without its book."""
        row = change.new or change.old or {}
        what = (row.get("kind", {}).get("S"), change.kind)
        if what not in (("Note", "INSERT"), ("Note", "REMOVE"), ("Book", "REMOVE")):
            return None
        book_id = UUID(row["bookId"]["S"])
        if what == ("Book", "REMOVE"):
            return self._actions(delete(Tally.of_book(book_id)))
        by = 1 if change.kind == "INSERT" else -1
        # Only this consumer writes it, one change at a time, so what is read is still so when it is written.
        if by < 0 and await self._store.get(Tally.of_book(book_id)) is None:
            return None
        return self._actions(upsert(Tally.of_book(book_id), the(Tally.notes).add(by)))

    def _actions(self, operation: Operation) -> list[Action]:
        return [{each.kind: each.body} for each in operation.actions(self._store.now)]

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        books = await self._store.all(Member.of_user(user_id))
        for member in books:
            book = await self._store.get(Book.by_id(member.book_id))
            if book is not None:
                yield "books", view_plan(BookView).show(book)
        for member in books:
            async for note in self._store.each(Note.all_of_book(member.book_id)):
                if note.author == user_id:
                    yield "notes", view_plan(NoteView).show(note, Reader(user_id))

    async def place_name(self, place: str) -> str | None:
        book = await self._store.get(Book.by_id(UUID(place)))
        return None if book is None else book.name

    async def still_needed(self, user_id: UUID) -> list[str]:
        """Books that others are in and that would have no admin."""
        needed = []
        for member in await self._store.all(Member.of_user(user_id)):
            everything = await self._store.gather(EverythingInBook.of(member.book_id))
            assert everything is not None
            admins = [each.user_id for each in everything.members if each.admin]
            if admins == [user_id] and len(everything.members) > 1 and everything.book is not None:
                needed.append(everything.book.name)
        return needed

    async def forget(self, user_id: UUID) -> None:
        """Books of theirs alone go; in others, they and what only they could see."""
        for member in await self._store.all(Member.of_user(user_id)):
            with suppress(NotFound):
                await self._store.update(member, the(Member.leaving).becomes(True))
            everything = await self._store.gather(EverythingInBook.of(member.book_id))
            assert everything is not None
            alone = len(everything.members) <= 1
            notes = [note for note in everything.notes if alone or note.author == user_id]
            await self._store.write_each(map(delete, notes))
            if alone or everything.book is None:
                await self._store.write_each([] if everything.book is None else [delete(everything.book)])
                await self._store.delete(member)
                continue
            one_fewer = update(Book.by_id(member.book_id), the(Book.admin_count).add(-1), when=present)
            with suppress(NotFound):
                await self._store.transact(delete(member, when=present), *([one_fewer] if member.admin else []))

    async def home_card(self, caller: Principal) -> HomeCard:
        books = await self._store.all(Member.of_user(caller.user_id))
        waiting = [
            Waiting("A book waits", "with its notes", f"/notes/{each.book_id}", "notebook-pen") for each in books
        ]
        return HomeCard(f"{len(books)} books", waiting[:1])
