"""Everyone who looks at a list is told what changes, in order and once, and only what they may see, while they may."""

import asyncio
import random
from contextlib import AsyncExitStack

import pytest

from potluck.store import Store
from tests.engine_targets import EMBEDDED
from tests.patience import PATIENCE_SECONDS
from tests.toy.entities import notes_table
from tests.web.contract.test_callers import cookie_of
from tests.web.contract.wire import listening, sent
from tests.web.contract.worlds import bearer_headers, book_of, world_on
from tests.web.suites import API

WRITERS = 3
CHANGES_EACH = 12
RECONNECTS = 5


def events_path(book):
    return f"{API}{book.notes}/events"


async def changes(doors, book, by, since):
    answer = await doors.ask("GET", f"{book.notes}/changes?since={since}", by=by)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def all_changes(doors, book, by, since, at_least=0):
    """Everything since the position, however many answers it takes; what was just written may take a moment."""
    found, position = [], since
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            told = await changes(doors, book, by, position)
            assert not told["reset"]
            found += told["changes"]
            position = told["position"]
            if not told["more"]:
                if len(found) >= at_least:
                    return found
                await asyncio.sleep(0.05)


def applied(items, events):
    """The list as it is after these events, by id."""
    state = dict(items)
    for event, item in events:
        state.pop(item["noteId"], None) if event == "deleted" else state.__setitem__(item["noteId"], item)
    return state


async def write(doors, book, seed):
    """Add, change and delete, in an order of one's own; how many changes that were."""
    chance, own, done = random.Random(seed), {}, 0
    while done < CHANGES_EACH:
        what = chance.choice(("add", "add", "change", "delete")) if own else "add"
        if what == "add":
            note = await book.add(f"{seed}: {done}")
            own[note["noteId"]] = 1
        else:
            which = chance.choice(sorted(own))
            one = f"{book.notes}/{which}"
            if what == "change":
                answer = await doors.ask("PATCH", one, {"title": f"{seed}: {done}", "version": own[which]}, by=book.by)
                own[which] += 1
            else:
                answer = await doors.ask("DELETE", one, by=book.by)
                del own[which]
            assert answer.status_code in (200, 204), answer.text
        done += 1
    return done


async def test_through_any_number_of_reconnects_everything_comes_once_and_in_order(busy):
    """While three write, one who keeps losing the connection and one who never does are told the same."""
    ada = await busy.join()
    book = await book_of(busy, ada)
    await book.add("There before")
    listed = (await busy.ask("GET", book.notes, by=ada)).json()
    (since,) = await book.settled(ada)
    by = bearer_headers(ada)
    heard, position, chance = [], since, random.Random(11)
    async with listening(busy.application, f"{events_path(book)}?since={since}", by) as steady:
        await steady.until(begun=True)
        writing = asyncio.gather(*(write(busy, book, seed) for seed in range(WRITERS)))
        for _ in range(RECONNECTS):
            async with listening(busy.application, events_path(book), [*by, ("last-event-id", position)]) as listener:
                await listener.until(min(chance.randint(0, 4), WRITERS * CHANGES_EACH - len(heard)), begun=True)
                await listener.leave()
                # The connection broke anywhere: of what was sent, so many arrived.
                arrived = listener.events[: chance.randint(0, len(listener.events))]
                heard += arrived
                position = arrived[-1].id if arrived else position
        total = sum(await writing)
        async with listening(busy.application, f"{events_path(book)}?since={position}", by) as listener:
            heard += await listener.until(total - len(heard), begun=True)
        await steady.until(total)
    told = [(each.event, each.data) for each in heard]
    assert told == [(each.event, each.data) for each in steady.events]
    assert len({each.id for each in heard}) == total == len(heard)
    # The same by JSON, and the list they make is the list there is.
    by_json = [(each["event"], each["item"]) for each in await all_changes(busy, book, ada, since, total)]
    assert by_json == told
    now = {note["noteId"]: note for note in (await busy.ask("GET", f"{book.notes}?limit=100", by=ada)).json()["items"]}
    assert applied({note["noteId"]: note for note in listed["items"]}, told) == now
    versions: dict[str, int] = {}
    for event, item in told:
        # In the order in which it was done: each version of a note after the one before.
        expected = {"created": 1, "updated": versions.get(item["noteId"], 0) + 1}.get(event, item["version"])
        assert item["version"] == expected
        versions[item["noteId"]] = item["version"]


