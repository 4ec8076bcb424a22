import asyncio
import re
from collections.abc import Iterator

import pytest
from litestar.testing import TestClient

from potluck import suite
from potluck.engines import DynamoError
from potluck.settings import Settings
from potluck.web import dishes, health, security
from tests.web.reading import BROWSER, Page


@pytest.fixture
def client(tmp_path) -> Iterator[TestClient]:
    with TestClient(app=suite.assemble(Settings(data=tmp_path / "data"))) as client:
        yield client


def test_the_page_says_what_potluck_is_and_what_is_not_here_yet(client):
    answer = client.get("/", headers=BROWSER)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    words = Page(answer.text).words
    assert "Potluck is a small suite of apps" in words
    for dish in dishes.DISHES:
        assert dish.does in words
    assert words.count("Not here yet") == len(dishes.DISHES) == 5
    assert "The store answers" in words


@pytest.mark.parametrize("path", ["/", "/healthz", "/static/shell.css", "/nowhere", "/static/nowhere.css"])
def test_every_answer_carries_the_security_headers(client, path):
    headers = client.get(path).headers
    for name, value in security.HEADERS.items():
        assert headers[name] == value
    assert "unsafe" not in headers["content-security-policy"]
    assert "default-src 'self'" in headers["content-security-policy"]


def test_health_and_readiness_ask_the_engine(client):
    assert (client.get("/healthz").status_code, client.get("/healthz").json()) == (
        200,
        {"status": "ok", "engine": "embedded"},
    )
    assert client.get("/readyz").json() == {"status": "ready", "engine": "embedded"}
    assert client.get("/healthz").headers["cache-control"] == "no-store"


class Failing:
    async def call(self, operation, request):
        raise DynamoError("InternalServerError", "the disk is on fire")

    async def close(self):
        pass


class Hanging(Failing):
    async def call(self, operation, request):
        await asyncio.Event().wait()


@pytest.mark.parametrize("engine", [Failing, Hanging])
def test_an_engine_that_does_not_answer_is_reported_without_its_words(tmp_path, monkeypatch, engine):
    async def open_engine(*_, **__):
        return engine()

    monkeypatch.setattr(suite, "open_engine", open_engine)
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.05)
    with TestClient(app=suite.assemble(Settings(data=tmp_path))) as client:
        for path in ("/healthz", "/readyz"):
            answer = client.get(path)
            assert answer.status_code == 503
            assert "fire" not in answer.text
        page = client.get("/")
        assert page.status_code == 200
        assert "The store does not answer just now" in page.text


def test_nothing_there_is_a_page_for_people_and_a_problem_for_programs(client):
    page = client.get("/nowhere", headers=BROWSER)
    assert page.status_code == 404
    assert "Nothing on this plate" in page.text
    for accept in ("*/*", "application/json", "application/problem+json"):
        problem = client.get("/nowhere", headers={"accept": accept})
        assert problem.status_code == 404
        assert problem.headers["content-type"] == "application/problem+json"
        assert problem.json()["status"] == 404


def test_a_method_an_address_does_not_take_is_405_and_says_what_it_takes(client):
    answer = client.post("/healthz")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


def test_a_defect_is_answered_with_a_number_and_no_internals(tmp_path, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(health, "_report", broken)
    with TestClient(app=suite.assemble(Settings(data=tmp_path)), raise_server_exceptions=False) as client:
        answer = client.get("/healthz")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    number = re.search(r"Number ([0-9a-f]{32})", answer.json()["detail"])[1]
    assert number in caplog.text
    assert "the secret inside" in caplog.text


def test_the_store_is_made_for_its_owner_only(client, tmp_path):
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "data" / "potluck.db").is_file()


def test_head_is_answered_like_get_without_the_body(client):
    answer = client.head("/")
    assert answer.status_code == 200
    assert answer.text == ""
