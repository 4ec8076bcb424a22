"""The second time at an address is like the first, for everybody, though its answer is remembered."""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import httpx
import pytest
import pytest_asyncio

from potluck.apps.polls.app import PollsApp
from potluck.apps.shopping.app import ShoppingApp
from potluck.dynamo.database import Database
from potluck.web.access import Visitor
from potluck.web.cached_answers import CacheKey
from potluck.web.http import security_headers
from potluck.web.http.application import Application
from potluck.web.runner import Runner
from tests.people.assembly import PASSWORD, Clock
from tests.toy.app import NotesApp
from tests.web.contract.wire import sent
from tests.web.server_here import served_here
from tests.web.suites import API, ask, bearer, data, problem, signed_up, suite_on

# One suite for all tests that leave it as it was.
together = pytest.mark.asyncio(loop_scope="module")

SLUG = "not-found"
# What differs from one answer to the next although nothing has changed.
SEALED = re.compile(rb'"(position|nextCursor)":"[\w-]{20,}"')
NUMBERED = re.compile(rb'"requestId":"[0-9a-f]{32}"')
MEMBER = {"role": "member"}
STREAMS = re.compile(r"/(events|export)$")
# Those of a list, which have to be told since when.
CHANGES = re.compile(r"(?<!{poll_id})/changes$")


@dataclass
class World:
    client: httpx.AsyncClient
    application: Application
    clock: Clock
    people: dict[str, Any]
    ids: dict[str, str]
    clients: Iterator[int] = field(default_factory=count)

    async def get(self, path: str, who: str | None = None, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        by = {} if who is None else bearer(self.people[who])
        self.client.cookies.clear()
        return await self.client.get(path, headers=by | named)

    async def known(self, path: str, who: str | None = None) -> str:
        """The address, after it was asked for twice by them, so that its answer is remembered."""
        for _ in range(2):
            assert (await self.get(path, who)).status_code == 200
        return path

    async def forget(self) -> None:
        """Change what tables there are: whatever was remembered is worked out anew."""
        key = {"AttributeName": "PK", "AttributeType": "S"}
        name = f"Forgetting{next(self.clients)}"
        request = {"TableName": name, "AttributeDefinitions": [key], "BillingMode": "PAY_PER_REQUEST"}
        request["KeySchema"] = [{"AttributeName": "PK", "KeyType": "HASH"}]
        await self.application.state.engine.call("CreateTable", request)

    async def come(self, name: str) -> dict[str, Any]:
        """Somebody new, in everything that Ada has."""
        ada, person = self.people["ada"], await signed_up(self.client, f"{name}@example.org", name.title())
        self.client.cookies.clear()
        self.people[name] = person
        await ask(self.client, "PUT", self.at(f"/books/{{book_id}}/members/{person['userId']}"), by=ada)
        invited = await ask(self.client, "POST", self.at("/families/{family_id}/invitations"), MEMBER, by=ada)
        data(await ask(self.client, "POST", "/invitations/accept", {"token": data(invited, 201)["token"]}, by=person))
        return person

    @contextlib.contextmanager
    def moved(self, **by: float) -> Iterator[None]:
        """The clock is so much later meanwhile, and then as it was."""
        before = self.clock.now
        self.clock.forward(**by)
        try:
            yield
        finally:
            self.clock.now = before

    def at(self, path: str) -> str:
        """An address, with ids for the names in it."""
        return re.sub(r"{(\w+)}", lambda found: self.ids[found[1]], path)


@contextlib.asynccontextmanager
async def world_on(folder) -> AsyncIterator[World]:
    clock = Clock()
    async with suite_on(folder, (ShoppingApp, PollsApp, NotesApp), clock=clock) as (client, application):
        people = {name: await signed_up(client, f"{name}@example.org", name.title()) for name in ("ada", "cyn")}
        client.cookies.clear()
        yield World(client, application, clock, people, {})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory):
    async with world_on(tmp_path_factory.mktemp("short")) as opened:
        await furnish(opened)
        yield opened


