"""The life of a shareable: laid out, changed, expired, cloned, deleted, purged."""

from datetime import timedelta
from uuid import UUID

import pytest

from potluck.apps.polls.entities import Poll, PollRow
from potluck.apps.shareables.entities import ChecklistItem, Shareable
from potluck.apps.shareables.purged_polls import PollsOfPurged
from potluck.store import Store
from potluck.table import delete
from tests.apps.shareables.doors import ADMIN, VIEW, calls_on, data, problem
from tests.patience import until
from tests.stores import rows_in
from tests.web.suites import rows_left

YEAR = 365


@pytest.mark.parametrize(
    ("said", "expires"),
    [
        ({}, "2040-01-31T12:00:00.000Z"),
        ({"expiresInDays": 1}, "2040-01-02T12:00:00.000Z"),
        ({"expiresInDays": 365}, "2040-12-31T12:00:00.000Z"),
        ({"expiresAt": "2040-01-01T12:00:01.999Z"}, "2040-01-01T12:00:01.000Z"),
        ({"expiresAt": "2040-01-02T01:00:00+01:00"}, "2040-01-02T00:00:00.000Z"),
    ],
)
async def test_it_is_open_for_a_month_or_as_long_as_is_said(calls, said, expires):
    assert (await calls.made(**said))["expiresAt"] == expires


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"expiresInDays": 0}, "expiresInDays"),
        ({"expiresInDays": 366}, "expiresInDays"),
        ({"expiresAt": "2040-01-01T12:00:00Z"}, "expiresAt"),
        ({"expiresAt": "2040-01-01T12:00:00.999Z"}, "expiresAt"),
        ({"expiresAt": "2040-12-31T12:00:01Z"}, "expiresAt"),
        ({"expiresAt": "2040-02-01T00:00:00Z", "expiresInDays": 3}, "expiresInDays"),
        ({"name": ""}, "name"),
        ({"note": "x" * 2001}, "note"),
        ({"entity": "diary"}, "entity"),
        ({"candidates": ["A", "B"]}, "candidates"),
        ({"items": [{"name": ""}]}, "items[0].name"),
        ({"entity": "poll", "items": UUID}, "candidates"),
        ({"entity": "poll", "items": UUID, "candidates": ["A", "a"]}, "candidates[1]"),
        ({"entity": "poll", "candidates": ["A", "B"]}, "items"),
        ({"entity": "poll", "items": UUID, "candidates": ["A", "B"], "seats": 3}, "seats"),
    ],
)
async def test_what_is_wrong_is_said_and_nothing_is_taken_from_the_pool(calls, said, field):
    body = {"entity": "checklist", "name": "A", "items": [], **said}
    body = {name: value for name, value in body.items() if value is not UUID}
    wrong = problem(await calls.ask("POST", "/shareables", body), 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == [field]
    assert await calls.rows() == []


async def test_it_expires_to_the_second_and_a_year_later_it_is_gone_to_the_second(calls):
    made = await calls.guarded(expiresInDays=5)
    path = f"/shareables/{made['shortId']}"
    viewer = await calls.token(made)
    calls.clock.forward(days=5, seconds=-1)
    assert not (await calls.seen(made, viewer))["expired"]
    calls.clock.forward(seconds=1)
    # Who has no passcode is asked for one, and learns nothing; who has one learns that it is over.
    problem(await calls.ask("GET", path), 401, "passcode-needed")
    gone = await calls.ask("GET", path, by=viewer)
    assert "Packing" not in gone.text
    problem(gone, 410, "shareable-expired")
    problem(await calls.ask("GET", path, by=await calls.token(made)), 410, "shareable-expired")
    admin = await calls.token(made, ADMIN)
    seen = await calls.seen(made, admin)
    assert (seen["expired"], seen["purgeAt"], len(seen["items"])) == (True, "2041-01-05T12:00:00.000Z", 2)
    problem(await calls.ask("PATCH", path, {"name": "X", "version": 1}, by=admin), 410, "shareable-expired")
    calls.clock.forward(days=YEAR, seconds=-1)
    admin = await calls.token(made, ADMIN)
    assert len((await calls.seen(made, admin))["items"]) == 2
    calls.clock.forward(seconds=1)
    # The sweeper has not been here: by the engine's own clock nothing has expired.
    assert len(await calls.rows()) >= 3
    for by in (None, viewer, admin):
        problem(await calls.ask("GET", path, by=by), 404, "not-found")
    problem(await calls.ask("POST", f"{path}/sessions", {"passcode": ADMIN}), 404, "not-found")
    problem(await calls.ask("DELETE", path, by=admin), 404, "not-found")


async def test_every_row_has_its_end_and_follows_when_that_is_moved(calls):
    ada = await calls.person()
    made = await calls.guarded(by=ada, expiresInDays=5)
    path = f"/shareables/{made['shortId']}"
    await calls.token(made)
    rows = await calls.rows()
    assert all("ttl" in row for row in rows)

    async def ends():
        """When each kind of row ends that ends with the shareable."""
        return {
            row["pk"]["S"].partition("#")[0]: int(row["ttl"]["N"])
            for row in await calls.rows()
            if "session#" not in row["pk"]["S"]
        }

    kept = int((calls.clock.now + timedelta(days=5 + YEAR)).timestamp())
    assert await ends() == dict.fromkeys(("shareable", "checklist_item", "user"), kept)
    longer = {"expiresAt": "2040-12-31T12:00:00Z", "version": 1}
    await calls.data("PATCH", path, longer, by=ada)
    assert await ends() == dict.fromkeys(
        ("shareable", "checklist_item", "user"), int((calls.clock.now + timedelta(days=2 * YEAR)).timestamp())
    )
    added = await calls.data("POST", f"{path}/items", {"name": "Late"}, 201, by=ada)
    assert len(set((await ends()).values())) == 1
    # Past the first end, everything is still there.
    calls.clock.forward(days=5 + YEAR, seconds=1)
    seen = await calls.seen(made, await calls.token(made, ADMIN))
    assert [each["name"] for each in seen["items"]] == ["Tents", "Stove", "Late"]
    assert seen["items"][-1]["version"] == added["version"] == 1


async def test_an_item_that_is_added_while_the_end_is_moved_ends_with_the_others(tmp_path):
    from tests.apps.worlds import Meanwhile

    async with calls_on(tmp_path, wrap=Meanwhile) as calls:
        made = await calls.guarded()
        path, by = f"/shareables/{made['shortId']}", made["adminToken"]

        async def added():
            await calls.data("POST", f"{path}/items", {"name": "Late"}, 201, by=by)

        calls.engine.first = added
        await calls.data("PATCH", path, {"expiresAt": "2040-12-31T12:00:00Z", "version": 1}, by=by)
        items = await Store(calls.engine, calls.clock).all(ChecklistItem.of(made["shortId"]))
        assert len(items) == 3
        assert len({each.ttl for each in items}) == 1


async def test_a_change_names_the_version_that_was_seen(calls):
    made = await calls.guarded()
    path, by = f"/shareables/{made['shortId']}", made["adminToken"]
    changed = await calls.data("PATCH", path, {"name": " Packed ", "note": "Friday", "version": 1}, by=by)
    assert (changed["name"], changed["note"], changed["version"]) == ("Packed", "Friday", 2)
    stale = problem(await calls.ask("PATCH", path, {"name": "X", "version": 1}, by=by), 409, "version-conflict")
    assert (stale["current"]["name"], len(stale["current"]["items"])) == ("Packed", 2)
    problem(await calls.ask("PATCH", path, {"name": "X"}, by=by), 428, "version-needed")
    problem(
        await calls.ask("PATCH", path, {"expiresAt": "2039-01-01T00:00:00Z", "version": 2}, by=by),
        422,
        "invalid-fields",
    )
    assert await calls.data("PATCH", path, {"name": "Packed", "version": 2}, by=by) == changed
    # Items and passcodes are not what the version is of, and its reader is told of both.
    await calls.data("POST", f"{path}/items", {"name": "Rope"}, 201, by=by)
    assert (await calls.seen(made))["version"] == 2
    first = await calls.ask("GET", path, by=by)
    assert (await calls.ask("GET", path, by=by, if_none_match=first.headers["etag"])).status_code == 304
    # What one admin was told is not the answer to another caller.
    viewer = await calls.token(made)
    assert data(await calls.ask("GET", path, by=viewer, if_none_match=first.headers["etag"]))["role"] == "view"


# --- clones -----------------------------------------------------------------------------------------------------------


async def test_a_clone_is_a_new_one_with_fresh_ticks_also_after_expiry(calls):
    made = await calls.guarded(expiresInDays=5, note="Friday")
    path, by = f"/shareables/{made['shortId']}", made["adminToken"]
    first = (await calls.seen(made))["items"][0]["checklistItemId"]
    await calls.data("PATCH", f"{path}/items/{first}", {"done": True, "version": 1}, by=by)
    calls.clock.forward(days=6)
    before = await calls.seen(made)
    clone = await calls.data("POST", f"{path}/clone", None, 201, by=by)
    assert clone["shortId"] != made["shortId"]
    assert clone["expiresAt"] == "2040-02-06T12:00:00.000Z"
    # It asks for a passcode like the original, and for another one.
    assert clone["viewPasscode"] not in (None, VIEW)
    seen = await calls.seen(clone)
    assert (seen["name"], seen["note"], seen["role"]) == ("Packing", "Friday", "admin")
    assert [(each["name"], each["done"], each["doneAt"], each["version"]) for each in seen["items"]] == [
        ("Tents", False, None, 1),
        ("Stove", False, None, 1),
    ]
    kept = await calls.data(
        "POST",
        f"{path}/clone",
        {"keepTicks": True, "name": "Again", "viewPasscode": None, "adminPasscode": "chosen one", "expiresInDays": 2},
        201,
        by=by,
    )
    assert (kept["name"], kept["viewPasscode"], kept["adminPasscode"]) == ("Again", None, "chosen one")
    assert [each["done"] for each in (await calls.data("GET", f"/shareables/{kept['shortId']}"))["items"]] == [
        True,
        False,
    ]
    assert await calls.seen(made) == before
    # Neither the old token nor the old passcodes open it.
    problem(await calls.ask("GET", f"/shareables/{clone['shortId']}", by=by), 401, "passcode-needed")
    tried = await calls.ask("POST", f"/shareables/{clone['shortId']}/sessions", {"passcode": ADMIN})
    problem(tried, 401, "wrong-passcode")


async def test_a_clone_of_a_poll_has_no_votes(calls):
    made = await calls.poll(expiresInDays=5)
    path = f"/shareables/{made['shortId']}"
    await calls.data("POST", f"{path}/votes", {"rankings": ["Hut"]}, 201)
    calls.clock.forward(days=6)
    clone = await calls.data("POST", f"{path}/clone", {"name": "Once more"}, 201, by=made["adminToken"])
    results = await calls.data("GET", f"/shareables/{clone['shortId']}/results")
    assert (results["status"], results["votes"]) == ("live", 0)
    await calls.data("POST", f"/shareables/{clone['shortId']}/votes", {"rankings": ["Sea"]}, 201)
    assert (await calls.data("GET", f"{path}/results", by=made["adminToken"]))["votes"] == 1


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["checklist", "poll"])
async def test_what_is_deleted_is_gone_to_the_last_row(calls, kind):
    ada = await calls.person()
    before = {table: rows for table, rows in (await rows_left(calls.engine)).items() if table != "ShortIdPool"}
    made = await (calls.guarded(by=ada) if kind == "checklist" else calls.poll(viewPasscode=VIEW, by=ada))
    path = f"/shareables/{made['shortId']}"
    viewer = await calls.token(made)
    if kind == "poll":
        await calls.data("POST", f"{path}/votes", {"rankings": ["Hut"]}, 201, by=viewer)
    problem(await calls.ask("DELETE", path, by=viewer), 403, "forbidden")
    await calls.data("DELETE", path, None, 204, by=made["adminToken"])
    for by in (None, viewer, made["adminToken"], ada):
        problem(await calls.ask("GET", path, by=by), 404, "not-found")
    assert {table: rows for table, rows in (await rows_left(calls.engine)).items() if table != "ShortIdPool"} == before


