"""What is at home, where it is kept and where it is bought, over HTTP."""

from uuid import uuid4

import pytest

from tests.apps.shopping.calls import data, one_suite, problem

suite, calls, home = one_suite()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_inventory_item_is_answered_with_the_names_of_what_it_points_to(home):
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


@pytest.mark.parametrize(
    ("kind", "id_name", "about"), [("stores", "storeId", "address"), ("locations", "locationId", "description")]
)
async def test_a_place_has_its_version_for_a_tag_and_is_shown_to_whoever_chooses_its_id_again(
    home, kind, id_name, about
):
    chosen = str(uuid4())
    answer = await home.ask("POST", f"/{kind}", {"name": " Corner ", about: "Round it", id_name: chosen})
    place = data(answer, 201)
    assert (place[id_name], place["name"], place[about], place["version"]) == (chosen, "Corner", "Round it", 1)
    assert answer.headers["etag"] == '"1"'
    assert data(await home.ask("GET", f"/{kind}/{chosen}")) == place
    taken = problem(await home.ask("POST", f"/{kind}", {"name": "Other", id_name: chosen}), 409, "already-exists")
    assert taken["existing"] == place
    problem(await home.ask("POST", f"/{kind}", {"name": "cORNER"}), 409, "name-taken")
