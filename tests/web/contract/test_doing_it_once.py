"""A request that carries a key is done once, however often and however many at once it comes, and answered alike."""

import asyncio
import json
from uuid import uuid4

import pytest

from potluck.engines.conflicting import Conflicting
from tests.engine_targets import EMBEDDED
from tests.web.contract.wire import sent
from tests.web.contract.worlds import bearer_headers, book_of, world_on
from tests.web.suites import API

AT_ONCE = 50
# Where it is the same code that decides.
A_DOZEN = 12
JSON = ("content-type", "application/json")


def kinds(rows, kind):
    return [row for table in rows.values() for row in table if row.get("kind", {}).get("S") == kind]


def told(answer):
    """Everything of an answer that must be the same again."""
    bare = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "date")}
    return answer.status_code, answer.content, bare


async def at_once(doors, method, path, body, by, key, times=AT_ONCE, **headers):
    return await asyncio.gather(
        *(doors.ask(method, path, body, by=by, idempotency_key=key, **headers) for _ in range(times))
    )


async def test_fifty_at_once_are_one_row_and_fifty_equal_answers(busy):
    """Making; and changing, setting what is so, deleting and putting out, by a dozen each."""
    ada, ben = await busy.join(), await busy.join("ben@example.org", "Ben")
    books = await at_once(busy, "POST", "/books", {"name": "Plans"}, ada, "book", A_DOZEN)
    assert len({str(told(each)) for each in books}) == 1
    assert (books[0].status_code, len(kinds(await busy.rows(), "Book"))) == (201, 1)
    path = f"/books/{books[0].json()['bookId']}"

    made = await at_once(busy, "POST", f"{path}/notes", {"title": "Once"}, ada, "note")
    assert len({str(told(each)) for each in made}) == 1
    assert (made[0].status_code, len(kinds(await busy.rows(), "Note"))) == (201, 1)
    one = f"{path}/notes/{made[0].json()['noteId']}"

    for key, body, headers, version in (
        ("change", {"title": "Twice", "version": 1}, {}, 2),
        ("same", {"title": "Twice", "version": 2}, {}, 2),
        ("tagged", {"title": "Thrice"}, {"if_match": '"2"'}, 3),
    ):
        changed = await at_once(busy, "PATCH", one, body, ada, key, A_DOZEN, **headers)
        assert len({str(told(each)) for each in changed}) == 1, key
        assert (changed[0].status_code, changed[0].json()["version"]) == (200, version)
        assert (await busy.ask("GET", one, by=ada)).json()["version"] == version

    gone = await at_once(busy, "DELETE", one, None, ada, "delete", A_DOZEN)
    assert {str(told(each)) for each in gone} == {str(told(gone[0]))}
    assert (gone[0].status_code, gone[0].content) == (204, b"")
    assert kinds(await busy.rows(), "Note") == []

    await busy.ask("PUT", f"{path}/members/{ben['userId']}", by=ada)
    out = await at_once(busy, "DELETE", f"{path}/members/{ben['userId']}", None, ada, "out", A_DOZEN)
    assert {each.status_code for each in out} == {204}


@pytest.fixture
async def book(doors):
    return await book_of(doors, await doors.join())


async def test_a_repeat_writes_nothing_and_reads_little(doors, book):
    first = await doors.ask("POST", book.notes, {"title": "Once"}, by=book.by, idempotency_key="k")
    before = await doors.rows()
    with doors.written() as written:
        again = [
            await doors.ask("POST", book.notes, {"title": "Once"}, by=book.by, idempotency_key="k") for _ in range(3)
        ]
    assert {str(told(each)) for each in again} == {str(told(first))}
    assert written == []
    assert (await doors.rows())["Notes"] == before["Notes"]


