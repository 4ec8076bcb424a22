"""The second time at an address is like the first, for everybody, though the framework has no part in it any more."""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

import httpx
import pytest
import pytest_asyncio
from litestar import Litestar, Request, get
from litestar.di import NamedDependency, Provide
from litestar.params import CookieParameter, FromPath, HeaderParameter
from msgspec import Struct
from tests.toy.service import Notes

from potluck import suite
from potluck.apps.polls.app import polls_app
from potluck.apps.shopping.app import shopping_app
from potluck.people.authentication import Principal
from potluck.web import short_way
from potluck.web.app import App, Core
from potluck.web.http import security_headers
from tests.people.assembly import PASSWORD, Clock
from tests.toy.app import notes_app
from tests.web.contract.wire import listening, sent
from tests.web.suites import API, ask, bearer, data, problem, signed_up, suite_on

# One suite for all tests that leave it as it was.
together = pytest.mark.asyncio(loop_scope="module")

SLUG = "not-found"
# What differs from one answer to the next although nothing has changed.
SEALED = re.compile(rb'"(position|nextCursor)":"[\w-]{20,}"')
NUMBERED = re.compile(rb'"requestId":"[0-9a-f]{32}"')
FILES = {"/polls/{poll_id}/ballots", "/polls/{poll_id}/results.csv"}
MEMBER = {"role": "member"}
STREAMS = re.compile(r"/(events|export)$")
# Those of a list, which have to be told since when.
CHANGES = re.compile(r"(?<!{poll_id})/changes$")


class Watched(short_way.ShortWay):
    """A short way that knows which requests went the long one."""

    latest: "Watched"

    def __init__(self, long_way: Any, *others: Any) -> None:
        async def counted(scope: Any, receive: Any, send: Any) -> None:
            self.long.append(scope["path"])
            await long_way(scope, receive, send)

        super().__init__(counted, *others)
        self.long: list[str] = []
        Watched.latest = self

    def forget(self) -> None:
        self._ways.clear()

    @contextlib.contextmanager
    def short(self) -> Iterator[None]:
        """Everything that is asked meanwhile goes the short way."""
        before = len(self.long)
        yield
        assert self.long[before:] == []

    @contextlib.contextmanager
    def taken_long(self) -> Iterator[None]:
        """Something that is asked meanwhile goes the long way."""
        before = len(self.long)
        yield
        assert self.long[before:] != []