async def furnish(world: World) -> None:
    """Ada has one of everything; Ben is in it with her, and Cyn is not."""

    async def make(path: str, **said: Any) -> Any:
        return data(await ask(world.client, "POST", world.at(path), said, by=world.people["ada"]), 201)

    ids = world.ids
    ids["book_id"] = (await make("/books", name="Recipes"))["bookId"]
    for number in range(3):
        made = await make("/books/{book_id}/notes", title=f"Soup {number}", private="too salty")
    ids["note_id"] = made["noteId"]
    ids["family_id"] = (await make("/families", name="Lovelace"))["familyId"]
    await world.come("ben")
    await make("/families/{family_id}/invitations", **MEMBER)
    ids["store_id"] = (await make("/families/{family_id}/stores", name="Corner shop"))["storeId"]
    ids["location_id"] = (await make("/families/{family_id}/locations", name="Pantry"))["locationId"]
    ids["item_id"] = (await make("/families/{family_id}/inventory", name="Rice", threshold=1))["itemId"]
    ids["shopping_item_id"] = (await make("/families/{family_id}/shopping-list", name="Salt"))["shoppingItemId"]
    poll = await make("/polls", title="Where to?", candidates=["Lake", "Hut"], resultsVisibility="admin")
    ids["poll_id"], ids["admin_key"] = poll["id"], poll["adminKey"]
    ids["user_id"] = world.people["ada"]["userId"]
    data(await ask(world.client, "POST", world.at("/polls/{poll_id}/votes"), {"rankings": ["Hut"]}), 201)
    await make("/me/tokens", name="script")
    ids |= {"slug": SLUG, "app": "shopping", "number": "1", "name": "polls.css", "rest": "shell.css"}


# --- every address ---------------------------------------------------------------------------------------------------


def bare(answer: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """An answer without what differs each time; of a page, which is never remembered, not what it says."""
    page = answer.headers.get("content-type", "").startswith("text/html")
    left_out = ("x-request-id", "content-length", "set-cookie") if page else ("x-request-id",)
    headers = sorted((name, value) for name, value in answer.headers.multi_items() if name not in left_out)
    return answer.status_code, headers, b"" if page else NUMBERED.sub(b"", SEALED.sub(b"", answer.content))


def addresses(world: World) -> list[str]:
    """Every address that can be read, in the API and of the pages; a new one has to be given ids above."""
    found = {path for method, path in world.application.router.addresses() if method == "GET"}
    return [each for each in sorted(found) if not STREAMS.search(each)]


@together
async def test_every_address_answers_the_same_three_times_to_everybody(shared):
    """Asked by all in turn, so that each comes where another has just been."""
    for path in addresses(shared):
        address = shared.at(path)
        if CHANGES.search(path):
            listed = data(await shared.get(CHANGES.sub("", address), "ada"))
            address += f"?since={listed['position']}"
        everyone = ("ada", "ben", "cyn", None) if path.startswith(API) else ("ada", None)
        expected = {}
        for who in everyone:
            await shared.forget()
            expected[who] = bare(await shared.get(address, who))
        await shared.forget()
        for _ in range(3):
            for who in everyone:
                assert bare(await shared.get(address, who)) == expected[who], (address, who)


@pytest.mark.accelerated
@together
async def test_the_store_is_looked_at_once_for_an_answer_that_is_remembered(shared, monkeypatch):
    """Who is calling and what they are answered is as true as its state, which takes a lock on the file to ask for."""
    address = await shared.known(shared.at(f"{API}/families/{{family_id}}/shopping-list"), "ada")
    looks = []
    monkeypatch.setattr(Database, "state", lambda self, state=Database.state: looks.append(self) or state(self))
    fewest = 9
    for _ in range(5):
        looks.clear()
        assert (await shared.get(address, "ada")).status_code == 200
        fewest = min(fewest, len(looks))
    # What goes on behind it looks as well, and may write, now and then.
    assert fewest == 1


@pytest.mark.accelerated
@together
async def test_the_first_answer_after_a_write_is_remembered_though_its_caller_was_looked_up_for_it(shared, monkeypatch):
    address = shared.at(f"{API}/books/{{book_id}}")
    admitted = admissions(monkeypatch)
    fewest = 9
    for _ in range(5):
        await shared.forget()
        admitted.clear()
        for _ in range(2):
            await shared.get(address, "ada")
        fewest = min(fewest, len(admitted))
    assert fewest == 1


def test_nothing_is_remembered_for_secrets_that_name_nobody():
    """They can be made up without end, and would push out what is asked for again."""
    without, with_one = (CacheKey("/api/v1/a", b"b=1", each, ()) for each in (None, b"0" * 32))
    assert without.cached_bytes(Visitor(), b"{}") == 14
    assert with_one.cached_bytes(Visitor(), b"{}") is None


def admissions(monkeypatch) -> list[Any]:
    """Whoever is admitted from now on, which is asked for an answer that is not remembered."""
    admitted: list[Any] = []
    admit = Runner.admit

    async def noted(self: Runner, declared: Any, visitor: Any, *others: Any, **options: Any) -> Any:
        admitted.append(visitor)
        return await admit(self, declared, visitor, *others, **options)

    monkeypatch.setattr(Runner, "admit", noted)
    return admitted


# --- what is the caller's own ----------------------------------------------------------------------------------------


@together
@pytest.mark.parametrize("door", [API, ""], ids=["api", "pages"])
async def test_a_key_opens_nothing_to_whoever_comes_next_without_one(shared, door):
    """Whoever made the poll looks at what is theirs alone; the address is known from then on, the key is not."""
    key = shared.ids["admin_key"]
    paths = ("results", "results.csv", "ballots", "audit", "changes") if door else ("results", "results.csv", "ballots")
    manage = shared.at("/polls/{poll_id}/manage")
    given = await shared.client.post(manage, data={"key": key}, headers={"sec-fetch-site": "same-origin"})
    cookie = "; ".join(each.partition(";")[0] for each in given.headers.get_list("set-cookie"))
    shared.client.cookies.clear()
    for path in paths:
        address = shared.at(f"{door}/polls/{{poll_id}}/{path}")
        await shared.forget()
        with_key = {"x_admin_key": key} if door else {"cookie": cookie}
        refused = await shared.get(address)
        await shared.get(address, "ada")
        for _ in range(2):
            assert (await shared.get(address, **with_key)).status_code == 200
            assert (await shared.get(address, "cyn")).status_code == refused.status_code == 403
            assert bare(await shared.get(address)) == bare(refused)


@together
async def test_each_sees_their_own_at_the_same_address(shared):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}/notes"), "ada")
    for who, sees in (("ada", 3), ("ben", 0), ("ada", 3)):
        listed = data(await shared.get(address, who))["items"]
        assert [each.get("private") for each in listed].count("too salty") == sees
    await shared.known(f"{API}/me", "ada")
    for who in ("ada", "ben", "cyn", "ada"):
        assert data(await shared.get(f"{API}/me", who))["userId"] == shared.people[who]["userId"]


