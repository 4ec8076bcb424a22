"""The shopping list over HTTP: the design's states, versions, duplicates, and doing each once."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from potluck.apps.shopping.clearing import CLEARED_AT_ONCE
from tests.apps.shopping.calls import data, one_suite, problem
from tests.stores import NOW

suite, calls, home = one_suite()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_item_through_the_design_s_states(home):
    calls, week = home.calls, timedelta(days=7)
    ben = await home.joined()
    grocer = await home.make("/stores", name="Grocer")
    answer = await home.ask(
        "POST",
        "/shopping-list",
        {"name": "Cake", "storeId": grocer["storeId"], "quantity": 1, "unit": "big", "notes": "For Sarah"},
        by=ben,
    )
    cake = data(answer, 201)
    assert cake == {
        "shoppingItemId": cake["shoppingItemId"],
        "familyId": home.family_id,
        "itemId": None,
        "name": "Cake",
        "storeId": grocer["storeId"],
        "storeName": "Grocer",
        "status": "pending",
        "quantity": 1,
        "unit": "big",
        "notes": "For Sarah",
        "version": 1,
        "ttl": None,
        "addedBy": ben["userId"],
        "addedByName": "Ben",
        "entityType": "ShoppingListItem",
        "updatedBy": None,
        "updatedByName": "Ben",
        "createdAt": "2040-01-01T12:00:00.000Z",
        "updatedAt": "2040-01-01T12:00:00.000Z",
        "restockedAt": None,
    }
    path = f"/shopping-list/{cake['shoppingItemId']}"
    assert data(await home.ask("GET", path)) == cake
    problem(await home.ask("PATCH", f"{path}/status", {"status": "purchased"}), 428, "version-needed")
    calls.clock.forward(hours=1)
    bought = data(await home.ask("PATCH", f"{path}/status", {"status": "purchased", "version": 1}))
    ttl = int((NOW + timedelta(hours=1) + week).timestamp())
    by_ada = {"updatedBy": bought["updatedBy"], "updatedByName": "Ada", "updatedAt": "2040-01-01T13:00:00.000Z"}
    assert bought == cake | {"status": "purchased", "version": 2, "ttl": ttl, **by_ada}
    assert bought["updatedBy"] != ben["userId"]
    # What is so already stays so, and a second phone that saw the first version is told.
    assert data(await home.ask("PATCH", f"{path}/status", {"status": "purchased", "version": 2})) == bought
    stale = await home.ask("PATCH", f"{path}/status", {"status": "purchased", "version": 1})
    assert problem(stale, 409, "version-conflict")["current"] == bought
    # Details may change, and it goes when it would have gone.
    calls.clock.forward(hours=1)
    edited = data(await home.ask("PATCH", path, {"notes": None, "version": 2}))
    assert (edited["notes"], edited["version"], edited["ttl"]) == (None, 3, ttl)
    back = data(await home.ask("PATCH", f"{path}/status", {"status": "pending"}, if_match='"3"'))
    assert (back["status"], back["version"], back["ttl"]) == ("pending", 4, None)
    stale = problem(await home.ask("DELETE", path, if_match='"3"'), 412, "precondition-failed")
    assert stale["current"] == back
    data(await home.ask("DELETE", path), 204)
    problem(await home.ask("GET", path), 404, "not-found")
    problem(await home.ask("DELETE", path), 404, "not-found")


async def test_unchecking_meets_the_one_that_is_pending_meanwhile(home):
    milk = await home.make("/inventory", name="Milk")
    first = await home.make("/shopping-list", itemId=milk["itemId"])
    path = f"/shopping-list/{first['shoppingItemId']}/status"
    data(await home.ask("PATCH", path, {"status": "purchased", "version": 1}))
    second = await home.make("/shopping-list", itemId=milk["itemId"])
    back = {"status": "pending", "version": 2}
    assert problem(await home.ask("PATCH", path, back), 409, "duplicate-item")["existing"] == second
    assert data(await home.ask("PATCH", path, back | {"allowDuplicate": True}))["version"] == 3


async def test_each_write_is_done_once(home):
    """What an offline phone replays, in the order it replays it."""
    chosen = str(uuid4())
    path = f"/shopping-list/{chosen}"
    milk = await home.make("/inventory", name="Milk", quantity=1)

    async def twice(method, path, body=None, status=200):
        answers = [await home.ask(method, path, body, idempotency_key=f"{method} {path} {body}") for _ in range(2)]
        first, second = (data(each, status) for each in answers)
        assert first == second
        assert answers[0].headers.get("etag") == answers[1].headers.get("etag")
        return first

    await twice("POST", "/shopping-list", {"shoppingItemId": chosen, "itemId": milk["itemId"]}, 201)
    await twice("PATCH", path, {"quantity": 2, "version": 1})
    await twice("PATCH", f"{path}/status", {"status": "purchased", "version": 2})
    restocked = await twice("POST", f"{path}/restock", {})
    assert restocked["inventoryItem"]["quantity"] == 3
    adjusted = await twice("POST", f"/inventory/{milk['itemId']}/adjust", {"by": 1})
    assert adjusted["quantity"] == 4
    pasted = await twice("POST", "/shopping-list/bulk", {"lines": "2 tea\nsalt"}, 201)
    assert len((await home.listed())["items"]) == 3
    cleared = await twice("POST", "/shopping-list/clear-purchased")
    assert cleared["cleared"] == 1
    brought = await twice("POST", "/undo", {"undoToken": cleared["undoToken"]})
    assert [each["shoppingItemId"] for each in brought["items"]] == [chosen]
    await twice("DELETE", f"/shopping-list/{pasted['items'][0]['shoppingItemId']}", status=204)
    assert len((await home.listed())["items"]) == 2
    nothing = await home.ask("POST", "/undo", {"undoToken": cleared["undoToken"]})
    problem(nothing, 410, "expired")


async def bought_many(home):
    """More than one transaction clears."""
    lines = "\n".join(f"thing {number}" for number in range(CLEARED_AT_ONCE + 5))
    bought = {"status": "purchased", "version": 1}
    for made in (await home.make("/shopping-list/bulk", lines=lines))["items"]:
        await home.ask("PATCH", f"/shopping-list/{made['shoppingItemId']}/status", bought)


async def test_four_of_the_same_request_at_once_are_answered_alike(home):
    """In several transactions too: whoever comes while some of them are done gets the answer of all."""
    await bought_many(home)

    async def four_times(path, body=None):
        asked = (home.ask("POST", path, body, idempotency_key=path) for _ in range(4))
        answers = [data(each) for each in await asyncio.gather(*asked)]
        assert answers == [answers[0]] * 4
        assert data(await home.ask("POST", path, body, idempotency_key=path)) == answers[0]
        return answers[0]

    cleared = await four_times("/shopping-list/clear-purchased")
    assert cleared["cleared"] == CLEARED_AT_ONCE + 5
    back = await four_times("/undo", {"undoToken": cleared["undoToken"]})
    assert len(back["items"]) == CLEARED_AT_ONCE + 5


async def test_two_who_clear_at_once_each_hear_again_what_they_heard(home):
    ben = await home.joined()
    await bought_many(home)
    path, both = "/shopping-list/clear-purchased", (home.admin, ben)
    asked = (home.ask("POST", path, by=by, idempotency_key="k") for by in both)
    heard = [data(each) for each in await asyncio.gather(*asked)]
    assert sum(each["cleared"] for each in heard) == CLEARED_AT_ONCE + 5
    await home.ask("POST", "/shopping-list", {"name": "Later"})
    assert [data(await home.ask("POST", path, by=by, idempotency_key="k")) for by in both] == heard


# --- the list ---------------------------------------------------------------------------------------------------------


async def furnished(home):
    """Two stores and six things: what each list shows, in its order."""
    stores = {name: (await home.make("/stores", name=name))["storeId"] for name in ("market", "Baker")}
    made = {}
    for name, store in (
        ("old bread", "Baker"),
        ("new bread", "Baker"),
        ("eaten bread", "Baker"),
        ("apples", "market"),
        ("anything", None),
        ("something", None),
    ):
        home.calls.clock.forward(seconds=1)
        made[name] = await home.make("/shopping-list", name=name, storeId=stores.get(store))
    eaten = made["eaten bread"]["shoppingItemId"]
    data(await home.ask("PATCH", f"/shopping-list/{eaten}/status", {"status": "purchased", "version": 1}))
    return stores


async def test_the_list_is_by_store_then_pending_then_newest(home):
    stores = await furnished(home)
    whole = await home.listed()
    order = ["new bread", "old bread", "eaten bread", "apples", "something", "anything"]
    assert [each["name"] for each in whole["items"]] == order
    groups = [
        {"storeId": stores["Baker"], "storeName": "Baker", "pending": 2, "purchased": 1},
        {"storeId": stores["market"], "storeName": "market", "pending": 1, "purchased": 0},
        {"storeId": None, "storeName": None, "pending": 2, "purchased": 0},
    ]
    assert whole["groups"] == groups
    assert (whole["nextCursor"], bool(whole["position"])) == (None, True)
    # In parts, with the groups of the whole.
    found, cursor = [], ""
    while cursor is not None:
        part = await home.listed(f"?limit=2{cursor and f'&cursor={cursor}'}")
        assert len(part["items"]) == 2
        assert part["groups"] == groups
        found += [each["name"] for each in part["items"]]
        cursor = part["nextCursor"]
    assert found == order
