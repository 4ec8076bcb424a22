"""What comes from elsewhere: ISBNs as people type them, look-up, and covers."""

import asyncio
import io
import json
import threading
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image

from potluck.apps.library import covers, lookup
from potluck.apps.library.drawn_books import drawn_cover
from potluck.apps.library.importing import LOOKED_UP_AT_ONCE
from potluck.apps.library.isbn import BadIsbn, check_digit, isbn_13
from potluck.apps.library.lookup import Lookup, OpenLibrary, Tmdb
from potluck.web.outbound import Outbound
from potluck.web.rate_limits import RateLimit
from tests.apps.library.calls import calls_on, data, problem
from tests.apps.library.made_pictures import picture
from tests.elsewhere import Said, another_host
from tests.patience import PATIENCE_SECONDS
from tests.web.suites import bearer

# --- ISBNs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "isbn"),
    [
        ("9780306406157", "9780306406157"),
        ("978-0-306-40615-7", "9780306406157"),
        ("978 0 306 40615 7", "9780306406157"),
        ("978\u20110\u2013306\u201340615-7", "9780306406157"),
        ("0-306-40615-2", "9780306406157"),
        ("0306406152", "9780306406157"),
        ("306406152", "9780306406157"),
        ("ISBN 0-306-40615-2", "9780306406157"),
        ("ISBN-13: 978-0-306-40615-7", "9780306406157"),
        ("0-8044-2957-X", "9780804429573"),
        ("080442957x", "9780804429573"),
        ("80442957X", "9780804429573"),
        ("979-10-90636-07-1", "9791090636071"),
    ],
)
def test_an_isbn_is_thirteen_digits_however_it_is_typed(typed, isbn):
    assert isbn_13(typed) == isbn


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("978-0-306-40615-8", "After these 12, it would be 7"),
        ("0-306-40615-3", "After these 9, it would be 2"),
        ("0-8044-2957-1", "After these 9, it would be X"),
        ("97803064061", "This has 11"),
        ("", "This has 0"),
        ("B00ZV9PXP2", "only digits"),
        ("X306406152", "only digits"),
        ("4006381333931", "begins with 978 or 979"),
        ("978030640615X", "This has 13"),
    ],
)
def test_a_wrong_isbn_is_refused_with_the_reason(typed, reason):
    with pytest.raises(BadIsbn, match=reason):
        isbn_13(typed)


# --- looking up -------------------------------------------------------------------------------------------------------

BOOK = {
    "title": "The Cartographer’s Pantry",
    "subtitle": "A Memoir",
    "authors": [{"url": "/authors/OL1A", "name": "Odile Brandt"}, {"name": " Bo\x00  Tran "}, "nobody"],
    "cover": {"small": "s.jpg", "large": "https://covers.openlibrary.org/b/id/1-L.jpg"},
    "publish_date": "2021",
}
FILM = {
    "id": 603,
    "title": "Night Ferry",
    "overview": "A ferry, at night.",
    "release_date": "1998-05-01",
    "runtime": 104,
    "poster_path": "/ferry.jpg",
    "credits": {
        "cast": [{"name": name} for name in "ABCDEFG"],
        "crew": [{"job": "Producer", "name": "P"}, {"job": "Director", "name": "R. Sandoval"}],
    },
}


def providers_say(path):
    asked = urlsplit(path)
    query = parse_qs(asked.query)
    if asked.path == "/api/books":
        (key,) = query["bibkeys"]
        known = {"ISBN:9780306406157": BOOK}
        if key == "ISBN:9780804429573":
            return Said(b"<html>Sorry</html>", 502, "text/html")
        return Said(json.dumps({key: known[key]} if key in known else {}).encode())
    if asked.path == "/search/movie":
        assert query["api_key"] == ["a key"]
        found = [{"id": 603}, {"id": "x"}, {"id": 604}] if query["query"] == ["Night Ferry"] else []
        return Said(json.dumps({"results": found}).encode())
    if asked.path == "/movie/603":
        return Said(json.dumps(FILM).encode())
    return Said(b"{}", 404)


async def test_a_book_is_known_unknown_or_nobody_could_be_asked(embedded_shelves):
    shelves = embedded_shelves
    with another_host(providers_say) as host:
        lookup = Lookup(shelves.store, [OpenLibrary(shelves.core, host.address())])
        found = await lookup.book("9780306406157")
        assert found.outcome == "found"
        (book,) = found.matches
        assert (book.title, book.authors) == ("The Cartographer’s Pantry: A Memoir", ["Odile Brandt", "Bo Tran"])
        assert book.picture_url == "https://covers.openlibrary.org/b/id/1-L.jpg"
        assert (await lookup.book("9791090636071")).outcome == "no-match"
        assert (await lookup.book("9780804429573")).outcome == "unreachable"
        assert len(host.asked) == 3
        # What was said is kept, also that it is unknown; that somebody could not be asked is not.
        assert (await lookup.book("9780306406157")) == found
        assert (await lookup.book("9791090636071")).outcome == "no-match"
        assert len(host.asked) == 3
        await lookup.book("9780804429573")
        assert len(host.asked) == 4
        shelves.clock.forward(days=2)
        await lookup.book("9791090636071")
        assert len(host.asked) == 5
    assert (await lookup.book("9780306406157")) == found
    shelves.clock.forward(days=40)
    assert (await lookup.book("9780306406157")).outcome == "unreachable"