@dataclass
class World:
    client: httpx.AsyncClient
    application: Litestar
    clock: Clock
    ways: Watched
    people: dict[str, Any]
    ids: dict[str, str]

    async def get(self, path: str, who: str | None = None, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        by = {} if who is None else bearer(self.people[who])
        self.client.cookies.clear()
        return await self.client.get(path, headers=by | named)

    async def known(self, path: str, who: str | None = None) -> str:
        """The address, after it was asked for once by them, so that the next request goes the short way."""
        assert (await self.get(path, who)).status_code == 200
        return path

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
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(suite, "ShortWay", Watched)
        async with suite_on(folder, (shopping_app, polls_app, notes_app, odd_app), clock=clock) as (
            client,
            application,
        ):
            people = {name: await signed_up(client, f"{name}@example.org", name.title()) for name in ("ada", "cyn")}
            client.cookies.clear()
            yield World(client, application, clock, Watched.latest, people, {})


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
    data(await ask(world.client, "POST", world.at("/polls/{poll_id}/votes"), {"rankings": ["Hut"]}), 201)
    await make("/me/tokens", name="script")
    ids |= {"slug": SLUG, "app": "shopping", "number": "1", "name": "polls.css", "file_path": "shell.css"}
    ids |= {"word": "said"}


# --- handlers as no app has them yet ---------------------------------------------------------------------------------


class Said(Struct):
    word: str
    key: str | None


async def by_framework(request: Request[Any, Any, Any]) -> str:
    return request.headers.get("x-odd-name", "nobody")


@get("/odd/header/{word:str}")
async def by_header(
    word: FromPath[str], visitor: Principal | None, key: Annotated[str | None, HeaderParameter(name="X-Odd-Key")] = None
) -> Said:
    return Said(word, key)


@get("/odd/cookie/{word:str}")
async def by_cookie(
    word: FromPath[str], visitor: Principal | None, key: Annotated[str | None, CookieParameter(name="odd")] = None
) -> Said:
    return Said(word, key)


@get("/odd/provided/{word:str}", dependencies={"name": Provide(by_framework)})
async def by_provider(word: FromPath[str], visitor: Principal | None, name: NamedDependency[str]) -> Said:
    return Said(word, name)


def odd_app(core: Core) -> App:
    return App(name="odd", tables=[], routes=[by_header, by_cookie, by_provider])


# --- every address ---------------------------------------------------------------------------------------------------


def bare(answer: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """An answer without what differs each time; of a page, which never goes the short way, not what it says."""
    page = answer.headers.get("content-type", "").startswith("text/html")
    left_out = ("x-request-id", "content-length", "set-cookie") if page else ("x-request-id",)
    headers = sorted((name, value) for name, value in answer.headers.multi_items() if name not in left_out)
    return answer.status_code, headers, b"" if page else NUMBERED.sub(b"", SEALED.sub(b"", answer.content))


def addresses(world: World) -> list[str]:
    """Every address that can be read, in the API and of the pages; a new one has to be given ids above."""
    found = {route.path_format for route in world.application.routes if "GET" in getattr(route, "methods", ())}
    return [each for each in sorted(found) if not STREAMS.search(each)]


@together
async def test_every_address_answers_the_same_three_times_to_everybody(shared):
    """Asked by all in turn, so that each comes where another has just been."""
    went_short = set()
    for path in addresses(shared):
        address = shared.at(path)
        if CHANGES.search(path):
            listed = data(await shared.get(CHANGES.sub("", address), "ada"))
            address += f"?since={listed['position']}"
        everyone = ("ada", "ben", "cyn", None) if path.startswith(API) else ("ada", None)
        expected = {}
        for who in everyone:
            shared.ways.forget()
            expected[who] = bare(await shared.get(address, who))
        shared.ways.forget()
        for _ in range(3):
            for who in everyone:
                before = len(shared.ways.long)
                answer = await shared.get(address, who)
                assert bare(answer) == expected[who], (address, who)
                if len(shared.ways.long) == before:
                    assert answer.status_code == 200
                    went_short.add(path)
    # It is no test of the short way unless it is taken: by all that the API answers, and by a page's files.
    in_api = {path for path in addresses(shared) if path.startswith(API)}
    assert went_short == in_api - {f"{API}/odd/provided/{{word}}"} | FILES


@together
async def test_a_stream_never_goes_the_short_way(shared):
    target = shared.at(f"{API}/books/{{book_id}}/notes/events")
    for _ in range(2):
        with shared.ways.taken_long():
            async with listening(shared.application, target, list(bearer(shared.people["ada"]).items())) as listener:
                await listener.until(begun=True)


@together
async def test_an_export_never_goes_the_short_way(shared):
    for _ in range(2):
        with shared.ways.taken_long():
            assert (await shared.get(f"{API}/me/export", "ada")).headers["content-type"] == "application/zip"


# --- what is the caller's own ----------------------------------------------------------------------------------------


@together
@pytest.mark.parametrize("door", [API, ""], ids=["api", "pages"])
async def test_a_key_opens_nothing_to_whoever_comes_next_without_one(shared, door):
    """Whoever made the poll looks at what is theirs alone; the address is known from then on, the key is not."""
    key = shared.ids["admin_key"]
    paths = ("results", "results.csv", "ballots", "audit", "changes") if door else ("results", "results.csv", "ballots")
    for path in paths:
        address = shared.at(f"{door}/polls/{{poll_id}}/{path}")
        shared.ways.forget()
        with_key = {"x_admin_key": key} if door else {"cookie": f"potluck-poll-admin={key}"}
        refused = await shared.get(address)
        await shared.get(address, "ada")
        for _ in range(2):
            assert (await shared.get(address, **with_key)).status_code == 200
            assert (await shared.get(address, "cyn")).status_code == refused.status_code == 403
            assert bare(await shared.get(address)) == bare(refused)


@together
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("header", {"x_odd_key": "ada's"}),
        ("cookie", {"cookie": "odd=ada's"}),
        ("provided", {"x_odd_name": "ada's"}),
    ],
)
async def test_what_one_request_says_of_itself_is_not_said_by_the_next(shared, path, headers):
    address = f"{API}/odd/{path}/said"
    shared.ways.forget()
    for _ in range(2):
        assert data(await shared.get(address, **headers))["key"] == "ada's"
        assert data(await shared.get(address))["key"] != "ada's"