@together
async def test_a_cursor_is_its_callers_alone_where_its_answer_is_remembered(shared):
    first = data(await shared.get(shared.at(f"{API}/books/{{book_id}}/notes?limit=1"), "ada"))
    rest = shared.at(f"{API}/books/{{book_id}}/notes?limit=1&cursor={first['nextCursor']}")
    await shared.known(rest, "ada")
    assert len(data(await shared.get(rest, "ada"))["items"]) == 1
    problem(await shared.get(rest, "ben"), 422, "invalid-fields")


# --- what is refused -------------------------------------------------------------------------------------------------


@together
async def test_what_fails_is_not_remembered(shared, monkeypatch, caplog):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")

    async def broken(*_, **__):
        raise RuntimeError("planted")

    await shared.forget()
    with monkeypatch.context() as patched:
        patched.setattr(Runner, "admit", broken)
        answer = await shared.get(address, "ada")
        assert bare(answer) == bare(await shared.get(address, "ada"))
    found = problem(answer, 500, "broken")
    assert found["requestId"] == answer.headers["x-request-id"]
    assert "planted" not in answer.text
    assert [record.message for record in caplog.records].count("request failed") == 2
    assert (await shared.get(address, "ada")).status_code == 200


@together
@pytest.mark.parametrize("query", ["?limit=0", "?limit=2&limit=2", "?colour=beet", "?cursor=AAAA", "?limit=2&cursor="])
async def test_a_wrong_address_is_refused_however_often_it_is_tried(shared, query):
    address = shared.at(f"{API}/books/{{book_id}}/notes")
    await shared.known(address + "?limit=2", "ada")
    for _ in range(3):
        problem(await shared.get(address + query, "ada"), 422, "invalid-fields")