async def test_a_key_stands_for_one_request_to_the_byte(doors, book):
    note = await book.add("First")
    one = f"{API}{book.notes}/{note['noteId']}"
    by = [JSON, *bearer_headers(book.by), ("idempotency-key", "k")]
    tagged = ("if-match", '"1"')
    body = b'{"title":"Second"}'
    first = await sent(doors.application, "PATCH", one, [*by, tagged], body)
    assert first.status == 200
    others = [
        ("PATCH", one, [*by, tagged], b'{"title":"Third"}'),
        ("PATCH", one, [*by, tagged], b'{"title": "Second"}'),
        ("PATCH", one, [*by, ("if-match", '"2"')], body),
        ("PATCH", one, [*by, ("if-match", "*")], b'{"title":"Second","version":1}'),
        ("PATCH", f"{API}{book.notes}/{uuid4()}", [*by, tagged], body),
        ("PATCH", API + book.path, [*by, tagged], b'{"name":"Second"}'),
        ("POST", API + book.notes, by, body),
        ("DELETE", one, [*by, tagged], b""),
        ("DELETE", one, by, b""),
    ]
    before = await doors.rows()
    for method, path, headers, raw in others:
        with doors.written() as written:
            answer = await sent(doors.application, method, path, headers, raw)
        assert (answer.status, answer.json()["type"]) == (422, "/problems/key-reused"), (method, path, raw)
        assert written == []
    assert (await doors.rows())["Notes"] == before["Notes"]
    again = await sent(doors.application, "PATCH", one, [*by, tagged], body)
    assert (again.status, again.body, again.header("etag")) == (first.status, first.body, first.header("etag"))


async def test_a_key_is_its_callers_own(doors, book):
    ben = await doors.join("ben@example.org", "Ben")
    await book.let_in(ben)
    key = str(uuid4())
    hers = await doors.ask("POST", book.notes, {"title": "Same"}, by=book.by, idempotency_key=key)
    his = await doors.ask("POST", book.notes, {"title": "Same"}, by=ben, idempotency_key=key)
    assert hers.json()["noteId"] != his.json()["noteId"]
    # A person's session and program are the same caller.
    token = (await doors.ask("POST", "/me/tokens", {"name": "T"}, by=ben)).json()
    again = await doors.ask("POST", book.notes, {"title": "Same"}, by=token, idempotency_key=key)
    assert again.json() == his.json()
    # Who is nobody has keys apart, and can look into nobody's.
    anonymous = await doors.ask("POST", book.notes, {"title": "Same"}, idempotency_key=key)
    assert anonymous.status_code == 401


async def test_what_a_key_may_be(doors, book):
    by = [JSON, *bearer_headers(book.by)]

    async def made_with(*keys):
        headers = [*by, *(("idempotency-key", key) for key in keys)]
        return await sent(doors.application, "POST", API + book.notes, headers, b'{"title":"x"}')

    for good in (b"a", b"k" * 128, b"with space", b'"quoted"', "é".encode("latin-1") * 3, b"#{}%\\/'"):
        first, again = await made_with(good), await made_with(good)
        assert (first.status, again.body) == (201, first.body), good
    before = len(kinds(await doors.rows(), "Note"))
    for bad in (b"", b"k" * 129, b"k" * 9000, b"a\x00", b"a\tb", b"a\x7f", b"\xa0", b"\x85", b"a\nb"):
        answer = await made_with(bad)
        assert (answer.status, [each["field"] for each in answer.json()["errors"]]) == (422, ["Idempotency-Key"]), bad
    for twice in ((b"a", b"a"), (b"new", b"a"), (b"a", b"new")):
        assert (await made_with(*twice)).status == 422
    assert len(kinds(await doors.rows(), "Note")) == before
    # Letters are not folded.
    assert (await made_with(b"A")).json()["noteId"] != (await made_with(b"a")).json()["noteId"]


