"""The first list: someone without a household adds an item, and that is all it takes."""

import asyncio
from uuid import uuid4

import pytest

from potluck.apps.shopping.app import ShoppingApp
from tests.web.reading import BROWSER, Page
from tests.web.suites import API, bearer, signed_up, suite_on

SENDING = BROWSER | {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def person(tmp_path):
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, _):
        ada = await signed_up(client)
        client.cookies.clear()
        client.headers.update(bearer(ada))
        yield client


async def first_page(person):
    return Page((await person.get("/shopping", headers=BROWSER)).text)


def hidden(page):
    return {field["name"]: field["value"] for field in page.all("input") if field.get("name") in ("name", "familyId")}


async def send(person, **fields):
    return await person.post("/shopping/first", data=fields, headers=SENDING)


async def households(person):
    return (await person.get(f"{API}/families")).json()["items"]


async def to_buy(person):
    (family,) = await households(person)
    items = (await person.get(f"{API}/families/{family['familyId']}/shopping-list")).json()["items"]
    return {item["name"]: item["quantity"] for item in items}


async def test_the_first_item_makes_a_household_named_after_the_person(person):
    answer = await send(person, lines="2 milk", **hidden(await first_page(person)))
    (family,) = await households(person)
    assert (family["name"], family["role"]) == ("Ada’s household", "admin")
    assert answer.headers["location"] == f"/shopping/{family['familyId']}"
    assert await to_buy(person) == {"milk": 2}


async def test_a_suggestion_is_one_tap_and_does_not_lose_what_was_typed(person):
    page = await first_page(person)
    (milk,) = [button for button in page.all("button") if button.get("value") == "Milk"]
    await send(person, lines="3 rolls", **{milk["name"]: milk["value"]}, **hidden(page))
    assert await to_buy(person) == {"Milk": None, "rolls": 3}


async def test_sent_twice_it_makes_one_household(person):
    fields = hidden(await first_page(person))
    first, second = [await send(person, lines="Milk", **fields) for _ in range(2)]
    assert first.headers["location"] == second.headers["location"]
    assert await to_buy(person) == {"Milk": None}


async def test_sent_several_times_at_once_each_leads_to_the_one_household(person):
    fields = hidden(await first_page(person))
    answers = await asyncio.gather(*(send(person, lines="Milk", **fields) for _ in range(5)))
    assert {answer.headers.get("location") for answer in answers} == {f"/shopping/{fields['familyId']}"}
    assert await to_buy(person) == {"Milk": None}


async def test_a_household_can_have_another_name_and_begin_empty(person):
    await send(person, **hidden(await first_page(person)) | {"name": "Mat club"}, empty="on")
    assert [family["name"] for family in await households(person)] == ["Mat club"]
    assert await to_buy(person) == {}


@pytest.mark.parametrize(
    ("fields", "focused", "words"),
    [
        ({"lines": " "}, "add", "Please enter an item."),
        ({"lines": "x" * 101}, "add", "Use up to 100 characters per item."),
        ({"lines": "Milk", "name": ""}, "name", "Please enter a name of up to 100 characters."),
    ],
)
async def test_what_is_missing_is_said_at_its_field_and_nothing_is_made(person, fields, focused, words):
    answer = await send(person, **hidden(await first_page(person)) | fields)
    assert answer.status_code == 422
    page = Page(answer.text)
    assert words in page.words
    assert [field["id"] for field in page.all("input") if "autofocus" in field] == [focused]
    assert await households(person) == []


async def test_the_household_of_someone_else_is_neither_shown_nor_changed(person):
    fields = hidden(await first_page(person))
    await send(person, lines="Milk", **fields)
    eve = await signed_up(person, "eve@example.org", "Eve")
    person.cookies.clear()
    answer = await person.post("/shopping/first", data=fields | {"lines": "Tea"}, headers=SENDING | bearer(eve))
    assert "Milk" not in answer.text
    assert (await person.get(answer.headers["location"], headers=BROWSER | bearer(eve))).status_code == 404
    assert await to_buy(person) == {"Milk": None}


async def test_a_household_that_is_being_deleted_is_not_made_again(tmp_path):
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, _):
        ada = await signed_up(client)
        client.cookies.clear()
        client.headers.update(bearer(ada))
        fields = hidden(await first_page(client))
        await send(client, lines="Milk", **fields)
        home = f"{API}/families/{fields['familyId']}"
        assert (await client.delete(home)).status_code == 204
        # What is left of it is there until the consumer has run.
        assert (await send(client, lines="Tea", **fields)).status_code == 409
        assert (await client.get(home)).status_code == 404


async def test_a_list_without_a_past_suggests_staples_and_a_household_of_one_to_invite_someone(person):
    answer = await send(person, lines="Milk", **hidden(await first_page(person)))
    address = answer.headers["location"]
    page = Page((await person.get(address, headers=BROWSER)).text)
    chips = [button.get("value") for button in page.all("button") if button.get("class") == "chip"]
    assert "Bread" in chips
    assert "Milk" not in chips
    assert f"{address}/members#invite" in [link.get("href") for link in page.all("a")]


async def test_a_suggested_id_of_no_form_is_refused(person):
    answer = await send(person, name="Home", lines="Milk", familyId=f"{uuid4()}x")
    assert answer.status_code == 422
