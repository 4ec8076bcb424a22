"""Books that were added by their ISBN while nothing could be looked up: kept at once, their titles filled in later."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from potluck.apps.library.awaited_titles import title_to_come
from potluck.apps.library.entities import AwaitedTitle
from potluck.apps.library.fields import owner_of
from potluck.apps.library.items import LibraryItemEdit, NewBook, add_book, delete_item
from potluck.apps.library.libraries import Forced
from potluck.apps.library.lookup import Lookup, OpenLibrary
from potluck.apps.library.title_search import WAITS, TitleSearch
from potluck.validation.errors import ValidationError
from tests.apps.library.calls import calls_on, data, problem
from tests.elsewhere import Said, another_host
from tests.web.reading import BROWSER, Page
from tests.web.suites import bearer

ISBN, OTHER = "9780306406157", "9791090636071"
BOOKS = {ISBN: {"title": "Ebb", "authors": [{"name": "Odile Brandt"}]}, OTHER: {"title": "Flow"}}


class Catalogue:
    """A provider that can be out of reach, and what it was asked."""

    def __init__(self):
        self.reachable = False
        self.asked = []

    def answer(self, path):
        (key,) = parse_qs(urlsplit(path).query)["bibkeys"]
        self.asked.append(key.removeprefix("ISBN:"))
        if not self.reachable:
            return Said(b"", 503)
        known = BOOKS.get(key.removeprefix("ISBN:"))
        return Said(json.dumps({} if known is None else {key: known}).encode())


@pytest.fixture
def catalogue():
    catalogue = Catalogue()
    with another_host(catalogue.answer) as host:
        catalogue.address = host.address()
        yield catalogue


def search_on(shelves, catalogue):
    lookup = Lookup(shelves.store, [OpenLibrary(shelves.core, catalogue.address)])
    return TitleSearch(shelves.core, lookup)


async def by_isbn(shelves, isbn=ISBN, **said):
    ada = await shelves.person()
    home = await shelves.library(ada)
    return ada, await shelves.direct.do(add_book, ada, NewBook(isbn=isbn, **said), library_id=home)


# --- every way to add -------------------------------------------------------------------------------------------------


async def test_each_way_to_add_keeps_a_book_that_cannot_be_looked_up(tmp_path, catalogue):
    async with calls_on(tmp_path, open_library=catalogue.address) as calls:
        ada = await calls.person()
        home = await calls.library(ada)
        page = f"/library/{home.removeprefix('/libraries/')}"
        here = bearer(ada) | BROWSER | {"sec-fetch-site": "same-origin"}

        async def by_api(isbn):
            made = await calls.make(f"{home}/books", {"isbn": isbn}, by=ada)
            assert (made["title"], made["titleAwaited"]) == (title_to_come(isbn), True)

        async def typed(isbn):
            looked = Page((await calls.client.get(f"{page}/add?isbn={isbn}", headers=here)).text)
            assert "Add without title" in looked.words
            added = await calls.client.post(f"{page}/add/isbn", data={"isbn": isbn}, headers=here)
            assert added.headers["location"] == f"{page}/add"

        async def scanned(isbn):
            sent = {"text": isbn, "format": "isbns", "apply": True}
            said = data(await calls.ask("POST", f"{home}/import", sent, by=ada))
            assert (said["new"], said["first"][0]["awaited"]) == (1, True)

        async def listed(isbn):
            done = await calls.client.post(f"{page}/import/apply", data={"text": f"{isbn}\n"}, headers=here)
            assert done.headers["location"] == page
            assert "1 item added to" in (await calls.client.get(page, headers=here)).text

        async def in_a_file(isbn):
            sent = {"text": f"title,isbn,collection\n,{isbn},Saga\n", "apply": True}
            said = data(await calls.ask("POST", f"{home}/import", sent, by=ada))
            assert (said["new"], said["awaited"]) == (1, 1)

        async def by_hand(isbn):
            added = await calls.client.post(f"{page}/add/hand", data={"kind": "book", "isbn": isbn}, headers=here)
            assert added.headers["location"] == f"{page}/add"

        isbns = [f"978000000{number:03}" for number in range(6)]
        ways = (by_api, typed, scanned, listed, in_a_file, by_hand)
        checked = [isbn + _check(isbn) for isbn in isbns]
        for way, isbn in zip(ways, checked, strict=True):
            await way(isbn)
        items = (await calls.get(f"{home}/items", by=ada))["items"]
        assert sorted(each["isbn"] for each in items) == sorted(checked)
        assert all(each["titleAwaited"] for each in items)
        shelf = Page((await calls.client.get(f"{page}?look=list", headers=here)).text)
        assert shelf.words.count("title missing") == 6
        neither = problem(await calls.ask("POST", f"{home}/books", {"authors": ["A"]}, by=ada), 422, "invalid-fields")
        assert [(each["field"], each["message"]) for each in neither["errors"]] == [
            ("title", "Enter a title or an ISBN.")
        ]


def _check(twelve):
    return str(-sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(twelve)) % 10)


# --- filled in later --------------------------------------------------------------------------------------------------


async def test_a_title_is_filled_in_when_the_catalogue_answers_again(shelves, catalogue):
    ada, book = await by_isbn(shelves)
    search = search_on(shelves, catalogue)
    await search.search()
    assert (await shelves.seen(ada, book)).title_awaited is True
    catalogue.reachable = True
    # It is not asked again before its time.
    asked = len(catalogue.asked)
    await search.search()
    assert len(catalogue.asked) == asked
    shelves.clock.forward(seconds=WAITS[0].total_seconds())
    await search.search()
    after = await shelves.seen(ada, book)
    assert (after.title, after.authors, after.version) == ("Ebb", ["Odile Brandt"], 2)
    assert not after.title_awaited
    assert (await shelves.kinds())["AWAITED_TITLE"] == 0


async def test_tries_are_further_and_further_apart_and_end(embedded_shelves, catalogue):
    shelves = embedded_shelves
    ada, book = await by_isbn(shelves)
    search = search_on(shelves, catalogue)
    for wait in WAITS:
        await search.search()
        shelves.clock.forward(seconds=wait.total_seconds())
    await search.search()
    assert len(catalogue.asked) == len(WAITS) + 1
    shelves.clock.forward(days=365)
    catalogue.reachable = True
    await search.search()
    assert len(catalogue.asked) == len(WAITS) + 1
    assert (await shelves.seen(ada, book)).title_awaited is True


async def test_a_catalogue_that_answers_nothing_is_not_asked_for_every_book(embedded_shelves, catalogue):
    shelves = embedded_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    for _ in range(12):
        await shelves.direct.do(add_book, ada, NewBook(isbn=ISBN), library_id=home)
    await search_on(shelves, catalogue).search()
    assert len(catalogue.asked) < 12
    assert (await shelves.kinds())["AWAITED_TITLE"] == 12


async def test_what_a_person_typed_meanwhile_stays(interrupted_shelves, catalogue):
    shelves = interrupted_shelves
    catalogue.reachable = True
    ada, book = await by_isbn(shelves)
    shelves.meanwhile(lambda: shelves.change(ada, book, LibraryItemEdit(title="Mine", version=1)))
    await search_on(shelves, catalogue).search()
    after = await shelves.seen(ada, book)
    assert (after.title, after.authors, after.version) == ("Mine", [], 2)
    assert (await shelves.kinds())["AWAITED_TITLE"] == 0


async def test_only_what_was_left_empty_is_filled_in(interrupted_shelves, catalogue):
    shelves = interrupted_shelves
    catalogue.reachable = True
    ada, book = await by_isbn(shelves)
    shelves.meanwhile(lambda: shelves.change(ada, book, LibraryItemEdit(authors=["Somebody"], version=1)))
    await search_on(shelves, catalogue).search()
    after = await shelves.seen(ada, book)
    assert (after.title, after.authors) == ("Ebb", ["Somebody"])


async def test_another_isbn_is_looked_up_instead_and_none_needs_a_title(embedded_shelves, catalogue):
    shelves = embedded_shelves
    ada, book = await by_isbn(shelves)
    with pytest.raises(ValidationError) as refused:
        await shelves.change(ada, book, LibraryItemEdit(isbn=None, version=1))
    assert refused.value.errors[0].field == "isbn"
    changed = await shelves.change(ada, book, LibraryItemEdit(isbn=OTHER, version=1))
    assert (changed.title, changed.title_awaited) == ("ISBN 979-1090636071", True)
    catalogue.reachable = True
    await search_on(shelves, catalogue).search()
    assert (await shelves.seen(ada, book)).title == "Flow"


async def test_a_book_that_moves_or_goes_takes_its_search_along(shelves, catalogue):
    ada, book = await by_isbn(shelves)
    cabin = await shelves.library(ada, "Cabin")
    moved = await shelves.change(ada, book, LibraryItemEdit(library_id=cabin, version=1))
    owner_id = owner_of(ada.user_id)
    assert await shelves.store.get(AwaitedTitle.one(owner_id, book.library_id, book.item_id)) is None
    assert await shelves.store.get(AwaitedTitle.one(owner_id, cabin, book.item_id)) is not None
    catalogue.reachable = True
    await search_on(shelves, catalogue).search()
    assert (await shelves.seen(ada, moved)).title == "Ebb"
    second = await shelves.direct.do(add_book, ada, NewBook(isbn=ISBN), library_id=cabin)
    ids = {"library_id": cabin, "item_id": second.item_id}
    await shelves.direct.do(delete_item, ada, Forced(), **ids)
    assert (await shelves.kinds())["AWAITED_TITLE"] == 0


async def test_a_title_is_looked_up_when_its_owner_asks(tmp_path, catalogue):
    async with calls_on(tmp_path, open_library=catalogue.address) as calls:
        ada, bo = await calls.person(), await calls.person("Bo")
        home = await calls.library(ada)
        await calls.invited(home, ada, bo)
        book = await calls.make(f"{home}/books", {"isbn": ISBN, "note": "From the fair"}, by=ada)
        item = f"{home}/items/{book['itemId']}"
        problem(await calls.ask("POST", f"{item}/look-up", by=bo), 403, "owner-only")
        refused = problem(await calls.ask("POST", f"{item}/look-up", by=ada), 409, "no-title-yet")
        assert refused["outcome"] == "unreachable"
        page = f"/library{item.removeprefix('/libraries')}"
        here = bearer(ada) | BROWSER | {"sec-fetch-site": "same-origin"}
        shown = Page((await calls.client.get(page, headers=here)).text)
        assert "Title missing" in shown.words
        # The form to edit it offers no stand-in for a title, and takes none.
        edited = await calls.client.post(
            f"{page}/edit", data={"title": "", "isbn": ISBN, "people": "Me", "version": "1"}, headers=here
        )
        assert edited.status_code == 303
        catalogue.reachable = True
        found = await calls.client.post(f"{page}/look-up", headers=here)
        assert found.headers["location"] == page
        now = await calls.get(item, by=ada)
        assert (now["title"], now["authors"], "titleAwaited" in now) == ("Ebb", ["Me"], False)
        assert data(await calls.ask("POST", f"{item}/look-up", by=ada))["title"] == "Ebb"
