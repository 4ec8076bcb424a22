"""The log: every request has its line and its number, and no line has anything in it that is anybody's."""

import asyncio
import contextlib
import json
import logging
import re
import warnings

import httpx
import pytest
from starlette.responses import PlainTextResponse, StreamingResponse

from potluck.engines import DynamoError
from potluck.metrics import REQUEST_SECONDS
from potluck.settings import Settings
from potluck.states import DISK_FULL, Trouble
from potluck.web.http.application import Application
from potluck.web.http.authentication import Authentication
from potluck.web.http.clients import Clients
from potluck.web.http.problems import HttpProblem
from potluck.web.http.request_log import (
    JsonLines,
    RequestLog,
    current_request,
    described,
    log_unhandled_exception,
    logging_in_lines,
)
from potluck.web.http.router import Router

PLANTED = "pls_0123456789abcdef-planted"
REQUEST_ID = re.compile(r"[0-9a-f]{32}")


class Lines(list):
    """Lines as they are written, and read back."""

    def __call__(self, line):
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.append(line)

    @property
    def read(self):
        return [json.loads(line) for line in self]

    @property
    def text(self):
        return b"".join(self).decode()


async def note(request):
    return PlainTextResponse(request.path_params["note_id"])


async def livez(request):
    return PlainTextResponse("well", 503 if request.query_params.get("ok") == "false" else 200)


async def write(request):
    return PlainTextResponse(str(len(await request.body())), 201)


async def failing(request):
    item = request.path_params["item"]
    try:
        raise KeyError(item)
    except KeyError as error:
        raise ValueError(f"no {item}") from error


async def cut(request):
    async def begun():
        yield "begun"
        raise RuntimeError(PLANTED)

    return StreamingResponse(begun())


class Answering:
    """Answers to errors, as the suite's own problems are, but shorter."""

    def answer(self, request, error):
        if isinstance(error, HttpProblem):
            return PlainTextResponse("refused", error.problem.status)
        logging.getLogger("potluck.web").error("request failed", exc_info=error)
        return PlainTextResponse("broken", 500)


class Unable:
    def answer(self, request, error):
        raise RuntimeError(PLANTED)


def application(lines, log="requests", problems=None):
    router = Router()
    router.add("GET", "/api/v1/notes/{note_id}", note)
    router.add("GET", "/livez", livez)
    router.add("POST", "/api/v1/notes", write)
    router.add("GET", "/failing/{item}", failing)
    router.add("GET", "/cut", cut)
    settings = Settings(log=log)
    nobody = Authentication(None, Clients(settings), bytes(32))
    return Application(router, nobody, problems or Answering(), {}, RequestLog(settings, lines))


@pytest.fixture
def lines():
    """What is written, with the standard logging led there too for as long as the test runs."""
    written = Lines()
    with logging_in_lines(Settings(log="requests"), written):
        yield written


def client_of(app):
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://testserver")


@pytest.fixture
async def client(lines):
    async with client_of(application(lines)) as client:
        yield client


async def test_a_request_has_one_line_that_says_what_and_how_long_but_not_which(client, lines):
    answer = await client.get(f"/api/v1/notes/{PLANTED}?token={PLANTED}")
    (line,) = lines.read
    assert line.pop("milliseconds") >= 0
    assert line.pop("worker") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line == {
        "level": "info",
        "event": "request",
        "requestId": answer.headers["x-request-id"],
        "method": "GET",
        "route": "/api/v1/notes/{note_id}",
        "status": 200,
        "bytes": len(PLANTED),
    }


@pytest.mark.parametrize("path", ["/api/v1/notes/1", "/nowhere", "/failing/1", "/livez"])
async def test_every_answer_carries_a_number_of_ours(client, path):
    answers = [await client.get(path, headers={"x-request-id": PLANTED}) for _ in range(2)]
    numbers = [answer.headers.get_list("x-request-id") for answer in answers]
    assert all(len(each) == 1 and REQUEST_ID.fullmatch(each[0]) for each in numbers)
    assert numbers[0] != numbers[1]


async def test_the_number_is_known_while_the_request_is_answered(lines):
    seen = []

    async def app(scope, receive, send):
        seen.append((scope["state"]["request_id"], current_request.get()))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async with client_of(RequestLog(Settings(), lines)(app)) as client:
        answer = await client.get("/")
    assert seen == [(answer.headers["x-request-id"],) * 2]


async def test_health_checks_have_no_line_however_they_end(client, lines):
    assert (await client.get("/livez")).status_code == 200
    assert (await client.get("/livez?ok=false")).status_code == 503
    assert lines == []


