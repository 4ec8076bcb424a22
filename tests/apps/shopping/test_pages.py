"""Shopping's pages without a browser: nobody sees or does anything in another family, and nothing of anyone is kept."""

import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from potluck.apps.shopping.app import ShoppingApp
from potluck.web import storage_quota as quota_module
from potluck.web.http.application import Application
from potluck.web.storage_quota import Measured
from tests.web.suites import API, bearer, rows_of, signed_up, suite_on

# What any of the forms takes, so that none is refused for what is filled in.
FORM = {
    "name": "Theirs", "version": "1", "lines": "Milk", "status": "purchased", "quantity": "2", "role": "member",
    "by": "1", "sure": "on", "undoToken": str(uuid4()), "threshold": "1",
}  # fmt: skip


@pytest.fixture
async def suite(tmp_path) -> AsyncIterator[tuple[httpx.AsyncClient, Application]]:
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, application):
        yield client, application


async def made(client: httpx.AsyncClient, who: dict[str, Any], path: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"{API}{path}", json=body, headers=bearer(who))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def a_family(client: httpx.AsyncClient, who: dict[str, Any]) -> dict[str, str]:
    """One of each thing that pages have in their addresses."""
    family = (await made(client, who, "/families", name="Lund Street 7"))["familyId"]
    home = f"/families/{family}"
    return {
        "family_id": family,
        "shopping_item_id": (await made(client, who, f"{home}/shopping-list", name="Lemons"))["shoppingItemId"],
        "item_id": (await made(client, who, f"{home}/inventory", name="Rice"))["itemId"],
        "store_id": (await made(client, who, f"{home}/stores", name="Corner"))["storeId"],
        "location_id": (await made(client, who, f"{home}/locations", name="Pantry"))["locationId"],
        "invitation_id": (await made(client, who, f"{home}/invitations", role="member"))["id"],
        "member_id": who["userId"],
    }


def pages_of(application: Application) -> list[tuple[str, str]]:
    """Every page of a family, with its method."""
    found = [each for each in application.router.addresses() if each[1].startswith("/shopping/{family_id}")]
    assert len(found) > 30
    return sorted(found)


def filled(path: str, ids: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: ids[match[1]], path)


async def asked(client: httpx.AsyncClient, who: dict[str, Any], method: str, path: str) -> httpx.Response:
    headers = bearer(who) | {"accept": "text/html", "sec-fetch-site": "same-origin"}
    sent = FORM | ({"status": "archived"} if path.endswith("/keep") else {})
    # A token needs no cookies, and with one, such as a flash message, the request would have to name its origin.
    client.cookies.clear()
    return await client.request(method, path, headers=headers, data=sent if method == "POST" else None)


async def everything(application: Application) -> dict[str, Any]:
    """All rows but those by which background work finds its owner."""
    rows = await rows_of(application.state.engine)
    return {table: found for table, found in rows.items() if table != "BackgroundWork"}


async def test_every_page_of_another_family_is_as_one_that_never_was(suite):
    client, application = suite
    ada = await signed_up(client)
    eve = await signed_up(client, "eve@example.org", "Eve")
    theirs = await a_family(client, ada)
    own = await a_family(client, eve)
    never = {name: str(uuid4()) for name in theirs}
    before = await everything(application)
    for method, path in pages_of(application):
        mixed = [theirs] + [own | {name: theirs[name]} for name in re.findall(r"\{(\w+)\}", path)[1:]]
        nothing = await asked(client, eve, method, filled(path, never))
        for ids in mixed:
            answer = await asked(client, eve, method, filled(path, ids))
            if (answer.status_code, path.rsplit("/", 1)[-1]) == (303, "withdraw"):
                # Of an invitation that is not there, as of one that was used, it is said that it is too late.
                continue
            assert (answer.status_code, nothing.status_code) == (404, 404), (method, path)
            assert "Lemons" not in answer.text
    assert await everything(application) == before


async def test_whoever_is_not_signed_in_is_led_to_where_one_signs_in(suite):
    client, application = suite
    ids = await a_family(client, await signed_up(client))
    client.cookies.clear()
    for method, path in pages_of(application):
        answer = await client.request(method, filled(path, ids), headers={"accept": "text/html"}, data=FORM)
        if method == "GET":
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/sign-in?next=/shopping/")
        else:
            assert answer.status_code == 401


