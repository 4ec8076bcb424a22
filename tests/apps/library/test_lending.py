"""Lending: who has what, by person however the name is spelled, and until when."""

import re

import pytest

from potluck.table.keys.folding import fold
from tests.apps.library.calls import calls_on, data, problem
from tests.web.reading import BROWSER, Page
from tests.web.suites import bearer

# By the clock of the suite under test.
YESTERDAY, TODAY = "2039-12-31", "2040-01-01"


@pytest.fixture
async def calls(tmp_path):
    async with calls_on(tmp_path) as calls:
        yield calls


async def lent_out(calls, *borrowers):
    ada = await calls.person()
    home = await calls.library(ada)
    for number, borrower in enumerate(borrowers):
        book = await calls.make(f"{home}/books", {"title": f"Book {number}"}, by=ada)
        data(await calls.ask("POST", f"{home}/items/{book['itemId']}/lend", {"to": borrower}, by=ada))
    return ada, home


async def test_a_borrower_is_one_person_however_the_name_is_spelled(calls):
    ada, home = await lent_out(calls, "Carla", "Bo", "carla", "CÁRLA ")
    text = (await calls.client.get("/library/lent", headers=bearer(ada) | BROWSER)).text
    names = re.findall("<h2[^>]*><bdi>(.*?)</bdi>", text)
    assert sorted(map(fold, names)) == ["bo", "carla"]
    assert "4 items lent to 2 people" in Page(text).words
    loans = (await calls.get("/loans", by=ada))["items"]
    assert [fold(each["lentTo"]) for each in loans] == ["bo", "carla", "carla", "carla"]
    book = await calls.make(f"{home}/books", {"title": "Next"}, by=ada)
    address = f"/library/{home.removeprefix('/libraries/')}/items/{book['itemId']}"
    page = Page((await calls.client.get(address, headers=bearer(ada) | BROWSER)).text)
    buttons = [each["value"] for each in page.all("button") if each.get("name") == "to"]
    assert list(map(fold, buttons)) == ["carla", "bo"]
    assert "Has 3 items of yours" in page.words


async def test_a_return_date_in_the_past_is_refused_and_nothing_is_lent(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    book = await calls.make(f"{home}/books", {"title": "One"}, by=ada)
    item = f"{home}/items/{book['itemId']}"
    refused = problem(
        await calls.ask("POST", f"{item}/lend", {"to": "Bo", "until": YESTERDAY}, by=ada), 422, "invalid-fields"
    )
    assert refused["errors"] == [
        {"field": "until", "message": "The return date is in the past. Choose today or a later day."}
    ]
    assert (await calls.get(item, by=ada))["lentTo"] is None
    form = await calls.client.post(
        f"/library{item.removeprefix('/libraries')}/lend",
        data={"to": "Bo", "until": YESTERDAY},
        headers=bearer(ada) | BROWSER | {"sec-fetch-site": "same-origin"},
    )
    assert "The return date is in the past" in Page(form.text).words
    assert data(await calls.ask("POST", f"{item}/lend", {"to": "Bo", "until": TODAY}, by=ada))["lentTo"] == "Bo"


async def test_a_film_cannot_be_looked_up_where_no_service_is_set_up(calls):
    ada = await calls.person()
    home = await calls.library(ada)
    said = data(await calls.client.get("/api/v1/lookup/video", params={"title": "Solaris"}, headers=bearer(ada)))
    assert said == {"outcome": "no-service", "matches": []}
    address = f"/library/{home.removeprefix('/libraries/')}/add?kind=video&title=Solaris"
    page = Page((await calls.client.get(address, headers=bearer(ada) | BROWSER)).text)
    assert "No film catalogue is set up on this server" in page.words
