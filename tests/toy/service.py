"""The toy's rules: who is in a book reads and writes its notes; its admins say who is in it."""

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from potluck.people.authentication import Alongside, Principal, nothing_else
from potluck.people.entities import Account
from potluck.people.errors import AccountGone
from potluck.people.secrets import new_id
from potluck.store import Clock, Page, Store
from potluck.streams import Action, Change
from potluck.table import (
    AlreadyExists,
    ConditionFailed,
    NotFound,
    VersionConflict,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
    upsert,
)
from potluck.table.operations import Operation
from potluck.web.app import HomeCard, Waiting
from tests.toy.entities import Book, EverythingInBook, Member, Note, Tally

__all__ = ["LastAdmin", "NoteShown", "Notes", "NotesError", "NotesForbidden", "NothingThere"]


class NotesError(Exception):
    """Whatever the toy refuses."""


class NothingThere(NotesError):
    """It does not exist, or not for this caller."""

    def __init__(self) -> None:
        super().__init__("There is nothing here, or nothing that is yours to see")


class NotesForbidden(NotesError):
    def __init__(self) -> None:
        super().__init__("Only an admin of the book may do this")


class LastAdmin(NotesError):
    def __init__(self) -> None:
        super().__init__("A book keeps its last admin")


class NoteTaken(NotesError):
    def __init__(self) -> None:
        super().__init__("There is a note with this id")


class NoteChanged(NotesError):
    def __init__(self, current: "NoteShown | None") -> None:
        super().__init__("It has been changed since you saw it")
        self.current = current


class BookChanged(NotesError):
    def __init__(self, current: "BookShown") -> None:
        super().__init__("It has been changed since you saw it")
        self.current = current


class BookShown(Struct, rename="camel", frozen=True, kw_only=True):
    book_id: UUID
    name: str
    version: int


