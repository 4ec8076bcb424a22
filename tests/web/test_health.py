import asyncio

import apsw
import pytest

from potluck.apps.library.app import LibraryApp
from potluck.engines import DynamoError
from potluck.web import health
from potluck.web.assets import assets_of
from potluck.web.http import security_headers as security
from tests.patience import until
from tests.web.reading import BROWSER, Page
from tests.web.suites import ask, signed_up, suite_on


@pytest.fixture
async def client(tmp_path):
    async with suite_on(tmp_path) as (client, _):
        yield client


@pytest.mark.parametrize(
    "path", ["/", assets_of([]).address("plate.svg"), "/nowhere", "/static/nowhere.css", "/sign-in"]
)
async def test_whatever_a_browser_shows_carries_the_security_headers(client, path):
    headers = (await client.get(path, headers={"accept": "text/html"})).headers
    for name, value in security.HEADERS.items():
        assert headers.get_list(name) == [value]
    assert "unsafe" not in headers["content-security-policy"]
    assert "default-src 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/livez", "/api/v1/nowhere", "/api/v1/me", "/schema/openapi.json"])
async def test_data_stays_data(client, path):
    headers = (await client.get(path)).headers
    assert "json" in headers["content-type"]
    for name, value in security.DATA_HEADERS.items():
        assert headers.get_list(name) == [value]
    assert headers.get_list("cache-control") != []


@pytest.mark.parametrize("file", ["page.css", "js/page.js", "vendor/figtree/figtree-latin.woff2"])
async def test_a_part_of_a_page_stays_what_it_is(client, file):
    headers = (await client.get(assets_of([]).address(file))).headers
    for name, value in security.DATA_HEADERS.items():
        assert headers.get_list(name) == [value]
    assert "immutable" not in (await client.get("/worker.js")).headers["cache-control"]
    # A worker is not a part of a page: it has the policy under which it runs.
    assert "default-src 'self'" in (await client.get("/worker.js")).headers["content-security-policy"]


async def test_a_suite_that_can_be_used_is_alive_and_ready(client):
    answer = await client.get("/livez")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})
    assert answer.headers["cache-control"] == "no-store"
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "engine": "embedded", "states": []})


class Failing:
    """An engine that made its tables, and has not answered since."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.failing = False

    async def call(self, operation, request):
        if not self.failing:
            return await self.engine.call(operation, request)
        raise DynamoError("InternalServerError", "the disk is on fire")

    async def changed(self, table, timeout):
        return await self.engine.changed(table, timeout)

    async def close(self):
        await self.engine.close()


class Hanging(Failing):
    async def call(self, operation, request):
        if not self.failing:
            return await self.engine.call(operation, request)
        return await asyncio.Event().wait()


@pytest.mark.parametrize("kind", [Failing, Hanging])
async def test_an_engine_that_does_not_answer_is_reported_without_its_words(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.05)
    engines = []

    def wrap(engine):
        engines.append(kind(engine))
        return engines[0]

    async with suite_on(tmp_path, wrap=wrap) as (client, _):
        engines[0].failing = True
        answer = await client.get("/readyz")
        assert answer.status_code == 503
        assert "fire" not in answer.text
        # It need not be restarted for that.
        assert (await client.get("/livez")).status_code == 200
        assert (await client.get("/", headers=BROWSER)).status_code == 200
        page = await client.get("/developers", headers=BROWSER)
        assert "The store doesn’t answer right now" in Page(page.text).words
        engines[0].failing = False


class Unread(Failing):
    """An engine whose streams cannot be read, though everything else can, and tables cannot be listed."""

    async def call(self, operation, request):
        assert operation != "ListTables"
        if operation == "DescribeStream" and self.failing:
            raise DynamoError("InternalServerError", "for the test")
        return await self.engine.call(operation, request)


async def test_it_is_ready_once_every_list_answers_and_needs_no_list_of_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.05)
    engines = []

    def wrap(engine):
        engines.append(Unread(engine))
        engines[0].failing = True
        return engines[0]

    async with suite_on(tmp_path, [LibraryApp], wrap=wrap) as (client, _):
        assert (await client.get("/readyz")).status_code == 503
        engines[0].failing = False

        async def ready():
            return (await client.get("/readyz")).status_code == 200

        await until(ready)
        ada = await signed_up(client)
        assert (await ask(client, "GET", "/libraries", by=ada)).status_code == 200


async def test_the_store_is_made_for_its_owner_only(client, tmp_path):
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "data" / "potluck.db").is_file()


async def test_a_method_an_address_does_not_take_is_405_and_says_what_it_takes(client):
    answer = await client.post("/livez")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


async def test_a_damaged_store_is_said_to_be_damaged_and_not_busy(tmp_path, caplog):
    async with suite_on(tmp_path):
        pass
    store = tmp_path / "data" / "potluck.db"
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    rows = "SELECT rootpage FROM sqlite_schema WHERE sql LIKE '%item BLOB%'"
    damaged = [root for (root,) in connection.execute(rows)]
    connection.close()
    async with suite_on(tmp_path) as (client, _):
        assert (await client.get("/readyz")).status_code == 200
        with store.open("r+b") as file:
            for page in damaged:
                file.seek((page - 1) * 4096)
                file.write(b"\xa5" * 4096)
        account = {"email": "ada@example.com", "password": "correct horse", "name": "Ada"}
        answer = await client.post("/api/v1/accounts", json=account)
        assert answer.status_code == 500
        assert answer.json()["type"].endswith("/store-damaged")
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "store is damaged")
        assert answer.json()["states"] == ["store-damaged"]
        assert (await client.get("/livez")).status_code == 200
        advice = [each for each in caplog.records if "restore a backup" in each.getMessage()]
        assert len(advice) == 1
