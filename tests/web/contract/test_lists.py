"""Lists in parts: every item once, whatever comes and goes meanwhile, by a cursor that is good for nothing else."""

import asyncio
import json
from base64 import urlsafe_b64decode
from urllib.parse import quote

from potluck.commands.accept_new_secret import accept_new_secret
from potluck.settings import Settings
from tests.engine_targets import EMBEDDED
from tests.web.contract.worlds import book_of, world_on

USUAL = 50
MOST = 100


async def filled(doors, notes=0, email="ada@example.org", at_once=10):
    ada = await doors.join(email)
    book = await book_of(doors, ada)
    for start in range(0, notes, at_once):
        await asyncio.gather(*(book.add(f"Note {n}") for n in range(start, min(notes, start + at_once))))
    return ada, book


async def walked(doors, by, path, between=None):
    """Every item, part by part, following the cursors."""
    found, cursor, joint = [], None, "&" if "?" in path else "?"
    while True:
        answer = await doors.ask("GET", path + (f"{joint}cursor={cursor}" if cursor else ""), by=by)
        assert answer.status_code == 200, answer.text
        part = answer.json()
        found += part["items"]
        cursor = part["nextCursor"]
        if cursor is None:
            return found
        if between is not None:
            await between(len(found))


async def test_a_part_has_as_many_as_asked_for_and_the_whole_is_in_the_order_that_is_stated(doors):
    ada, book = await filled(doors, 103)
    answer = (await doors.ask("GET", book.notes, by=ada)).json()
    assert set(answer) == {"items", "nextCursor", "position"}
    assert len(answer["items"]) == USUAL
    for limit in (1, 7, 50, 99, 100):
        part = (await doors.ask("GET", f"{book.notes}?limit={limit}", by=ada)).json()
        assert (len(part["items"]), part["nextCursor"] is None) == (limit, False)
    ids = [note["noteId"] for note in await walked(doors, ada, f"{book.notes}?limit=40")]
    assert ids == sorted(ids)
    assert len(set(ids)) == 103
    # As many as there are: there is no further part, or it is the last and empty.
    for note_id in ids[100:]:
        await doors.ask("DELETE", f"{book.notes}/{note_id}", by=ada)
    assert [note["noteId"] for note in await walked(doors, ada, f"{book.notes}?limit=100")] == ids[:100]


async def test_an_empty_list_is_a_list(doors):
    ada, book = await filled(doors)
    answer = (await doors.ask("GET", book.notes, by=ada)).json()
    assert (answer["items"], answer["nextCursor"]) == ([], None)
    assert isinstance(answer["position"], str)


async def test_a_limit_is_a_whole_number_from_1_to_100(doors):
    ada, book = await filled(doors)
    wrong = (
        "0",
        "101",
        "-1",
        "abc",
        "1.5",
        "1e1",
        "",
        "%2B1",
        "%201",
        "1%20",
        "01",
        "0x10",
        "1_0",
        "１",
        "٣",
        "9" * 400,
    )
    for path in (book.notes, "/books", "/me/tokens", "/me/sessions"):
        for limit in wrong:
            answer = await doors.ask("GET", f"{path}?limit={limit}", by=ada)
            assert answer.status_code == 422, (path, limit)
            assert [each["field"] for each in answer.json()["errors"]] == ["limit"], (path, limit)
        for limit in ("1", "100"):
            assert (await doors.ask("GET", f"{path}?limit={limit}", by=ada)).status_code == 200
        for twice in ("limit=1&limit=1", "limit=1&limit=2", "limit=&limit=5"):
            assert (await doors.ask("GET", f"{path}?{twice}", by=ada)).status_code == 422, (path, twice)


async def test_walking_meets_every_item_that_stays_once_whatever_comes_and_goes(busy):
    ada, book = await filled(busy, 40)
    stable = {note["noteId"] for note in await walked(busy, ada, f"{book.notes}?limit=100")}
    going = set(sorted(stable)[::8])
    leaving = iter(sorted(going))
    stable -= going
    come: set[str] = set()

    async def meanwhile(_):
        for _ in range(2):
            come.add((await book.add("Came in between"))["noteId"])
        gone = next(leaving, None)
        if gone is not None:
            assert (await busy.ask("DELETE", f"{book.notes}/{gone}", by=ada)).status_code == 204

    ids = [note["noteId"] for note in await walked(busy, ada, f"{book.notes}?limit=6", meanwhile)]
    assert len(ids) == len(set(ids))
    assert ids == sorted(ids)
    assert stable <= set(ids) <= stable | going | come


async def test_the_item_that_a_cursor_stands_on_may_go(doors):
    ada, book = await filled(doors, 9)
    ids = [note["noteId"] for note in await walked(doors, ada, f"{book.notes}?limit=100")]
    part = (await doors.ask("GET", f"{book.notes}?limit=3", by=ada)).json()
    for note_id in ids[:4]:
        await doors.ask("DELETE", f"{book.notes}/{note_id}", by=ada)
    rest = (await doors.ask("GET", f"{book.notes}?limit=100&cursor={part['nextCursor']}", by=ada)).json()
    assert [note["noteId"] for note in rest["items"]] == ids[4:]


async def test_a_list_from_an_index_is_walked_whole_once_the_index_has_it(doors):
    ada = await doors.join()
    made = {(await book_of(doors, ada, f"Book {n}")).book_id for n in range(7)}
    found = [book["bookId"] for book in await walked(doors, ada, "/books?limit=2")]
    assert found == sorted(made)