@together
async def test_other_words_of_the_same_question_are_an_address_of_their_own(shared):
    by = shared.people["ada"]["userId"]
    notes = shared.at(f"{API}/books/{{book_id}}/notes")
    for query in (f"?limit=2&author={by}", f"?author={by}&limit=2", f"?author={by}&limit=%32"):
        for _ in range(2):
            assert len(data(await shared.get(notes + query, "ada"))["items"]) == 2
    assert data(await shared.get(notes + f"?author={shared.people['ben']['userId']}&limit=2", "ada"))["items"] == []


@together
@pytest.mark.parametrize(
    "written", ["{me}/", "/{me}", "//api//v1/me", "/api/v1/%6De", "/%61pi/v1/me", "/api/v1/./me", "/api/v1/me%2F"]
)
async def test_an_odd_path_leads_where_it_led(shared, written):
    """Also the headers: what is private in the API is so however its path is written."""
    target = written.format(me=f"{API}/me")
    headers = list(bearer(shared.people["ada"]).items())
    for known in (None, f"{API}/me"):
        await shared.forget()
        if known is not None:
            await shared.known(known, "ada")
        answers = [await sent(shared.application, "GET", target, headers) for _ in range(3)]
        assert len({answer.status for answer in answers}) == 1
        assert len({NUMBERED.sub(b"", bytes(answer.body)) for answer in answers}) == 1
        assert len({tuple(sorted(named(answer))) for answer in answers}) == 1
        assert dict(named(answers[-1]))["cache-control"] in ("private, no-cache", "no-store")


def named(answer: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers if name != "x-request-id"]


@together
async def test_two_tokens_name_nobody(shared):
    await shared.known(f"{API}/me", "ada")
    by = list(bearer(shared.people["ada"]).items()) * 2
    for _ in range(2):
        assert (await sent(shared.application, "GET", f"{API}/me", by)).status == 401


# --- what else a request can say -------------------------------------------------------------------------------------


@together
async def test_who_has_the_answer_already_is_told_so_at_an_address_that_is_known(shared):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")
    tag = (await shared.get(address, "ada")).headers["etag"]
    await shared.forget()
    expected = bare(await shared.get(address, "ada", if_none_match=tag))
    assert expected[0] == 304
    assert expected[2] == b""
    await shared.known(address, "ada")
    for _ in range(2):
        assert bare(await shared.get(address, "ada", if_none_match=tag)) == expected
        assert (await shared.get(address, "ada", if_none_match='"99"')).status_code == 200
        assert (await shared.get(address, "cyn", if_none_match=tag)).status_code == 404
    problem(await shared.get(address, "cyn", if_none_match="*"), 404, "not-found")


@together
async def test_head_says_what_get_says_without_its_body(shared):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")
    got = await shared.get(address, "ada")
    for _ in range(2):
        head = await shared.client.head(address, headers=bearer(shared.people["ada"]))
        assert bare(head)[:2] == bare(got)[:2]
    # Nor does it take the place of a GET.
    await shared.forget()
    await shared.client.head(address, headers=bearer(shared.people["ada"]))
    assert (await shared.get(address, "ada")).content == got.content


@together
async def test_other_methods_at_a_known_address_are_themselves(shared):
    address = await shared.known(f"{API}/me", "ada")
    by = bearer(shared.people["ada"])
    assert (await shared.client.post(address, headers=by)).status_code == 405
    assert "PATCH" in (await shared.client.options(address, headers=by)).headers["allow"]
    problem(await shared.client.patch(address, json={"name": "A"}, headers=by), 428, "version-needed")


