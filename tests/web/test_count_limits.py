"""How many there may be of something in one place."""

from typing import Annotated

import pytest
from msgspec import Meta

from potluck.people.errors import TooMany
from potluck.store import Store
from potluck.table import Entity, Table, query
from potluck.web.count_limits import COUNTED_AGAIN_AFTER, CountLimits
from tests.people.assembly import Clock
from tests.stores import recorded_store

Name = Annotated[str, Meta(max_length=20)]
shelves = Table("Shelves", "PK", "SK", type_attribute="type")


class Book(Entity, table=shelves, type="Book", key=("SHELF#{shelf}", "BOOK#{book}")):
    shelf: Name
    book: Name

    @query(consistent=True)
    def on_shelf(shelf: Name) -> None:
        """What stands here?"""


@pytest.fixture
async def world(tmp_path):
    async with recorded_store("embedded", tmp_path, shelves) as (wrapped, recording):
        clock = Clock()
        rows = Store(wrapped.engine, clock)
        yield rows, recording, clock


async def add(store: Store, limits: CountLimits, book: int, shelf: str = "one") -> None:
    await limits.must_fit(Book.on_shelf(shelf), 3, "books on a shelf")
    await store.put(Book(shelf=shelf, book=str(book)))


async def test_a_place_holds_only_so_many_and_another_as_many(world):
    rows, _, _ = world
    limits = CountLimits(rows)
    for number in range(3):
        await add(rows, limits, number)
    with pytest.raises(TooMany, match="at most 3 books on a shelf"):
        await add(rows, limits, 3)
    with pytest.raises(TooMany):
        await limits.must_fit(Book.on_shelf("two"), 3, "books on a shelf", 4)
    await limits.must_fit(Book.on_shelf("two"), 3, "books on a shelf", 3)


async def test_what_was_deleted_or_came_from_elsewhere_is_seen_in_time(world):
    rows, _, clock = world
    here, elsewhere = CountLimits(rows), CountLimits(rows)
    for number in range(3):
        await add(rows, here, number)
    await rows.delete(Book(shelf="one", book="0"))
    await add(rows, here, 3)
    await add(rows, here, 0, "two")
    for number in range(1, 3):
        await add(rows, elsewhere, number, "two")
    await add(rows, here, 3, "two")
    clock.forward(seconds=COUNTED_AGAIN_AFTER.total_seconds())
    with pytest.raises(TooMany):
        await add(rows, here, 4, "two")


async def test_it_is_counted_now_and_then_and_not_for_every_one(world):
    rows, recording, _ = world
    limits = CountLimits(rows, most_counted=2)
    with recording.scope() as calls:
        for _ in range(3):
            await limits.must_fit(Book.on_shelf("one"), 3, "books")
    assert calls.operations == ["Query"]
    for shelf in ("two", "three"):
        await limits.must_fit(Book.on_shelf(shelf), 3, "books")
    assert len(limits._counted) == 2
