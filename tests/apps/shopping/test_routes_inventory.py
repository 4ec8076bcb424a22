"""What is at home, where it is kept and where it is bought, over HTTP."""

import asyncio
from uuid import uuid4

import pytest

from tests.apps.shopping.calls import data, one_suite, problem

suite, calls, home = one_suite()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_inventory_item_through_its_life(home):
    ben = await home.joined()
    grocer, cellar = await home.make("/stores", name="Grocer"), await home.make("/locations", name="Cellar")
    answer = await home.ask(
        "POST",
        "/inventory",
        {
            "name": " Milk ",
            "quantity": 3,
            "threshold": 1,
            "unit": "l",
            "locationId": cellar["locationId"],
            "preferredStoreId": grocer["storeId"],
            "alternateStoreIds": [grocer["storeId"], grocer["storeId"]],
        },
        by=ben,
    )
    milk = data(answer, 201)
    assert milk == milk | {
        "name": "Milk",
        "quantity": 3,
        "threshold": 1,
        "low": False,
        "unit": "l",
        "locationName": "Cellar",
        "preferredStoreName": "Grocer",
        "alternateStoreIds": [grocer["storeId"]],
        "status": "active",
        "createdBy": ben["userId"],
        "version": 1,
    }
    path = f"/inventory/{milk['itemId']}"
    one = await home.ask("GET", path)
    assert data(one) == milk
    assert (await home.ask("GET", path, if_none_match=one.headers["etag"])).status_code == 304
    problem(await home.ask("PATCH", path, {"name": "Oat milk"}), 428, "version-needed")
    changed = data(await home.ask("PATCH", path, {"name": "Oat milk", "locationId": None, "version": 1}))
    assert (changed["name"], changed["locationId"], changed["locationName"], changed["version"]) == (
        "Oat milk",
        None,
        None,
        2,
    )
    assert data(await home.ask("PATCH", path, {"name": "Oat milk", "version": 2})) == changed
    stale = problem(await home.ask("PATCH", path, {"name": "Soy milk", "version": 1}), 409, "version-conflict")
    assert stale["current"] == changed
    archived = data(await home.ask("PATCH", path, {"status": "archived"}, if_match='"2"'))
    assert archived["status"] == "archived"
    stale = problem(await home.ask("DELETE", path, if_match='"2"'), 412, "precondition-failed")
    assert stale["current"] == archived
    data(await home.ask("DELETE", path), 204)
    problem(await home.ask("GET", path), 404, "not-found")
    problem(await home.ask("DELETE", path), 404, "not-found")


async def test_the_inventory_is_listed_by_name_and_by_what_is_low(home):
    for name, quantity, status in (("tea", 0, "active"), ("Salt", 5, "active"), ("ähren", 0, "archived")):
        made = await home.make("/inventory", name=name, quantity=quantity, threshold=1)
        if status == "archived":
            data(await home.ask("PATCH", f"/inventory/{made['itemId']}", {"status": status, "version": 1}))

    async def names(query=""):
        return [each["name"] for each in data(await home.ask("GET", f"/inventory{query}"))["items"]]

    assert await names() == ["ähren", "Salt", "tea"]
    assert await names("?lowStock=true") == ["tea"]
    assert await names("?lowStock=false&status=archived") == ["ähren"]
    assert await names("?status=active") == ["Salt", "tea"]
    first = data(await home.ask("GET", "/inventory?limit=2"))
    assert [each["name"] for each in first["items"]] == ["ähren", "Salt"]
    assert await names(f"?limit=2&cursor={first['nextCursor']}") == ["tea"]
    # A cursor is of the list that it was given for.
    moved = await home.ask("GET", f"/inventory?status=active&cursor={first['nextCursor']}")
    assert [each["field"] for each in problem(moved, 422, "invalid-fields")["errors"]] == ["cursor"]


