"""Responses that are sent from memory, without a call of the application: when they are, and when they must not be."""

import asyncio
from types import SimpleNamespace

import pytest

from potluck.connections import uvicorn_adapter
from potluck.settings import Settings
from potluck.web.cached_answers import CachedEndpoint, Tagged
from potluck.web.http.request_log import RequestLog
from potluck.web.http.router import Router
from potluck.web.server.fast_path import FastPath
from tests.patience import PATIENCE_SECONDS, until
from tests.web.server_here import lifespan, served_here

CALLED, FROM_MEMORY = "called", "from memory"
MORE_THAN_BUFFERS = 32 * 1024 * 1024
# Headers that no response has whose connection stays open.
WRONG = {
    "/known/endless": [],
    "/known/longer": [(b"content-length", b"1000")],
    "/known/split": [(b"content-length", b"27"), (b"x", b"a\r\nb: c")],
    "/known/broken": [(b"content-length", None)],
}


class Known(CachedEndpoint):
    """Has every address that it is asked for in memory."""

    def __init__(self):
        self.asked = []
        self.fails = False
        self.large = b""

    def cached(self, request):
        path = request.scope["path"]
        self.asked.append(request.method)
        if self.fails:
            raise RuntimeError("the memory cannot be read")
        response = Tagged('"1"', self.large or f"{FROM_MEMORY}: {path}".encode())
        response.headers = WRONG.get(path, response.headers)
        return response


class Application:
    """Has every address below /known in memory, and answers everything when called; each says how it was answered."""

    def __init__(self):
        self.known = Known()
        router = Router()
        router.add_all_below("/known", self.known)
        log = RequestLog(Settings())
        self.state = SimpleNamespace(fast_path=FastPath(router, log, lambda own, path: [*own]))
        self.held = asyncio.Event()

    @property
    def asked(self):
        return self.known.asked

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        if scope["method"] == "POST" or scope["path"] == "/known/with-body":
            while (await receive())["more_body"]:
                pass
        if scope["path"] == "/held":
            await self.held.wait()
        body = f"{CALLED}: {scope['path']}".encode()
        headers = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def served(monkeypatch):
    monkeypatch.setattr(uvicorn_adapter, "TICKS_BETWEEN_CHECKS", 1)
    application = Application()
    async with served_here(application) as here:
        application.port, application.server = here.port, here.server
        yield application
        application.held.set()


