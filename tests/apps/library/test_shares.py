"""Who may look: by invitation, at all that is in the library but who has it, and no longer than the owner wants."""

import asyncio
from uuid import uuid4

import pytest

from potluck.apps.library.libraries import APP, one_library
from potluck.apps.library.shares import NewShare, all_shares, join, share, unshare
from potluck.web.errors import NotFound
from tests.apps.library.calls import calls_on, data, problem
from tests.patience import PATIENCE_SECONDS
from tests.web.contract.wire import listening
from tests.web.suites import API


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


async def shared(calls):
    """Ada's library, shared with Bo, with a book that is lent."""
    ada, bo = await calls.person(), await calls.person("Bo")
    home = await calls.library(ada)
    foo = await calls.make(f"{home}/collections", {"name": "Inspector Vasik"}, by=ada)
    said = {"title": "The Green Tram", "authors": ["Dana Moravec"], "collectionId": foo["collectionId"]}
    book = await calls.make(f"{home}/books", said, by=ada)
    data(await calls.ask("POST", f"{home}/items/{book['itemId']}/lend", {"to": "Grandma Edith"}, by=ada))
    await calls.invited(home, ada, bo)
    return ada, bo, home, f"{home}/items/{book['itemId']}"


async def test_a_guest_looks_at_everything_but_who_has_it(calls):
    ada, bo, home, item = await shared(calls)
    collections = await calls.get(f"{home}/collections", by=bo)
    collection = collections["items"][0]
    answers = [
        await calls.ask("GET", path, by=bo)
        for path in (
            *(
                "/libraries",
                home,
                f"{home}/items",
                f"{home}/items?grouped=true",
                item,
                "/library-search?q=green%20tram",
            ),
            *(f"{home}/collections", f"{home}/collections/{collection['collectionId']}"),
            *(f"{home}/export?format={each}" for each in ("csv", "json", "marcxml")),
        )
    ]
    for each in answers:
        assert each.status_code == 200, each.text
        for secret in ("Edith", "lentTo", "sharedTo", "bo@example.org", '"version"'):
            assert secret not in each.text, (each.url, secret)
    assert "The Green Tram" in answers[2].text
    hers = await calls.get(item, by=ada)
    assert (hers["lentTo"], hers["version"]) == ("Grandma Edith", 2)
    assert (await calls.get(home, by=ada))["sharedTo"] == ["bo@example.org"]


async def test_a_loan_tells_a_guest_nothing_by_events_tags_or_order(calls):
    ada, bo, home, item = await shared(calls)
    before = await calls.ask("GET", f"{home}/items", by=bo)
    data(await calls.ask("POST", f"{item}/return", by=ada))
    data(await calls.ask("POST", f"{item}/lend", {"to": "Leo"}, by=ada))
    after = await calls.ask("GET", f"{home}/items", by=bo)
    assert after.json()["items"] == before.json()["items"]
    assert after.headers["etag"] == before.headers["etag"]
    changes = await calls.get(f"{home}/items/changes?since={before.json()['position']}", by=bo)
    assert changes["changes"] == []


async def test_a_guest_changes_nothing(calls):
    ada, bo, home, item = await shared(calls)
    collection = (await calls.get(f"{home}/collections", by=bo))["items"][0]["collectionId"]
    before = await calls.get(f"{home}/items", by=ada)
    for method, path, body in (
        ("PATCH", home, {"libraryName": "Mine", "version": 1}),
        ("DELETE", home, None),
        ("POST", f"{home}/collections", {"name": "Mine"}),
        ("PATCH", f"{home}/collections/{collection}", {"name": "Mine", "version": 1}),
        ("DELETE", f"{home}/collections/{collection}", None),
        ("POST", f"{home}/books", {"title": "Mine"}),
        ("POST", f"{home}/videos", {"title": "Mine"}),
        ("PATCH", item, {"title": "Mine", "version": 2}),
        ("DELETE", f"{item}?force=true", None),
        ("POST", f"{item}/lend", {"to": "me"}),
        ("POST", f"{item}/return", None),
        ("POST", f"{item}/cover", None),
        ("GET", f"{item}/history", None),
        ("GET", f"{home}/shares", None),
        ("POST", f"{home}/shares", {"email": "eve@example.org"}),
        ("DELETE", f"{home}/shares/bo@example.org", None),
        ("POST", f"{home}/import", {"text": "title\nMine", "apply": True}),
    ):
        problem(await calls.ask(method, path, body, by=bo), 403, "owner-only")
    assert await calls.get(f"{home}/items", by=ada) == before