async def test_adjusting_stops_at_zero_and_loses_no_step(home):
    milk = await home.make("/inventory", name="Milk", quantity=2)
    adjust = f"/inventory/{milk['itemId']}/adjust"
    await asyncio.gather(*(home.ask("POST", adjust, {"by": 2}) for _ in range(10)))
    assert data(await home.ask("POST", adjust, {"by": 0}))["quantity"] == 22
    assert data(await home.ask("POST", adjust, {"by": -100}))["quantity"] == 0
    answer = await home.ask("POST", adjust, {"by": 3}, idempotency_key="three more")
    repeated = await home.ask("POST", adjust, {"by": 3}, idempotency_key="three more")
    assert data(answer) == data(repeated)
    assert data(await home.ask("GET", f"/inventory/{milk['itemId']}"))["quantity"] == 3
    refused = problem(await home.ask("POST", adjust, {"by": 100_000}), 422, "invalid-fields")
    assert refused["errors"] == [{"field": "by", "message": "There can be at most 100,000 of an item"}]
    problem(await home.ask("POST", f"/inventory/{uuid4()}/adjust", {"by": 1}), 404, "not-found")


PLACES = [("stores", "storeId", "address"), ("locations", "locationId", "description")]


@pytest.mark.parametrize(("kind", "id_name", "about"), PLACES, ids=["stores", "locations"])
async def test_a_place_through_its_life(home, kind, id_name, about):
    ben = await home.joined()
    chosen = str(uuid4())
    answer = await home.ask("POST", f"/{kind}", {"name": " Corner ", about: "Round it", id_name: chosen})
    place = data(answer, 201)
    assert (place[id_name], place["name"], place[about], place["version"]) == (chosen, "Corner", "Round it", 1)
    assert answer.headers["etag"] == '"1"'
    path = f"/{kind}/{chosen}"
    one = await home.ask("GET", path, by=ben)
    assert data(one) == place
    assert one.headers["etag"] == '"1"'
    assert (await home.ask("GET", path, if_none_match='"1"')).status_code == 304
    # Members look, admins manage.
    for method, where, body in (
        ("POST", f"/{kind}", {"name": "Market"}),
        ("PATCH", path, {"name": "Market", "version": 1}),
        ("DELETE", path, None),
    ):
        problem(await home.ask(method, where, body, by=ben), 403, "forbidden")
    problem(await home.ask("POST", f"/{kind}", {"name": "cORNER"}), 409, "name-taken")
    taken = problem(await home.ask("POST", f"/{kind}", {"name": "Other", id_name: chosen}), 409, "already-exists")
    assert taken["existing"] == place
    other = await home.make(f"/{kind}", name="Baker")
    problem(await home.ask("PATCH", path, {"name": "BAKER", "version": 1}), 409, "name-taken")
    problem(await home.ask("PATCH", path, {"name": "Square"}), 428, "version-needed")
    changed = data(await home.ask("PATCH", path, {"name": "Square", about: None, "version": 1}))
    assert (changed["name"], changed[about], changed["version"]) == ("Square", None, 2)
    stale = problem(await home.ask("PATCH", path, {"name": "Market"}, if_match='"1"'), 412, "precondition-failed")
    assert stale["current"] == changed
    assert data(await home.ask("PATCH", path, {"name": "Square"}, if_match='"2"')) == changed
    listed = data(await home.ask("GET", f"/{kind}", by=ben))
    assert listed["items"] == [other, changed]
    assert listed["position"]
    problem(await home.ask("DELETE", path, if_match='"1"'), 412, "precondition-failed")
    for _ in range(2):
        data(await home.ask("DELETE", path, idempotency_key="once"), 204)
    problem(await home.ask("GET", path), 404, "not-found")


async def test_what_pointed_to_a_deleted_place_points_to_none(home):
    grocer, cellar = await home.make("/stores", name="Grocer"), await home.make("/locations", name="Cellar")
    milk = await home.make(
        "/inventory", name="Milk", locationId=cellar["locationId"], preferredStoreId=grocer["storeId"]
    )
    tea = await home.make("/shopping-list", name="Tea", storeId=grocer["storeId"])
    data(await home.ask("DELETE", f"/stores/{grocer['storeId']}"), 204)
    data(await home.ask("DELETE", f"/locations/{cellar['locationId']}"), 204)
    left = data(await home.ask("GET", f"/inventory/{milk['itemId']}"))
    assert [left[key] for key in ("locationId", "locationName", "preferredStoreId", "preferredStoreName")] == [None] * 4
    assert data(await home.ask("GET", f"/shopping-list/{tea['shoppingItemId']}"))["storeId"] is None
    problem(await home.ask("GET", f"/shopping-list?storeId={grocer['storeId']}"), 404, "not-found")
