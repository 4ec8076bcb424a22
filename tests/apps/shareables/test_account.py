"""What a signed-in maker finds again, takes along, and takes with them."""

import csv
import io
import json
import zipfile

from tests.apps.shareables.doors import VIEW, data, problem
from tests.web.suites import PASSWORD, bearer, rows_left


async def test_a_maker_who_is_signed_in_finds_theirs_again_and_needs_no_passcode(calls):
    ada, eve = await calls.person("Ada"), await calls.person("Eve")
    first = await calls.made(viewPasscode=VIEW, by=ada, expiresInDays=1)
    calls.clock.forward(seconds=1)
    second = await calls.poll(name="Where to?", viewPasscode=VIEW, by=ada)
    await calls.made()
    listed = await calls.data("GET", "/shareables", by=ada)
    assert [(each["shortId"], each["name"], each["entity"]) for each in listed["items"]] == [
        (second["shortId"], "Where to?", "poll"),
        (first["shortId"], "Packing", "checklist"),
    ]
    assert not any("asscode" in name for each in listed["items"] for name in each)
    assert (await calls.data("GET", "/shareables", by=eve))["items"] == []
    problem(await calls.ask("GET", "/shareables"), 401, "not-signed-in")
    page = await calls.data("GET", "/shareables?limit=1", by=ada)
    rest = await calls.data("GET", f"/shareables?limit=1&cursor={page['nextCursor']}", by=ada)
    assert [each["shortId"] for each in (*page["items"], *rest["items"])] == [second["shortId"], first["shortId"]]
    assert (await calls.seen(first, ada))["role"] == "admin"
    # Expired ones stay until they are purged; deleted ones go.
    calls.clock.forward(days=2)
    assert len((await calls.data("GET", "/shareables", by=ada))["items"]) == 2
    await calls.data("DELETE", f"/shareables/{second['shortId']}", None, 204, by=ada)
    assert [each["shortId"] for each in (await calls.data("GET", "/shareables", by=ada))["items"]] == [first["shortId"]]
    card = (await calls.client.get("/", headers=bearer(ada) | {"accept": "text/html"})).text
    assert "None open" in card


async def test_a_token_of_a_shareable_is_nobodys_sign_in(calls):
    ada = await calls.person()
    made = await calls.made(by=ada)
    for path in ("/shareables", "/me", "/polls"):
        problem(await calls.ask("GET", path, by=made["adminToken"]), 401, "not-signed-in")


async def test_what_they_made_is_in_their_export(calls):
    ada = await calls.person()
    made = await calls.guarded(by=ada)
    poll = await calls.poll(by=ada)
    await calls.made()
    answer = await calls.client.get("/api/v1/me/export", headers=bearer(ada))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = json.loads(archive.read(next(each for each in archive.namelist() if each.endswith("shareables.json"))))
    assert {each["shortId"] for each in found["shareables"]} == {made["shortId"], poll["shortId"]}
    assert [(each["shortId"], each["name"]) for each in found["items"]] == [
        (made["shortId"], "Tents"),
        (made["shortId"], "Stove"),
    ]
    assert "argon2" not in json.dumps(found)


async def test_what_they_made_goes_with_their_account(calls):
    ada = await calls.person()
    before = {
        table: rows
        for table, rows in (await rows_left(calls.engine)).items()
        if table not in ("Accounts", "ShortIdPool")
    }
    made = await calls.guarded(by=ada)
    poll = await calls.poll(by=ada)
    others = await calls.made()
    await calls.data("POST", f"/shareables/{poll['shortId']}/votes", {"rankings": ["Hut"]}, 201)
    viewer = await calls.token(made)
    data(await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada), 204)
    for each in (made, poll):
        problem(await calls.ask("GET", f"/shareables/{each['shortId']}", by=viewer), 404, "not-found")
    await calls.data("DELETE", f"/shareables/{others['shortId']}", None, 204, by=others["adminToken"])
    after = {
        table: rows
        for table, rows in (await rows_left(calls.engine)).items()
        if table not in ("Accounts", "ShortIdPool")
    }
    assert after == before


async def test_each_field_of_an_item_has_a_column_in_their_export(calls):
    ada = await calls.person()
    made = await calls.made(["Tents"], by=ada)
    answer = await calls.client.get("/api/v1/me/export", headers=bearer(ada))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        name = next(each for each in archive.namelist() if each.endswith("items.csv") and "shareables" in each)
        (row,) = csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig")))
    (item,) = (await calls.seen(made))["items"]
    assert set(row) == {*item, "shortId"}
    assert (row["shortId"], row["name"], row["done"]) == (made["shortId"], "Tents", "false")
