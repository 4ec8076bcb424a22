import asyncio

import pytest

from potluck.suite import APPS
from potluck.web import home
from potluck.web.app import HomeCard
from tests.toy import NotesApp
from tests.web.reading import BROWSER, Page, fields_of
from tests.web.suites import app_with, bearer, signed_up, suite_on


def speaking(name, card, address="/there"):
    """An app that has nothing but something to say."""
    return app_with(name, title=name.title(), icon="tag", does="…", address=address, home_card=card)


async def polls_card(caller):
    card = HomeCard("1 open")
    card.add("Where to in June?", f"Closes tonight, {caller.name}", "/p/1", "vote", "Vote")
    return card


async def quiet_card(_):
    return HomeCard("7 to buy")


async def failing_card(_):
    raise RuntimeError("no card today")


async def hanging_card(_):
    await asyncio.Event().wait()


async def front(folder, *apps):
    """The front page of somebody who is signed in."""
    async with suite_on(folder, apps) as (client, _):
        ada = await signed_up(client)
        answer = await client.get("/", headers=BROWSER | bearer(ada))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    return Page(answer.text)


async def test_a_visitor_reads_what_potluck_is_and_what_each_app_does(tmp_path):
    async with suite_on(tmp_path, [NotesApp]) as (client, _):
        answer = await client.get("/", headers=BROWSER)
        head = await client.head("/", headers=BROWSER)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    assert "Small apps to share with a household" in page.words
    assert "Notes in books that people share." in page.words
    # Nothing for developers, and nothing of an app that is not there.
    assert "DynamoDB" not in answer.text
    assert "No account needed" not in page.words
    links = [each["href"] for each in page.all("a")]
    assert {"/sign-in", "/sign-up", "/developers"} <= set(links)
    # The plate and the piece of an app that needs an account begin with one, and lead on.
    assert links.count("/sign-up?next=/notes") == 2
    assert (head.status_code, head.text) == (200, "")


async def test_what_needs_no_account_is_done_from_the_front_page(tmp_path):
    async with suite_on(tmp_path, APPS) as (client, _):
        text = (await client.get("/", headers=BROWSER)).text
        links = [each["href"] for each in Page(text).all("a")]
        assert fields_of(text, "/shareables/open") == {"id": ""}
        statuses = [
            (await client.get(address, headers=BROWSER)).status_code for address in ("/shareables/new", "/polls/new")
        ]
    assert statuses == [200, 200]
    assert {"/shareables/new", "/polls/new", "/shareables", "/polls"} <= set(links)
    assert {f"/sign-up?next=/{name}" for name in ("shopping", "journal", "library")} <= set(links)
    # A piece of each app is shown with its own drawings.
    assert {"Lake cabin", "Lemons", "Hours per week"} <= set(Page(text).texts)
    assert "The Left Hand" in text


async def test_developers_have_a_page_of_their_own(tmp_path):
    async with suite_on(tmp_path) as (client, _):
        page = Page((await client.get("/developers", headers=BROWSER)).text)
    assert {"The engine", "The library", "The command line", "The store answers"} <= set(page.texts)
    assert {"/schema", "/schema/openapi.json", "/problems", "/style"} <= {each.get("href") for each in page.all("a")}


@pytest.mark.parametrize(("registration", "offered"), [("open", True), ("invited", True), ("closed", False)])
async def test_an_account_is_offered_where_one_can_be_made(tmp_path, registration, offered):
    async with suite_on(tmp_path, registration=registration) as (client, _):
        page = Page((await client.get("/", headers=BROWSER)).text)
    assert ("/sign-up" in {each["href"] for each in page.all("a")}) is offered


async def test_plates_say_what_the_apps_say_and_lead_only_where_something_is(tmp_path):
    page = await front(tmp_path, speaking("polls", polls_card, "/polls"), speaking("shopping", quiet_card, "/shopping"))
    plates = {
        each["data-app"]: each.get("href") for each in page.all("a", "span") if "plate" in each.get("class", "").split()
    }
    assert plates == {"polls": "/polls", "shopping": "/shopping"}
    assert "1 open" in page.words
    assert "7 to buy" in page.words


async def test_what_waits_is_in_the_order_of_the_apps(tmp_path):
    async def other_card(_):
        card = HomeCard()
        card.add("Ida asks for Piranesi", "On the shelf", "/l/2", "library-big")
        return card

    page = await front(tmp_path, speaking("library", other_card), speaking("polls", polls_card))
    assert page.words.index("Ida asks for Piranesi") < page.words.index("Where to in June?")
    assert "Closes tonight, Ada" in page.words
    assert "2 things are waiting" in page.words


@pytest.mark.parametrize("card", [failing_card, hanging_card])
async def test_an_app_that_fails_or_hangs_is_left_out_and_named(tmp_path, monkeypatch, card):
    monkeypatch.setattr(home, "CARD_SECONDS", 0.05)
    page = await front(tmp_path, speaking("library", card), speaking("polls", polls_card))
    assert "Not available right now: Library" in page.words
    assert "Where to in June?" in page.words
    assert "no card today" not in page.words


async def test_nobody_is_greeted_by_the_servers_clock(tmp_path):
    page = await front(tmp_path, NotesApp)
    assert "Hello, Ada" in page.words
    assert "Good " not in page.words
