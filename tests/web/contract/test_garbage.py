"""Whatever bytes are sent, wherever: a problem that says what was wrong, never a failure and never silence."""

import asyncio
import itertools
import random

from tests.patience import PATIENCE_SECONDS
from tests.web.contract.wire import sent
from tests.web.contract.worlds import bearer_headers, book_of
from tests.web.server_here import served_here
from tests.web.suites import API

JSON = ("content-type", "application/json")
LARGEST = 1_000_000


async def a_book(doors):
    ada = await doors.join()
    return ada, await book_of(doors, ada)


def refused(answer, *statuses):
    """It is a problem with one of these statuses, and none that tells what is inside."""
    assert answer.status in statuses, (answer.status, answer.body[:300])
    assert answer.media_type == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status
    assert len(answer.body) < 50_000, "what was sent is not sent back"
    return told


BODIES = {
    "nothing": b"",
    "a NUL": b"\x00",
    "half": b'{"title":"x"',
    "two": b'{"title":"x"}{"title":"y"}',
    "trailing": b'{"title":"x"} x',
    "a comma": b'{"title":"x",}',
    "single quotes": b"{'title':'x'}",
    "a comment": b'{"title":"x"/**/}',
    "no number": b'{"title":NaN}',
    "infinity": b'{"version":Infinity}',
    "invalid UTF-8": b'{"title":"\xff\xfe"}',
    "overlong UTF-8": b'{"title":"\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"title":"\xed\xa0\x80"}',
    "half a pair": b'{"title":"\\ud800"}',
    "a byte order mark": b'\xef\xbb\xbf{"title":"x"}',
    "UTF-16": '{"title":"x"}'.encode("utf-16"),
    "UTF-32": '{"title":"x"}'.encode("utf-32"),
    "a control character": b'{"title":"a\x01b"}',
    "a line break in a text": b'{"title":"a\nb"}',
    "deep lists": b"[" * 100_000,
    "deep lists that end": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep inside a field": b'{"title":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a long number": b'{"version":' + b"9" * 900_000 + b"}",
    "a long fraction": b'{"version":0.' + b"9" * 900_000 + b"}",
    "a huge exponent": b'{"version":1e999999999}',
    "a long text": b'{"title":"' + b"x" * 900_000 + b'"}',
    "many fields": b"{" + b",".join(b'"f%d":1' % n for n in range(60_000)) + b"}",
    "one field many times": b"{" + b",".join([b'"title":"x"'] * 60_000) + b"}",
    "long names": b"{" + b",".join(b'"%s%d":1' % (b"n" * 5_000, n) for n in range(150)) + b"}",
    "many escapes": b'{"title":"' + b"\\u0041" * 150_000 + b'"}',
    "null": b"null",
    "a number": b"5",
    "a text": b'"x"',
    "a list": b'[{"title":"x"}]',
    "form data": b"title=x",
    "xml": b"<title>x</title>",
    "a proto": b'{"__proto__":{"title":"x"}}',
}


async def test_a_body_that_is_not_what_was_asked_for_is_a_problem_wherever_it_is_sent(doors):
    ada, book = await a_book(doors)
    note = await book.add("Here")
    by = [JSON, *bearer_headers(ada)]
    targets = [
        ("POST", API + book.notes),
        ("PATCH", f"{API}{book.notes}/{note['noteId']}"),
        ("POST", f"{API}/accounts"),
        ("PUT", f"{API}/me/password"),
    ]
    before = (await doors.rows())["Notes"]
    for name, body in BODIES.items():
        for method, target in targets:
            with doors.written() as written:
                answer = await sent(doors.application, method, target, by, body)
            refused(answer, 400, 422)
            assert written == [], name
    assert (await doors.rows())["Notes"] == before