@together
async def test_each_sees_their_own_at_the_same_address(shared):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}/notes"), "ada")
    with shared.ways.short():
        for who, sees in (("ada", 3), ("ben", 0), ("ada", 3)):
            listed = data(await shared.get(address, who))["items"]
            assert [each.get("private") for each in listed].count("too salty") == sees
    await shared.known(f"{API}/me", "ada")
    with shared.ways.short():
        for who in ("ada", "ben", "cyn", "ada"):
            assert data(await shared.get(f"{API}/me", who))["userId"] == shared.people[who]["userId"]


@together
async def test_a_cursor_is_its_callers_alone_on_the_short_way_too(shared):
    first = data(await shared.get(shared.at(f"{API}/books/{{book_id}}/notes?limit=1"), "ada"))
    rest = shared.at(f"{API}/books/{{book_id}}/notes?limit=1&cursor={first['nextCursor']}")
    await shared.known(rest, "ada")
    with shared.ways.short():
        assert len(data(await shared.get(rest, "ada"))["items"]) == 1
    problem(await shared.get(rest, "ben"), 422, "invalid-fields")


# --- what is refused -------------------------------------------------------------------------------------------------


@together
@pytest.mark.parametrize(("who", "status"), [("cyn", 404), (None, 401)])
async def test_whatever_comes_of_it_the_handler_is_called_once(shared, monkeypatch, who, status):
    """Else what is refused would take longer where others have been: so much tells that they have."""
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")
    calls = []
    must_be_in = Notes.must_be_in

    async def counted(self, caller, *others, **options):
        calls.append(caller)
        await must_be_in(self, caller, *others, **options)

    monkeypatch.setattr(Notes, "must_be_in", counted)
    assert (await shared.get(address, who)).status_code == status
    assert len(calls) == (who is not None)
    calls.clear()
    with shared.ways.short():
        assert (await shared.get(address, "ada")).status_code == 200
    assert len(calls) == 1


@together
async def test_what_fails_on_the_short_way_is_answered_and_logged_like_any_failure(shared, monkeypatch, caplog):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")

    async def broken(*_, **__):
        raise RuntimeError("planted")

    with monkeypatch.context() as patched:
        patched.setattr(Notes, "book", broken)
        answer = await shared.get(address, "ada")
        shared.ways.forget()
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
        with shared.ways.taken_long():
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
        shared.ways.forget()
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
async def test_what_can_be_no_host_is_refused_where_another_was_answered(shared):
    await shared.known(f"{API}/me", "ada")
    for _ in range(2):
        answer = await shared.get(f"{API}/me", "ada", host="a b\\c")
        assert answer.status_code == 400
    with shared.ways.taken_long():
        # Of two, the first counts, as it does for the framework.
        by = [("host", "a b"), ("host", "testserver"), *bearer(shared.people["ada"]).items()]
        assert (await sent(shared.application, "GET", f"{API}/me", by)).status == 400


@together
async def test_two_tokens_name_nobody(shared):
    await shared.known(f"{API}/me", "ada")
    by = list(bearer(shared.people["ada"]).items()) * 2
    for _ in range(2):
        assert (await sent(shared.application, "GET", f"{API}/me", by)).status == 401