async def test_the_page_that_browsers_keep_is_the_same_for_everyone(suite):
    client, _ = suite
    ada = await signed_up(client)
    ids = await a_family(client, ada)
    mine = await client.get("/shopping/offline", headers=bearer(ada))
    nobodys = await client.get("/shopping/offline")
    assert mine.text == nobodys.text
    assert not [word for word in (*ids.values(), "Ada", "ada@example.org") if word in mine.text]


async def test_no_words_of_an_address_are_put_into_the_page(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]

    async def said(what: str, of: str) -> str:
        return (await asked(client, ada, "GET", f"/shopping/{family}?said={what}&of={of}")).text

    for what in ("several", "added", "purchased", "cleared", "x"):
        text = await said(what, "Locked,+call+0900:+7")
        assert ("call 0900" in text, 'class="toast"' in text) == (False, False), what


async def test_what_is_low_is_offered_first(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]
    home = f"/families/{family}"
    for name, quantity in (("Apples", 9), ("Crème fraîche", 0)):
        await made(client, ada, f"{home}/inventory", name=name, quantity=quantity, threshold=1)
    await made(client, ada, f"{home}/shopping-list", name="Oat milk")
    text = (await asked(client, ada, "GET", f"/shopping/{family}")).text
    offered = re.search(r'aria-label="Suggestions".*?</ul>', text, re.DOTALL)
    assert offered
    # Apples are also a staple, and there once.
    names = re.findall(r"</svg>([^<]+)</button>", offered[0])
    assert names == ["Crème fraîche", "Apples", "Milk", "Bread", "Eggs", "Butter", "Cheese", "Potatoes"]


# --- what forms do ----------------------------------------------------------------------------------------------------


async def posted(client: httpx.AsyncClient, who: dict[str, Any], path: str, **sent: str) -> httpx.Response:
    named = {"accept": "text/html", "sec-fetch-site": "same-origin"}
    return await client.post(path, data=sent, headers=bearer(who) | named)


async def listed(client: httpx.AsyncClient, who: dict[str, Any], family: str) -> list[dict[str, Any]]:
    answer = await client.get(f"{API}/families/{family}/shopping-list", headers=bearer(who))
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def test_what_is_typed_is_the_thing_at_home_of_that_name_and_asks_before_it_is_there_twice(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]
    page = f"/shopping/{family}"
    rice = await made(client, ada, f"/families/{family}/inventory", name="Rice", unit="kg")
    first = await posted(client, ada, f"{page}/list", lines="2 rice", itemId="", storeId="", shoppingItemId="")
    (item,) = await listed(client, ada, family)
    assert first.headers["location"] == page
    assert [item[each] for each in ("itemId", "name", "quantity", "unit")] == [rice["itemId"], "Rice", 2, "kg"]
    twice = await posted(client, ada, f"{page}/list", lines="3 RICE")
    assert twice.status_code == 409
    assert 'name="quantity" value="5">Make it 5 kg' in twice.text
    assert 'name="lines" value="3 RICE"' in twice.text
    assert (await posted(client, ada, f"{page}/list", lines="3 RICE", allowDuplicate="on")).status_code == 303
    # Free text has no guard, and its name is looked for all the same.
    assert (await posted(client, ada, f"{page}/list", lines="Cake")).status_code == 303
    assert "Cake is already on the list (1)" in (await posted(client, ada, f"{page}/list", lines="cake")).text
    several = await posted(client, ada, f"{page}/list", lines="tea\nsalt", storeId="")
    assert several.headers["location"] == page
    assert len(await listed(client, ada, family)) == 5


async def test_a_form_that_is_sent_twice_adds_one_thing(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]
    chosen = str(uuid4())
    for _ in range(2):
        answer = await posted(client, ada, f"/shopping/{family}/list", lines="Cake", shoppingItemId=chosen)
        assert answer.headers["location"] == f"/shopping/{family}"
    assert len(await listed(client, ada, family)) == 1


async def test_a_tick_holds_whatever_else_was_changed_and_keeps_the_consent_to_a_duplicate(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]
    rice = await made(client, ada, f"/families/{family}/inventory", name="Rice")
    item = await made(client, ada, f"/families/{family}/shopping-list", itemId=rice["itemId"])
    path = f"/shopping/{family}/list/{item['shoppingItemId']}"
    assert (await posted(client, ada, f"{path}/quantity", quantity="2", version="1")).status_code == 303
    # The page that this is ticked on shows version 1.
    ticked = await posted(client, ada, f"{path}/status", status="purchased", version="1")
    assert ticked.headers["location"] == f"/shopping/{family}"
    await made(client, ada, f"/families/{family}/shopping-list", itemId=rice["itemId"])
    refused = await posted(client, ada, f"{path}/status", status="pending", version="1")
    assert refused.status_code == 409
    back = await posted(client, ada, f"{path}/status", status="pending", version="1", allowDuplicate="on")
    assert back.status_code == 303
    assert {each["status"] for each in await listed(client, ada, family)} == {"pending"}


