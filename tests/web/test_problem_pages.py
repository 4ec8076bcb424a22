import re
from collections.abc import Iterator
from uuid import uuid4

import pytest

from potluck.suite import APPS
from potluck.web import health
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import PROBLEMS, NotFound, ProblemError
from tests.toy import NotesApp
from tests.web.reading import BROWSER, Page
from tests.web.suites import suite_on


@pytest.fixture
async def client(tmp_path):
    async with suite_on(tmp_path, (NotesApp,)) as (client, _):
        yield client


async def test_nothing_there_is_a_page_for_people_and_a_problem_for_programs(client):
    page = await client.get("/nowhere", headers=BROWSER)
    assert page.status_code == 404
    words = Page(page.text).words
    assert "Not found" in words
    assert page.headers["x-request-id"] in words
    for accept in ("*/*", "application/json", "application/problem+json"):
        problem = await client.get("/nowhere", headers={"accept": accept})
        assert problem.status_code == 404
        assert problem.headers["content-type"] == "application/problem+json"
        assert problem.json()["status"] == 404


async def test_every_problem_has_a_page_and_the_list_leads_to_it(client):
    listed = await client.get("/problems", headers=BROWSER)
    leads = {each["href"] for each in Page(listed.text).all("a") if each["href"].startswith("/problems/")}
    assert {f"/problems/{each.slug}" for each in PROBLEMS} < leads
    # The toy's own problem is there like any other.
    assert "/problems/last-admin" in leads
    for address in sorted(leads):
        page = await client.get(address, headers=BROWSER)
        assert page.status_code == 200
        assert f'"{address}"' in Page(page.text).words
    assert (await client.get("/problems/of-my-own", headers=BROWSER)).status_code == 404


async def test_who_is_not_signed_in_is_led_to_sign_in_and_back(client):
    page = await client.get("/notes?part=2", headers=BROWSER)
    assert (page.status_code, page.headers["location"]) == (303, "/sign-in?next=/notes%3Fpart%3D2")


async def test_what_is_no_page_says_where_to_sign_in(client):
    events = f"/notes/{uuid4()}/notes/events"
    page = await client.get(f"{events}?since=2", headers=BROWSER)
    assert page.status_code == 401
    assert f"/sign-in?next={events}%3Fsince%3D2" in [each["href"] for each in Page(page.text).all("a")]


async def test_a_defect_is_answered_with_a_number_and_no_internals(client, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(health, "JSONResponse", broken)
    answer = await client.get("/livez", headers=BROWSER)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert re.search(r"request id\s+[0-9a-f]{32}", Page(answer.text).words)


def kinds_of(error: type[ProblemError]) -> Iterator[type[ProblemError]]:
    for each in error.__subclasses__():
        yield each
        yield from kinds_of(each)


async def test_every_problem_of_every_app_has_its_page(tmp_path):
    async with suite_on(tmp_path, APPS) as (client, _):
        # Those of this suite's own apps, whatever else the tests have declared.
        kinds = [each for each in kinds_of(ProblemError) if each.__module__.startswith("potluck.")]
        # A place without words of its own says `last-manager`; the suite's one place has some.
        slugs = {each.problem.slug for each in kinds} - {"last-manager"}
        assert "passcode-needed" in slugs
        missing = [slug for slug in sorted(slugs) if (await client.get(f"/problems/{slug}")).status_code != 200]
        assert missing == []


def test_a_problem_without_a_slug_is_refused():
    with pytest.raises(
        DeclarationError, match=r'NotEnough: say which problem it is: .*slug="…", status=409, title="…"'
    ):

        class NotEnough(ProblemError):
            """There is less left."""


def test_a_problem_without_a_title_is_one_that_apps_share():
    with pytest.raises(DeclarationError, match=r"NotEnough: write a title; without one, the slug is one of .*expired"):

        class NotEnough(ProblemError, slug="not-enough"):
            """There is less left."""


def test_a_kind_of_another_problem_needs_no_slug():
    class NoShelf(NotFound, detail="There is no such shelf"):
        pass

    assert NoShelf.problem is NotFound.problem