@together
async def test_behind_a_prefix_the_framework_finds_the_way(shared):
    """What is one address without the prefix is another with it."""
    ada = shared.people["ada"]
    await shared.known(f"{API}/me", "ada")

    async def status(prefix: str, path: str) -> int:
        transport = httpx.ASGITransport(shared.application, root_path=prefix)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return (await client.get(path, headers=bearer(ada))).status_code

    for _ in range(2):
        with shared.ways.taken_long():
            assert await status("/suite", f"/suite{API}/me") == 200
        assert await status(API, f"{API}/me") == 404
        assert await status("", f"/suite{API}/me") == 404


# --- what else a request can say -------------------------------------------------------------------------------------


@together
async def test_who_has_the_answer_already_is_told_so_at_an_address_that_is_known(shared):
    address = await shared.known(shared.at(f"{API}/books/{{book_id}}"), "ada")
    tag = (await shared.get(address, "ada")).headers["etag"]
    shared.ways.forget()
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
    with shared.ways.short():
        got = await shared.get(address, "ada")
    for _ in range(2):
        with shared.ways.taken_long():
            head = await shared.client.head(address, headers=bearer(shared.people["ada"]))
        assert bare(head)[:2] == bare(got)[:2]
    # Nor does it take the place of a GET.
    shared.ways.forget()
    await shared.client.head(address, headers=bearer(shared.people["ada"]))
    with shared.ways.taken_long():
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
    with shared.ways.short():
        answers = {"short": await shared.get(known, "ada")}
    answers |= {
        "304": await shared.get(known, "ada", if_none_match=tag),
        "401": await shared.get(known),
        "404": await shared.get(known, "cyn"),
        "no route": await shared.get(f"{API}/nowhere"),
        "no page": await shared.get("/nowhere"),
        "405": await shared.client.delete("/healthz"),
        "host": await shared.get(known, "ada", host="a b"),
        "head": await shared.client.head(known, headers=by),
        "options": await shared.client.options(known, headers=by),
        "static": await shared.get("/static/shell.css"),
        "no static": await shared.get("/static/nowhere.css"),
        "page": await shared.get("/sign-in"),
        "redirect": await shared.get("/account"),
        "export": await shared.get(f"{API}/me/export", "ada"),
    }

    async def broken(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(Notes, "book", broken)
        answers["500"] = await shared.get(known, "ada")
    with monkeypatch.context() as patched:
        patched.setattr(shared.ways, "_long_way", broken)
        answers["broken"] = await shared.get(f"{API}/nowhere")
    expected = {"304": 304, "500": 500, "broken": 500, "405": 405, "host": 400, "static": 200, "no static": 404}
    for kind, answer in answers.items():
        assert answer.status_code == expected.get(kind, answer.status_code), kind
        data_alone = answer.headers.get("content-type", "").encode() in security_headers.DATA
        for name, value in (security_headers.DATA_HEADERS if data_alone else security_headers.HEADERS).items():
            assert answer.headers.get_list(name) == [value], (kind, name)
        assert len(answer.headers.get_list("cache-control")) == 1, kind
        assert len(answer.headers.get_list("x-request-id")) == 1, kind
        kept = "max-age" in answer.headers["cache-control"]
        assert kept == (kind == "static"), kind
        if answer.headers["cache-control"] == "private, no-cache":
            assert answer.headers["vary"] == "authorization, cookie", kind


async def test_the_log_names_the_route_of_the_short_way_and_nothing_more(tmp_path, capfd):
    async with suite_on(tmp_path, (notes_app,), log="requests") as (client, _):
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


# --- what is remembered ----------------------------------------------------------------------------------------------


@together
async def test_no_more_addresses_are_kept_than_allowed_and_none_that_is_long(shared, monkeypatch):
    monkeypatch.setattr(short_way, "MOST_ADDRESSES", 3)
    shared.ways.forget()
    notes = shared.at(f"{API}/books/{{book_id}}/notes")
    for limit in range(1, 11):
        await shared.get(f"{notes}?limit={limit}", "ada")
        assert len(shared.ways._ways) <= 3
    shared.ways.forget()
    # Whoever names it, a host is a part of the address.
    for host in ("a" * short_way.LONGEST_ADDRESS, "b" * 60_000):
        assert (await shared.get(f"{API}/me", "ada", host=host)).status_code == 200
    assert (await shared.get(f"{API}/me{'/' * short_way.LONGEST_ADDRESS}", "ada")).status_code == 200
    assert shared.ways._ways == {}


@together
async def test_an_address_is_not_known_by_an_answer_that_was_an_error(shared):
    shared.ways.forget()
    address = shared.at(f"{API}/books/{{book_id}}")
    for who in ("cyn", None):
        await shared.get(address, who)
        assert shared.ways._ways == {}


# --- rights that end -------------------------------------------------------------------------------------------------


@together
async def test_who_is_put_out_finds_nothing_with_the_next_request(shared):
    ada, dan = shared.people["ada"], await shared.come("dan")
    addresses = [
        await shared.known(shared.at(f"{API}{path}"), "dan")
        for path in ("/books/{book_id}", "/books/{book_id}/notes", "/families/{family_id}/shopping-list")
    ]
    with shared.ways.short():
        assert [(await shared.get(each, "dan")).status_code for each in addresses] == [200] * 3
    for path in ("/books/{book_id}", "/families/{family_id}"):
        put_out = await ask(shared.client, "DELETE", shared.at(f"{path}/members/{dan['userId']}"), by=ada)
        assert put_out.status_code == 204
    assert [(await shared.get(each, "dan")).status_code for each in addresses] == [404] * 3
    with shared.ways.short():
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

    with shared.ways.short():
        assert await statuses() == [200, 200, 200, 200, 200]
        # Who they are is known from now on without a look at their rows.
        assert await statuses() == [200, 200, 200, 200, 200]
    await ask(shared.client, "DELETE", "/sessions/current", by=shared.people["phone"])
    assert await statuses() == [200, 401, 200, 200, 200]
    await ask(shared.client, "DELETE", f"/me/tokens/{made['id']}", by=fay)
    assert await statuses() == [200, 401, 200, 200, 401]
    changed = {"current": PASSWORD, "new": f"{PASSWORD}, and more"}
    assert (await ask(shared.client, "PUT", "/me/password", changed, by=shared.people["laptop"])).status_code == 204
    assert await statuses() == [401, 401, 200, 401, 401]
    with shared.ways.short():
        assert (await shared.get(book, "laptop")).status_code == 200


@together
async def test_a_deleted_account_is_nobodys_with_the_next_request(shared):
    gus = await shared.come("gus")
    await shared.known(f"{API}/me", "gus")
    with shared.ways.short():
        assert (await shared.get(f"{API}/me", "gus")).status_code == 200
    gone = await ask(shared.client, "POST", "/me/delete", {"password": PASSWORD}, by=gus)
    assert gone.status_code == 204
    problem(await shared.get(f"{API}/me", "gus"), 401, "not-signed-in")


@together
async def test_what_time_alone_changes_is_seen_on_the_short_way(shared):
    """A poll is over at its second, though nothing is written."""
    ends = (shared.clock() + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    said = {"title": "Where to?", "candidates": ["Lake", "Hut"], "expiresAt": ends}
    poll = f"{API}/polls/{data(await ask(shared.client, 'POST', '/polls', said), 201)['id']}"
    await shared.known(poll)
    with shared.ways.short(), shared.moved(hours=1):
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
    with shared.ways.short():
        with shared.moved(days=29):
            assert (await shared.get(f"{API}/me", "hal")).status_code == 200
        with shared.moved(days=30, seconds=-1):
            assert (await shared.get(f"{API}/me", "hal")).status_code == 200
    with shared.moved(days=30):
        assert (await shared.get(f"{API}/me", "ida")).status_code == 401
        with shared.ways.short():
            assert (await shared.get(f"{API}/me", "hal")).status_code == 200
    with shared.moved(days=60):
        assert (await shared.get(f"{API}/me", "hal")).status_code == 401
    with shared.ways.short():
        assert (await shared.get(f"{API}/me", "ida")).status_code == 200