class NoteShown(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """A note as one person sees it: its private part is there for its author only."""

    note_id: UUID
    title: str
    text: str
    author: UUID
    version: int
    updated_at: datetime
    private: str | None = None


def shown(note: Note, to: UUID) -> NoteShown:
    return NoteShown(
        note_id=note.note_id,
        title=note.title,
        text=note.text,
        author=note.author,
        version=note.version,
        updated_at=note.updated_at,
        private=note.private if note.author == to else None,
    )


def book_shown(book: Book) -> BookShown:
    return BookShown(book_id=book.book_id, name=book.name, version=book.version)


class Notes:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    # --- books --------------------------------------------------------------------------------------------------

    async def open_book(self, caller: Principal, name: str, alongside: Alongside[Book] = nothing_else) -> Book:
        book = Book(book_id=new_id(), name=name)
        try:
            await self._store.transact(
                # Nothing is begun for somebody whose account is going.
                check(Account.by_id(caller.user_id), when=present),
                put(book, when=absent),
                put(Member(book_id=book.book_id, user_id=caller.user_id, admin=True), when=absent),
                *alongside(book),
            )
        except NotFound as refusal:
            if refusal.position != 0:
                raise
            raise AccountGone from refusal
        return book

    async def books(self, caller: Principal, limit: int, after=None) -> Page[Member]:
        return await self._store.page(Member.of_user(caller.user_id), limit, after)

    async def named(self, members: list[Member]) -> list[Book]:
        """The books themselves, but for one that went after the index was read."""
        found = await self._store.get_many([Book.by_id(each.book_id) for each in members])
        return [each for each in found if each is not None]

    async def rename(
        self,
        caller: Principal,
        book_id: UUID,
        version: int,
        name: str | UnsetType = UNSET,
        alongside: Alongside[Book] = nothing_else,
    ) -> Book:
        await self.must_be_in(caller, book_id, admin=True)
        book = await self._store.get(Book.by_id(book_id))
        if book is None:
            raise NothingThere
        if book.version != version:
            raise BookChanged(book_shown(book))
        if name is UNSET or name == book.name:
            return book
        renamed = replace(book, name=name, version=version + 1)
        try:
            await self._store.transact(update(book, the(Book.name).becomes(name)), *alongside(renamed))
        except (VersionConflict, NotFound) as refusal:
            if refusal.position != 0:
                raise
            current = refusal.current
            raise (NothingThere() if current is None else BookChanged(book_shown(current))) from refusal
        return renamed

    async def book(self, caller: Principal, book_id: UUID) -> Book:
        await self.must_be_in(caller, book_id)
        book = await self._store.get(Book.by_id(book_id))
        if book is None:
            raise NothingThere
        return book

    async def let_in(self, caller: Principal, book_id: UUID, user_id: UUID) -> None:
        await self.must_be_in(caller, book_id, admin=True)
        try:
            await self._store.transact(
                check(Account.by_id(user_id), when=present),
                check(Book.by_id(book_id), when=present),
                put(Member(book_id=book_id, user_id=user_id), when=absent),
            )
        except NotFound as refusal:
            raise NothingThere from refusal
        except AlreadyExists:
            return

    async def put_out(
        self, caller: Principal, book_id: UUID, user_id: UUID, alongside: Alongside[None] = nothing_else
    ) -> None:
        await self.must_be_in(caller, book_id, admin=True)
        member = await self._store.get(Member.by_id(book_id, user_id))
        if member is None:
            raise NothingThere
        one_fewer = update(Book.by_id(book_id), the(Book.admin_count).add(-1), when=the(Book.admin_count) > 1)
        try:
            await self._store.transact(
                delete(member, when=present), *([one_fewer] if member.admin else []), *alongside(None)
            )
        except (ConditionFailed, NotFound) as refusal:
            if refusal.position == 0:
                raise NothingThere from refusal
            if refusal.position == 1 and member.admin:
                raise LastAdmin from refusal
            raise

    async def must_be_in(self, caller: Principal, book_id: UUID, *, admin: bool = False) -> None:
        member = await self._store.get(Member.by_id(book_id, caller.user_id))
        if member is None:
            raise NothingThere
        if admin and not member.admin:
            raise NotesForbidden

    async def is_in(self, caller: Principal, book_id: UUID) -> bool:
        return await self._store.get(Member.by_id(book_id, caller.user_id)) is not None

    # --- notes --------------------------------------------------------------------------------------------------

    async def add(
        self,
        caller: Principal,
        book_id: UUID,
        title: str,
        text: str = "",
        private: str = "",
        note_id: UUID | None = None,
        alongside: Alongside[NoteShown] = nothing_else,
    ) -> NoteShown:
        await self.must_be_in(caller, book_id)
        note = Note(
            book_id=book_id,
            note_id=note_id or new_id(),
            title=title,
            text=text,
            private=private,
            author=caller.user_id,
            updated_at=self._now(),
        )
        answer = shown(note, caller.user_id)
        try:
            await self._store.transact(
                check(Member.by_id(book_id, caller.user_id), when=the(Member.leaving) == False),  # noqa: E712
                put(note, when=absent),
                *alongside(answer),
            )
        except (NotFound, ConditionFailed) as refusal:
            if refusal.position != 0:
                raise
            raise NothingThere from refusal
        except AlreadyExists as refusal:
            if refusal.position != 1:
                raise
            raise NoteTaken from refusal
        return answer

    async def one(self, caller: Principal, book_id: UUID, note_id: UUID) -> NoteShown:
        member, note = await self._store.get_together(
            Member.by_id(book_id, caller.user_id), Note.by_id(book_id, note_id)
        )
        if member is None or note is None:
            raise NothingThere
        return shown(note, caller.user_id)

    async def page(
        self, caller: Principal, book_id: UUID, limit: int, after=None, author: UUID | None = None
    ) -> Page[Note]:
        await self.must_be_in(caller, book_id)
        asked = Note.all_of_book(book_id) if author is None else Note.by_author(book_id, author)
        return await self._store.page(asked, limit, after)

    async def change(
        self,
        caller: Principal,
        book_id: UUID,
        note_id: UUID,
        version: int,
        title: str | UnsetType = UNSET,
        text: str | UnsetType = UNSET,
        private: str | UnsetType = UNSET,
        alongside: Alongside[NoteShown] = nothing_else,
    ) -> NoteShown:
        await self.must_be_in(caller, book_id)
        note = await self._store.get(Note.by_id(book_id, note_id))
        if note is None:
            raise NothingThere
        if private is not UNSET and note.author != caller.user_id:
            raise NotesForbidden
        if note.version != version:
            raise NoteChanged(shown(note, caller.user_id))
        wanted = {"title": title, "text": text, "private": private}
        changes = {name: value for name, value in wanted.items() if value not in (UNSET, getattr(note, name))}
        if not changes:
            return shown(note, caller.user_id)
        changes["updated_at"] = self._now()
        changed = replace(note, **changes, version=version + 1)
        answer = shown(changed, caller.user_id)
        operation = update(note, *(the(getattr(Note, name)).becomes(value) for name, value in changes.items()))
        try:
            await self._store.transact(operation, *alongside(answer))
        except (VersionConflict, NotFound) as refusal:
            if refusal.position != 0:
                raise
            current = refusal.current
            raise (NothingThere() if current is None else NoteChanged(shown(current, caller.user_id))) from refusal
        return answer

    async def delete(
        self,
        caller: Principal,
        book_id: UUID,
        note_id: UUID,
        version: int | None = None,
        alongside: Alongside[None] = nothing_else,
    ) -> None:
        await self.must_be_in(caller, book_id)
        when = present if version is None else the(Note.version) == version
        try:
            await self._store.transact(delete(Note.by_id(book_id, note_id), when=when), *alongside(None))
        except (VersionConflict, ConditionFailed, NotFound) as refusal:
            if refusal.position != 0:
                raise
            if refusal.current is None:
                raise NothingThere from refusal
            raise NoteChanged(shown(refusal.current, caller.user_id)) from refusal

    # --- kept by the stream -------------------------------------------------------------------------------------

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

    # --- what the suite asks ------------------------------------------------------------------------------------

    async def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        books = await self._store.all(Member.of_user(user_id))
        for member in books:
            book = await self._store.get(Book.by_id(member.book_id))
            if book is not None:
                yield "books", book_shown(book)
        for member in books:
            async for note in self._store.each(Note.all_of_book(member.book_id)):
                if note.author == user_id:
                    yield "notes", shown(note, user_id)

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

    def _now(self):
        return self._clock().replace(microsecond=0)