async def test_a_film_is_found_by_its_title(embedded_shelves):
    shelves = embedded_shelves
    with another_host(providers_say) as host:
        tmdb = Tmdb(shelves.core, "a key", host.address(), "https://images.example")
        lookup = Lookup(shelves.store, [OpenLibrary(shelves.core, host.address()), tmdb])
        (film,) = (await lookup.video("Night Ferry")).matches
        assert (film.title, film.directors, film.cast) == ("Night Ferry", ["R. Sandoval"], list("ABCDE"))
        assert (film.release_year, film.duration, film.tmdb_id) == (1998, 104, 603)
        assert film.picture_url == "https://images.example/ferry.jpg"
        assert (await lookup.video("Nothing")).outcome == "no-match"


async def test_isbns_are_looked_up_and_imported(tmp_path):
    with another_host(providers_say) as host:
        async with calls_on(tmp_path, open_library=host.address()) as calls:
            ada = await calls.person()
            home = await calls.library(ada)
            found = await calls.get("/lookup/isbn/0-306-40615-2", by=ada)
            assert (found["outcome"], found["matches"][0]["isbn"]) == ("found", "9780306406157")
            refused = problem(await calls.ask("GET", "/lookup/isbn/0-306-40615-3", by=ada), 422, "invalid-fields")
            assert refused["errors"][0]["field"] == "isbn"
            text = "978-0-306-40615-7\n\n0306406152\n9791090636071\n9780804429573\n123"
            said = data(await calls.ask("POST", f"{home}/import", {"text": text, "apply": True}, by=ada))
            # Two rows of one ISBN are two copies. What is not known is kept, and waits for its title.
            assert (said["new"], said["awaited"], said["alreadyThere"]) == (4, 2, 0)
            assert [(each["title"], each["awaited"]) for each in said["first"]] == [
                ("The Cartographer’s Pantry: A Memoir", False),
                ("The Cartographer’s Pantry: A Memoir", False),
                ("ISBN 979-1090636071", True),
                ("ISBN 978-0804429573", True),
            ]
            assert [(each["row"], each["reason"]) for each in said["leftOut"]] == [
                (6, "An ISBN has 10 or 13 digits. This has 3."),
            ]
            again = data(await calls.ask("POST", f"{home}/import", {"text": text, "apply": True}, by=ada))
            assert (again["new"], again["alreadyThere"]) == (0, 4)


async def test_a_provider_who_answers_nobody_is_not_asked_for_every_row(tmp_path, monkeypatch):
    with another_host(lambda path: Said(b"", 503)) as host:
        async with calls_on(tmp_path, open_library=host.address()) as calls:
            ada = await calls.person()
            home = await calls.library(ada)
            text = "\n".join(f"978{n:09}{check_digit(f'978{n:09}')}" for n in range(100))
            said = data(await calls.ask("POST", f"{home}/import", {"text": text}, by=ada))
            assert (said["new"], said["awaited"], said["leftOut"]) == (100, 100, [])
            assert len(host.asked) == LOOKED_UP_AT_ONCE
            monkeypatch.setattr(lookup, "LOOKING_UP", RateLimit("lookups", 1))
            asked = [await calls.ask("GET", "/lookup/isbn/0306406152", by=ada) for _ in range(11)]
            assert [each.status_code for each in asked] == [200] * 10 + [429]


@pytest.mark.parametrize("asked", ["isbn=0306406152", "kind=video&title=Solaris"])
async def test_looking_up_on_a_page_counts_as_it_does_by_the_api(tmp_path, monkeypatch, asked):
    monkeypatch.setattr(lookup, "LOOKING_UP", RateLimit("lookups", 1))
    with another_host(lambda path: Said(b"", 503)) as host:
        async with calls_on(tmp_path, open_library=host.address()) as calls:
            ada = await calls.person()
            home = await calls.library(ada)
            page = f"{home.removeprefix('/libraries')}/add?{asked}"
            pages = [await calls.client.get(f"/library{page}", headers=bearer(ada)) for _ in range(11)]
            assert [each.status_code for each in pages] == [200] * 10 + [429]


# --- covers -----------------------------------------------------------------------------------------------------------


def test_a_drawn_cover_is_the_same_for_the_same_words_and_runs_nothing():
    drawn = drawn_cover('<script>"x"</script> & more', "A <b>", None, None)
    assert drawn == drawn_cover('<script>"x"</script> & more', "A <b>", None, None)
    assert "<script" not in drawn
    assert "<b>" not in drawn
    one, two = [drawn_cover(title, "M", "Inspector Vasik", 1) for title in ("The Green Tram", "Nine Umbrellas")]
    assert one.partition("<rect")[2].partition("<g")[0] == two.partition("<rect")[2].partition("<g")[0]


