"""Families for the access test: what is in one, and what is sent where the example of the API document would not do."""

from typing import Any

from tests.web.access_worlds import AccessWorld, Person, Suite
from tests.web.place_world import furnish_place
from tests.web.suites import API

__all__ = ["furnish"]

FAMILY = f"{API}/families/{{family_id}}"


async def furnish(suite: Suite) -> AccessWorld:
    return await furnish_place(suite, things, bodies)


def bodies(ids: dict[str, str]) -> dict[str, Any]:
    return {
        f"POST {FAMILY}/shopping-list": {"name": "Cake"},
        f"PATCH {FAMILY}/stores/{{store_id}}": {"name": "Baker", "version": 1},
        f"PATCH {FAMILY}/locations/{{location_id}}": {"name": "Attic", "version": 1},
        f"PATCH {FAMILY}/shopping-list/{{shopping_item_id}}/status": {"status": "purchased", "version": 1},
        f"POST {FAMILY}/undo": {"undoToken": ids.pop("undo_token")},
    }


async def things(suite: Suite, admin: Person, family_id: str) -> dict[str, str]:
    """The ids of one of everything, and what brings back something that was cleared."""

    async def made(path: str, **said: str) -> dict[str, str]:
        found: dict[str, str] = await suite.data("POST", f"/families/{family_id}{path}", said, by=admin)
        return found

    cellar = await made("/locations", name="Cellar")
    milk = await made("/inventory", name="Milk", locationId=cellar["locationId"])
    store = await made("/stores", name="Grocer")

    async def purchased(**said: str) -> str:
        item_id = (await made("/shopping-list", **said))["shoppingItemId"]
        status = f"/families/{family_id}/shopping-list/{item_id}/status"
        await suite.data("PATCH", status, {"status": "purchased", "version": 1}, by=admin)
        return item_id

    await purchased(name="Bread")
    cleared = await suite.data("POST", f"/families/{family_id}/shopping-list/clear-purchased", by=admin)
    return {
        "item_id": milk["itemId"],
        "store_id": store["storeId"],
        "location_id": cellar["locationId"],
        "shopping_item_id": await purchased(itemId=milk["itemId"], storeId=store["storeId"]),
        "undo_token": cleared["undoToken"],
    }