async def test_unshared_is_at_once_everywhere(calls):
    ada, bo, home, item = await shared(calls)
    cover = (await calls.get(item, by=bo))["cover"]
    assert await calls.found("green tram", by=bo) == ["The Green Tram"]
    data(await calls.ask("DELETE", f"{home}/shares/BO@example.org", by=ada), 204)
    made_up = f"/libraries/{uuid4()}"
    for path in ("", "/items", "/items?grouped=true", "/collections", "/items/events", "/export"):
        gone = problem(await calls.ask("GET", home + path, by=bo), 404, "not-found")
        never = problem(await calls.ask("GET", made_up + path, by=bo), 404, "not-found")
        assert gone | {"requestId": ""} == never | {"requestId": ""}
    problem(await calls.ask("GET", item, by=bo), 404, "not-found")
    problem(await calls.ask("GET", cover.removeprefix(API), by=bo), 404, "not-found")
    assert await calls.found("green tram", by=bo) == []
    assert (await calls.get("/libraries", by=bo))["items"] == []
    assert (await calls.get(home, by=ada))["sharedTo"] == []


async def test_a_guest_s_browser_asks_before_it_shows_a_cover_again(calls):
    ada, bo, home, item = await shared(calls)
    cover = (await calls.get(item, by=bo))["cover"].removeprefix(API)
    shown = await calls.ask("GET", cover, by=bo)
    assert (shown.status_code, shown.headers["cache-control"]) == (200, "private, no-cache")
    again = shown.headers["etag"]
    had = await calls.ask("GET", cover, by=bo, if_none_match=again)
    assert (had.status_code, had.content, had.headers["cache-control"]) == (304, b"", "private, no-cache")
    data(await calls.ask("DELETE", f"{home}/shares/bo@example.org", by=ada), 204)
    problem(await calls.ask("GET", cover, by=bo, if_none_match=again), 404, "not-found")
    # Whose it is may always look, but nobody else at the same browser.
    own = (await calls.ask("GET", cover, by=ada)).headers
    assert "max-age" in own["cache-control"]
    assert {"authorization", "cookie"} <= {*own["vary"].split(", ")}


async def test_a_guest_s_stream_ends_with_the_share(calls):
    ada, bo, home, _ = await shared(calls)
    position = (await calls.get(f"{home}/items", by=bo))["position"]
    target = f"{API}{home}/items/events?since={position}"
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        listening(calls.application, target, [("authorization", f"Bearer {bo['token']}")]) as his,
    ):
        added = await calls.make(f"{home}/books", {"title": "Nine Umbrellas"}, by=ada)
        (event,) = await his.until(1)
        assert (event.event, event.data["title"]) == ("created", "Nine Umbrellas")
        assert "lentTo" not in event.data
        data(await calls.ask("DELETE", f"{home}/shares/bo@example.org", by=ada), 204)
        data(await calls.ask("DELETE", f"{home}/items/{added['itemId']}", by=ada), 204)
        assert len(await his.until(ended=True)) == 1


async def test_a_stranger_s_guess_is_as_good_as_a_made_up_id(calls):
    _, _, home, item = await shared(calls)
    eve = await calls.person("Eve")
    for path in (home, f"{home}/items", item, f"{item}/history", f"{item}/cover", f"{home}/shares"):
        guessed = problem(await calls.ask("GET", path, by=eve), 404, "not-found")
        never = problem(await calls.ask("GET", path.replace(home, f"/libraries/{uuid4()}"), by=eve), 404, "not-found")
        assert guessed | {"requestId": ""} == never | {"requestId": ""}