def at_home():
    """Names of the Internet that lead to this machine."""
    return Outbound(
        permits=lambda address: str(address) == "127.0.0.1",
        resolve=lambda host, port: ["10.0.0.9"] if host.startswith("inside.") else ["127.0.0.1"],
        seconds=PATIENCE_SECONDS,
    )


async def test_a_cover_is_fetched_kept_and_shown_to_whoever_may_look(tmp_path):
    def answer(path):
        return {"/1.png": Said(picture(), media_type="image/png"), "/2.png": Said(b"hello")}.get(path, Said(status=404))

    with another_host(answer) as host:
        async with calls_on(tmp_path, at_home) as calls:
            ada, eve = await calls.person(), await calls.person("Eve")
            home = await calls.library(ada)
            good, text, missing, inside = [
                await calls.make(f"{home}/books", {"title": path, "pictureUrl": address}, by=ada)
                for path, address in (
                    ("Good", host.address("/1.png", "covers.example")),
                    ("Text", host.address("/2.png", "covers.example")),
                    ("Missing", host.address("/3.png", "covers.example")),
                    ("Inside", host.address("/1.png", "inside.example")),
                )
            ]
            item = f"{home}/items/{good['itemId']}"
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (shown := await calls.get(item, by=ada))["hasPicture"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert (shown["version"], shown["cover"] != good["cover"]) == (1, True)
            kept = await calls.ask("GET", shown["cover"].removeprefix("/api/v1"), by=ada)
            assert (kept.headers["content-type"], kept.headers["cache-control"].split(",")[0]) == (
                "image/jpeg", "private",
            )  # fmt: skip
            with Image.open(io.BytesIO(kept.content)) as plain:
                assert plain.size == (400, 533)
            small = await calls.ask("GET", f"{shown['cover'].removeprefix('/api/v1')}&size=small", by=ada)
            with Image.open(io.BytesIO(small.content)) as on_shelf:
                assert on_shelf.size == (240, 320)
            assert len(small.content) < len(kept.content)
            problem(await calls.ask("GET", f"{item}/cover", by=eve), 404, "not-found")
            for each in (text, missing, inside):
                at = f"{home}/items/{each['itemId']}"
                problem(await calls.ask("POST", f"{at}/cover", by=ada), 409, "no-cover")
                drawn = await calls.ask("GET", f"{at}/cover", by=ada)
                assert drawn.headers["content-type"] == "image/svg+xml"
            # Another address is another picture; without one, it is drawn again.
            data(await calls.ask("PATCH", item, {"pictureUrl": None, "version": 1}, by=ada))
            assert (await calls.get(item, by=ada))["hasPicture"] is False
            assert (await calls.ask("GET", f"{item}/cover", by=ada)).headers["content-type"] == "image/svg+xml"
    assert {each.partition(" ")[0] for each in host.asked} == {"covers.example"}


async def test_nobody_waits_for_the_slow_hosts_of_somebody_else(tmp_path, monkeypatch):
    answers = threading.Event()
    answers.set()

    def answer(path):
        answers.wait(PATIENCE_SECONDS)
        return Said(picture(), media_type="image/png")

    monkeypatch.setattr(covers, "SLOW_SECONDS", -1.0)
    monkeypatch.setattr(covers, "MOST_SLOW", 1)
    with another_host(answer) as host:
        async with calls_on(tmp_path, at_home) as calls:
            made = []
            for name, path in (("Ada", "/1"), ("Ada", "/2"), ("Eve", "/3")):
                who = made[0][0] if path == "/2" else await calls.person(name)
                home = made[0][1].partition("/items")[0] if path == "/2" else await calls.library(who)
                told = {"title": path, "pictureUrl": host.address(path, "covers.example")}
                item = await calls.make(f"{home}/books", told, by=who)
                made.append((who, f"{home}/items/{item['itemId']}"))
            (ada, first), (_, second), (eve, third) = made
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (await calls.get(third, by=eve))["hasPicture"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (await calls.get(first, by=ada))["hasPicture"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert not (await calls.get(second, by=ada))["hasPicture"]
            assert sorted(host.asked) == ["covers.example /1", "covers.example /3"]
            # Whoever asks is not refused, but has one at a time.
            answers.clear()
            asking = asyncio.create_task(calls.ask("POST", f"{second}/cover", by=ada))
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(host.asked) < 3:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            problem(await calls.ask("POST", f"{second}/cover", by=ada), 429, "throttled")
            answers.set()
            assert data(await asking)["hasPicture"]


async def test_an_address_in_a_private_network_is_refused_when_it_is_typed(tmp_path):
    async with calls_on(tmp_path) as calls:
        ada = await calls.person()
        home = await calls.library(ada)
        for address in ("http://127.0.0.1/1.jpg", "http://router.lan/1.jpg", "file:///etc/passwd"):
            said = {"title": "One", "pictureUrl": address}
            refused = problem(await calls.ask("POST", f"{home}/books", said, by=ada), 422, "invalid-fields")
            assert [each["field"] for each in refused["errors"]] == ["pictureUrl"]
        assert (await calls.get(f"{home}/items", by=ada))["items"] == []
