"""Titles, collections and libraries are listed in the order in which people look for them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from potluck.apps.library.entities import Book, Collection, LibraryItem, ShelfRow, Video
from potluck.apps.library.fields import owner_of
from potluck.store.backfill import backfill
from potluck.table.keys.folding import fold
from tests.apps.library.assembly import Shelves
from tests.apps.library.calls import Calls, calls_on, data

TITLES = [
    "Apollo 9", "Apollo 10", "L’Étranger", "Eve", "The Foo", "Foo Bar", "Œuvres", "Ole", "Der Prozess",
    "“Quoted”", "Rain",
]  # fmt: skip


@pytest.fixture
async def calls(tmp_path: Path) -> AsyncIterator[Calls]:
    async with calls_on(tmp_path) as calls:
        yield calls


async def test_lists_are_sorted_as_on_a_shelf(calls: Calls) -> None:
    ada = await calls.person()
    home = await calls.library(ada)
    for title in reversed(TITLES):
        await calls.make(f"{home}/books", {"title": title}, by=ada)
        await calls.make(f"{home}/collections", {"name": title}, by=ada)
        if title != TITLES[0]:
            await calls.library(ada, title)
    listed = await calls.get(f"{home}/items", by=ada)
    assert [each["title"] for each in listed["items"]] == TITLES
    listed = await calls.get(f"{home}/collections", by=ada)
    assert [each["name"] for each in listed["items"]] == TITLES
    listed = await calls.get("/libraries", by=ada)
    assert [each["libraryName"] for each in listed["items"]] == sorted([*TITLES[1:], "Home"], key=_place)


def _place(name: str) -> float:
    return TITLES.index(name) if name in TITLES else TITLES.index("Foo Bar") + 0.5


async def test_collections_that_sort_alike_keep_their_own_items(shelves: Shelves) -> None:
    ada = await shelves.person()
    owner, home = owner_of(ada.user_id), await shelves.library(ada)
    expected = []
    for name in ("Foo", "The Foo"):
        collection = await shelves.collection(ada, home, name)
        titles = [f"Z {name}", f"A {name}"]
        for title in titles:
            await shelves.book(ada, home, title, collection_id=collection)
        expected += [name, *titles]
    rows = await shelves.store.all(ShelfRow.of_library(owner, home))
    assert [row.name if isinstance(row, Collection) else row.title for row in rows] == expected


async def test_rows_from_before_get_their_place_by_a_backfill(shelves: Shelves) -> None:
    ada = await shelves.person()
    owner, home = owner_of(ada.user_id), await shelves.library(ada)
    for title in TITLES:
        book = await shelves.book(ada, home, title)
        await shelves.store.engine.call(
            "UpdateItem",
            {
                "TableName": "MediaLibrary",
                "Key": {"PK": {"S": f"owner#{owner}"}, "SK": {"S": f"library#{home}#item#{book.item_id}"}},
                "UpdateExpression": "SET GSI1SK = :shelf, GSI2SK = :title",
                "ExpressionAttributeValues": {
                    ":shelf": {"S": f"item#{fold(title)}#~"},
                    ":title": {"S": f"item#{fold(title)}"},
                },
            },
        )
    for query in (LibraryItem.of_owner(owner), LibraryItem.in_library(owner, home)):
        assert [each.title for each in await shelves.store.all(query)] != TITLES
    for entity in (Book, Video, Collection):
        async for _ in backfill(shelves.store, entity):
            pass
    for query in (LibraryItem.of_owner(owner), LibraryItem.in_library(owner, home)):
        assert [each.title for each in await shelves.store.all(query)] == TITLES


async def test_all_titles_of_all_libraries_are_one_list_by_title(calls: Calls) -> None:
    ada, bo = await calls.person(), await calls.person("Bo")
    home, cabin, hers = await calls.library(ada), await calls.library(ada, "Cabin"), await calls.library(bo)
    await calls.make(f"{hers}/books", {"title": "Not Ada's"}, by=bo)
    await calls.invited(hers, bo, ada)
    for number, title in enumerate(reversed(TITLES)):
        await calls.make(
            f"{(home, cabin)[number % 2]}/{('books', 'videos')[number % 3 == 0]}", {"title": title}, by=ada
        )
    found: list[str] = []
    address = "/library-items?limit=4"
    page = await calls.get(address, by=ada)
    while True:
        found += [each["title"] for each in page["items"]]
        if page["nextCursor"] is None:
            break
        page = await calls.get(f"{address}&cursor={page['nextCursor']}", by=ada)
    assert found == TITLES
    headers = {"authorization": f"Bearer {ada['token']}", "accept": "text/html"}
    text = (await calls.client.get("/library/titles", headers=headers)).text
    places = [text.index(f"<bdi>{title}</bdi>") for title in TITLES]
    assert places == sorted(places)
    assert "Not Ada" not in text
    # What was in a deleted library is gone at once.
    data(await calls.ask("DELETE", cabin, by=ada), 204)
    left = [each["libraryName"] for each in (await calls.get("/library-items", by=ada))["items"]]
    assert set(left) == {"Home"}
