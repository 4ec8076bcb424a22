"""The items of a checklist: added, edited, ticked, ordered; by several at once, nothing is lost."""

import asyncio
from uuid import uuid4

import pytest

from potluck.apps.shareables.entities import ChecklistItem
from potluck.apps.shareables.fields import MOST_ITEMS
from potluck.store import Store
from tests.apps.shareables.doors import ADMIN, calls_on, data, problem
from tests.people.assembly import WRAPPERS


def path_of(made, *more):
    return "/".join(["/shareables", made["shortId"], "items", *more])


async def ids_of(calls, made):
    return [each["checklistItemId"] for each in (await calls.seen(made))["items"]]


async def test_admins_add_edit_and_delete(calls):
    made = await calls.guarded()
    by = {"by": made["adminToken"]}
    chosen = str(uuid4())
    said = {"name": " Rope ", "note": "20 m", "checklistItemId": chosen}
    added = data(await calls.ask("POST", path_of(made), said, **by), 201)
    assert (added["name"], added["note"], added["order"], added["version"]) == ("Rope", "20 m", 2, 1)
    problem(await calls.ask("POST", path_of(made), said, **by), 409, "already-exists")
    changed = data(await calls.ask("PATCH", path_of(made, chosen), {"name": "Cord", "note": None, "version": 1}, **by))
    assert (changed["name"], changed["note"], changed["version"]) == ("Cord", None, 2)
    stale = problem(
        await calls.ask("PATCH", path_of(made, chosen), {"name": "X", "version": 1}, **by), 409, "version-conflict"
    )
    assert stale["current"]["name"] == "Cord"
    problem(await calls.ask("PATCH", path_of(made, chosen), {"name": "X"}, **by), 428, "version-needed")
    data(await calls.ask("DELETE", path_of(made, chosen), **by), 204)
    problem(await calls.ask("DELETE", path_of(made, chosen), **by), 404, "not-found")
    assert [each["name"] for each in (await calls.seen(made))["items"]] == ["Tents", "Stove"]


async def test_viewers_tick_unless_it_is_turned_off(calls):
    made = await calls.guarded()
    viewer = await calls.token(made)
    first, _ = await ids_of(calls, made)
    done = data(await calls.ask("PATCH", path_of(made, first), {"done": True, "version": 1}, by=viewer))
    assert (done["done"], done["doneAt"], done["version"]) == (True, "2040-01-01T12:00:00.000Z", 2)
    # What is so already changes nothing.
    assert data(await calls.ask("PATCH", path_of(made, first), {"done": True, "version": 2}, by=viewer)) == done
    for more in ({"name": "X"}, {"note": "X"}):
        said = {"done": False, "version": 2, **more}
        problem(await calls.ask("PATCH", path_of(made, first), said, by=viewer), 403, "forbidden")
    undone = data(await calls.ask("PATCH", path_of(made, first), {"done": False, "version": 2}, by=viewer))
    assert (undone["done"], undone["doneAt"], undone["version"]) == (False, None, 3)
    await calls.data(
        "PATCH", f"/shareables/{made['shortId']}", {"viewersCanTick": False, "version": 1}, by=made["adminToken"]
    )
    problem(await calls.ask("PATCH", path_of(made, first), {"done": True, "version": 3}, by=viewer), 403, "ticking-off")
    data(await calls.ask("PATCH", path_of(made, first), {"done": True, "version": 3}, by=made["adminToken"]))


async def test_a_tick_that_met_ticking_turned_off_is_not_done(tmp_path):
    from tests.apps.worlds import Meanwhile

    async with calls_on(tmp_path, wrap=Meanwhile) as calls:
        made = await calls.guarded()
        viewer = await calls.token(made)
        first, _ = await ids_of(calls, made)

        async def turned_off():
            said = {"viewersCanTick": False, "version": 1}
            await calls.data("PATCH", f"/shareables/{made['shortId']}", said, by=made["adminToken"])

        calls.engine.first = turned_off
        problem(
            await calls.ask("PATCH", path_of(made, first), {"done": True, "version": 1}, by=viewer), 403, "ticking-off"
        )
        assert not (await calls.seen(made))["items"][0]["done"]


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "\u2800"}, "name"),
        ({"name": "right to\u202eleft"}, "name"),
        ({"name": "A", "note": "x" * 2001}, "note"),
        ({"name": "A", "checklistItemId": "1"}, "checklistItemId"),
        ({"name": "A", "done": True}, "done"),
    ],
)
async def test_what_is_wrong_with_an_item_is_said(calls, said, field):
    made = await calls.made()
    wrong = problem(await calls.ask("POST", path_of(made), said, by=made["adminToken"]), 422, "invalid-fields")
    assert [each["field"] for each in wrong["errors"]] == [field]
    assert len((await calls.seen(made))["items"]) == 2


