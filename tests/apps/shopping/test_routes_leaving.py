"""What an account means to Shopping, over HTTP: export, deletion, the home page."""

import asyncio
import csv
import io
import json
import zipfile

from tests.apps.shopping.calls import data, problem
from tests.patience import PATIENCE_SECONDS
from tests.people.assembly import PASSWORD
from tests.web.reading import BROWSER


async def export(calls, person):
    answer = await calls.ask("GET", "/me/export", by=person)
    assert answer.status_code == 200
    return zipfile.ZipFile(io.BytesIO(answer.content))


async def furnished(home):
    store, cellar = await home.make("/stores", name="=Grocer()"), await home.make("/locations", name="Cellar")
    milk = await home.make("/inventory", name="Milk", locationId=cellar["locationId"], threshold=1)
    tea = await home.make("/shopping-list", name="Tea", storeId=store["storeId"])
    return {"stores": [store], "locations": [cellar], "inventory": [milk], "shoppingList": [tea]}


async def test_the_export_has_every_family_and_all_that_is_in_it(home):
    made = await furnished(home)
    other = await home.calls.home("Eve", "Byron")
    await other.make("/shopping-list", name="Theirs")
    files = await export(home.calls, home.admin)
    names = [name for name in files.namelist() if "shopping" in name]
    (whole,) = (name for name in names if name.endswith("shopping.json"))
    told = json.loads(files.read(whole))
    tables = told.get("tables", told)
    for table, rows in made.items():
        assert tables[table] == rows, table
    assert [each["name"] for each in tables["families"]] == ["Lovelace"]
    assert [each["role"] for each in tables["memberships"]] == ["admin"]
    assert "Theirs" not in files.read(whole).decode()
    (stores,) = (name for name in names if name.endswith("stores.csv"))
    (row,) = csv.DictReader(io.StringIO(files.read(stores).decode("utf-8-sig")))
    assert not row["name"].startswith("=")


async def test_who_is_the_last_admin_of_a_family_cannot_go_before_it_or_another_admin_does(home):
    calls = home.calls
    await furnished(home)
    ben = await home.joined()
    refused = await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=home.admin)
    assert problem(refused, 409, "still-needed")["places"] == ["Lovelace"]
    role = {"role": "admin", "version": 1}
    data(await home.ask("PATCH", f"/members/{ben['userId']}", role))
    data(await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=home.admin), 204)
    rows = str(await calls.rows())
    assert home.admin["email"] not in rows
    (tea,) = (await home.listed(by=ben))["items"]
    assert (tea["name"], tea["addedByName"]) == ("Tea", "Former member")
    # Alone in it by now, and still its last admin.
    refused = await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=ben)
    assert problem(refused, 409, "still-needed")["places"] == ["Lovelace"]
    data(await home.ask("DELETE", by=ben), 204)
    data(await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=ben), 204)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await calls.rows()).get("InventoryManagement"):  # noqa: ASYNC110 - the consumer does it
            await asyncio.sleep(0.05)
    left = str(await calls.rows())
    assert not [each for each in (home.admin["email"], ben["email"], home.family_id) if each in left]


async def test_the_home_page_says_how_much_is_to_buy_and_what_is_low(home):
    calls = home.calls
    await furnished(home)
    headers = BROWSER | {"authorization": f"Bearer {home.admin['token']}"}
    page = (await calls.client.get("/", headers=headers)).text
    assert "1 to buy" in page
    assert "Milk" in page
    assert 'href="/shopping"' in page