async def test_a_quantity_that_meets_another_change_shows_both_with_what_was_typed(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]
    item = await made(client, ada, f"/families/{family}/shopping-list", name="Cake", notes="big")
    path = f"/shopping/{family}/list/{item['shoppingItemId']}"
    assert (await posted(client, ada, f"{path}/quantity", quantity="2", version="1")).status_code == 303
    clash = await posted(client, ada, f"{path}/quantity", quantity="7", version="1")
    assert clash.status_code == 409
    assert "You also changed <bdi>Cake</bdi> somewhere else. Which version do you want to keep?" in clash.text
    for kept in ('name="version" value="2"', 'name="quantity" value="7"', 'name="theirs:quantity" value="2"'):
        assert kept in clash.text
    answer = {"version": "2", "quantity": "7", "theirs:quantity": "2", "keep:quantity": "mine"}
    assert (await posted(client, ada, path, **answer)).status_code == 303
    (item,) = await listed(client, ada, family)
    assert (item["quantity"], item["notes"]) == (7, "big")


@pytest.mark.parametrize(
    ("path", "sent", "wrong"),
    [
        ("/list/{shopping_item_id}", {"name": "", "quantity": "1", "version": "1"}, "name"),
        ("/list/{shopping_item_id}", {"name": "Cake", "notes": "x" * 501, "version": "1"}, "notes"),
        ("/inventory", {"name": "", "quantity": "1", "threshold": "0"}, "new-name"),
        ("/inventory", {"name": "Rice", "unit": "x" * 51, "quantity": "1", "threshold": "0"}, "new-unit"),
        ("/stores", {"name": "Market", "address": "x" * 201}, "store-address"),
        ("/locations", {"name": "Loft", "description": "x" * 201}, "location-description"),
        ("/stores/{store_id}", {"name": "Corner", "address": "x" * 201, "version": "1"}, "more"),
        ("/invitations", {"role": "member", "email": "for Zed"}, "email"),
    ],
)
async def test_a_form_that_is_refused_says_why_beside_the_field_and_leads_there(suite, path, sent, wrong):
    client, _ = suite
    ada = await signed_up(client)
    ids = await a_family(client, ada)
    again = await posted(client, ada, filled(f"/shopping/{{family_id}}{path}", ids), **sent)
    assert again.status_code == 422
    assert f'id="{wrong}-error"' in again.text
    assert re.findall(r'<(?:input|textarea) id="([\w-]+)"[^>]* autofocus', again.text) == [wrong]


async def test_what_runs_low_is_put_on_the_list_once(suite):
    client, _ = suite
    ada = await signed_up(client)
    family = (await made(client, ada, "/families", name="Home"))["familyId"]
    for name, quantity in (("Tea", 0), ("Salt", 1), ("Rice", 9)):
        await made(client, ada, f"/families/{family}/inventory", name=name, quantity=quantity, threshold=2)
    for _ in range(2):
        answer = await posted(client, ada, f"/shopping/{family}/inventory/low-to-list")
        assert answer.headers["location"] == f"/shopping/{family}"
        assert {each["name"] for each in await listed(client, ada, family)} == {"Tea", "Salt"}
        assert len(await listed(client, ada, family)) == 2


async def test_what_is_deleted_by_a_page_is_deleted_however_full_the_store_is(suite, monkeypatch):
    client, application = suite
    ada = await signed_up(client)
    ids = await a_family(client, ada)
    quota = application.state.core.storage_quota
    monkeypatch.setattr(quota, "_measure", lambda: Measured(1 << 60, 1 << 60, 1 << 60))
    monkeypatch.setattr(quota_module, "MEASURED_EVERY_SECONDS", 0.0)
    assert (await asked(client, ada, "POST", f"/shopping/{ids['family_id']}/inventory")).status_code == 503
    freeing = [each for each in pages_of(application) if each[1].endswith(("/delete", "/clear-purchased", "/withdraw"))]
    assert len(freeing) > 5
    # The things of the family before the family itself.
    for method, path in sorted(freeing, key=lambda each: -len(each[1])):
        answer = await asked(client, ada, method, filled(path, ids))
        assert answer.status_code == (303 if method == "POST" else 200), (path, answer.text)
