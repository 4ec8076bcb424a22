"""Where rows of two kinds have the same keys, what is said of one kind is never done to the other."""

from typing import Annotated
from uuid import UUID

import pytest
from msgspec import Meta

from potluck.store import Store
from potluck.table import (
    AlreadyExists,
    AnyOf,
    Counter,
    Entity,
    NotFound,
    Table,
    absent,
    check,
    delete,
    get,
    present,
    put,
    the,
    update,
)
from tests.stores import NOW
from tests.table.sending import opened

Title = Annotated[str, Meta(max_length=40)]
ITEM = UUID(int=1)

shelves = Table("Shelves", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="entityType")


class Book(Entity, table=shelves, type="Book", key=("ITEM#{item_id}", "ITEM"), GSI1=("BOOKS", "TITLE#{title:folded}")):
    """One kind of item."""

    item_id: UUID
    title: Title
    lendings: Counter = 0

    @get
    def one(item_id: UUID) -> None:
        """Which book is this?"""


class Video(
    Entity, table=shelves, type="Video", key=("ITEM#{video_id}", "ITEM"), GSI1=("VIDEOS", "TITLE#{title:folded}")
):
    """The other, whose key is the same though its field has another name."""

    video_id: UUID
    title: Title

    @get
    def one(video_id: UUID) -> None:
        """Which video is this?"""


class Shelf(Entity, table=shelves, type="Shelf", key=("SHELF#{name}", "SHELF")):
    """What shares its key with nothing."""

    name: Title

    @get
    def one(name: str) -> None:
        """Which shelf is this?"""


class Item(AnyOf[Book | Video]):
    """Either."""

    @get
    def one(item_id: UUID) -> None:
        """Which item is this?"""


VIDEO = Video(video_id=ITEM, title="Fargo")


@pytest.mark.parametrize(
    "operation",
    [
        update(Book.one(ITEM), the(Book.title).becomes("Faust")),
        update(Book.one(ITEM), the(Book.lendings).add(1)),
        delete(Book.one(ITEM)),
        delete(Book(item_id=ITEM, title="Faust"), when=present),
        check(Book.one(ITEM), when=present),
        put(Book(item_id=ITEM, title="Faust"), when=the(Book.title) == "Fargo"),
    ],
    ids=lambda operation: operation.name,
)
async def test_a_row_of_the_other_kind_is_not_there(operation):
    async with opened(shelves) as table:
        await table.write(put(VIDEO))
        before = await table.rows()
        for write in (table.write, table.transact):
            with pytest.raises(NotFound) as refused:
                await write(operation)
            assert refused.value.current is None
        assert await table.rows() == before


async def test_the_key_is_taken_all_the_same():
    async with opened(shelves) as table:
        await table.write(put(VIDEO))
        with pytest.raises(AlreadyExists):
            await table.write(put(Book(item_id=ITEM, title="Faust"), when=absent))


async def test_what_is_not_there_is_deleted_without_a_word():
    async with opened(shelves) as table:
        store = Store(table.engine, lambda: NOW)
        await store.put(VIDEO)
        await store.delete(Book.one(ITEM))
        assert await store.get(Item.one(ITEM)) == VIDEO
        await store.delete(VIDEO)
        assert await store.get(Item.one(ITEM)) is None


def test_only_kinds_that_share_a_key_are_told_apart_by_their_type():
    _, body = update(Book.one(ITEM), the(Book.lendings).add(1)).request()
    assert body["ConditionExpression"] == "attribute_exists(#PK) AND #entityType = :entityType"
    assert delete(Shelf.one("left"), when=present).request().body["ConditionExpression"] == "attribute_exists(#PK)"
    assert "ConditionExpression" not in delete(Shelf.one("left")).request().body