async def test_what_a_state_explains_has_no_line_for_each_request(lines):
    async def unavailable(request):
        return PlainTextResponse("later", 503)

    router = Router()
    router.add("GET", "/busy", unavailable)
    settings = Settings(log="problems")
    nobody = Authentication(None, Clients(settings), bytes(32))
    app = Application(router, nobody, Answering(), {}, RequestLog(settings, lines))
    full = Trouble(DISK_FULL, logging.getLogger("potluck.tests"), "the disk is full")
    counted = REQUEST_SECONDS.count(("GET", "/busy", "503"))
    async with client_of(app) as client:
        await client.get("/busy")
        full.met()
        for _ in range(20):
            await client.get("/busy")
        full.over()
        await client.get("/busy")
    assert [line.get("status", line.get("state")) for line in lines.read] == [503, "disk-full", "disk-full", 503]
    assert REQUEST_SECONDS.count(("GET", "/busy", "503")) == counted + 22


async def test_unless_asked_for_only_failures_have_a_line(lines):
    async with client_of(application(lines, log="problems")) as client:
        await client.get("/api/v1/notes/1")
        await client.get("/nowhere")
        assert lines == []
        await client.get("/failing/1")
    assert [(line["level"], line["event"]) for line in lines.read] == [("error", "log"), ("error", "request")]


async def test_a_failure_is_told_by_its_kind_and_its_way_under_the_number_of_the_request(client, lines):
    answer = await client.get(f"/failing/{PLANTED}")
    told, request = lines.read
    assert told["message"] == "request failed"
    assert told["requestId"] == request["requestId"] == answer.headers["x-request-id"]
    assert told["error"]["type"] == "builtins.ValueError"
    assert told["error"]["cause"]["type"] == "builtins.KeyError"
    assert re.search(r"test_request_log\.py:\d+ failing$", told["error"]["frames"][-1])
    assert any(frame.startswith("potluck/web/http/application.py:") for frame in told["error"]["frames"])
    assert request["status"] == 500
    assert PLANTED not in lines.text


async def test_what_even_the_answer_to_a_failure_fails_at_is_answered_and_told(lines):
    async with client_of(application(lines, problems=Unable())) as client:
        answer = await client.get("/failing/1")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    (line,) = lines.read
    assert answer.json()["requestId"] == answer.headers["x-request-id"] == line["requestId"]
    assert line["error"]["type"] == "builtins.RuntimeError"
    assert PLANTED not in lines.text + answer.text


async def test_an_answer_that_is_cut_off_is_told_with_what_was_sent_of_it(client, lines):
    # The client may see the cut as an error of its own.
    with contextlib.suppress(Exception):
        await client.get("/cut")
    line = lines.read[-1]
    assert (line["level"], line["status"], line["bytes"]) == ("error", 200, len("begun"))
    assert "error" in line
    assert PLANTED not in lines.text


REQUESTS = [
    ("GET", f"/api/v1/notes/{PLANTED}", {}),
    ("GET", f"/nowhere/{PLANTED}?{PLANTED}={PLANTED}", {}),
    ("GET", f"/failing/{PLANTED}", {}),
    ("PUT", f"/api/v1/notes/{PLANTED}", {"content": PLANTED}),
    ("POST", "/api/v1/notes", {"content": PLANTED}),
    ("POST", f"/api/v1/notes?key={PLANTED}", {"json": {"email": f"{PLANTED}@example.org"}}),
    (PLANTED.upper(), "/api/v1/notes/1", {}),
]
HEADERS = {
    "authorization": f"Bearer {PLANTED}",
    "cookie": f"potluck={PLANTED}",
    "user-agent": PLANTED,
    "referer": f"http://testserver/{PLANTED}",
    "sec-fetch-site": "same-origin",
    "x-request-id": PLANTED,
    "x-forwarded-for": PLANTED,
    "host": "planted.example",
}


@pytest.mark.parametrize(("method", "path", "options"), REQUESTS, ids=lambda value: str(value)[:30])
async def test_nothing_that_a_request_carries_is_in_its_line(client, lines, method, path, options):
    await client.request(method, path, headers=HEADERS, **options)
    assert lines
    assert "planted" not in lines.text.lower()


