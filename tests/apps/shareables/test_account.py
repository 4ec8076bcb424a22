"""What a signed-in maker finds again, takes along, and takes with them."""

import csv
import io
import json
import zipfile
from datetime import datetime, timedelta
from uuid import UUID

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


async def as_in_an_earlier_store(calls, person):
    """Put the rows of a person's list under the keys that they had before."""
    user_id = UUID(person["userId"])
    for row in await calls.rows():
        if row["pk"]["S"] == f"user#{user_id.hex}":
            _, time, rest = row["sk"]["S"].split("#", 2)
            created_at = datetime.strptime(time, "%Y%m%dt%H%M%Sz").strftime("%Y-%m-%dT%H:%M:%SZ")
            former = {**row, "pk": {"S": f"user#{user_id}"}, "sk": {"S": f"01#{created_at}#{rest}"}}
            key = {name: row[name] for name in ("pk", "sk")}
            await calls.engine.call("PutItem", {"TableName": "Shareables", "Item": former})
            await calls.engine.call("DeleteItem", {"TableName": "Shareables", "Key": key})


async def list_rows(calls, person):
    """The keys of the rows of a person's list, old and new."""
    ids = {f"user#{person['userId']}", f"user#{UUID(person['userId']).hex}"}
    return {row["pk"]["S"] for row in await calls.rows() if row["pk"]["S"] in ids}


async def exported(calls, person):
    answer = await calls.client.get("/api/v1/me/export", headers=bearer(person))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = json.loads(archive.read(next(each for each in archive.namelist() if each.endswith("shareables.json"))))
    return [each["shortId"] for each in found["shareables"]]


async def test_a_list_of_an_earlier_store_is_found_and_moved(calls):
    ada = await calls.person()
    made = []
    for name in ("First", "Second", "Third"):
        made.append((await calls.made(by=ada, name=name))["shortId"])
        calls.clock.forward(seconds=1)
    await as_in_an_earlier_store(calls, ada)
    # One of them is in the list under both keys.
    end = (calls.clock() + timedelta(days=100)).isoformat()
    await calls.data("PATCH", f"/shareables/{made[0]}", {"expiresAt": end, "version": 1}, by=ada)
    assert await list_rows(calls, ada) == {f"user#{ada['userId']}", f"user#{UUID(ada['userId']).hex}"}
    fourth = (await calls.made(by=ada, name="Fourth"))["shortId"]
    for _ in range(2):
        listed = await calls.data("GET", "/shareables", by=ada)
        assert [each["shortId"] for each in listed["items"]] == [fourth, *made[::-1]]
    assert await list_rows(calls, ada) == {f"user#{UUID(ada['userId']).hex}"}
    # The later end was not overwritten.
    ends = {row["sk"]["S"][-12:-1]: row["ttl"] for row in await calls.rows() if row["pk"]["S"].startswith("user#")}
    whole = next(row for row in await calls.rows() if row.get("shortId", {}).get("S") == made[0] and "entity" in row)
    assert ends[made[0].replace("-", "")] == whole["ttl"]


async def test_lists_of_an_earlier_store_are_on_the_page_and_on_the_card(calls):
    ada = await calls.person()
    await calls.made(by=ada, name="From before")
    for path, words in (("/shareables", "From before"), ("/", "1 open")):
        await as_in_an_earlier_store(calls, ada)
        page = await calls.client.get(path, headers=bearer(ada) | {"accept": "text/html"})
        assert words in page.text


async def test_lists_of_an_earlier_store_are_exported(calls):
    ada = await calls.person()
    made = await calls.made(by=ada)
    await as_in_an_earlier_store(calls, ada)
    assert await exported(calls, ada) == [made["shortId"]]


async def test_lists_of_an_earlier_store_go_with_the_account(calls):
    ada = await calls.person()
    made = await calls.guarded(by=ada)
    await as_in_an_earlier_store(calls, ada)
    data(await calls.ask("POST", "/me/delete", {"password": PASSWORD}, by=ada), 204)
    problem(await calls.ask("GET", f"/shareables/{made['shortId']}"), 404, "not-found")
    assert await calls.rows() == []


async def test_a_list_of_an_earlier_store_leaves_nothing_when_it_is_deleted(calls):
    ada = await calls.person()
    made = await calls.made(by=ada)
    await as_in_an_earlier_store(calls, ada)
    await calls.data("DELETE", f"/shareables/{made['shortId']}", None, 204, by=made["adminToken"])
    assert await calls.rows() == []


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
