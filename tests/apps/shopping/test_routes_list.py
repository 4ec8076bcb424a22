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


async def test_a_purchase_is_gone_seven_days_later_to_the_second(home):
    calls = home.calls
    tea = await home.make("/shopping-list", name="Tea")
    path = f"/shopping-list/{tea['shoppingItemId']}"
    data(await home.ask("PATCH", f"{path}/status", {"status": "purchased", "version": 1}))
    calls.clock.forward(days=7, seconds=-1)
    assert data(await home.ask("GET", path))["status"] == "purchased"
    assert len((await home.listed())["items"]) == 1
    calls.clock.forward(seconds=1)
    problem(await home.ask("GET", path), 404, "not-found")
    problem(await home.ask("PATCH", path, {"name": "Coffee", "version": 2}), 404, "not-found")
    assert (await home.listed())["items"] == []
    assert (await home.listed("?status=purchased"))["items"] == []


async def test_an_edit_is_of_the_version_that_was_seen(home):
    tea = await home.make("/shopping-list", name="Tea", quantity=2)
    path = f"/shopping-list/{tea['shoppingItemId']}"
    problem(await home.ask("PATCH", path, {"name": "Coffee"}), 428, "version-needed")
    changed = data(await home.ask("PATCH", path, {"name": "Coffee", "quantity": None, "version": 1}))
    assert (changed["name"], changed["quantity"], changed["version"]) == ("Coffee", None, 2)
    assert data(await home.ask("PATCH", path, {"version": 2})) == changed
    stale = problem(await home.ask("PATCH", path, {"name": "Cocoa", "version": 1}), 409, "version-conflict")
    assert stale["current"] == changed
    both = await home.ask("PATCH", path, {"name": "Cocoa", "version": 1}, if_match='"2"')
    assert [each["field"] for each in problem(both, 422, "invalid-fields")["errors"]] == ["version"]
    one = await home.ask("GET", path)
    assert (await home.ask("GET", path, if_none_match=one.headers["etag"])).status_code == 304


async def test_many_editors_of_one_item_leave_no_gap(home):
    """Each goes on from the current item that its refusal carries, until its own edit is in."""
    tea = await home.make("/shopping-list", name="Tea")
    path = f"/shopping-list/{tea['shoppingItemId']}"
    versions = []

    async def edit(name):
        version = 1
        while True:
            answer = await home.ask("PATCH", path, {"name": name, "version": version})
            if answer.status_code == 200:
                versions.append(answer.json()["version"])
                return
            version = problem(answer, 409, "version-conflict")["current"]["version"]

    await asyncio.gather(*(edit(f"Tea {number}") for number in range(10)))
    assert sorted(versions) == list(range(2, 12))


async def test_what_is_linked_has_its_name_store_and_unit_from_the_inventory(home):
    grocer = await home.make("/stores", name="Grocer")
    milk = await home.make("/inventory", name="Milk", unit="l", preferredStoreId=grocer["storeId"])
    added = await home.make("/shopping-list", itemId=milk["itemId"], name=None)
    assert [added[key] for key in ("name", "storeName", "unit")] == ["Milk", "Grocer", "l"]
    other = await home.make(
        "/shopping-list", itemId=milk["itemId"], name="Oat milk", storeId=None, unit=None, allowDuplicate=True
    )
    assert [other[key] for key in ("name", "storeName", "unit")] == ["Oat milk", None, None]
    data(await home.ask("DELETE", f"/inventory/{milk['itemId']}"), 204)
    left = data(await home.ask("GET", f"/shopping-list/{added['shoppingItemId']}"))
    assert left == added | {"itemId": None, "version": 2}


async def test_of_twenty_identical_adds_one_is_made(home):
    milk = await home.make("/inventory", name="Milk")
    adding = {"itemId": milk["itemId"]}
    answers = await asyncio.gather(*(home.ask("POST", "/shopping-list", adding) for _ in range(20)))
    (made,) = (data(each, 201) for each in answers if each.status_code == 201)
    refused = [problem(each, 409, "duplicate-item") for each in answers if each.status_code != 201]
    assert len(refused) == 19
    assert all(each["existing"] == made for each in refused)
    assert (await home.listed())["items"] == [made]
    assert (await home.make("/shopping-list", adding, allowDuplicate=True))["itemId"] == milk["itemId"]
    assert len((await home.listed())["items"]) == 2


async def test_unchecking_meets_the_one_that_is_pending_meanwhile(home):
    milk = await home.make("/inventory", name="Milk")
    first = await home.make("/shopping-list", itemId=milk["itemId"])
    path = f"/shopping-list/{first['shoppingItemId']}/status"
    data(await home.ask("PATCH", path, {"status": "purchased", "version": 1}))
    second = await home.make("/shopping-list", itemId=milk["itemId"])
    back = {"status": "pending", "version": 2}
    assert problem(await home.ask("PATCH", path, back), 409, "duplicate-item")["existing"] == second
    assert data(await home.ask("PATCH", path, back | {"allowDuplicate": True}))["version"] == 3