async def test_a_list_has_so_many_items_and_they_can_all_be_moved_cloned_and_deleted_at_once(calls):
    ada = await calls.person()
    key = {"idempotency_key": "k"}
    said = {"entity": "checklist", "name": "Long", "items": [{"name": f"{n}"} for n in range(MOST_ITEMS)]}
    too_many = {**said, "items": [*said["items"], {"name": "one more"}]}
    wrong = problem(await calls.ask("POST", "/shareables", too_many, by=ada), 422, "invalid-fields")
    assert wrong["errors"][0]["field"] == "items"
    made = data(await calls.ask("POST", "/shareables", said, by=ada, **key), 201)
    problem(await calls.ask("POST", path_of(made), {"name": "one more"}, by=ada), 409, "list-full")
    turned = (await ids_of(calls, made))[::-1]
    data(await calls.ask("PUT", path_of(made, "order"), {"itemIds": turned}, by=ada, idempotency_key="o"))
    assert await ids_of(calls, made) == turned
    longer = {"expiresAt": "2040-12-01T00:00:00Z", "version": 1}
    data(await calls.ask("PATCH", f"/shareables/{made['shortId']}", longer, by=ada, idempotency_key="p"))
    clone = data(await calls.ask("POST", f"/shareables/{made['shortId']}/clone", {}, by=ada, idempotency_key="c"), 201)
    assert [each["name"] for each in (await calls.seen(clone))["items"]] == [f"{n}" for n in range(MOST_ITEMS)][::-1]
    data(await calls.ask("DELETE", f"/shareables/{made['shortId']}", by=ada, idempotency_key="d"), 204)


# --- order ------------------------------------------------------------------------------------------------------------


async def test_an_order_names_exactly_the_items_that_are_there(calls):
    made = await calls.made(("A", "B", "C"))
    by = {"by": made["adminToken"]}
    a, b, c = await ids_of(calls, made)
    moved = data(await calls.ask("PUT", path_of(made, "order"), {"itemIds": [c, a, b]}, **by))
    assert [(each["name"], each["order"], each["version"]) for each in moved["items"]] == [
        ("C", 0, 1),
        ("A", 1, 1),
        ("B", 2, 1),
    ]
    assert await ids_of(calls, made) == [c, a, b]
    for wrong in ([a, b], [a, b, c, str(uuid4())], [a, b, b], [], [a, b, str(uuid4())], [a, b, c, c]):
        refused = problem(
            await calls.ask("PUT", path_of(made, "order"), {"itemIds": wrong}, **by), 409, "order-changed"
        )
        assert refused["itemIds"] == [c, a, b]
    problem(await calls.ask("PUT", path_of(made, "order"), {"itemIds": ["A"]}, **by), 422, "invalid-fields")
    # What was deleted leaves a gap that nobody falls into.
    data(await calls.ask("DELETE", path_of(made, a), **by), 204)
    data(await calls.ask("PUT", path_of(made, "order"), {"itemIds": [b, c]}, **by))
    added = data(await calls.ask("POST", path_of(made), {"name": "D"}, **by), 201)
    assert await ids_of(calls, made) == [b, c, added["checklistItemId"]]