async def test_the_position_of_a_list_leaves_no_gap(busy):
    """Lists that are read while others write, each with what is told after its position, end up the same."""
    ada = await busy.join()
    book = await book_of(busy, ada)
    await book.add()
    (since,) = await book.settled(ada)
    writing = asyncio.gather(*(write(busy, book, seed) for seed in range(2)))
    lists = []
    while not writing.done():
        lists.append((await busy.ask("GET", f"{book.notes}?limit=100", by=ada)).json())
        await asyncio.sleep(0.01)
    total = sum(await writing)
    end = {note["noteId"]: note for note in (await busy.ask("GET", f"{book.notes}?limit=100", by=ada)).json()["items"]}
    # What was written last may take a moment to be in the log.
    assert len(await all_changes(busy, book, ada, since, total)) == total
    for listed in random.Random(1).sample(lists, min(6, len(lists))):
        told = await all_changes(busy, book, ada, listed["position"])
        items = {note["noteId"]: note for note in listed["items"]}
        assert applied(items, [(each["event"], each["item"]) for each in told]) == end


async def test_events_are_named_and_hold_the_item_and_go_to_this_book_alone(doors):
    ada = await doors.join()
    book, other = await book_of(doors, ada), await book_of(doors, ada)
    (since,) = await book.settled(ada)
    note = await book.add("One")
    await other.add("Elsewhere")
    one = f"{book.notes}/{note['noteId']}"
    changed = (await doors.ask("PATCH", one, {"title": "Two", "version": 1}, by=ada)).json()
    await doors.ask("PATCH", one, {"title": "Two", "version": 2}, by=ada)
    await doors.ask("PATCH", book.path, {"name": "Another name", "version": 1}, by=ada)
    await doors.ask("DELETE", one, by=ada)
    async with listening(doors.application, f"{events_path(book)}?since={since}", bearer_headers(ada)) as listener:
        events = await listener.until(3)
        assert (listener.status, listener.media_type) == (200, "text/event-stream")
        assert listener.header("cache-control") == "no-store"
    assert [(each.event, each.data) for each in events] == [
        ("created", note),
        ("updated", changed),
        ("deleted", changed),
    ]
    told = await all_changes(doors, book, ada, since, 3)
    assert [each["position"] for each in told] == [each.id for each in events]