@together
async def test_every_kind_of_answer_carries_the_headers_that_protect_its_reader(shared, monkeypatch):
    known = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")
    tag = (await shared.get(known, "ada")).headers["etag"]
    by = bearer(shared.people["ada"])
    sheet = re.search(r'"(/static/[^"]+/[^"/]+\.css)"', (await shared.get("/sign-in")).text)
    assert sheet
    answers = {"remembered": await shared.get(known, "ada")}
    answers |= {
        "304": await shared.get(known, "ada", if_none_match=tag),
        "401": await shared.get(known),
        "404": await shared.get(known, "cyn"),
        "no route": await shared.get(f"{API}/nowhere"),
        "no page": await shared.get("/nowhere"),
        "405": await shared.client.delete("/livez"),
        "head": await shared.client.head(known, headers=by),
        "options": await shared.client.options(known, headers=by),
        "static": await shared.get(sheet[1]),
        "no static": await shared.get("/static/nowhere.css"),
        "page": await shared.get("/sign-in"),
        "redirect": await shared.get("/account"),
        "export": await shared.get(f"{API}/me/export", "ada"),
    }

    async def broken(*_, **__):
        raise RuntimeError

    await shared.forget()
    with monkeypatch.context() as patched:
        patched.setattr(Runner, "admit", broken)
        answers["500"] = await shared.get(known, "ada")
    expected = {"304": 304, "500": 500, "405": 405, "static": 200, "no static": 404}
    for kind, answer in answers.items():
        assert answer.status_code == expected.get(kind, answer.status_code), kind
        media_type = answer.headers.get("content-type", "").encode()
        data_alone = media_type in security_headers.DATA or (kind == "static" and media_type in security_headers.PARTS)
        for name, value in (security_headers.DATA_HEADERS if data_alone else security_headers.HEADERS).items():
            assert answer.headers.get_list(name) == [value], (kind, name)
        assert len(answer.headers.get_list("cache-control")) == 1, kind
        assert len(answer.headers.get_list("x-request-id")) == 1, kind
        kept = "max-age" in answer.headers["cache-control"]
        assert kept == (kind == "static"), kind
        if answer.headers["cache-control"] == "private, no-cache":
            assert answer.headers["vary"] == "authorization, cookie", kind


async def test_the_log_names_the_route_and_nothing_more(tmp_path, capfd):
    async with suite_on(tmp_path, (NotesApp,), log="requests") as (client, _):
        ada = await signed_up(client)
        book = data(await ask(client, "POST", "/books", {"name": "Recipes"}, by=ada), 201)["bookId"]
        capfd.readouterr()
        for _ in range(3):
            answer = await ask(client, "GET", f"/books/{book}", by=ada)
        written = capfd.readouterr().err
    lines = [json.loads(line) for line in written.splitlines()]
    assert [(line["route"], line["status"]) for line in lines] == [("/api/v1/books/{book_id}", 200)] * 3
    assert lines[-1]["bytes"] == len(answer.content)
    assert lines[-1]["requestId"] == answer.headers["x-request-id"]
    assert book not in written


@pytest.mark.accelerated
async def test_a_repeated_read_calls_no_endpoint_and_sees_the_next_write(tmp_path):
    async with suite_on(tmp_path, (NotesApp,)) as (client, application), socket_to(application) as wire:
        ada = await signed_up(client)
        book = data(await ask(client, "POST", "/books", {"name": "Recipes"}, by=ada), 201)["bookId"]
        path, calls = f"{API}/books/{book}", []
        serve = application._serve
        application._serve = lambda scope, *others: (calls.append(scope["method"]), serve(scope, *others))[1]

        async def read() -> tuple[str, list[tuple[str, str]]]:
            answer = await wire.get(path, headers=bearer(ada))
            same = [each for each in answer.headers.multi_items() if each[0] not in ("date", "x-request-id")]
            return data(answer)["name"], sorted(same)

        first = await read()
        assert [await read() for _ in range(3)] == [first] * 3
        assert calls == ["GET"]
        version = {"name": "Soups", "version": 1}
        data(await wire.patch(path, json=version, headers=bearer(ada)))
        assert [(await read())[0] for _ in range(2)] == ["Soups"] * 2
        assert calls == ["GET", "PATCH", "GET"]
        data(await wire.delete(f"{API}/sessions/current", headers=bearer(ada)), 204)
        problem(await wire.get(path, headers=bearer(ada)), 401, "not-signed-in")


