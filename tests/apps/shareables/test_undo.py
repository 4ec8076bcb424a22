"""Deleting an item, undone."""

import asyncio
import re

from potluck.apps.shareables.fields import MOST_ITEMS
from tests.apps.shareables.doors import problem
from tests.apps.shareables.test_pages import card_of, posted, shown

UNDO = re.compile(
    r'action="(/shareables/[^"]+/items/restore)"><input type="hidden" name="checklistItemId" value="([^"]+)"'
)


async def made_with(calls, *names):
    """A list, its address in the API, and the ids of its items."""
    made = await calls.made(names)
    items = (await calls.seen(made))["items"]
    return made, f"/shareables/{made['shortId']}", [each["checklistItemId"] for each in items]


async def named(calls, made):
    return [each["name"] for each in (await calls.seen(made))["items"]]


async def test_a_deleted_item_is_put_back_as_it_was_without_a_script(calls):
    async with calls.from_address("192.0.2.1") as maker:
        path, _ = await card_of(maker, "/shareables", entity="checklist", name="Fair", lines="Table\nBunting\nTea")
        id = re.findall(rf'action="{path}/items/([0-9a-f-]+)/change"', await shown(maker, path))[1]
        await posted(maker, f"{path}/items/{id}/edit", name="Bunting", note="Leo has the ladder", version="1")
        await posted(maker, f"{path}/items/{id}/change", done="true")
        before = await shown(maker, path)
        gone = await posted(maker, f"{path}/items/{id}/delete")
        page = await shown(maker, gone.headers["location"])
        assert "Removed <bdi>Bunting</bdi>" in page
        assert f'id="item-{id}"' not in page
        address, named = UNDO.search(page).groups()
        back = await posted(maker, address, checklistItemId=named)
        assert back.headers["location"] == path
        row = re.compile(r'<li class="row item.*?</li>', re.DOTALL)
        # Note, tick and its time, version and place are the same.
        assert row.findall(await shown(maker, path)) == row.findall(before)
        # There is nothing left to undo.
        assert "Deleted" not in await shown(maker, gone.headers["location"])
        await posted(maker, address, 404, checklistItemId=named)


async def test_undo_is_for_admins_and_for_ten_minutes(calls):
    made, path, (first, second) = await made_with(calls, "Tents", "Stove")
    for each in (first, second):
        await calls.data("DELETE", f"{path}/items/{each}", None, 204, by=made["adminToken"])
    async with calls.from_address("192.0.2.1") as viewer:
        assert "Tents" not in await shown(viewer, f"{path}?deleted={first}")
        for wrong in ("", "x", "%00"):
            await shown(viewer, f"{path}?deleted={wrong}")
    sent = {"checklistItemId": first}
    problem(await calls.ask("POST", f"{path}/items/restore", sent), 401, "passcode-needed")
    calls.clock.forward(minutes=9, seconds=59)
    await calls.data("POST", f"{path}/items/restore", sent, 201, by=made["adminToken"])
    calls.clock.forward(seconds=1)
    late = await calls.ask("POST", f"{path}/items/restore", {"checklistItemId": second}, by=made["adminToken"])
    problem(late, 404, "not-found")
    assert await named(calls, made) == ["Tents"]


async def test_an_item_that_took_its_place_meanwhile_goes_after_it(calls):
    made, path, (_, stove) = await made_with(calls, "Tents", "Stove")
    admin = made["adminToken"]
    await calls.data("DELETE", f"{path}/items/{stove}", None, 204, by=admin)
    for name in ("Rope", "Lamp"):
        await calls.data("POST", f"{path}/items", {"name": name}, 201, by=admin)
    await calls.data("POST", f"{path}/items/restore", {"checklistItemId": stove}, 201, by=admin)
    items = (await calls.seen(made))["items"]
    assert [each["name"] for each in items] == ["Tents", "Stove", "Rope", "Lamp"]
    assert len({each["order"] for each in items}) == len(items)
    # Moving made no other version of them.
    assert {each["version"] for each in items} == {1}


async def test_a_full_list_takes_nothing_back(calls):
    made, path, (first, *_) = await made_with(calls, *(f"Item {number}" for number in range(MOST_ITEMS)))
    admin = made["adminToken"]
    await calls.data("DELETE", f"{path}/items/{first}", None, 204, by=admin)
    added = await calls.data("POST", f"{path}/items", {"name": "Another"}, 201, by=admin)
    sent = {"checklistItemId": first}
    problem(await calls.ask("POST", f"{path}/items/restore", sent, by=admin), 409, "list-full")
    await calls.data("DELETE", f"{path}/items/{added['checklistItemId']}", None, 204, by=admin)
    await calls.data("POST", f"{path}/items/restore", sent, 201, by=admin)
    assert len(await named(calls, made)) == MOST_ITEMS


async def test_of_ten_who_undo_at_once_one_puts_it_back(calls):
    made, path, (first, _) = await made_with(calls, "Tents", "Stove")
    admin = made["adminToken"]
    await calls.data("DELETE", f"{path}/items/{first}", None, 204, by=admin)
    sent = {"checklistItemId": first}
    answers = await asyncio.gather(*(calls.ask("POST", f"{path}/items/restore", sent, by=admin) for _ in range(10)))
    assert sorted(each.status_code for each in answers) == [201, *[404] * 9]
    assert await named(calls, made) == ["Tents", "Stove"]


async def test_a_tick_made_while_it_is_deleted_is_not_lost(calls):
    made, path, ids = await made_with(calls, *(f"Item {number}" for number in range(8)))
    admin = made["adminToken"]
    calls_made = [calls.ask("DELETE", f"{path}/items/{each}", by=admin) for each in ids]
    ticks = [calls.ask("PATCH", f"{path}/items/{each}", {"done": True, "version": 1}, by=admin) for each in ids]
    answers = await asyncio.gather(*(each for pair in zip(ticks, calls_made, strict=True) for each in pair))
    ticked = {id for id, answer in zip(ids, answers[::2], strict=True) if answer.status_code == 200}
    assert {each.status_code for each in answers[1::2]} == {204}
    for each in ids:
        await calls.data("POST", f"{path}/items/restore", {"checklistItemId": each}, 201, by=admin)
    items = (await calls.seen(made))["items"]
    assert {each["checklistItemId"] for each in items if each["done"]} == ticked


async def test_what_was_deleted_goes_with_its_list(calls):
    made, path, (first, _) = await made_with(calls, "Tents", "Stove")
    await calls.data("DELETE", f"{path}/items/{first}", None, 204, by=made["adminToken"])
    assert any(row["pk"]["S"].startswith("deleted_item#") for row in await calls.rows())
    await calls.data("DELETE", path, None, 204, by=made["adminToken"])
    assert await calls.rows() == []
