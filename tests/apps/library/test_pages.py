"""What pages promise that needs no browser: bounds, what a guest is shown, and what a device may be used for."""

import asyncio
import re

from potluck.apps.library import libraries
from potluck.apps.library.drawn_books import bookend, gap
from potluck.apps.library.import_files import MOST_ROWS
from potluck.apps.library.pages import shelves
from potluck.apps.library.search import marked
from tests.apps.library.calls import calls_on, data, problem
from tests.web.suites import bearer


def form(person):
    return html(person) | {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}


def html(person):
    return bearer(person["token"]) | {"accept": "text/html"}


async def test_a_guest_sees_the_shelf_in_every_look_and_nothing_of_who_has_what(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada, bo = await calls.person(), await calls.person("Bo")
        home = await calls.library(ada, "Hall")
        vasik = await calls.make(f"{home}/collections", {"name": "Inspector Vasik"}, by=ada)
        made = {}
        for title, said in (("Ebb", {}), ("The Green Tram", {"collectionId": vasik["collectionId"]}), ("Zinc", {})):
            made[title] = await calls.make(f"{home}/books", {"title": title, **said}, by=ada)
        item = f"{home}/items/{made['Ebb']['itemId']}"
        data(await calls.ask("POST", f"{item}/lend", {"to": "Grandma Edith"}, by=ada))
        await calls.invited(home, ada, bo)
        pages = home.replace("/libraries/", "/library/")
        # A collection is followed by its items, whatever it is looked at as.
        for look in ("spines", "covers", "list"):
            shown = {}
            for who in (ada, bo):
                answer = await calls.client.get(f"{pages}?look={look}", headers=html(who))
                assert answer.status_code == 200
                shown[who["email"]] = text = answer.text
                places = [text.index(f'id="row-{each}"') for each in _ids(made, vasik)]
                assert places == sorted(places), look
            assert "Grandma Edith" in shown[ada["email"]]
            assert "Grandma Edith" not in shown[bo["email"]]
            assert "/add" not in shown[bo["email"]]
        # Of a collection, too: what it has, in order, and nothing to move it by.
        together = f"{pages}/collections/{vasik['collectionId']}"
        own, seen = [(await calls.client.get(together, headers=html(who))).text for who in (ada, bo)]
        assert ["data-grip" in each for each in (own, seen)] == [True, False]
        assert all("The Green Tram" in each and f'id="row-{vasik["collectionId"]}"' in each for each in (own, seen))
        one = item.replace("/libraries/", "/library/")
        assert "Grandma Edith" not in (await calls.client.get(one, headers=html(bo))).text
        for path in ("/edit", "/move", "/delete"):
            assert (await calls.client.get(one + path, headers=html(bo))).status_code == 403
        found = await calls.client.get("/library/search?q=eb", headers=html(bo))
        assert "<bdi>Ada</bdi>" in found.text
        assert "Grandma Edith" not in found.text


async def test_what_cannot_be_looked_up_may_be_on_the_shelf_already(tmp_path):
    # An address within this machine is never asked.
    async with calls_on(tmp_path, open_library="http://127.0.0.1:9") as calls:
        ada = await calls.person()
        home = await calls.library(ada, "Hall")
        await calls.make(f"{home}/books", {"title": "Ebb", "isbn": "9780306406157"}, by=ada)
        add = f"{home.replace('/libraries/', '/library/')}/add"
        there = (await calls.client.get(f"{add}?isbn=0-306-40615-2", headers=html(ada))).text
        assert "The title can’t be looked up right now." in there
        assert "“Ebb” already has this ISBN." in there
        other = (await calls.client.get(f"{add}?isbn=9783161484100", headers=html(ada))).text
        assert "already has" not in other
        # A title is not a wrong ISBN: it goes into the form for titles.
        title = await calls.client.get(f"{add}?isbn=Piranesi+%26+co", headers=html(ada))
        assert title.headers["location"] == f"{add}?hand=yes&title=Piranesi+%26+co#by-hand"
        filled = (await calls.client.get(title.headers["location"], headers=html(ada))).text
        assert 'name="title" value="Piranesi &amp; co"' in filled
        assert "This has 3." in (await calls.client.get(f"{add}?isbn=123", headers=html(ada))).text


async def test_a_long_shelf_goes_on_and_each_part_says_where_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(shelves, "ON_ONE_SHELF", 2)
    async with calls_on(tmp_path) as calls:
        ada, bo = await calls.person(), await calls.person("Bo")
        home = await calls.library(ada)
        for title in ("Ash", "Ebb", "Flood", "Tin", "Zinc"):
            await calls.make(f"{home}/books", {"title": title}, by=ada)
        await calls.invited(home, ada, bo)
        page = home.replace("/libraries/", "/library/")
        address, read = page, []
        while address:
            text = (await calls.client.get(address, headers=html(ada))).text
            part = re.findall(r'data-order="item#(\w+)#~"', text)
            ends = [re.findall(rf'data-live-{end}="item#(\w+)#~"', text) for end in ("from", "to")]
            following = re.search(r'href="([^"]+\?after=[^"]+)"', text)
            assert ends == [part[:1] if read else [], part[-1:] if following else []]
            read += part
            address = following and following[1]
            if following and len(read) == 2:
                # Somebody else begins at the beginning: a place is sealed for who was given it.
                theirs = (await calls.client.get(address, headers=html(bo))).text
                assert re.findall(r'data-order="item#(\w+)#~"', theirs) == part
        assert read == ["ash", "ebb", "flood", "tin", "zinc"]


def _ids(made, vasik):
    return [made["Ebb"]["itemId"], vasik["collectionId"], made["The Green Tram"]["itemId"], made["Zinc"]["itemId"]]


async def test_only_the_page_that_adds_may_use_the_camera(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada = await calls.person()
        page = (await calls.library(ada)).replace("/libraries/", "/library/")
        allowed = {}
        for path in (page, f"{page}/add", "/library", "/"):
            answer = await calls.client.get(path, headers=html(ada))
            (allowed[path],) = answer.headers.get_list("permissions-policy")
        assert [path for path, said in allowed.items() if "camera=(self)" in said] == [f"{page}/add"]
        assert all("geolocation=()" in said for said in allowed.values())


async def test_the_first_book_brings_its_own_shelf(tmp_path):
    # An address within this machine is never asked.
    async with calls_on(tmp_path, open_library="http://127.0.0.1:9") as calls:
        ada = await calls.person()
        begun = (await calls.client.get("/library", headers=html(ada))).text
        assert "Room for the first book" in begun
        assert re.search(r'<input id="first-book"[^>]* autofocus', begun)
        for wrong, reason in (("", "Enter a title or an ISBN."), ("978-0-306-40615-8", "it would be 7.")):
            refused = await calls.client.post("/library/first", data={"book": wrong}, headers=form(ada))
            assert (refused.status_code, reason in refused.text) == (422, True)
        assert data(await calls.ask("GET", "/libraries", by=ada))["items"] == []
        for book, title in (("1984", "1984"), ("0-306-40615-2", "ISBN 978-0306406157")):
            answer = await calls.client.post("/library/first", data={"book": book}, headers=form(ada))
            shelf = answer.headers["location"]
            assert f"{title} added to Bookshelf." in (await calls.client.get(shelf, headers=html(ada))).text
        # The second one, sent from a window that had not heard of the first, is on the same shelf.
        (library,) = data(await calls.ask("GET", "/libraries", by=ada))["items"]
        assert (f"/library/{library['libraryId']}", library["totalItems"]) == (shelf, 2)
        assert 'id="first-book"' not in (await calls.client.get("/library", headers=html(ada))).text


async def test_first_books_that_are_added_at_once_are_on_one_shelf(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada = await calls.person()
        sent = [
            calls.client.post("/library/first", data={"book": f"Book {number}"}, headers=form(ada))
            for number in range(4)
        ]
        assert {answer.status_code for answer in await asyncio.gather(*sent)} == {303}
        (library,) = data(await calls.ask("GET", "/libraries", by=ada))["items"]
        assert (library["libraryName"], library["totalItems"]) == ("Bookshelf", 4)


async def test_a_person_has_only_so_many_libraries(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "MOST_LIBRARIES", 2)
    async with calls_on(tmp_path) as calls:
        ada = await calls.person()
        for name in ("One", "Two"):
            await calls.library(ada, name)
        refused = problem(await calls.ask("POST", "/libraries", {"libraryName": "Three"}, by=ada), 409, "too-many")
        assert "at most 2 libraries" in refused["detail"]
        shown = await calls.client.post("/library", content="libraryName=Three", headers=form(ada))
        assert (shown.status_code, "at most 2 libraries" in shown.text) == (409, True)


async def test_an_import_counts_by_its_rows(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada = await calls.person()
        home = await calls.library(ada)
        largest = {"text": "x\n" * MOST_ROWS, "format": "isbns"}
        answers = [await calls.ask("POST", f"{home}/import", largest, by=ada) for _ in range(3)]
        assert [each.status_code for each in answers] == [200, 200, 429]
        # Something small is still looked at.
        data(await calls.ask("POST", f"{home}/import", {"text": "9780306406157"}, by=ada))


def test_what_a_search_meant_is_marked():
    found = marked("The Harbour Master’s Light", "harbor ligth")
    assert [piece for piece, hit in found if hit] == ["Harbour", "Light"]
    assert "".join(piece for piece, _ in found) == "The Harbour Master’s Light"
    assert marked("Harbour Lights, Again", "harbor lights")[:2] == [("Harbour Lights", True), (", ", False)]
    assert marked("אור בנמל", "נמל") == [("אור", False), (" ", False), ("בנמל", True)]
    assert marked("Ash & Honey", "zinc") == [("Ash", False), (" & ", False), ("Honey", False)]


def test_a_long_name_is_drawn_smaller_so_that_it_fits():
    borrowers, collections = ("Ida", "Schwiegermutter Annegret"), ("Ebb", "Kriminalkommissar Kluftinger")
    slips = [re.search(r'slip-name" font-size="([\d.]+)"', gap("Ebb", name))[1] for name in borrowers]
    ends = [re.search(r'be-name" font-size="([\d.]+)"', bookend(name, "2 volumes"))[1] for name in collections]
    assert (slips, ends) == (["17", "12.6"], ["16", "11.9"])


async def test_the_search_page_shows_more_than_the_first_thirty(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada = await calls.person()
        home = await calls.library(ada)
        text = "title,authors\n" + "\n".join(f"Volume {number},Émile Zola" for number in range(1, 71))
        data(await calls.ask("POST", f"{home}/import", {"text": text, "apply": True}, by=ada))
        address, shown = "/library/search?q=zola", []
        while address:
            answer = await calls.client.get(address, headers=html(ada))
            assert "70 matches for" in answer.text
            shown.append(answer.text.count('<li class="row hit">'))
            more = re.search(r'href="([^"]+)" data-more', answer.text)
            address = more and more[1].replace("&amp;", "&")
        assert shown == [30, 60, 70]
        for wrong in ("-1", "x", "999999999", "²"):
            answer = await calls.client.get("/library/search", params={"q": "zola", "shown": wrong}, headers=html(ada))
            assert answer.status_code == 200
            assert answer.text.count('<li class="row hit">') == 30


async def test_a_form_that_is_accepted_leads_on_and_the_next_page_says_what_was_done(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada, bo = await calls.person(), await calls.person("Bo")
        home = await calls.library(ada, "Hall")
        vasik = await calls.make(f"{home}/collections", {"name": "Inspector Vasik"}, by=ada)
        tram, ebb = [
            (await calls.make(f"{home}/books", {"title": title, "collectionId": vasik["collectionId"]}, by=ada))[
                "itemId"
            ]
            for title in ("The Green Tram", "Ebb")
        ]
        await calls.invited(home, ada, bo)
        page = home.replace("/libraries/", "/library/")
        together = f"{page}/collections/{vasik['collectionId']}"
        for by, path, fields, then, words in (
            (ada, f"{together}/order", {"itemIds": [ebb, tram]}, together, "Order saved."),
            (ada, f"{together}/delete", {}, page, "Collection deleted. Its items are still on the shelf."),
            (ada, f"{page}/items/{ebb}/delete", {}, page, "Item deleted."),
            (bo, f"{page}/leave", {}, "/library", "You left the shelf."),
            (ada, f"{page}/delete", {}, "/library", "Shelf deleted."),
        ):
            answer = await calls.client.post(path, data=fields, headers=form(by))
            assert (answer.status_code, answer.headers.get("location")) == (303, then), path
            shown = (await calls.client.get(then, headers=html(by))).text
            calls.client.cookies.clear()
            assert words in shown, path