async def test_a_filtered_list_is_walked_whole(doors):
    ada, book = await filled(doors, 12)
    ben = await doors.join("ben@example.org", "Ben")
    await book.let_in(ben)
    for number in range(5):
        await doors.ask("POST", book.notes, {"title": f"Ben's {number}"}, by=ben)
    found = await walked(doors, ada, f"{book.notes}?limit=2&author={ben['userId']}")
    assert sorted(note["title"] for note in found) == [f"Ben's {number}" for number in range(5)]


# --- cursors --------------------------------------------------------------------------------------------------------


async def refused(doors, by, path, cursor):
    joint = "&" if "?" in path else "?"
    answer = await doors.ask("GET", f"{path}{joint}cursor={cursor}", by=by)
    told = answer.json()
    return (answer.status_code, [each["field"] for each in told.get("errors", ())]) == (422, ["cursor"])


async def test_a_cursor_is_good_for_its_caller_its_list_and_its_filter_alone(tmp_path):
    async with world_on(EMBEDDED, tmp_path) as doors:
        ada, book = await filled(doors, 6)
        ben = await doors.join("ben@example.org", "Ben")
        await book.let_in(ben)
        another = await book_of(doors, ada)
        path = f"{book.notes}?limit=2"
        cursor = (await doors.ask("GET", path, by=ada)).json()["nextCursor"]
        mine = f"{book.notes}?author={ada['userId']}"
        filtered = (await doors.ask("GET", f"{mine}&limit=2", by=ada)).json()["nextCursor"]
        for limit in (1, 2, 100):
            # How many at once is no part of what is listed.
            assert not await refused(doors, ada, f"{book.notes}?limit={limit}", cursor)
        assert not await refused(doors, ada, mine, filtered)
        assert await refused(doors, ben, path, cursor)
        assert await refused(doors, ada, another.notes, cursor)
        assert await refused(doors, ada, "/books", cursor)
        assert await refused(doors, ada, "/me/tokens", cursor)
        assert await refused(doors, ada, mine, cursor)
        assert await refused(doors, ada, book.notes, filtered)
        assert await refused(doors, ada, f"{book.notes}?author={ben['userId']}", filtered)
        # Another program of the same person is the same caller.
        token = (await doors.ask("POST", "/me/tokens", {"name": "T"}, by=ada)).json()
        assert not await refused(doors, token, path, cursor)
        await book.put_out(ben)
        his = await doors.ask("GET", f"{path}&cursor={cursor}", by=ben)
        assert his.status_code in (404, 422)
    # After a restart it is good still; with another secret it is not.
    async with world_on(EMBEDDED, tmp_path) as doors:
        assert not await refused(doors, ada, path, cursor)
    given = Settings(data=tmp_path / "data", secret="another secret, which is long enough")
    assert await accept_new_secret(given)
    async with world_on(EMBEDDED, tmp_path, secret=given.secret) as doors:
        assert await refused(doors, ada, path, cursor)


async def test_no_other_text_is_a_cursor(doors):
    ada, book = await filled(doors, 4)
    path = f"{book.notes}?limit=2"
    cursor = (await doors.ask("GET", path, by=ada)).json()["nextCursor"]
    assert not await refused(doors, ada, path, cursor)
    changed = [cursor[:n] + ("A" if cursor[n] != "A" else "B") + cursor[n + 1 :] for n in range(len(cursor))]
    cut = [cursor[:n] for n in range(0, len(cursor), 5)]
    made_up = [
        "0",
        "null",
        "eyJQSyI6IngifQ",
        "A" * 16,
        "A" * 200,
        "A" * 5000,
        "%00",
        "%ff",
        "é",
        cursor * 2,
        cursor[::-1],
    ]
    # What some decoders overlook: signs that are none of the alphabet's, or padding.
    dressed = [cursor + "=", cursor + "!", f" {cursor}", cursor[:9] + "%0A" + cursor[9:], cursor[:9] + "." + cursor[9:]]
    for text in (*changed, *cut, *made_up, *dressed):
        assert await refused(doors, ada, path, quote(text, safe="%")), text
    assert (await doors.ask("GET", f"{path}&cursor={cursor}&cursor={cursor}", by=ada)).status_code == 422


async def test_a_cursor_tells_nothing_and_is_never_the_same(doors):
    ada, book = await filled(doors, 4)
    path = f"{book.notes}?limit=2"
    parts = []
    for number in range(20):
        # While nothing is written, an answer may be given again as it was.
        await book_of(doors, ada, f"Another {number}")
        parts.append((await doors.ask("GET", path, by=ada)).json())
    cursors = [part["nextCursor"] for part in parts]
    assert len(set(cursors)) == 20
    last = parts[0]["items"][-1]["noteId"]
    for cursor in cursors:
        raw = urlsafe_b64decode(cursor + "==")
        # Nothing as short as "PK", which is in some of many random bytes.
        for told in (last, book.book_id, ada["userId"], "BOOK#", "NOTE#"):
            assert told.encode() not in raw
            assert bytes.fromhex(told.replace("-", ""))[:8] not in raw if len(told) == 36 else True
    # Nor do they have anything in common but where they must.
    raws = [urlsafe_b64decode(cursor + "==") for cursor in cursors]
    assert all(len({raw[place] for raw in raws}) > 1 for place in range(len(raws[0])))
    assert json.dumps(parts[0]["items"]) == json.dumps(parts[1]["items"])
