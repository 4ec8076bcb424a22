"""What is refused is refused in one shape, with an address that explains it, and nothing was written."""

import asyncio
import json
import uuid

import pytest

from potluck.engines import DynamoError
from potluck.store.sending import Patience
from tests.engine_targets import EMBEDDED
from tests.web.contract.wire import sent
from tests.web.contract.worlds import bearer_headers, book_of, world_on
from tests.web.suites import API

JSON = ("content-type", "application/json")
NOBODYS = "3f2b8c1e-0000-4000-8000-000000000000"
INSIDE = ("Traceback", "potluck/", ".py", "Dynamo", "PK", "SELECT", "starlette", "0x")


def problem_of(answer, slug):
    """The problem, after everything that holds for all of them was checked."""
    assert answer.media_type == "application/problem+json", (answer.status, answer.body)
    told = answer.json()
    assert told["type"] == f"/problems/{slug}", told
    assert told["status"] == answer.status
    assert isinstance(told["title"], str)
    assert isinstance(told["detail"], str)
    assert all((told["title"], told["detail"]))
    assert told["requestId"] == answer.header("x-request-id")
    assert len(told["requestId"]) == 32
    assert answer.header("cache-control") == "no-store"
    return told


async def test_every_refusal_is_a_problem_with_a_page_and_wrote_nothing(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    note = await book.add()
    one = API + book.notes + "/" + note["noteId"]
    by_ada, by_ben = [JSON, *bearer_headers(ada)], [JSON, *bearer_headers(ben)]
    keyed = [*by_ada, ("idempotency-key", "kept")]
    notes, books = API + book.notes, f"{API}/books"
    for _ in range(2):
        # The second time it is a repeat of the first, which a third request with another body is not.
        assert (await sent(doors.application, "POST", books, keyed, b'{"name":"Kept"}')).status == 201
    token = [*by_ada, ("idempotency-key", "token")]
    assert (await sent(doors.application, "POST", f"{API}/me/tokens", token, b'{"name":"T"}')).status == 201
    cases = [
        (400, "not-json", "POST", books, by_ada, b'{"name":'),
        (400, "not-json", "POST", books, by_ada, b""),
        (401, "not-signed-in", "GET", f"{API}/me", [], b""),
        (401, "not-signed-in", "POST", books, [JSON], b'{"name":"x"}'),
        (401, "wrong-credentials", "POST", f"{API}/sessions", [JSON], b'{"email":"a@b.c","password":"?"}'),
        (403, "forbidden", "PATCH", API + book.path, by_ben, b'{"name":"x","version":1}'),
        (403, "forbidden", "DELETE", f"{API}{book.path}/members/{ada['userId']}", by_ben, b""),
        (403, "wrong-password", "POST", f"{API}/me/delete", by_ada, b'{"password":"?"}'),
        (404, "not-found", "GET", f"{API}/nowhere", by_ada, b""),
        (404, "not-found", "POST", f"{API}/books/{NOBODYS}/notes", by_ada, b'{"title":"x"}'),
        (404, "not-found", "PATCH", f"{notes}/{NOBODYS}", by_ada, b'{"title":"x","version":1}'),
        (404, "not-found", "DELETE", f"{notes}/{NOBODYS}", by_ada, b""),
        (405, "method-not-allowed", "PUT", one, by_ada, b"{}"),
        (405, "method-not-allowed", "BREW", one, by_ada, b"{}"),
        (409, "version-conflict", "PATCH", one, by_ada, b'{"title":"x","version":9}'),
        (409, "already-exists", "POST", notes, by_ada, b'{"title":"x","noteId":"%s"}' % note["noteId"].encode()),
        (409, "last-admin", "DELETE", f"{API}{book.path}/members/{ada['userId']}", by_ada, b""),
        (
            409,
            "email-taken",
            "PUT",
            f"{API}/me/email",
            by_ada,
            b'{"email":"ben@example.org","password":"correct horse"}',
        ),
        (409, "already-done", "POST", f"{API}/me/tokens", token, b'{"name":"T"}'),
        (410, "expired", "POST", f"{API}/invitations/look", by_ada, b'{"token":"pli_0"}'),
        (410, "expired", "POST", f"{API}/password-resets", [JSON], b'{"token":"plr_0","new":"0123456789"}'),
        (412, "precondition-failed", "PATCH", one, [*by_ada, ("if-match", '"9"')], b'{"title":"x"}'),
        (412, "precondition-failed", "DELETE", one, [*by_ada, ("if-match", '"9"')], b""),
        (413, "too-large", "POST", books, by_ada, b'{"name":"%s"}' % (b"x" * 1_000_000)),
        (415, "wrong-media-type", "POST", books, [("content-type", "text/plain"), *by_ada[1:]], b'{"name":"x"}'),
        (415, "wrong-media-type", "POST", books, by_ada[1:], b'{"name":"x"}'),
        (422, "invalid-fields", "POST", books, by_ada, b'{"name":""}'),
        (422, "invalid-fields", "POST", books, by_ada, b"[]"),
        (422, "invalid-fields", "GET", f"{API}/books/{NOBODYS.upper()}", by_ada, b""),
        (422, "invalid-fields", "GET", f"{books}?limit=0", by_ada, b""),
        (422, "key-reused", "POST", books, keyed, b'{"name":"Another"}'),
        (428, "version-needed", "PATCH", one, by_ada, b'{"title":"x"}'),
    ]
    before = await doors.rows()
    slugs = set()
    for status, slug, method, path, headers, body in cases:
        with doors.written() as written:
            answer = await sent(doors.application, method, path, headers, body)
        assert answer.status == status, (method, path, body[:50], answer.body)
        problem_of(answer, slug)
        assert written == [], (method, path)
        slugs.add(slug)
    after = await doors.rows()
    for table in ("Notes", "Accounts"):
        kept = [row for row in after[table] if "THROTTLE#" not in row["PK"]["S"]]
        assert sorted(map(str, kept)) == sorted(str(row) for row in before[table] if "THROTTLE#" not in row["PK"]["S"])
    for slug in slugs:
        page = await sent(doors.application, "GET", f"/problems/{slug}", [("accept", "text/html")])
        assert (page.status, page.media_type) == (200, "text/html")


async def test_who_asks_too_often_is_told_when_to_come_back(doors):
    for _ in range(100):
        answer = await sent(doors.application, "POST", f"{API}/sessions", [JSON], b'{"email":"a@b.c","password":"?"}')
        if answer.status != 401:
            break
    assert answer.status == 429
    problem_of(answer, "throttled")
    assert int(answer.header("retry-after")) > 0


async def test_another_persons_and_nobodys_are_the_same_to_the_byte(doors):
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    theirs = await book_of(doors, ben)
    note = await theirs.add()
    own = await book_of(doors, ada)
    made = (await doors.ask("POST", "/me/tokens", {"name": "Ben's"}, by=ben)).json()
    asked = [
        ("GET", "/books/{}", None),
        ("PATCH", "/books/{}", {"name": "x", "version": 1}),
        ("GET", "/books/{}/notes", None),
        ("GET", "/books/{}/notes/changes?since=x", None),
        ("GET", "/books/{}/notes/events", None),
        ("POST", "/books/{}/notes", {"title": "x"}),
        ("PUT", f"/books/{{}}/members/{ada['userId']}", None),
        ("DELETE", f"/books/{{}}/members/{ben['userId']}", None),
        ("GET", f"/books/{{}}/notes/{note['noteId']}", None),
        ("PATCH", f"/books/{{}}/notes/{note['noteId']}", {"title": "x", "version": 1}),
        ("DELETE", f"/books/{{}}/notes/{note['noteId']}", None),
    ]
    pairs = [(method, path, body, theirs.book_id) for method, path, body in asked]
    pairs += [(method, f"{own.notes}/{{}}", None, note["noteId"]) for method in ("GET", "DELETE")]
    pairs += [("PATCH", f"{own.notes}/{{}}", {"title": "x", "version": 1}, note["noteId"])]
    pairs += [("DELETE", "/me/tokens/{}", None, made["id"])]
    for method, path, body, foreign in pairs:
        told = []
        for which in (foreign, str(uuid.uuid4())):
            headers = bearer_headers(ada) + ([JSON] if body else [])
            target = API + path.format(which)
            raw = b"" if body is None else json.dumps(body).encode()
            answer = await sent(doors.application, method, target, headers, raw)
            assert answer.status == 404, (method, path)
            request_id = answer.header("x-request-id")
            bare = answer.body.replace(request_id.encode(), b"-")
            told.append((answer.status, [h for h in answer.headers if h[0] != "x-request-id"], bare))
        assert told[0] == told[1], (method, path)
    # With a key under which it could have been done, too.
    for which in (theirs.book_id, str(uuid.uuid4())):
        kept = await doors.ask("POST", f"/books/{which}/notes", {"title": "x"}, by=ada, idempotency_key="same key")
        assert kept.status_code == 404


async def test_all_wrong_fields_are_said_at_once_and_in_the_callers_words(doors):
    ada = await doors.join()
    book = await book_of(doors, ada)
    body = {"title": "", "text": 5, "noteId": "x", "private": "y" * 5001, "colour": "red"}
    answer = await doors.ask("POST", book.notes, body, by=ada)
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["title", "noteId", "text", "private", "colour"]
    assert answer.json()["errors"][0]["message"] == "Title must have 1 to 100 characters"
    # In the address, too, and named as everything else is.
    answer = await doors.ask("GET", "/books/x/notes?limit=x&cursor=y&colour=red", by=ada)
    assert {each["field"] for each in answer.json()["errors"]} == {"bookId", "limit", "colour"}


async def test_a_request_id_is_ours_and_never_the_same(doors):
    given = [("x-request-id", "chosen-by-the-client")]
    answers = [await sent(doors.application, "GET", "/livez", given) for _ in range(5)]
    ids = {answer.header("x-request-id") for answer in answers}
    assert len(ids) == 5
    assert "chosen-by-the-client" not in ids
    assert all(len(answer.all_of("x-request-id")) == 1 for answer in answers)


# --- the engine ----------------------------------------------------------------------------------------------------


class Failing:
    """An engine that fails as it is told, from when it is told."""

    def __init__(self, engine):
        self.engine = engine
        self.error = None
        self.only = None

    async def call(self, operation, request):
        streams = operation in ("DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords")
        consumed = "BackgroundWork" in repr(request)
        if self.error is not None and not streams and not consumed and (self.only is None or operation in self.only):
            raise self.error
        return await self.engine.call(operation, request)

    async def changed(self, table, timeout):
        return await self.engine.changed(table, timeout)

    async def close(self):
        await self.engine.close()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(Patience, "wait", lambda self, attempt: 0.0)


async def asked_while_failing(tmp_path, error, only=None):
    failing = []

    def wrap(engine):
        failing.append(Failing(engine))
        return failing[0]

    async with world_on(EMBEDDED, tmp_path, wrap=wrap) as doors:
        ada = await doors.join()
        book = await book_of(doors, ada)
        note = await book.add()
        one = f"{API}{book.notes}/{note['noteId']}"
        by = [JSON, *bearer_headers(ada)]
        calls = [
            ("GET", f"{API}/me", b""),
            ("GET", one, b""),
            ("GET", API + book.notes, b""),
            ("POST", API + book.notes, b'{"title":"x"}'),
            ("PATCH", one, b'{"title":"x","version":1}'),
            ("DELETE", one, b""),
        ]
        failing[0].error, failing[0].only = error, only
        answers = [await sent(doors.application, *call[:2], by, call[2]) for call in calls]
        page = await sent(doors.application, "GET", "/notes", [("accept", "text/html"), *bearer_headers(ada)])
        failing[0].error = None
        rows = [row for row in (await doors.rows())["Notes"] if row["kind"]["S"] == "Note"]
        return answers, page, rows


async def test_a_throttled_engine_is_busy_and_says_when_to_come_back(tmp_path, impatient):
    error = DynamoError("ProvisionedThroughputExceededException", "The level of configured throughput was exceeded")
    answers, page, rows = await asked_while_failing(tmp_path, error)
    for answer in answers:
        assert answer.status == 503
        problem_of(answer, "busy")
        assert int(answer.header("retry-after")) > 0
        assert "throughput" not in answer.body.decode()
    assert (page.status, page.media_type) == (503, "text/html")
    assert int(page.header("retry-after")) > 0
    assert [row["title"]["S"] for row in rows] == ["A note"]


async def test_a_write_whose_answer_is_lost_for_good_says_that_nobody_knows(tmp_path, impatient):
    error = DynamoError("AnswerLost", "the connection was closed")
    answers, _, _ = await asked_while_failing(tmp_path, error, only={"TransactWriteItems"})
    assert [answer.status for answer in answers] == [200, 200, 200, 503, 503, 503]
    for answer in answers[3:]:
        problem_of(answer, "outcome-unknown")
        assert int(answer.header("retry-after")) > 0


@pytest.mark.parametrize(
    "error",
    [
        DynamoError("ResourceNotFoundException", "Requested resource not found: Table: Notes at /srv/potluck.db"),
        DynamoError("ValidationException", "PK BOOK#secret is not valid"),
        RuntimeError("potluck/store.py knows the password 'hunter2'"),
    ],
    ids=["no such table", "invalid request", "defect"],
)
async def test_a_defect_has_a_number_and_no_internals(tmp_path, impatient, error):
    answers, page, rows = await asked_while_failing(tmp_path, error)
    for answer in answers:
        assert answer.status == 500
        told = problem_of(answer, "broken")
        assert set(told) == {"type", "title", "status", "detail", "requestId"}
        assert not any(word in answer.body.decode() for word in (*INSIDE, "hunter2", "secret", "srv"))
    assert page.status == 500
    assert not any(word in page.body.decode() for word in ("hunter2", "BOOK#", "srv/", "Traceback"))
    assert len(rows) == 1


# --- methods and addresses ------------------------------------------------------------------------------------------


async def test_what_can_be_read_can_be_asked_about_and_an_address_says_what_it_takes(doors):
    ada = await doors.join()
    book = await book_of(doors, ada)
    note = await book.add()
    by = bearer_headers(ada)
    takes = {
        f"{API}{book.notes}/{note['noteId']}": "DELETE, GET, HEAD, OPTIONS, PATCH",
        API + book.notes: "GET, HEAD, OPTIONS, POST",
        f"{API}/me": "GET, HEAD, OPTIONS, PATCH",
        f"{API}/me/password": "OPTIONS, PUT",
    }
    for path, methods in takes.items():
        answer = await sent(doors.application, "OPTIONS", path)
        assert (answer.status, answer.header("allow"), answer.body) == (204, methods, b"")
        assert not answer.all_of("access-control-allow-origin")
        refused = await sent(doors.application, "BREW", path, by)
        assert refused.status == 405
        assert ", ".join(sorted(refused.header("allow").split(", "))) == methods
        if "GET" in methods:
            read, head = [await sent(doors.application, method, path, by) for method in ("GET", "HEAD")]
            assert (head.status, head.header("etag")) == (read.status, read.header("etag"))
            assert head.header("content-length") == read.header("content-length")
    events = await sent(doors.application, "HEAD", f"{API}{book.notes}/events", by)
    assert (events.status, events.body) == (200, b"")
    assert (await sent(doors.application, "HEAD", f"{API}/me")).status == 401


async def test_nothing_of_a_persons_is_kept_where_another_could_meet_it(doors):
    """The browser asks whether it is still so: under another cookie, what it has is not what it asks about."""
    ada, ben = await doors.join(), await doors.join("ben@example.org", "Ben")
    book = await book_of(doors, ada)
    await book.let_in(ben)
    note = await book.add(private="Only Ada's")
    one = f"{API}{book.notes}/{note['noteId']}"
    for path in (f"{API}/me", one, API + book.notes, API + book.path):
        answer = await sent(doors.application, "GET", path, bearer_headers(ada))
        kept = answer.header("cache-control")
        assert "private" in kept or "no-store" in kept
        assert "no-cache" in kept or "no-store" in kept
        assert {"authorization", "cookie"} <= set(answer.header("vary").lower().split(", "))
    hers = (await sent(doors.application, "GET", one, bearer_headers(ada))).header("etag")
    his = await sent(doors.application, "GET", one, [*bearer_headers(ben), ("if-none-match", hers)])
    assert his.status == 200
    assert b"Only Ada" not in his.body


ODD_ADDRESSES = [
    ("/api/v1/me/", {200}),
    ("//api/v1//me", {200, 404}),
    ("/api/v1/%6d%65", {200}),
    ("/api/v1/me%00", {404}),
    ("/api/v1/me%20", {404}),
    ("/api/v1/ME", {404}),
    ("/api/v1/me;a=b", {404}),
    ("/api/v1/%ff%fe", {404}),
    ("/api/v1/books/..", {404, 422}),
    ("/api/v1/books/%2e%2e%2fme", {404, 422}),
    ("/api/v1/books/%00", {422}),
    ("/api/v1/books/" + "a" * 20_000, {422}),
    ("/" + "a" * 20_000, {404}),
    ("/" + "a/" * 5_000, {404}),
    ("/static/%2e%2e/%2e%2e/suite.py", {404}),
    ("/static/..%2f..%2fsuite.py", {404}),
    ("/static/%00", {404}),
    ("/static/" + "a" * 5_000, {404}),
    ("/static/000000000000/web/static/js/start.js/inside", {404}),
    ("/static/000000000000/web/static/js", {404}),
    ("/static/000000000000/web/static/js/start.js", {200}),
    ("/problems/%00", {404}),
    ("/problems/..%2fschema", {404}),
    ("/api/v1/me?%ff=%fe", {422}),
    ("/api/v1/me?a&&=&b=c", {422}),
    ("/api/v1/books?" + "limit=1&" * 3_000, {422}),
    ("/?utm=%ff%00", {200}),
]


async def test_odd_addresses_are_found_or_not_and_never_break_anything(doors):
    ada = await doors.join()
    for path, statuses in ODD_ADDRESSES:
        for headers in ([], bearer_headers(ada), [("accept", "text/html"), *bearer_headers(ada)]):
            answer = await sent(doors.application, "GET", path, headers)
            assert answer.status in statuses | ({401} if not headers else set()), (path[:60], answer.body[:200])


async def test_fifty_refusals_at_once_have_each_their_own_number(doors):
    answers = await asyncio.gather(*(sent(doors.application, "GET", f"{API}/me") for _ in range(50)))
    assert len({problem_of(answer, "not-signed-in")["requestId"] for answer in answers}) == 50