async def test_random_bytes_are_a_problem(doors):
    ada, book = await a_book(doors)
    chance = random.Random(4)
    by = bearer_headers(ada)
    good = b'{"title":"A title","text":"Some text","private":""}'
    types = [b"application/json", b"text/plain", b"", b"\xff\xfe", b"application/json; charset=latin-1", b"a/b;" * 100]
    for _ in range(300):
        if chance.random() < 0.5:
            body = chance.randbytes(chance.randint(0, 200))
        else:
            # Almost what was asked for.
            changed = bytearray(good)
            for _ in range(chance.randint(1, 4)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            body = bytes(changed)
        headers = [*by, ("content-type", chance.choice(types) if chance.random() < 0.3 else types[0])]
        answer = await sent(doors.application, "POST", API + book.notes, headers, body)
        # A letter that became another is a title like any other.
        if answer.status != 201:
            refused(answer, 400, 415, 422)


async def test_a_body_has_at_most_a_megabyte_however_it_comes(doors):
    ada, book = await a_book(doors)
    by = [JSON, *bearer_headers(ada)]
    frame = len(b'{"title":"x","text":""}')
    over = b'{"title":"x","text":"%s"}' % (b"y" * (LARGEST + 1 - frame))
    exact = over[:-3] + over[-2:]
    assert (len(over), len(exact)) == (LARGEST + 1, LARGEST)

    async def posted(body, *headers):
        return await sent(doors.application, "POST", API + book.notes, [*by, *headers], body)

    for length in (LARGEST + 1, 11_000_000, 10**12, 10**30):
        # Said beforehand, nothing of it needs to come.
        refused(await posted(b"{}", ("content-length", str(length))), 413)
    for body in (over, b"y" * 11_000_000):
        refused(await posted(body, ("content-length", str(len(body)))), 413)
        refused(await posted(body), 413)
        chunks = [body[start : start + 64_000] for start in range(0, len(body), 64_000)]
        refused(await posted(chunks, ("transfer-encoding", "chunked")), 413)
        # Whoever says that it is less has not made it less.
        assert (await posted(chunks, ("content-length", "5"))).status in (400, 413)
    # What is not too large is looked at: the text is longer than a text may be.
    refused(await posted(exact), 422)
    refused(await posted([exact[start : start + 999] for start in range(0, len(exact), 999)]), 422)
    for length in ("abc", "-1", "1e3", "", "\xff", "5, 6"):
        answer = await posted(b'{"title":""}', ("content-length", length.encode("latin-1")))
        refused(answer, 400, 413, 422)


async def test_a_body_is_json_in_utf_8_and_nothing_else(doors):
    ada, book = await a_book(doors)
    body = b'{"title":"x"}'
    wrong = [
        [("content-type", "text/plain")],
        [("content-type", "application/x-www-form-urlencoded")],
        [("content-type", "multipart/form-data")],
        [("content-type", "multipart/form-data; boundary=x")],
        [("content-type", "application/msgpack")],
        [("content-type", "application/xml")],
        [("content-type", "application/jsonx")],
        [("content-type", "json")],
        [("content-type", "")],
        [("content-type", ";")],
        [("content-type", "\xff\x00")],
        [("content-type", "application/json; charset=utf-16")],
        [("content-type", 'application/json; charset="latin-1"')],
        [("content-type", "application/json"), ("content-encoding", "gzip")],
        [("content-type", "application/json"), ("content-encoding", "br, gzip")],
        [],
    ]
    for headers in wrong:
        answer = await sent(doors.application, "POST", API + book.notes, [*bearer_headers(ada), *headers], body)
        refused(answer, 415)
    for kind in (
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=UTF-8",
        'application/json;charset="utf-8"',
    ):
        headers = [*bearer_headers(ada), ("content-type", kind)]
        answer = await sent(doors.application, "POST", API + book.notes, headers, body)
        assert answer.status == 201, kind


ODD = [
    b"\x00",
    b"\xff",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    "é✓𝕏".encode(),
    b"%",
    b"%%",
    b"%zz",
    b"\x80" * 500,
    b"'\"<script>",
    b"\r\n",
    b"{{7*7}}",
    b",;=",
    b"[",
    b"../..",
    b"0",
    b"-1",
    b"1e400",
    b" ",
]
HEADERS = [
    "accept",
    "accept-language",
    "authorization",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "origin",
    "sec-fetch-site",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-request-id",
    "hx-request",
    "range",
    "expect",
    "\xff",
    "",
]
TAKEN = {200, 201, 204, 303, 304, *range(400, 432)}


async def test_odd_bytes_in_any_header_break_nothing(doors):
    ada, book = await a_book(doors)
    known = bearer_headers(ada)
    for turn, (name, odd) in enumerate(itertools.product(HEADERS, ODD)):
        by = [] if name == "authorization" else known
        given = (name.encode("latin-1"), odd)
        kind = [] if name == "content-type" else [JSON]
        calls = [
            ("GET", f"{API}/me", [*by, given], b""),
            ("GET", "/", [given, ("accept", "text/html")], b""),
            ("GET", "/nowhere", [given], b""),
            ("POST", API + book.notes, [*by, *kind, given], b'{"title":"x"}'),
        ]
        # Each is asked in its turn: all of them with everything would take long and show nothing more.
        for method, target, headers, body in (calls[turn % 4], calls[(turn + 1) % 4]):
            answer = await sent(doors.application, method, target, headers, body)
            assert answer.status in TAKEN, (name, odd, method, target, answer.body[:200])
            if answer.status >= 400 and target.startswith(API):
                refused(answer, answer.status)
            assert not any("\n" in value or "\r" in value for _, value in answer.headers)


async def test_odd_bytes_in_an_address_break_nothing(doors):
    ada, book = await a_book(doors)
    by = bearer_headers(ada)
    note = await book.add()
    for odd in ODD:
        quoted = "".join(f"%{byte:02x}" for byte in odd)
        targets = [
            f"/{quoted}",
            f"{API}/{quoted}",
            f"{API}/books/{quoted}",
            f"{API}{book.notes}/{quoted}",
            f"{API}{book.notes}?cursor={quoted}",
            f"{API}{book.notes}?limit={quoted}",
            f"{API}{book.notes}?author={quoted}",
            f"{API}{book.notes}?{quoted}={quoted}",
            f"{API}{book.notes}/changes?since={quoted}",
            f"{API}{book.notes}/events?since={quoted}",
            f"{API}{book.notes}/{note['noteId']}{quoted}",
            f"/notes/{quoted}",
            f"/notes/{book.book_id}/events?since={quoted}",
            f"/problems/{quoted}",
            f"/static/{quoted}",
            f"/sign-in?next={quoted}",
            b"/notes?" + odd,
        ]
        for target in targets:
            answer = await sent(doors.application, "GET", target, by)
            assert answer.status in TAKEN, (target, answer.body[:200])
            if answer.status >= 400:
                refused(answer, 404, 422, 400)
        # Who is not signed in is led there, and back to the same address.
        assert (await sent(doors.application, "GET", b"/notes?" + odd, [])).status == 303


async def test_what_a_person_writes_comes_back_as_it_was_written(doors):
    """Every character that people can read: those that are nobody's business to change."""
    ada, book = await a_book(doors)
    for text in (
        "  ",
        "\u00a0\u3000",
        "می\u200cخواهم",
        "é",
        "e\u0301",
        "👩‍👩‍👧",
        "\U0001fadc",
        "\\",
        '"',
        "</script>",
    ):
        # Space around a title is trimmed; what is inside it stays.
        made = await book.add(f"a{text}z", text=text, private=text)
        again = (await doors.ask("GET", f"{book.notes}/{made['noteId']}", by=ada)).json()
        assert (again["title"], again["text"], again["private"]) == (f"a{text}z", text, text)


async def test_what_nobody_can_read_is_a_wrong_field_wherever_it_stands(doors):
    ada, book = await a_book(doors)
    for text in ("\x00", "\x1f", "\x7f", "\u202e", "\ue000", "\U0010ffff"):
        answer = await doors.ask("POST", book.notes, {"title": f"a{text}z", "text": text, "private": text}, by=ada)
        wrong = {each["field"]: each["message"].partition(" ")[2] for each in answer.json()["errors"]}
        assert wrong == dict.fromkeys(("title", "text", "private"), f"must not contain U+{ord(text):04X}")
    made = await book.add("a", text="a\r\nb\u2028c")
    assert (await doors.ask("GET", f"{book.notes}/{made['noteId']}", by=ada)).json()["text"] == "a\nb\nc"


# --- over a connection ----------------------------------------------------------------------------------------------


async def statuses_of(port, raw):
    """The statuses of whatever is answered until the server closes, or nothing more is said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    try:
        writer.write(raw)
        if writer.can_write_eof():
            writer.write_eof()
        received = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    except ConnectionError:
        pass
    finally:
        writer.close()
    return [int(each[:3]) for each in received.split(b"HTTP/1.1 ")[1:]]


async def test_a_connection_may_bring_anything_and_the_next_one_is_served(doors):
    ada, book = await a_book(doors)
    chance = random.Random(9)
    body = b'{"title":"A title"}'
    good = (
        b"POST %s?limit HTTP/1.1\r\nhost: testserver\r\nauthorization: Bearer %s\r\ncontent-type: application/json\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
    ) % ((API + book.notes).encode(), ada["token"].encode(), len(body), body)
    answered = 0
    async with served_here(doors.application) as (_, port, _):
        for turn in range(150):
            raw = bytearray(good if turn % 5 else good.replace(b"?limit", b""))
            for _ in range(chance.randint(0 if turn % 5 else 1, 3)):
                place = chance.randrange(len(raw))
                match chance.randrange(3):
                    case 0:
                        raw[place] = chance.randrange(256)
                    case 1:
                        del raw[place : place + chance.randint(1, 5)]
                    case 2:
                        raw[place:place] = chance.randbytes(chance.randint(1, 5))
            statuses = await statuses_of(port, bytes(raw) if turn % 10 else chance.randbytes(300))
            assert all(status < 500 for status in statuses), (bytes(raw), statuses)
            answered += bool(statuses)
        assert answered > 75
        head = b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n" % (API + book.notes).encode()
        chunk = b"10000\r\n" + b"y" * 65_536 + b"\r\n"
        endless = head + b"transfer-encoding: chunked\r\n\r\n" + chunk * 180
        assert await statuses_of(port, endless) in ([413], [])
        assert await statuses_of(port, head + b"content-length: 11000000\r\n\r\n") in ([413], [])
        assert await statuses_of(port, head + b"content-length: -1\r\n\r\n{}") == [400]
        assert await statuses_of(port, head + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}x") == [400]
        for target in (b"/livez?\xff", b"/\xff", b"/livez?\x00", b"/%s?cursor=\x80" % book.notes.encode()):
            raw = b"GET %s HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n" % target
            assert await statuses_of(port, raw) == [400], target
        for target in (b"/%zz", b"/%00", b"/%ff", b"/a%0d%0ab", b"/%e2%80%ae"):
            raw = b"GET %s HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n" % target
            assert await statuses_of(port, raw) == [404], target
        reading = b"HEAD %s/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer %s\r\n\r\n"
        assert await statuses_of(port, reading % ((API + book.notes).encode(), ada["token"].encode())) == [200]