async def test_an_anonymous_callers_key_is_a_uuid(doors):
    body = {"email": "eve@example.org", "password": "correct horse", "name": "Eve"}
    for bad in ("k", "", "0" * 32, "{3f2b8c1e-0000-4000-8000-000000000000}", "3f2b8c1e-0000-4000-8000-00000000000"):
        answer = await doors.ask("POST", "/accounts", body, idempotency_key=bad)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "Idempotency-Key"), bad
    key = str(uuid4())
    assert (await doors.ask("POST", "/accounts", body, idempotency_key=key.upper())).status_code == 201
    again = await doors.ask("POST", "/accounts", body, idempotency_key=key)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/already-done")


async def test_what_was_refused_is_not_kept_and_can_be_tried_again(doors, book):
    note = await book.add("First")
    one = f"{book.notes}/{note['noteId']}"
    ben = await doors.join("ben@example.org", "Ben")
    # 404 while he is out, done when he is in; under the same key.
    for status in (404, 404):
        answer = await doors.ask("POST", book.notes, {"title": "Ben's"}, by=ben, idempotency_key="k")
        assert answer.status_code == status
    await book.let_in(ben)
    answer = await doors.ask("POST", book.notes, {"title": "Ben's"}, by=ben, idempotency_key="k")
    assert answer.status_code == 201
    # 409 while the version is another.
    stale = {"title": "Second", "version": 2}
    assert (await doors.ask("PATCH", one, stale, by=ben, idempotency_key="v")).status_code == 409
    await doors.ask("PATCH", one, {"title": "Between", "version": 1}, by=book.by)
    assert (await doors.ask("PATCH", one, stale, by=ben, idempotency_key="v")).status_code == 200
    # 422 and 428 keep nothing either: the right request may have the key.
    for wrong in ({"title": ""}, {"title": "x", "colour": "red"}):
        assert (await doors.ask("POST", book.notes, wrong, by=ben, idempotency_key="f")).status_code == 422
    assert (await doors.ask("PATCH", one, {"title": "x"}, by=ben, idempotency_key="f")).status_code == 428
    assert (await doors.ask("POST", book.notes, {"title": "x"}, by=ben, idempotency_key="f")).status_code == 201
    kept = [row for row in (await doors.rows())["Accounts"] if row["PK"]["S"].startswith("IDEMPOTENCY#")]
    assert len([row for row in kept if "requestHash" in row]) == 3


async def test_a_day_later_it_is_done_again(doors, book):
    async def made():
        answer = await doors.ask("POST", book.notes, {"title": "Daily"}, by=book.by, idempotency_key="k")
        assert answer.status_code == 201
        return answer.json()["noteId"]

    first = await made()
    doors.clock.forward(hours=24, seconds=-1)
    assert await made() == first
    doors.clock.forward(seconds=2)
    second = await made()
    assert second != first
    assert await made() == second
    doors.clock.forward(hours=25)
    other = await doors.ask("POST", book.notes, {"title": "Another"}, by=book.by, idempotency_key="k")
    assert other.status_code == 201


async def test_an_answer_too_large_to_keep_is_remembered_as_done(doors, book, monkeypatch):
    from potluck.people import idempotency

    monkeypatch.setattr(idempotency, "LONGEST_BODY_KEPT", 1000)
    for length, status in ((500, 201), (2000, 409)):
        body, key = {"title": "Long", "text": "x" * length}, f"k{length}"
        first = await doors.ask("POST", book.notes, body, by=book.by, idempotency_key=key)
        again = await doors.ask("POST", book.notes, body, by=book.by, idempotency_key=key)
        assert (first.status_code, again.status_code) == (201, status)
        if status == 409:
            assert again.json()["type"] == "/problems/already-done"
            assert again.json()["made"] == first.json()["noteId"]
    assert len(kinds(await doors.rows(), "Note")) == 2


