"""Things that an access finds, because their key holds more than the path; events that tell a thing as it is now."""

from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest

from potluck.engines import open_engine
from potluck.people.authentication import Principal
from potluck.store import Store
from potluck.table import Entity, Seconds, Table, Version, absent, delete, query, the
from potluck.validation.field_types import Message, Text
from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.direct_calls import Direct
from potluck.web.errors import Conflict, NotFound
from potluck.web.inputs import UNSET, Edit, Unset
from potluck.web.live.events import CurrentView, Event, event_for
from potluck.web.views import View
from potluck.web.writes import Writes
from tests.people.assembly import Clock
from tests.web.cores import core_on

Id = Annotated[UUID, Message("Invalid ID format")]
Name = Annotated[str, Text(1, 60, "Name must have 1 to 60 characters")]
shelf = Table("Shelf", "PK", "SK")


class Book(Entity, table=shelf, key=("SHELF", "BOOK#{created_at}#{book_id}")):
    book_id: Id
    name: Name
    created_at: Seconds
    version: Version = 1

    @query(consistent=True)
    def every() -> None:
        """Which books are there?"""


class AtBook(SignedIn):
    """Somebody at a book, which is looked for among all of them."""

    book_id: Id

    async def admit(self, *rows: Any) -> None:
        found = await self.store.all(Book.every())
        self.thing = next((each for each in found if each.book_id == self.book_id), None)

    def checks(self) -> Any:
        return ()

    def sees(self, thing: Any) -> bool:
        return thing.name != "hidden"


class BookView(View[Book]):
    name: str
    version: int


class BookChange(Edit[Book]):
    name: Name | Unset = UNSET


books = Actions(SignedIn, Book, BookView, api="/books")


@books.change()
async def change_book(at: AtBook, book: Book, change: BookChange) -> Writes[Book]:
    """Edit a book."""
    return at.apply(book, change)


@books.delete()
async def delete_book(at: AtBook, book: Book) -> Writes[None]:
    """Delete a book."""
    return Writes(None, delete(book, when=the(Book.version).still(book.version)))


@pytest.fixture
async def direct():
    engine = await open_engine()
    clock = Clock()
    rows = Store(engine, clock)
    await rows.create_tables(shelf)
    yield Direct(core_on(rows, clock), [books])
    await engine.close()


def somebody() -> Principal:
    return Principal(kind="session", user_id=uuid4(), name="Ada", hash="0" * 64, session_epoch=1, expires_at=None)


async def test_a_thing_is_found_by_the_access_with_all_that_things_have(direct: Direct):
    rows, clock, ada = direct.runner.core.store, direct.runner.core.clock, somebody()
    book, hidden = (Book(book_id=uuid4(), name=name, created_at=clock()) for name in ("Emma", "hidden"))
    for each in (book, hidden):
        await rows.put(each, when=absent)
    changed = await direct.do(change_book, ada, BookChange(name="Emma, again"), version=1, book_id=book.book_id)
    assert (changed.name, changed.version) == ("Emma, again", 2)
    with pytest.raises(Conflict) as conflict:
        await direct.do(change_book, ada, BookChange(name="Late"), version=1, book_id=book.book_id)
    assert conflict.value.current == changed
    for nothing in (uuid4(), hidden.book_id):
        with pytest.raises(NotFound):
            await direct.do(change_book, ada, BookChange(name="?"), version=1, book_id=nothing)
    await direct.do(delete_book, ada, book_id=book.book_id)
    assert [each.name for each in await rows.all(Book.every())] == ["hidden"]


def test_its_id_is_in_the_path():
    assert {each.path for each in books.declared} == {"/books/{book_id}"}


@pytest.mark.parametrize(
    ("old", "new", "now", "told"),
    [
        (None, "was said", "is said", Event("created", "is said")),
        ("was", "was said", "is said", Event("updated", "is said")),
        # What is gone since, or hidden, has an event of its own.
        (None, "was said", None, None),
        ("was said", None, "gone", Event("deleted", "gone")),
        ("same", "same", "other", None),
    ],
)
async def test_an_event_tells_a_thing_as_it_is_now(old, new, now, told):
    async def as_now(thing: Any, gone: bool) -> Any:
        assert thing == (old if new is None else new)
        assert gone == (new is None)
        return now

    assert await event_for(old, new, CurrentView(lambda thing: thing, as_now)) == told