async def test_what_is_private_is_told_to_its_author_alone_and_its_change_to_nobody_else(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    since = dict(zip(("Ada", "Ben"), await book.settled(ada, ben), strict=True))
    async with AsyncExitStack() as stack:
        streams = {
            who["name"]: await stack.enter_async_context(
                listening(doors.application, f"{events_path(book)}?since={since[who['name']]}", bearer_headers(who))
            )
            for who in (ada, ben)
        }
        note = await book.add("Shared", private="Hers")
        one = f"{book.notes}/{note['noteId']}"
        await doors.ask("PATCH", one, {"text": "For both", "version": 1}, by=ada)
        await doors.ask("DELETE", one, by=ada)
        hers = await streams["Ada"].until(3)
        his = await streams["Ben"].until(3)
    assert [each.data.get("private") for each in hers] == ["Hers"] * 3
    assert [(each.event, "private" in each.data) for each in his] == [
        ("created", False),
        ("updated", False),
        ("deleted", False),
    ]
    assert b"Hers" not in streams["Ben"].body
    heard = await doors.ask("GET", f"{book.notes}/changes?since={since['Ben']}", by=ben)
    assert heard.status_code == 200
    assert "Hers" not in heard.text


@pytest.mark.parametrize("how", ["put out", "signed out", "new password", "token revoked", "account deleted"])
async def test_whoever_may_not_look_any_more_is_told_nothing_more(tmp_path, how):
    async with world_on(EMBEDDED, tmp_path) as doors:
        ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
        book = await book_of(doors, ada)
        await book.let_in(ben)
        known = ben
        if how == "token revoked":
            known = (await doors.ask("POST", "/me/tokens", {"name": "T"}, by=ben)).json()
        elsewhere = (await doors.sign_in("ben@example.org")).json()
        path = events_path(book)
        async with (
            listening(doors.application, path, bearer_headers(known)) as his,
            listening(doors.application, path, bearer_headers(ada)) as hers,
        ):
            await his.until(begun=True)
            await hers.until(begun=True)
            await book.add("Before")
            await his.until(1)
            if how == "put out":
                await book.put_out(ben)
            elif how == "signed out":
                assert (await doors.ask("DELETE", "/sessions/current", by=ben)).status_code == 204
            elif how == "new password":
                body = {"current": "correct horse", "new": "battery staple"}
                assert (await doors.ask("PUT", "/me/password", body, by=elsewhere)).status_code == 200
            elif how == "token revoked":
                assert (await doors.ask("DELETE", f"/me/tokens/{known['id']}", by=ben)).status_code == 204
            else:
                gone = await doors.ask("POST", "/me/delete", {"password": "correct horse"}, by=ben)
                assert gone.status_code == 204
            await book.add("After")
            await his.until(ended=True)
            await hers.until(2)
        assert [each.data["title"] for each in his.events] == ["Before"]
        assert [each.data["title"] for each in hers.events if each.event == "created"] == ["Before", "After"]
        # Who comes back is told that there is nothing, as everywhere.
        back = await sent(doors.application, "GET", path, bearer_headers(known))
        assert (back.status, back.media_type) == (404 if how == "put out" else 401, "application/problem+json")


async def test_a_browser_listens_with_its_cookie(doors):
    ada = await doors.join()
    book = await book_of(doors, ada)
    name, value, _ = await cookie_of(doors)
    cookie = ("cookie", f"{name}={value}")
    async with listening(doors.application, events_path(book), [cookie]) as listener:
        await listener.until(begun=True)
        await book.add("Heard")
        assert [each.data["title"] for each in await listener.until(1)] == ["Heard"]
        ended = await sent(
            doors.application, "DELETE", f"{API}/sessions/current", [cookie, ("sec-fetch-site", "same-origin")]
        )
        assert ended.status == 204
        await book.add("Not heard")
        await listener.until(ended=True)
        assert len(listener.events) == 1


async def test_a_stream_of_nobody_of_a_stranger_or_from_nowhere_is_refused_before_it_begins(doors):
    ada, eve = await doors.join(), await doors.join("eve@example.org", "Eve")
    book = await book_of(doors, ada)
    path = events_path(book)
    position = (await doors.ask("GET", book.notes, by=ada)).json()["position"]
    cases = [
        (401, path, []),
        (404, path, bearer_headers(eve)),
        (404, f"{path}?since={position}", bearer_headers(eve)),
        (422, f"{path}?since=garbage", bearer_headers(ada)),
        (422, f"{path}?since={position}x", bearer_headers(ada)),
        (422, f"{path}?since={position}&since={position}", bearer_headers(ada)),
        (422, f"{path}?since=", bearer_headers(ada)),
        (422, f"{path}?until=1", bearer_headers(ada)),
        (422, f"{API}{book.notes}/changes", bearer_headers(ada)),
        (422, f"{API}{book.notes}/changes?since=", bearer_headers(ada)),
        (422, f"{API}{book.notes}/changes?since={position[:-1]}", bearer_headers(ada)),
        (422, f"{API}{book.notes}/changes?since=%00", bearer_headers(ada)),
        (422, f"{API}{book.notes}/changes?since={'A' * 5000}", bearer_headers(ada)),
        (404, f"{API}{book.notes}/changes?since={position}", bearer_headers(eve)),
    ]
    for status, target, headers in cases:
        answer = await sent(doors.application, "GET", target, headers)
        assert (answer.status, answer.media_type) == (status, "application/problem+json"), target


async def test_a_position_that_nobody_knows_any_more_begins_anew(doors):
    """Of a log that is gone: the client is told to read the list again, and goes on from there."""
    ada = await doors.join()
    book = await book_of(doors, ada)
    await book.add("Before")
    (lost,) = await book.settled(ada)
    rows = (await doors.rows())["Notes"]
    await doors.recording.call("DeleteTable", {"TableName": "Notes"})
    await Store(doors.recording, doors.clock).create_tables(notes_table)
    for row in rows:
        await doors.recording.call("PutItem", {"TableName": "Notes", "Item": row})
    async with listening(doors.application, f"{events_path(book)}?since={lost}", bearer_headers(ada)) as listener:
        (reset,) = await listener.until(1)
        assert reset.event == "reset"
        await book.add("After")
        assert [each.event for each in await listener.until(2)] == ["reset", "created"]
    assert [each["item"]["title"] for each in await all_changes(doors, book, ada, reset.id, 1)] == ["After"]
    told = await changes(doors, book, ada, lost)
    assert (told["reset"], told["changes"]) == (True, [])
    # What a browser sends by itself, and nobody can read, is no mistake of its owner's.
    headers = [*bearer_headers(ada), ("last-event-id", "garbage")]
    async with listening(doors.application, events_path(book), headers) as listener:
        assert [each.event for each in await listener.until(1)] == ["reset"]


async def test_who_comes_in_does_not_hear_what_was_told_before(doors):
    """A position of one's own list, from before one was in another, does not open that other's past."""
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    own, book = await book_of(doors, ben), await book_of(doors, ada)
    position = (await doors.ask("GET", own.notes, by=ben)).json()["position"]
    note = await book.add("A secret plan")
    await doors.ask("DELETE", f"{book.notes}/{note['noteId']}", by=ada)
    await book.let_in(ben)
    refused = await doors.ask("GET", f"{book.notes}/changes?since={position}", by=ben)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "since")
    headers = [*bearer_headers(ben), ("last-event-id", position)]
    async with listening(doors.application, events_path(book), headers) as listener:
        assert [each.event for each in await listener.until(1)] == ["reset"]
        assert b"secret plan" not in listener.body


async def test_a_position_is_good_after_a_restart(tmp_path):
    async with world_on(EMBEDDED, tmp_path) as doors:
        ada = await doors.join()
        book = await book_of(doors, ada)
        await book.add("Before")
        (since,) = await book.settled(ada)
        await book.add("In between")
    async with world_on(EMBEDDED, tmp_path) as doors:
        book.doors = doors
        await book.add("After")
        told = await all_changes(doors, book, ada, since, 2)
        assert [each["item"]["title"] for each in told] == ["In between", "After"]


async def test_changes_come_in_parts_and_the_parts_are_the_whole(doors):
    ada = await doors.join()
    book = await book_of(doors, ada)
    (since,) = await book.settled(ada)
    for _ in range(13):
        await asyncio.gather(*(book.add("Many") for _ in range(10)))
    first = await changes(doors, book, ada, since)
    assert (len(first["changes"]), first["more"]) == (100, True)
    told = await all_changes(doors, book, ada, since, 130)
    assert len({each["item"]["noteId"] for each in told}) == len(told) == 130
    assert told[:100] == first["changes"]
    rest = await all_changes(doors, book, ada, told[42]["position"])
    assert rest == told[43:]