async def test_the_first_answer_is_given_again_whatever_became_of_it_since(doors, book):
    first = await doors.ask("POST", book.notes, {"title": "First"}, by=book.by, idempotency_key="make")
    one = f"{book.notes}/{first.json()['noteId']}"
    await doors.ask("PATCH", one, {"title": "Second", "version": 1}, by=book.by)
    assert (await doors.ask("DELETE", one, by=book.by, idempotency_key="del")).status_code == 204
    again = await doors.ask("POST", book.notes, {"title": "First"}, by=book.by, idempotency_key="make")
    assert told(again) == told(first)
    assert (await doors.ask("DELETE", one, by=book.by, idempotency_key="del")).status_code == 204
    assert (await doors.ask("DELETE", one, by=book.by, idempotency_key="other")).status_code == 404
    assert kinds(await doors.rows(), "Note") == []


async def test_what_is_made_offline_has_the_id_it_was_given_there(doors, book):
    """Made, changed and made again without a connection in between: the same in whichever order answers were lost."""
    chosen = str(uuid4())
    body = {"title": "Offline", "noteId": chosen}
    for _ in range(2):
        answer = await doors.ask("POST", book.notes, body, by=book.by, idempotency_key="o")
        assert (answer.status_code, answer.json()["noteId"]) == (201, chosen)
    ticked = await doors.ask("PATCH", f"{book.notes}/{chosen}", {"title": "Ticked", "version": 1}, by=book.by)
    assert ticked.status_code == 200
    without_key = await doors.ask("POST", book.notes, body, by=book.by)
    assert (without_key.status_code, without_key.json()["type"]) == (409, "/problems/already-exists")
    for bad in (chosen.upper(), chosen.replace("-", ""), f"{{{chosen}}}", "x", "", None, 5):
        answer = await doors.ask("POST", book.notes, {"title": "x", "noteId": bad}, by=book.by)
        assert answer.status_code == 422, bad
    assert len(kinds(await doors.rows(), "Note")) == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_answers_that_are_lost_on_the_way_do_nothing_twice(tmp_path, seed):
    """The store's answers get lost half the time; whoever asks until it is answered has it done once."""
    async with world_on(
        EMBEDDED, tmp_path, wrap=lambda engine: Conflicting(engine, seed, conflicts=0.2, lost_answers=0.5)
    ) as doors:
        ada = await doors.join()
        book = await book_of(doors, ada)
        before = len(kinds(await doors.rows(), "Note"))

        async def until_answered(method, path, body, key):
            for _ in range(50):
                answer = await doors.ask(method, path, body, by=ada, idempotency_key=key)
                if answer.status_code != 503:
                    return answer
            raise AssertionError("never answered")

        made = await asyncio.gather(
            *(until_answered("POST", book.notes, {"title": f"Note {n % 4}"}, f"k{n % 4}") for n in range(12))
        )
        assert {each.status_code for each in made} == {201}
        ids = {each.json()["noteId"] for each in made}
        assert (len(ids), len(kinds(await doors.rows(), "Note")) - before) == (4, 4)
        one = f"{book.notes}/{min(ids)}"
        changed = await until_answered("PATCH", one, {"title": "Changed", "version": 1}, "change")
        assert (changed.status_code, changed.json()["version"]) == (200, 2)
        assert (await until_answered("DELETE", one, None, "delete")).status_code == 204
        assert len(kinds(await doors.rows(), "Note")) - before == 3


async def test_nothing_that_is_kept_is_anybodys_to_read_but_the_callers(doors, book):
    """What is kept holds the answer, under the caller's own id; another who knows the key is not given it."""
    ben = await doors.join("ben@example.org", "Ben")
    await doors.ask("POST", book.notes, {"title": "x", "private": "Hers"}, by=book.by, idempotency_key="known")
    stolen = await doors.ask("POST", book.notes, {"title": "x", "private": "Hers"}, by=ben, idempotency_key="known")
    assert stolen.status_code == 404
    assert "Hers" not in stolen.text
    assert json.loads(stolen.text)["type"] == "/problems/not-found"