async def test_the_id_may_be_chosen_and_is_taken_once(home):
    chosen = str(uuid4())
    made = await home.make("/shopping-list", shoppingItemId=chosen, name="Tea")
    assert made["shoppingItemId"] == chosen
    taken = problem(
        await home.ask("POST", "/shopping-list", {"shoppingItemId": chosen, "name": "Salt"}), 409, "already-exists"
    )
    assert taken["existing"] == made
    item = str(uuid4())
    assert (await home.make("/inventory", itemId=item, name="Salt"))["itemId"] == item
    problem(await home.ask("POST", "/inventory", {"itemId": item, "name": "Salt"}), 409, "already-exists")


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


async def test_several_are_typed_at_once_all_or_none(home):
    made = (await home.make("/shopping-list/bulk", lines="2 milk\n\n- bread\n500g flour"))["items"]
    assert [(each["name"], each["quantity"], each["unit"]) for each in made] == [
        ("milk", 2, None),
        ("bread", None, None),
        ("flour", 500, "g"),
    ]
    refused = await home.ask("POST", "/shopping-list/bulk", {"lines": f"tea\n{'x' * 101}"})
    assert problem(refused, 422, "invalid-fields")["errors"] == [
        {"field": "lines", "message": "Line 2: Name must be 1-100 characters"}
    ]
    problem(await home.ask("POST", "/shopping-list/bulk", {"lines": " \n"}), 422, "invalid-fields")
    assert len((await home.listed())["items"]) == 3


async def test_a_purchase_is_added_to_the_inventory_once(home):
    milk = await home.make("/inventory", name="Milk", quantity=1)
    linked = await home.make("/shopping-list", itemId=milk["itemId"], quantity=2)
    free = await home.make("/shopping-list", name="Cake")
    path = f"/shopping-list/{linked['shoppingItemId']}"
    problem(await home.ask("POST", f"{path}/restock", {}), 409, "not-restockable")
    for each in (linked, free):
        answer = await home.ask(
            "PATCH", f"/shopping-list/{each['shoppingItemId']}/status", {"status": "purchased", "version": 1}
        )
        data(answer)
    problem(await home.ask("POST", f"/shopping-list/{free['shoppingItemId']}/restock", {}), 409, "not-restockable")
    answers = await asyncio.gather(*(home.ask("POST", f"{path}/restock", {"quantity": 5}) for _ in range(2)))
    done, refused = sorted(answers, key=lambda each: each.status_code)
    assert data(done)["inventoryItem"]["quantity"] == 6
    assert data(done)["shoppingItem"]["restockedAt"] == "2040-01-01T12:00:00.000Z"
    problem(refused, 409, "already-restocked")
    assert data(await home.ask("GET", f"/inventory/{milk['itemId']}"))["quantity"] == 6


async def test_clearing_is_undone_once_within_the_hour(home):
    assert data(await home.ask("POST", "/shopping-list/clear-purchased")) == {"cleared": 0, "undoToken": None}
    bought = []
    for name in ("Tea", "Salt"):
        made = await home.make("/shopping-list", name=name)
        path = f"/shopping-list/{made['shoppingItemId']}/status"
        bought.append(data(await home.ask("PATCH", path, {"status": "purchased", "version": 1})))
    kept = await home.make("/shopping-list", name="Cake")
    cleared = data(await home.ask("POST", "/shopping-list/clear-purchased"))
    assert cleared["cleared"] == 2
    assert (await home.listed())["items"] == [kept]
    undo = {"undoToken": cleared["undoToken"]}
    back = data(await home.ask("POST", "/undo", undo))["items"]
    assert sorted(back, key=str) == sorted(bought, key=str)
    problem(await home.ask("POST", "/undo", undo), 410, "expired")
    cleared = data(await home.ask("POST", "/shopping-list/clear-purchased"))
    home.calls.clock.forward(hours=1)
    problem(await home.ask("POST", "/undo", {"undoToken": cleared["undoToken"]}), 410, "expired")


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


async def test_the_list_of_a_store_or_of_a_status(home):
    stores = await furnished(home)

    async def names(query):
        return [each["name"] for each in (await home.listed(query))["items"]]

    baker = stores["Baker"]
    assert await names(f"?storeId={baker}") == ["new bread", "old bread", "eaten bread"]
    assert await names(f"?storeId={baker}&status=purchased") == ["eaten bread"]
    assert await names(f"?storeId={baker}&status=pending") == ["new bread", "old bread"]
    assert await names("?storeId=unassigned") == ["something", "anything"]
    assert await names("?storeId=unassigned&status=purchased") == []
    assert await names("?status=purchased") == ["eaten bread"]
    groups = (await home.listed(f"?storeId={baker}&status=pending"))["groups"]
    assert groups == [{"storeId": baker, "storeName": "Baker", "pending": 2, "purchased": 0}]
    problem(await home.ask("GET", f"/shopping-list?storeId={uuid4()}"), 404, "not-found")


async def test_a_part_goes_on_where_the_last_one_ended_also_if_that_is_gone(home):
    await furnished(home)
    first = await home.listed("?limit=2")
    last = first["items"][-1]["shoppingItemId"]
    data(await home.ask("DELETE", f"/shopping-list/{last}"), 204)
    second = await home.listed(f"?limit=2&cursor={first['nextCursor']}")
    assert [each["name"] for each in second["items"]] == ["eaten bread", "apples"]
    ben = await home.joined()
    moved = await home.ask("GET", f"/shopping-list?limit=2&cursor={first['nextCursor']}", by=ben)
    problem(moved, 422, "invalid-fields")
