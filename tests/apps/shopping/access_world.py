"""Families for the access test: one with one of everything, and one of somebody else."""

from tests.web.access_worlds import AccessWorld, Members, Person, Suite
from tests.web.suites import API

__all__ = ["furnish"]

FAMILY = f"{API}/families/{{family_id}}"


async def furnish(suite: Suite) -> AccessWorld:
    ada, eve = await suite.person("Ada"), await suite.person("Eve")
    ids, ids_elsewhere = await furnished(suite, ada), await furnished(suite, eve)
    family = f"/families/{ids['family_id']}"

    async def join() -> Person:
        return await joined(suite, ada, ids["family_id"], "admin")

    async def remove(person: Person) -> None:
        await suite.data("DELETE", f"{family}/members/{person['userId']}", by=ada)

    async def demote(person: Person) -> None:
        people = await suite.data("GET", f"{family}/members", by=ada)
        (version,) = (each["version"] for each in people["items"] if each["memberId"] == person["userId"])
        change = {"role": "member", "version": version}
        await suite.data("PATCH", f"{family}/members/{person['userId']}", change, by=ada)

    removed = await join()
    await remove(removed)
    return AccessWorld(
        ids=ids,
        ids_elsewhere=ids_elsewhere,
        elsewhere=eve,
        outsiders={"a stranger": await suite.person("Stranger"), "a removed member": removed},
        members=Members(join=join, remove=remove, demote=demote),
        bodies={
            f"POST {FAMILY}/shopping-list": {"name": "Cake"},
            f"PATCH {FAMILY}/stores/{{store_id}}": {"name": "Baker", "version": 1},
            f"PATCH {FAMILY}/locations/{{location_id}}": {"name": "Attic", "version": 1},
            f"PATCH {FAMILY}/shopping-list/{{shopping_item_id}}/status": {"status": "purchased", "version": 1},
            f"POST {FAMILY}/undo": {"undoToken": ids.pop("undo_token")},
        },
    )


async def joined(suite: Suite, admin: Person, family_id: str, role: str) -> Person:
    invited = await suite.data("POST", f"/families/{family_id}/invitations", {"role": role}, by=admin)
    person = await suite.person("Friend")
    await suite.data("POST", "/invitations/accept", {"token": invited["token"]}, by=person)
    return person


async def furnished(suite: Suite, admin: Person) -> dict[str, str]:
    """The ids in a family with one of everything, and what brings back something that was cleared."""
    family_id = (await suite.data("POST", "/families", {"name": "Lovelace"}, by=admin))["familyId"]
    friend = await joined(suite, admin, family_id, "member")

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
        "family_id": family_id,
        "member_id": friend["userId"],
        "user_id": friend["userId"],
        "invitation_id": (await made("/invitations", role="member"))["id"],
        "item_id": milk["itemId"],
        "store_id": store["storeId"],
        "location_id": cellar["locationId"],
        "shopping_item_id": await purchased(itemId=milk["itemId"], storeId=store["storeId"]),
        "undo_token": cleared["undoToken"],
    }