async def test_a_client_that_leaves_before_it_has_sent_its_body_is_no_failure(lines):
    async def gone():
        return {"type": "http.disconnect"}

    async def send(message):
        raise AssertionError("there is nobody to answer")

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/notes",
        "raw_path": b"/api/v1/notes",
        "root_path": "",
        "query_string": b"",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(b"host", b"testserver"), (b"content-length", b"10")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
    }
    await application(lines)(scope, gone, send)
    (line,) = lines.read
    assert (line["status"], line["level"]) == (None, "info")
    lines.clear()
    await application(lines, log="problems")(dict(scope), gone, send)
    assert lines == []


# --- what others log -------------------------------------------------------------------------------------------------


def test_our_own_records_have_their_arguments_but_of_exceptions_only_the_kind(lines):
    log = logging.getLogger("potluck.streams")
    log.warning("%s: attempt %d of %s failed: %r", "counts", 2, "000017", ValueError(PLANTED))
    log.error("%s", DynamoError("ThrottlingException", PLANTED))
    log.info("one thing: %s", KeyError(PLANTED))
    assert [line["message"] for line in lines.read] == [
        "counts: attempt 2 of 000017 failed: ValueError",
        "DynamoError",
        "one thing: KeyError",
    ]
    assert PLANTED not in lines.text


def test_of_other_libraries_only_the_fixed_part_is_kept(lines):
    logging.getLogger("aiohttp.client").warning("cannot connect to %s", PLANTED)
    logging.getLogger("somebody").error(f"{PLANTED} was refused")
    logging.getLogger("somebody").error(ValueError(PLANTED))
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("uvicorn.error").error(f"Exception in ASGI application\n{PLANTED}")
    warnings.warn(PLANTED, stacklevel=1)
    logging.getLogger("somebody").info("not worth a line")
    told = lines.read
    assert [line.get("message") for line in told] == [
        "cannot connect to %s",
        None,
        "ValueError",
        "Invalid HTTP request received.",
        "Exception in ASGI application",
        None,
    ]
    assert re.search(r"test_request_log\.py:\d+$", told[1]["at"])
    assert PLANTED not in lines.text


def test_a_record_that_cannot_be_formatted_is_still_a_line():
    class Odd:
        def __str__(self):
            raise RuntimeError(PLANTED)

    written = Lines()
    for text, *arguments in (("%d of %s", "no number", PLANTED), ("%s", Odd())):
        JsonLines(written).emit(logging.LogRecord("potluck.web", 40, __file__, 1, text, tuple(arguments), None))
    assert len(written.read) == 2
    assert PLANTED not in written.text


def test_afterwards_everything_logs_as_before():
    root, ours = logging.getLogger(), logging.getLogger("potluck")
    before = root.handlers[:], root.level, ours.level
    with logging_in_lines(Settings(log="requests"), Lines()):
        assert [type(handler) for handler in root.handlers] == [JsonLines]
    assert (root.handlers, root.level, ours.level) == before


async def test_what_nobody_awaited_is_told_without_its_arguments(lines):
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_unhandled_exception)

    def fails(value):
        raise ValueError(value)

    loop.call_soon(fails, PLANTED)
    await asyncio.sleep(0.01)
    (line,) = lines.read
    assert line["error"]["type"] == "builtins.ValueError"
    assert PLANTED not in lines.text


# --- exceptions ------------------------------------------------------------------------------------------------------


class Safe(Exception):
    safe_to_log = True


class Derived(Safe):
    pass


def test_only_a_class_that_says_so_itself_has_its_text_in_the_log():
    assert described(Safe("the lease was lost"))["message"] == "the lease was lost"
    assert "message" not in described(Derived(PLANTED))
    assert "message" not in described(ValueError(PLANTED))


def test_the_service_and_the_system_have_words_for_what_failed():
    assert described(DynamoError("ThrottlingException", PLANTED))["code"] == "ThrottlingException"
    assert described(OSError(28, PLANTED))["code"] == "ENOSPC"
    assert "code" not in described(DynamoError(f"a {PLANTED}", ""))


def test_the_way_through_a_library_is_named_from_its_package_on():
    with pytest.raises(TypeError) as raised:
        httpx.URL(PLANTED.encode())
    assert described(raised.value)["frames"][-1].startswith("httpx/")


def test_a_group_names_those_in_it_and_a_chain_ends():
    group = ExceptionGroup(PLANTED, [ValueError(PLANTED), KeyError(PLANTED)])
    assert [each["type"] for each in described(group)["exceptions"]] == ["builtins.ValueError", "builtins.KeyError"]
    first = ValueError(PLANTED)
    first.__cause__ = second = KeyError(PLANTED)
    second.__cause__ = first
    assert PLANTED not in json.dumps([described(first), described(group)])
