"""After a restart, a person's list and search wait for their own library, not for everybody's log."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from potluck.apps.library import searching
from potluck.apps.library.entities import Book, LibraryItem, media_library
from potluck.apps.library.search import best
from potluck.apps.library.searching import Indexes
from potluck.dynamo.database import Database
from potluck.store import Store
from potluck.streams import log
from potluck.table import absent, delete, put
from potluck.web.live import Live

ADA, OTHERS = "A" * 32, "B" * 32
HOME, ELSEWHERE = UUID(int=1), UUID(int=2)
IN_MEMORY = 40
LONG_DAY = 600


def clock() -> datetime:
    return datetime.now(UTC)


def book(owner: str, library: UUID, number: int, title: str) -> Book:
    item_id = UUID(int=number)
    return Book(owner_id=owner, library_id=library, item_id=item_id, title=title, library_name="Home", owner_name="Ada")


class Counting(Database):
    """Counts the changes that are read from the log."""

    read_from_log: int

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer = await super().call(operation, request)
        if operation == "GetRecords":
            self.read_from_log = self.__dict__.setdefault("read_from_log", 0) + len(answer["Records"])
        return answer


async def long_day(store: Store, many: int = LONG_DAY) -> None:
    """What others did: so many changes, of books that they no longer have."""
    for start in range(0, many, 20):
        books = [book(OTHERS, ELSEWHERE, number, f"Book {number}") for number in range(start, start + 20)]
        await store.write_each([put(each, when=absent) for each in books])
        await store.write_each([delete(each) for each in books])


@pytest.fixture
async def restarted(tmp_path: Path) -> AsyncIterator[Counting]:
    """A store with three books of Ada's and a long day of others', as it is opened again."""
    path = tmp_path / "store.db"
    database = await Database.open(path)
    store = Store(database, clock)
    await store.create_tables(media_library)
    for number, title in enumerate(("Harbour Lights", "Nine Umbrellas", "Night Ferry"), 1):
        await store.put(book(ADA, HOME, number, title), when=absent)
    await long_day(store)
    await database.close()
    again = await Counting.open(path)
    yield again
    await again.close()


async def test_the_first_list_and_the_first_search_read_no_more_of_the_log_than_memory_takes(
    restarted: Counting,
) -> None:
    store = Store(restarted, clock)
    live = Live(restarted, clock, buffer_records=IN_MEMORY)
    try:
        query = LibraryItem.in_library(ADA, HOME)
        position = await live.position(query)
        assert len(await store.all(query)) == 3
        index = await Indexes(SimpleNamespace(store=store, live=live)).of(ADA, HOME)
        assert [each.id for each in best([index], "umbrellas")] == [UUID(int=2)]
        assert restarted.read_from_log <= IN_MEMORY
        # Nothing is missed for it.
        await store.put(book(ADA, HOME, 4, "Paper Ships"), when=absent)
        found = await live.changes(position, of=query, see=lambda item: item.title)
        assert [each.item for each in found.changes] == ["Paper Ships"]
    finally:
        await live.stop()


async def test_a_position_from_before_the_restart_goes_on_without_a_gap(tmp_path: Path) -> None:
    database = await Counting.open(tmp_path / "store.db")
    store = Store(database, clock)
    await store.create_tables(media_library)
    query = LibraryItem.in_library(ADA, HOME)
    live = Live(database, clock, buffer_records=IN_MEMORY)
    await store.put(book(ADA, HOME, 1, "Harbour Lights"), when=absent)
    position = await live.position(query)
    await store.put(book(ADA, HOME, 2, "Nine Umbrellas"), when=absent)
    await long_day(store, 100)
    await store.put(book(ADA, HOME, 3, "Night Ferry"), when=absent)
    await live.stop()
    live = Live(database, clock, buffer_records=IN_MEMORY)
    try:
        found = await live.changes(position, of=query, see=lambda item: item.title)
        titles = [each.item for each in found.changes]
        while found.more:
            found = await live.changes(found.position, of=query, see=lambda item: item.title)
            titles += [each.item for each in found.changes]
        assert titles == ["Nine Umbrellas", "Night Ferry"]
    finally:
        await live.stop()
        await database.close()


async def test_a_library_searched_long_ago_is_read_again_rather_than_everybody_s_log(
    restarted: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "FEWEST_CHANGES", 50)
    monkeypatch.setattr(log, "PAGE_RECORDS", 100)
    store = Store(restarted, clock)
    live = Live(restarted, clock, buffer_records=IN_MEMORY)
    try:
        indexes = Indexes(SimpleNamespace(store=store, live=live))
        await indexes.of(ADA, HOME)
        await store.put(book(ADA, HOME, 4, "Paper Ships"), when=absent)
        await store.delete(book(ADA, HOME, 1, "Harbour Lights"))
        await long_day(store)
        restarted.read_from_log = 0
        index = await indexes.of(ADA, HOME)
        assert [each.id for each in best([index], "paper ships")] == [UUID(int=4)]
        assert best([index], "harbour lights") == []
        # Two pages, after which it is clear that the library is shorter.
        assert restarted.read_from_log <= 200
    finally:
        await live.stop()