class Client:
    """One connection, on which responses are read one after the other."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def of(cls, served):
        return cls(*await asyncio.open_connection("127.0.0.1", served.port))

    async def response(self, *, has_body=True):
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE_SECONDS)).decode()
        lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        length = int(headers["content-length"]) if has_body else 0
        body = await asyncio.wait_for(self.reader.readexactly(length), PATIENCE_SECONDS)
        return lines[0], headers, body.decode()

    async def ask(self, path, method="GET", headers=(), body=b"", version="1.1"):
        self.writer.write(request(path, method, headers, body, version))
        return (await self.response(has_body=method != "HEAD"))[2]

    async def closed(self):
        return await asyncio.wait_for(self.reader.read(), PATIENCE_SECONDS) == b""


def request(path, method="GET", headers=(), body=b"", version="1.1"):
    lines = [f"{method} {path} HTTP/{version}", "host: x", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def test_a_response_in_memory_is_sent_without_a_call_as_often_as_it_is_asked_for(served):
    client = await Client.of(served)
    ids = set()
    for _ in range(3):
        client.writer.write(request("/known/a?b=c"))
        status, headers, body = await client.response()
        assert (status, body) == ("HTTP/1.1 200 OK", "from memory: /known/a")
        ids.add(headers.pop("x-request-id"))
        assert {**headers, "date": ""} == {
            "date": "",
            "etag": '"1"',
            "content-type": "application/json",
            "content-length": f"{len(body)}",
        }
    assert sorted(map(len, ids)) == [32] * 3
    assert served.server.server_state.total_requests == 3
    # On the same connection, what is not in memory.
    assert await client.ask("/other") == "called: /other"
    assert await client.ask("/known/b") == "from memory: /known/b"
    assert await client.ask("/other", "POST", ["content-length: 2"], b"{}") == "called: /other"
    assert await client.ask("/known/a") == "from memory: /known/a"


async def test_a_head_that_comes_byte_by_byte_is_answered_once(served):
    client = await Client.of(served)
    for byte in request("/known/a") + request("/known/b"):
        client.writer.write(bytes([byte]))
        await client.writer.drain()
        await asyncio.sleep(0)
    assert [(await client.response())[2] for _ in range(2)] == ["from memory: /known/a", "from memory: /known/b"]


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "HEAD"},
        {"method": "POST", "headers": ["content-length: 0"]},
        {"headers": ["connection: close"]},
        {"headers": ["connection: upgrade", "upgrade: websocket"]},
        {"version": "1.0"},
        {"version": "1.0", "headers": ["connection: keep-alive"]},
        {"headers": ["content-length: 2"], "body": b"{}"},
        {"headers": ["content-length: 0"]},
        {"headers": ["transfer-encoding: chunked"], "body": b"2\r\n{}\r\n0\r\n\r\n"},
    ],
    ids=str,
)
async def test_the_application_is_called_for_whatever_is_not_a_plain_get(served, asked):
    client = await Client.of(served)
    assert await client.ask("/known/with-body", **asked) in ("called: /known/with-body", "")
    assert served.asked == []


async def test_a_body_that_comes_later_is_not_taken_for_the_next_request(served):
    client = await Client.of(served)
    smuggled = request("/known/smuggled")
    client.writer.write(request("/known/with-body", headers=[f"content-length: {len(smuggled)}"]))
    await client.writer.drain()
    client.writer.write(smuggled)
    assert (await client.response())[2] == "called: /known/with-body"
    assert await client.ask("/known/a") == "from memory: /known/a"


async def test_pipelined_requests_are_answered_in_their_order(served):
    client = await Client.of(served)
    paths = ["/known/1", "/other/2", "/known/3", "/known/4", "/other/5", "/known/6"]
    client.writer.write(b"".join(map(request, paths)))
    answers = [(await client.response())[2] for _ in paths]
    assert [answer.split(": ")[1] for answer in answers] == paths
    # Nobody takes more than one turn by what they send at once.
    assert [answer.startswith(FROM_MEMORY) for answer in answers] == [True, *[False] * 5]


async def test_what_is_in_memory_waits_for_the_response_before_it(served):
    client = await Client.of(served)
    client.writer.write(request("/held"))
    await client.writer.drain()
    await asyncio.sleep(0.05)
    client.writer.write(request("/known/a"))
    await client.writer.drain()
    await asyncio.sleep(0.05)
    assert served.asked == []
    served.held.set()
    assert [(await client.response())[2] for _ in range(2)] == ["called: /held", "called: /known/a"]


async def test_one_who_does_not_read_is_not_sent_more_from_memory(served):
    served.known.large = b"x" * MORE_THAN_BUFFERS
    client = await Client.of(served)
    client.writer.write(request("/known/large"))
    await until(lambda: asyncio.sleep(0, len(served.asked) == 1))
    served.known.large = b""
    client.writer.write(request("/known/small"))
    await client.writer.drain()
    await asyncio.sleep(0.1)
    assert len(served.asked) == 1
    assert len((await client.response())[2]) == MORE_THAN_BUFFERS
    assert (await client.response())[2] == "called: /known/small"


async def test_a_memory_that_fails_is_passed_over(served):
    served.known.fails = True
    client = await Client.of(served)
    assert await client.ask("/known/a") == "called: /known/a"
    served.known.fails = False
    assert await client.ask("/known/a") == "from memory: /known/a"


@pytest.mark.parametrize("path", WRONG)
async def test_a_response_whose_head_is_wrong_is_not_sent_from_memory(served, path):
    client = await Client.of(served)
    assert [await client.ask(path) for _ in range(2)] == [f"called: {path}"] * 2


@pytest.mark.parametrize("wrong", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n"])
async def test_what_is_wrong_after_it_is_refused(served, wrong):
    client = await Client.of(served)
    client.writer.write(request("/known/a") + wrong)
    assert (await client.response())[2] == "from memory: /known/a"
    assert (await client.response())[0] == "HTTP/1.1 400 Bad Request"
    assert await client.closed()


@pytest.mark.parametrize("wrong", [b"host: y", b"transfer-encoding: gzip, chunked", b"content-length: nine"])
async def test_what_is_ambiguous_is_never_looked_up(served, wrong):
    client = await Client.of(served)
    client.writer.write(b"GET /known/a HTTP/1.1\r\nhost: x\r\n" + wrong + b"\r\n\r\n")
    assert (await client.response())[0] == "HTTP/1.1 400 Bad Request"
    assert served.asked == []


async def test_a_connection_that_was_only_answered_from_memory_is_closed_when_it_is_idle(served):
    client = await Client.of(served)
    assert await client.ask("/known/a") == "from memory: /known/a"
    (connection,) = served.server.server_state.connections
    assert connection.idle_since is not None
    connection.timeout_keep_alive = 0.05
    assert await client.closed()


async def test_a_server_that_stops_closes_it(served):
    client = await Client.of(served)
    assert await client.ask("/known/a") == "from memory: /known/a"
    served.server.should_exit = True
    assert await client.closed()
