"""Live: what changes is told as it happens, to who may look and for as long; and how many look."""

import asyncio

import pytest

from potluck.apps.shareables.presence import Presence
from potluck.people.secrets import SYSTEM_RANDOM
from potluck.store import Store
from tests.apps.shareables.doors import calls_on, problem
from tests.patience import PATIENCE_SECONDS, until


async def heard(stream, name, what=lambda data: True):
    """The first event of this name that is as wanted."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            for each in stream.events:
                if each.event == name and what(each.data):
                    return each.data
            assert not stream.complete, stream.events
            stream.news.clear()
            await stream.news.wait()


async def ended(stream):
    await stream.until(ended=True)


async def test_those_who_look_hear_of_each_other_and_of_every_change(calls):
    made = await calls.guarded()
    path, admin = f"/shareables/{made['shortId']}", made["adminToken"]
    viewer = await calls.token(made)
    async with calls.listening(f"{path}/events", viewer) as first:
        assert await heard(first, "looking") == {"people": 1}
        async with calls.listening(f"{path}/events", admin) as second:
            await heard(first, "looking", lambda data: data == {"people": 2})
            await heard(second, "looking", lambda data: data == {"people": 2})
            item = (await calls.seen(made))["items"][0]["checklistItemId"]
            await calls.data("PATCH", f"{path}/items/{item}", {"done": True, "version": 1}, by=viewer)
            assert (await heard(second, "updated"))["checklistItemId"] == item
            added = await calls.data("POST", f"{path}/items", {"name": "Rope"}, 201, by=admin)
            assert await heard(first, "created") == added
            await calls.data("DELETE", f"{path}/items/{item}", None, 204, by=admin)
            assert (await heard(first, "deleted"))["checklistItemId"] == item
            await calls.data("PATCH", path, {"name": "Packed", "version": 1}, by=admin)
            told = await heard(first, "shareable")
            assert told["name"] == "Packed"
            assert not {"viewPasscode", "adminPasscode", "creatorId"} & set(told)
        await heard(first, "looking", lambda data: first.events[-1].data == {"people": 1})

    async def nobody():
        return not any("onlookers#" in row["pk"]["S"] for row in await calls.rows())

    await until(nobody)


async def test_votes_are_told_as_they_come_in(calls):
    made = await calls.poll()
    path = f"/shareables/{made['shortId']}"
    async with calls.listening(f"{path}/events") as stream:
        await heard(stream, "looking")
        for _ in range(3):
            await calls.data("POST", f"{path}/votes", {"rankings": ["Hut"]}, 201)
        assert await heard(stream, "votes", lambda data: data["votes"] == 3)
        # Those that come in together are told together, each number once.
        await asyncio.gather(*(calls.data("POST", f"{path}/votes", {"rankings": ["Hut"]}, 201) for _ in range(30)))
        await heard(stream, "votes", lambda data: data["votes"] == 33)
        told = [each.data["votes"] for each in stream.events if each.event == "votes"]
        assert told == sorted(set(told))


@pytest.mark.parametrize("what", ["replaced", "deleted", "expired"])
async def test_a_stream_ends_when_its_listener_may_not_look_any_more(calls, what):
    made = await calls.guarded(expiresInDays=5)
    path, admin = f"/shareables/{made['shortId']}", made["adminToken"]
    viewer = await calls.token(made)
    async with calls.listening(f"{path}/events", viewer) as stream:
        await heard(stream, "looking")
        item = (await calls.seen(made))["items"][0]["checklistItemId"]
        if what == "replaced":
            await calls.data("PUT", f"{path}/passcodes", {"view": "another one"}, by=admin)
        elif what == "deleted":
            await calls.data("DELETE", path, None, 204, by=admin)
        else:
            calls.clock.forward(days=5)
            # Anything that happens makes it look at the time.
            async with calls.listening(f"{path}/events", admin) as other:
                await heard(other, "looking")
                await ended(stream)
        await ended(stream)
        assert not any(item in str(each.data) for each in stream.events)
    refusals = {
        "replaced": (401, "passcode-needed"),
        "deleted": (404, "not-found"),
        "expired": (410, "shareable-expired"),
    }
    problem(await calls.ask("GET", f"{path}/events", by=viewer), *refusals[what])


async def test_a_viewers_stream_ends_by_itself_when_the_time_is_over(calls, monkeypatch):
    # Nothing else makes it look again.
    monkeypatch.setattr(calls.application.state.live, "_recheck_seconds", 3600.0)
    made = await calls.made(expiresAt="2040-01-01T12:00:10Z")
    # So near the end that whoever waits for it looks again every few milliseconds, by a clock that stands still.
    calls.clock.forward(seconds=9.98)
    async with calls.listening(f"/shareables/{made['shortId']}/events") as stream:
        await heard(stream, "looking")
        calls.clock.forward(seconds=0.02)
        await ended(stream)


async def test_changes_since_a_position_are_for_who_holds_no_stream_and_both_go_on_from_each_other(calls):
    made = await calls.guarded()
    path, admin = f"/shareables/{made['shortId']}", made["adminToken"]
    viewer = await calls.token(made)
    begin = await calls.data("GET", f"{path}/changes", by=viewer)
    assert begin["changes"] == []
    added = await calls.data("POST", f"{path}/items", {"name": "Rope"}, 201, by=admin)
    found = await calls.data("GET", f"{path}/changes?since={begin['position']}", by=viewer)
    assert [(each["event"], each["item"]) for each in found["changes"]] == [("created", added)]
    async with calls.listening(f"{path}/events?since={begin['position']}", viewer) as stream:
        assert await heard(stream, "created") == added
        await heard(stream, "looking")
        last = stream.last_id
    later = await calls.data("GET", f"{path}/changes?since={last}", by=viewer)
    assert later["changes"] == []
    problem(await calls.ask("GET", f"{path}/changes?since=x", by=viewer), 422, "invalid-fields")
    other = await calls.made()
    foreign = await calls.ask("GET", f"/shareables/{other['shortId']}/changes?since={begin['position']}")
    problem(foreign, 422, "invalid-fields")


async def test_what_happened_while_a_passcode_was_asked_for_is_not_told_afterwards(calls):
    made = await calls.made()
    path, admin = f"/shareables/{made['shortId']}", made["adminToken"]
    since = (await calls.data("GET", f"{path}/changes"))["position"]
    await calls.data("PUT", f"{path}/passcodes", {"view": "another one"}, by=admin)
    await calls.data("POST", f"{path}/items", {"name": "Rope"}, 201, by=admin)
    await calls.data("PUT", f"{path}/passcodes", {"view": None}, by=admin)
    told = await calls.data("GET", f"{path}/changes?since={since}")
    assert (told["reset"], told["changes"]) == (True, [])
    async with calls.listening(f"{path}/events?since={since}") as stream:
        await heard(stream, "reset")
        await calls.data("POST", f"{path}/items", {"name": "Pegs"}, 201, by=admin)
        await heard(stream, "created", lambda item: item["name"] == "Pegs")
        assert not any("Rope" in str(event.data) for event in stream.events)
    # An admin was admitted all the time.
    told = await calls.data("GET", f"{path}/changes?since={since}", by=admin)
    assert "Rope" in str(told["changes"])


async def test_who_looks_in_any_process_is_counted_until_their_process_is_gone(tmp_path):
    async with calls_on(tmp_path) as calls:
        made = await calls.made()
        store = Store(calls.engine, calls.clock)
        one, other = (Presence(store, SYSTEM_RANDOM) for _ in range(2))
        short_id = made["shortId"]
        async with one.looking(short_id), one.looking(short_id):
            async with other.looking(short_id):
                assert await one.people(short_id) == await other.people(short_id) == 3
            assert await other.people(short_id) == 2
            calls.clock.forward(seconds=60)
            await one.renew(short_id)
            calls.clock.forward(seconds=60)
            assert await other.people(short_id) == 2
            # Of a process that says nothing any more, nobody is counted.
            calls.clock.forward(seconds=60)
            assert await other.people(short_id) == 0
        assert await one.people(short_id) == 0