async def test_an_item_that_is_added_while_it_is_deleted_goes_too(tmp_path):
    from tests.apps.worlds import Meanwhile

    async with calls_on(tmp_path, wrap=Meanwhile) as calls:
        made = await calls.made()
        path, by = f"/shareables/{made['shortId']}", made["adminToken"]

        async def added():
            await calls.data("POST", f"{path}/items", {"name": "Late"}, 201, by=by)

        calls.engine.first = added
        await calls.data("DELETE", path, None, 204, by=by)
        assert await calls.rows() == []


async def test_the_poll_of_a_purged_shareable_goes_with_it(calls):
    made, kept = await calls.poll(), await calls.poll()
    store = Store(calls.engine, calls.clock)
    shareable, other = [await store.one(Shareable.one(each["shortId"])) for each in (made, kept)]
    await calls.data("POST", f"/shareables/{made['shortId']}/votes", {"rankings": ["Hut"]}, 201)
    # As the sweeper does.
    await store.delete(shareable)

    async def gone():
        return not await store.all(PollRow.of_poll(shareable.poll_id)) and not await _deletions(calls)

    await until(gone)
    assert await store.get(Poll.one(other.poll_id)) is not None


async def _deletions(calls):
    return [row for row in await rows_in(calls.engine, "ranked-choice-polls") if row["PK"]["S"] == "DELETIONS"]


async def test_polls_of_purged_shareables_are_found_though_changes_were_missed(calls):
    made, kept = await calls.poll(), await calls.poll()
    store = Store(calls.engine, calls.clock)
    shareables = [await store.one(Shareable.one(each["shortId"])) for each in (made, kept)]
    polls = [each.poll_id for each in shareables]
    own = await calls.data("POST", "/polls", {"title": "Own", "candidates": ["A", "B"]}, 201)
    await store.write_each([delete(shareables[0])])
    await PollsOfPurged(store).deleting_orphans().completed(store)
    assert await store.get(Poll.one(polls[0])) is None
    assert await store.get(Poll.one(polls[1])) is not None
    assert await store.get(Poll.one(UUID(own["id"]))) is not None