async def test_an_invitation_is_good_once_and_tells_nothing_of_accounts(calls):
    ada, bo, home, _ = await shared(calls)
    eve = await calls.person("Eve")
    known, unknown = [
        await calls.make(f"{home}/shares", {"email": email}, by=ada) for email in ("eve@example.org", "x@example.org")
    ]
    assert {*known} == {*unknown} == {"id", "token", "url", "expiresAt"}
    listed = (await calls.get(f"{home}/shares", by=ada))["items"]
    assert [(each["email"], each["status"], each["name"]) for each in listed] == [
        ("bo@example.org", "looking", "Bo"), ("eve@example.org", "pending", None), ("x@example.org", "pending", None),
    ]  # fmt: skip
    looked = data(await calls.ask("POST", "/invitations/look", {"token": known["token"]}, by=eve))
    assert (looked["app"], looked["place"], looked["invitedBy"]) == ("library", "Home", "Ada")
    # Guests of the library use nothing up, and neither does its owner, whose invitation it is.
    data(await calls.ask("POST", "/invitations/accept", {"token": known["token"]}, by=bo))
    own = problem(
        await calls.ask("POST", "/invitations/accept", {"token": known["token"]}, by=ada), 409, "own-invitation"
    )
    assert "Send its link" in own["detail"]
    data(await calls.ask("POST", "/invitations/accept", {"token": known["token"]}, by=eve))
    fay = await calls.person("Fay")
    assert (await calls.ask("POST", "/invitations/accept", {"token": known["token"]}, by=fay)).status_code == 410
    # One that is withdrawn opens nothing; nor does any, once the library is gone.
    data(await calls.ask("DELETE", f"{home}/shares/x@example.org", by=ada), 204)
    problem(await calls.ask("DELETE", f"{home}/shares/x@example.org", by=ada), 404, "not-found")
    assert (await calls.ask("POST", "/invitations/accept", {"token": unknown["token"]}, by=fay)).status_code == 410
    again = await calls.make(f"{home}/shares", {"email": "x@example.org"}, by=ada)
    data(await calls.ask("DELETE", f"{home}?force=true", by=ada), 204)
    assert (await calls.ask("POST", "/invitations/accept", {"token": again["token"]}, by=fay)).status_code == 410
    problem(await calls.ask("GET", home, by=eve), 404, "not-found")


async def test_an_address_that_many_came_by_is_shut_for_all_of_them(embedded_shelves):
    """More than one transaction takes, of those who look and of those who are invited."""
    shelves = embedded_shelves
    ada = await shelves.person()
    home = await shelves.library(ada)
    place, address = {"library_id": home}, NewShare(email="club@example.org")
    people = [await shelves.person(f"Guest{number}") for number in range(21)]
    for person in people:
        await shelves.direct.join(person, (await shelves.direct.do(share, ada, address, **place)).token, APP, join)
    stays = await shelves.guest(ada, home)
    for _ in range(21):
        await shelves.direct.do(share, ada, address, **place)
    await shelves.direct.do(unshare, ada, **place, email="Club@example.org")
    assert [each.email for each in await shelves.direct.list(all_shares, ada, **place)] == ["bo@note.example"]
    for person in people:
        with pytest.raises(NotFound):
            await shelves.direct.read(one_library, person, **place)
    assert (await shelves.direct.read(one_library, stays, **place)).library_id == home
    assert (await shelves.direct.read(one_library, ada, **place)).shared_to == ["bo@note.example"]


async def test_a_guest_may_leave(calls):
    ada, bo, home, _ = await shared(calls)
    problem(await calls.ask("POST", f"{home}/leave", by=ada), 409, "own-library")
    data(await calls.ask("POST", f"{home}/leave", by=bo), 204)
    problem(await calls.ask("GET", home, by=bo), 404, "not-found")
    assert (await calls.get(home, by=ada))["sharedTo"] == []
    assert (await calls.get(f"{home}/shares", by=ada))["items"] == []


async def test_a_library_with_something_lent_is_deleted_by_force_only(calls):
    ada, _, home, _ = await shared(calls)
    refused = problem(await calls.ask("DELETE", home, by=ada), 409, "still-lent")
    assert refused["lent"] == 1
    data(await calls.ask("DELETE", f"{home}?force=true", by=ada), 204)
    assert (await calls.get("/loans", by=ada))["items"] == []
