"""A question about one way of writing a sort key finds the rows that are written so, and no others."""

from typing import Annotated

from msgspec import Meta

from potluck.store import Store
from potluck.table import (
    AnyOf,
    Entity,
    Range,
    StartsWith,
    Table,
    put,
    query,
)
from tests.stores import NOW
from tests.table.sending import opened

Name = Annotated[str, Meta(max_length=40)]

shelves = Table("Shelves", "PK", "SK", indexes={"GSI1": ("GSI1PK", "GSI1SK")}, type_attribute="entityType")

BY_SERIES_OR_TITLE = ("ITEMS", ("item#{series:folded}#{title:folded}", "item#{title:folded}"))


class Book(Entity, table=shelves, type="Book", key=("BOOK#{title}", "BOOK"), GSI1=BY_SERIES_OR_TITLE):
    """A book, listed by its series or else by its title."""

    title: Name
    series: Name | None = None

    @query("GSI1")
    def alone(title: Range[str]) -> None:
        """Which books outside a series have a title in this range?"""

    @query("GSI1")
    def in_series(series: Name) -> None:
        """Which books are in this series?"""


class Video(Entity, table=shelves, type="Video", key=("VIDEO#{title}", "VIDEO"), GSI1=BY_SERIES_OR_TITLE):
    """A video, listed in the same way."""

    title: Name
    series: Name | None = None


class Item(AnyOf[Book | Video]):
    """Either."""

    @query("GSI1")
    def listed() -> None:
        """What is there?"""

    @query("GSI1")
    def alone(title: StartsWith) -> None:
        """Which items outside a series have a title that begins so?"""


async def test_rows_that_another_template_wrote_are_not_found_by_chance():
    async with opened(shelves) as table:
        store = Store(table.engine, lambda: NOW)
        # The first two have titles in the range, but only the key of the first happens to lie in it as well.
        books = [Book(title="Dune", series="Berlin"), Book(title="Emma", series="Zoo"), Book(title="Faust")]
        videos = [Video(title="Fargo", series="Fa"), Video(title="Fame")]
        await store.write_each([put(each) for each in (*books, *videos)])
        assert await store.all(Book.alone(Range("a", "m"))) == [books[2]]
        assert await store.all(Book.in_series("BERLIN")) == [books[0]]
        assert await store.all(Item.alone(StartsWith("fa"))) == [videos[1], books[2]]
        assert (await store.page(Item.alone(StartsWith("fa")), 1)).items == [videos[1]]
        assert await store.count(Item.alone(StartsWith("fa"))) == 2
        assert len(await store.all(Item.listed())) == 5