@pytest.mark.parametrize("wrapper", ["plain", "conflicting"])
async def test_of_those_who_add_order_tick_and_delete_at_once_nothing_is_lost(tmp_path, wrapper):
    async with calls_on(tmp_path, wrap=WRAPPERS[wrapper] or (lambda engine: engine)) as calls:
        made = await calls.guarded(items=[f"Item {n}" for n in range(8)])
        # As from another process, which waits for nobody here.
        admins = [made["adminToken"], await calls.token(made, ADMIN)]
        viewer = await calls.token(made)
        ids = await ids_of(calls, made)
        gone, ticked = ids[0], ids[1:5]

        async def add(number):
            return data(await calls.ask("POST", path_of(made), {"name": f"New {number}"}, by=admins[number % 2]), 201)

        async def order(number):
            now = await ids_of(calls, made)
            turned = now[number % len(now) :] + now[: number % len(now)]
            answer = await calls.ask("PUT", path_of(made, "order"), {"itemIds": turned}, by=admins[number % 2])
            assert answer.status_code in (200, 409)

        async def tick(item_id):
            data(await calls.ask("PATCH", path_of(made, item_id), {"done": True, "version": 1}, by=viewer))

        added = await asyncio.gather(
            *(add(number) for number in range(12)),
            *(order(number) for number in range(1, 9)),
            *map(tick, ticked),
            calls.ask("DELETE", path_of(made, gone), by=admins[0]),
        )
        rows = await Store(calls.engine, calls.clock).all(ChecklistItem.of(made["shortId"]))
        expected = {*ids[1:], *(each["checklistItemId"] for each in added[:12])}
        assert {str(each.checklist_item_id) for each in rows} == expected
        assert len({each.order for each in rows}) == len(rows) == 19
        assert {str(each.checklist_item_id) for each in rows if each.done} == set(ticked)


async def test_an_order_that_met_another_item_is_refused(tmp_path):
    from tests.apps.worlds import Meanwhile

    async with calls_on(tmp_path, wrap=Meanwhile) as calls:
        made = await calls.made(("A", "B"))
        a, b = await ids_of(calls, made)

        async def added():
            await calls.ask("POST", path_of(made), {"name": "C"}, by=made["adminToken"])

        calls.engine.first = added
        refused = await calls.ask("PUT", path_of(made, "order"), {"itemIds": [b, a]}, by=made["adminToken"])
        assert problem(refused, 409, "order-changed")["itemIds"] == await ids_of(calls, made)
        assert (await ids_of(calls, made))[:2] == [a, b]


async def test_a_poll_has_no_items_and_a_checklist_no_votes(calls):
    poll, listed = await calls.poll(), await calls.made()
    problem(await calls.ask("POST", path_of(poll), {"name": "A"}, by=poll["adminToken"]), 404, "not-found")
    problem(await calls.ask("PUT", path_of(poll, "order"), {"itemIds": []}, by=poll["adminToken"]), 404, "not-found")
    problem(await calls.ask("GET", f"/shareables/{listed['shortId']}/results"), 404, "not-found")
    problem(await calls.ask("POST", f"/shareables/{listed['shortId']}/votes", {"rankings": ["A"]}), 404, "not-found")


async def test_ticking_and_editing_do_not_conflict(calls):
    made = await calls.made(["Tents"])
    (item,) = (await calls.seen(made))["items"]
    path = f"/shareables/{made['shortId']}/items/{item['checklistItemId']}"
    admin = made["adminToken"]
    await calls.data("PATCH", path, {"done": True, "version": 1})
    # The admin's form was loaded before the tick, the viewer's page before the edit.
    edited = await calls.data("PATCH", path, {"name": "Two tents", "version": 1}, by=admin)
    assert (edited["name"], edited["done"], edited["version"]) == ("Two tents", True, 3)
    ticked = await calls.data("PATCH", path, {"done": False, "version": 2})
    assert (ticked["name"], ticked["done"], ticked["version"]) == ("Two tents", False, 4)
    # Two edits do, and so do two ticks, and a version that never was.
    for change, version in (({"name": "Tarps"}, 2), ({"done": True}, 3), ({"name": "Tarps", "done": True}, 3)):
        stale = await calls.ask("PATCH", path, {**change, "version": version}, by=admin)
        assert problem(stale, 409, "version-conflict")["current"] == ticked
    stale = await calls.ask("PATCH", path, {"name": "Tarps"}, by=admin, if_match='"9"')
    problem(stale, 412, "precondition-failed")


async def test_a_tick_and_an_edit_of_the_same_moment_are_both_made(calls):
    made = await calls.made(["Tents"])
    (item,) = (await calls.seen(made))["items"]
    path = f"/shareables/{made['shortId']}/items/{item['checklistItemId']}"
    answers = await asyncio.gather(
        calls.ask("PATCH", path, {"done": True, "version": 1}),
        calls.ask("PATCH", path, {"name": "Two tents", "version": 1}, by=made["adminToken"]),
    )
    assert [answer.status_code for answer in answers] == [200, 200]
    (item,) = (await calls.seen(made))["items"]
    assert (item["name"], item["done"]) == ("Two tents", True)
