"""What a family may hold is bounded, and said."""

import pytest

from potluck.apps.shopping import inventory, locations, shopping_list, stores
from potluck.apps.shopping.app import ShoppingApp
from potluck.apps.shopping.families import families
from tests.web.suites import ask, data, problem, signed_up, suite_on


@pytest.mark.parametrize(
    ("module", "bound", "path", "field"),
    [
        (stores, "MOST_STORES", "stores", "name"),
        (locations, "MOST_LOCATIONS", "locations", "name"),
        (inventory, "MOST_AT_HOME", "inventory", "name"),
        (shopping_list, "MOST_LISTED", "shopping-list", "name"),
    ],
)
async def test_a_family_has_only_so_many(tmp_path, monkeypatch, module, bound, path, field):
    monkeypatch.setattr(module, bound, 2)
    async with suite_on(tmp_path, [ShoppingApp]) as (client, _):
        ada = await signed_up(client)
        family, other = [
            data(await ask(client, "POST", "/families", {"name": name}, by=ada), 201)["familyId"] for name in "AB"
        ]
        at = f"/families/{family}/{path}"
        for number in range(2):
            data(await ask(client, "POST", at, {field: f"Thing {number}"}, by=ada), 201)
        full = problem(await ask(client, "POST", at, {field: "One more"}, by=ada), 409, "too-many")
        assert full["atMost"] == 2
        data(await ask(client, "POST", f"/families/{other}/{path}", {field: "Thing"}, by=ada), 201)


async def test_lines_that_are_pasted_fit_all_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(shopping_list, "MOST_LISTED", 2)
    async with suite_on(tmp_path, [ShoppingApp]) as (client, _):
        ada = await signed_up(client)
        family = data(await ask(client, "POST", "/families", {"name": "A"}, by=ada), 201)["familyId"]
        at = f"/families/{family}/shopping-list"
        problem(await ask(client, "POST", f"{at}/bulk", {"lines": "tea\nsalt\nmilk"}, by=ada), 409, "too-many")
        assert data(await ask(client, "GET", at, by=ada))["items"] == []
        data(await ask(client, "POST", f"{at}/bulk", {"lines": "tea\nsalt"}, by=ada), 201)


async def test_a_person_makes_only_so_many_families(tmp_path, monkeypatch):
    monkeypatch.setattr(families, "most_places", 2)
    async with suite_on(tmp_path, [ShoppingApp]) as (client, _):
        ada, ben = await signed_up(client), await signed_up(client, "ben@example.org", "Ben")
        for name in "AB":
            data(await ask(client, "POST", "/families", {"name": name}, by=ada), 201)
        problem(await ask(client, "POST", "/families", {"name": "C"}, by=ada), 409, "too-many")
        data(await ask(client, "POST", "/families", {"name": "C"}, by=ben), 201)
