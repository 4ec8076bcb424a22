"""Shopping's forms without a browser: where each leads once it is accepted, and what the next page says."""

from typing import Any

import httpx
import pytest

from potluck.apps.shopping.app import ShoppingApp
from tests.web.reading import BROWSER, Page
from tests.web.suites import API, bearer, signed_up, suite_on


class Forms:
    """One person's forms below their family's pages."""

    def __init__(self, client: httpx.AsyncClient, person: dict[str, Any], page: str) -> None:
        self.client, self.person, self.page = client, person, page
        self.headers = bearer(person) | BROWSER | {"sec-fetch-site": "same-origin"}
        self.sending = self.headers | {"content-type": "application/x-www-form-urlencoded"}

    async def made(self, path: str, **body: Any) -> dict[str, Any]:
        family = self.page.rpartition("/")[2]
        answer = await self.client.post(f"{API}/families/{family}{path}", json=body, headers=bearer(self.person))
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def sent(self, path: str, **fields: str) -> tuple[str, str]:
        """Where the form leads, below the family's page, and what that page says."""
        answer = await self.client.post(f"{self.page}{path}", data=fields, headers=self.sending)
        assert answer.status_code == 303, answer.text
        address = answer.headers["location"]
        shown = await self.client.get(address, headers=self.headers)
        self.client.cookies.clear()
        return address.removeprefix(self.page), Page(shown.text).words


@pytest.fixture
async def forms(tmp_path):
    async with suite_on(tmp_path, (ShoppingApp,)) as (client, _):
        ada = await signed_up(client)
        answer = await client.post(f"{API}/families", json={"name": "Home"}, headers=bearer(ada))
        client.cookies.clear()
        yield Forms(client, ada, f"/shopping/{answer.json()['familyId']}")


async def says(words: str, forms: Forms, to: str, path: str, **fields: str) -> None:
    address, shown = await forms.sent(path, **fields)
    assert (address, words in shown) == (to, True), (path, address, words)


@pytest.mark.parametrize(
    ("kind", "id_name", "added", "saved", "gone"),
    [
        (
            "stores",
            "storeId",
            "Store added.",
            "Store saved.",
            "Store deleted. Its items stay, without a store.",
        ),
        (
            "locations",
            "locationId",
            "Location added.",
            "Location saved.",
            "Location deleted. Its items stay, without a location.",
        ),
    ],
)
async def test_stores_and_places_are_kept_on_one_page(forms, kind, id_name, added, saved, gone):
    await says(added, forms, "/stores", f"/{kind}", name="Corner")
    place = f"/{kind}/{(await forms.made(f'/{kind}', name='Market'))[id_name]}"
    await says(saved, forms, "/stores", place, name="Grocer", version="1")
    await says(gone, forms, "/stores", f"{place}/delete")


async def test_what_is_at_home(forms):
    await says(
        "Rice added to the inventory", forms, "/inventory", "/inventory", name="Rice", quantity="0", threshold="2"
    )
    await says("Items running low added to the list", forms, "", "/inventory/low-to-list")
    salt = f"/inventory/{(await forms.made('/inventory', name='Salt'))['itemId']}"
    await says("Salt added to the list", forms, "/inventory", f"{salt}/to-list", quantity="2")


async def test_what_is_to_buy(forms):
    item = f"/list/{(await forms.made('/shopping-list', name='Tea'))['shoppingItemId']}"
    await says("Green tea saved", forms, "", item, name="Green tea", quantity="1", version="1")
    await says("Green tea purchased", forms, "", f"{item}/status", status="purchased", version="2")
    await says(
        "Green tea is back on the list", forms, "?purchased=open", f"{item}/status", status="pending", version="3"
    )
    await says("Item removed", forms, "", f"{item}/delete")
    rice = (await forms.made("/inventory", name="Rice"))["itemId"]
    bought = f"/list/{(await forms.made('/shopping-list', itemId=rice))['shoppingItemId']}"
    await forms.sent(f"{bought}/status", status="purchased", version="1")
    await says("Rice restocked", forms, "", f"{bought}/restock")


async def test_what_is_purchased_is_cleared_and_brought_back_by_the_button_of_the_message(forms):
    item = f"/list/{(await forms.made('/shopping-list', name='Tea'))['shoppingItemId']}"
    await forms.sent(f"{item}/status", status="purchased", version="1")
    answer = await forms.client.post(f"{forms.page}/list/clear-purchased", headers=forms.sending)
    shown = Page((await forms.client.get(answer.headers["location"], headers=forms.headers)).text)
    forms.client.cookies.clear()
    assert "Purchased items cleared" in shown.words
    assert f"{forms.page}/list/undo" in [form.get("action") for form in shown.all("form")]
    (token,) = [field["value"] for field in shown.all("input") if field.get("name") == "undoToken"]
    await says("Purchased items restored", forms, "", "/list/undo", undoToken=token)


async def test_the_family_s_name_and_invitations(forms):
    settings = "/members"
    await says("Name changed.", forms, settings, "/name", name="Lund Street", version="1")
    invitation = f"/invitations/{(await forms.made('/invitations', role='member'))['id']}/withdraw"
    await says("Invitation withdrawn.", forms, settings, invitation)
    await says("Too late: the invitation was used or has expired.", forms, settings, invitation)