@contextlib.asynccontextmanager
async def socket_to(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    """A client of our own server, in this event loop."""
    async with (
        served_here(application) as here,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{here.port}") as client,
    ):
        yield client


# --- rights that end -------------------------------------------------------------------------------------------------


@together
async def test_who_is_put_out_finds_nothing_with_the_next_request(shared):
    ada, dan = shared.people["ada"], await shared.come("dan")
    addresses = [
        await shared.known(shared.at(f"{API}{path}"), "dan")
        for path in ("/books/{book_id}", "/books/{book_id}/notes", "/families/{family_id}/shopping-list")
    ]
    assert [(await shared.get(each, "dan")).status_code for each in addresses] == [200] * 3
    for path in ("/books/{book_id}", "/families/{family_id}"):
        put_out = await ask(shared.client, "DELETE", shared.at(f"{path}/members/{dan['userId']}"), by=ada)
        assert put_out.status_code == 204
    assert [(await shared.get(each, "dan")).status_code for each in addresses] == [404] * 3
    assert [(await shared.get(each, "ada")).status_code for each in addresses] == [200] * 3


@together
async def test_who_is_no_admin_any_more_does_not_see_invitations(shared):
    ada, eve = shared.people["ada"], await shared.come("eve")
    member = shared.at(f"/families/{{family_id}}/members/{eve['userId']}")
    invitations = await shared.known(shared.at(f"{API}/families/{{family_id}}/invitations"), "ada")
    problem(await shared.get(invitations, "eve"), 403, "forbidden")
    for version, (role, status) in enumerate((("admin", 200), ("member", 403)), start=1):
        data(await ask(shared.client, "PATCH", member, {"role": role, "version": version}, by=ada))
        assert (await shared.get(invitations, "eve")).status_code == status


@together
async def test_whoever_signed_out_is_nobody_with_the_next_request(shared):
    fay = await shared.come("fay")
    for place in ("phone", "laptop", "desk"):
        said = {"email": "fay@example.org", "password": PASSWORD}
        shared.people[place] = data(await ask(shared.client, "POST", "/sessions", said), 201)
    made = shared.people["script"] = data(await ask(shared.client, "POST", "/me/tokens", {"name": "a"}, by=fay), 201)
    book = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")

    async def statuses() -> list[int]:
        return [(await shared.get(book, each)).status_code for each in ("fay", "phone", "laptop", "desk", "script")]

    assert await statuses() == [200, 200, 200, 200, 200]
    # Who they are is known from now on without a look at their rows.
    assert await statuses() == [200, 200, 200, 200, 200]
    await ask(shared.client, "DELETE", "/sessions/current", by=shared.people["phone"])
    assert await statuses() == [200, 401, 200, 200, 200]
    await ask(shared.client, "DELETE", f"/me/tokens/{made['id']}", by=fay)
    assert await statuses() == [200, 401, 200, 200, 401]
    changed = {"current": PASSWORD, "new": f"{PASSWORD}, and more"}
    assert (await ask(shared.client, "PUT", "/me/password", changed, by=shared.people["laptop"])).status_code == 200
    assert await statuses() == [401, 401, 200, 401, 401]
    assert (await shared.get(book, "laptop")).status_code == 200


@together
async def test_a_deleted_account_is_nobodys_with_the_next_request(shared):
    gus = await shared.come("gus")
    await shared.known(f"{API}/me", "gus")
    assert (await shared.get(f"{API}/me", "gus")).status_code == 200
    gone = await ask(shared.client, "POST", "/me/delete", {"password": PASSWORD}, by=gus)
    assert gone.status_code == 204
    problem(await shared.get(f"{API}/me", "gus"), 401, "not-signed-in")


@together
async def test_what_time_alone_changes_is_seen_at_its_second(shared):
    """A poll is over at its second, though nothing is written."""
    ends = (shared.clock() + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    said = {"title": "Where to?", "candidates": ["Lake", "Hut"], "expiresAt": ends}
    poll = f"{API}/polls/{data(await ask(shared.client, 'POST', '/polls', said), 201)['id']}"
    await shared.known(poll)
    with shared.moved(hours=1):
        assert data(await shared.get(poll))["status"] == "closed"
        with shared.moved(seconds=-1):
            assert data(await shared.get(poll))["status"] == "open"
        assert data(await shared.get(poll))["status"] == "closed"


@together
async def test_a_session_is_over_at_its_second_and_extended_by_its_use(shared):
    """The last of these tests, because the clock has moved on for some of the others' people."""
    hal, ida = await shared.come("hal"), await shared.come("ida")
    assert hal["tokenExpiresAt"] == ida["tokenExpiresAt"]
    await shared.known(f"{API}/me", "hal")
    with shared.moved(days=29):
        assert (await shared.get(f"{API}/me", "hal")).status_code == 200
    with shared.moved(days=30, seconds=-1):
        assert (await shared.get(f"{API}/me", "hal")).status_code == 200
    with shared.moved(days=30):
        assert (await shared.get(f"{API}/me", "ida")).status_code == 401
        assert (await shared.get(f"{API}/me", "hal")).status_code == 200
    with shared.moved(days=60):
        assert (await shared.get(f"{API}/me", "hal")).status_code == 401
    assert (await shared.get(f"{API}/me", "ida")).status_code == 200
