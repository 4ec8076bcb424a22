"""The installed uvicorn is one that was tried, has what the adapter builds on, and would send the same bytes.

A response goes out as uvicorn would send it, and in one write where its body is there at once.
"""

import asyncio
import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from potluck.connections.asgi_extension import WHOLE
from potluck.connections.limits import Connection
from potluck.connections.uvicorn_adapter import VERSIONS_TRIED, HttpConnection, HttpServer

ROOT = Path(__file__).parents[2]

TURNS = 20
GET = b"GET /a%20b?c=d HTTP/1.1\r\nhost: x\r\n\r\n"
HEAD = GET.replace(b"GET", b"HEAD")
CLOSING = GET.replace(b"host: x", b"host: x\r\nconnection: close")
OLD = GET.replace(b"1.1", b"1.0")
EXPECTING = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"
LENGTH = (b"content-length", b"5")
SECRET = (b"x-injected", b"a\r\nset-cookie: b")


# What the adapter, or a connection built on it, uses of uvicorn's objects.
OF_CONNECTION = {
    *("app", "client", "cycle", "expect_100_continue", "flow", "headers", "logger", "access_logger", "loop", "parser"),
    *("pipeline", "scope", "server_state", "timeout_keep_alive", "transport", "url"),
}
OF_CYCLE = {
    *("chunked_encoding", "default_headers", "disconnected", "expected_content_length", "flow", "keep_alive"),
    *("message_event", "on_response", "response_complete", "response_started", "scope", "transport"),
    "waiting_for_100_continue",
}
OF_SERVER = {"servers", "server_state", "should_exit", "started"}
OF_STATE = {"connections", "default_headers", "tasks", "total_requests"}
# Methods of uvicorn's that ours override, each with its parameters: where uvicorn calls another, ours is never called.
OVERRIDDEN = {
    (HttpToolsProtocol, "_start_asgi_task"): ["cycle", "app"],
    (HttpToolsProtocol, "connection_lost"): ["exc"],
    (HttpToolsProtocol, "connection_made"): ["transport"],
    (HttpToolsProtocol, "data_received"): ["data"],
    (HttpToolsProtocol, "on_body"): ["body"],
    (HttpToolsProtocol, "on_headers_complete"): [],
    (HttpToolsProtocol, "on_message_begin"): [],
    (HttpToolsProtocol, "on_message_complete"): [],
    (HttpToolsProtocol, "on_response_complete"): [],
    (RequestResponseCycle, "send"): ["message"],
    (uvicorn.Server, "capture_signals"): [],
    (uvicorn.Server, "on_tick"): ["counter"],
    (uvicorn.Server, "shutdown"): ["sockets"],
    (uvicorn.Server, "startup"): ["sockets"],
}
CYCLE_ARGUMENTS = {
    *("scope", "transport", "flow", "logger", "access_logger", "access_log", "default_headers", "message_event"),
    *("expect_100_continue", "keep_alive", "on_response"),
}


def test_the_installed_version_was_tried():
    assert version("uvicorn") in VERSIONS_TRIED


def test_only_versions_that_were_tried_are_allowed():
    (allowed,) = [
        each
        for each in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["server"]
        if each.startswith("uvicorn")
    ]
    tried = sorted(tuple(map(int, each.split("."))) for each in VERSIONS_TRIED)
    (first, *_), (*_, last) = tried, tried
    assert allowed == f"uvicorn>={first[0]}.{first[1]},<{last[0]}.{last[1] + 1}"


def test_one_module_reaches_into_uvicorn():
    imports = re.compile(r"^\s*(?:import|from) uvicorn\b", re.M)
    source = ROOT / "src" / "potluck"
    assert [path.name for path in source.rglob("*.py") if imports.search(path.read_text())] == ["uvicorn_adapter.py"]


@pytest.mark.parametrize(("kind", "method"), OVERRIDDEN, ids=str)
def test_uvicorn_has_the_methods_that_ours_override(kind, method):
    assert list(inspect.signature(getattr(kind, method)).parameters)[1:] == OVERRIDDEN[kind, method]


def test_uvicorn_calls_what_ours_override():
    called = {name for _, name in OVERRIDDEN if name not in ("send", "capture_signals")}
    ours = {name for kind in (Connection, HttpConnection, HttpServer) for name in vars(kind)}
    assert called - ours == {"shutdown", "startup"}
    assert "self._start_asgi_task(" in inspect.getsource(HttpToolsProtocol.on_headers_complete)
    assert "on_response=self.on_response_complete" in inspect.getsource(HttpToolsProtocol.on_headers_complete)
    assert "self.on_tick(" in inspect.getsource(uvicorn.Server.main_loop)


async def test_uvicorn_has_the_attributes_that_ours_use():
    config = uvicorn.Config(lambda: None, interface="asgi3", ws="none", log_config=None)
    config.load()
    server = uvicorn.Server(config)
    connection = HttpToolsProtocol(config, server.server_state, {})
    connection.connection_made(Transport())
    connection.on_message_begin()
    assert OF_CONNECTION - {*dir(connection)} == set()
    assert {"read_paused", "write_paused", "drain", "resume_reading"} - {*dir(connection.flow)} == set()
    assert {*inspect.signature(RequestResponseCycle).parameters} == CYCLE_ARGUMENTS
    cycle = RequestResponseCycle(**dict.fromkeys(CYCLE_ARGUMENTS))
    assert OF_CYCLE - {*dir(cycle)} == set()
    assert OF_STATE - {*dir(server.server_state)} == set()
    assert OF_SERVER - {*dir(server)} - {"servers"} == set()
    assert "self.servers" in inspect.getsource(uvicorn.Server.startup)
    assert STATUS_LINE[200] == b"HTTP/1.1 200 OK\r\n"


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 5000), "sockname": ("127.0.0.1", 8000)})
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        # An empty write is none: nothing goes to the system.
        self.writes += [bytes(data)] if data else []

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


def start(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(data: bytes = b"", more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def outcome(kind: type[HttpToolsProtocol], received: bytes, messages: list[dict[str, Any]]) -> Transport:
    """What becomes of these bytes when an application answers each request in them with these messages."""
    scopes = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        told = {name: value for name, value in scope.items() if name not in ("headers", "extensions")}
        scopes.append(told | {"headers": list(scope["headers"])})
        if scope["method"] == "POST":
            await receive()
        for message in messages:
            await send(dict(message))

    config = uvicorn.Config(application, interface="asgi3", ws="none", log_config=None, access_log=False)
    config.load()
    config.loaded_app = application
    state = ServerState()
    state.default_headers = [(b"date", b"Mon, 16 Nov 2026 08:51:06 GMT")]
    protocol, transport = kind(config, state, {}), Transport()
    protocol.connection_made(transport)
    protocol.data_received(received)
    if received == EXPECTING:
        await asyncio.sleep(0)
        protocol.data_received(b"ab")
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert not state.tasks
    transport.scopes = scopes  # type: ignore[attr-defined]
    transport.close()
    protocol.connection_lost(None)
    return transport


ANSWERS: dict[str, tuple[list[dict[str, Any]], int]] = {
    "at once": ([start(LENGTH, (b"content-type", b"text/plain")), body(b"hello")], 1),
    "upper case": ([start((b"Content-Length", b"5"), (b"ETag", b'"1"')), body(b"hello")], 2),
    "empty": ([start((b"content-length", b"0")), body()], 1),
    "no content": ([start(status=204), body()], 1),
    "not modified": ([start((b"etag", b'"1"'), status=304), body()], 1),
    "in pieces": ([start(LENGTH), body(b"he", True), body(b"", True), body(b"llo")], 2),
    "streamed": ([start(), body(b"he", True), body(b"llo")], 3),
    "chunked": ([start((b"transfer-encoding", b"chunked")), body(b"hello")], 2),
    "last": ([start(LENGTH, (b"connection", b"close")), body(b"hello")], 2),
    "odd status": ([start(LENGTH, status=599), body(b"hello")], 1),
    "any byte": ([start(LENGTH, (b"x", b"\t \xe9\xff")), body(b"hello")], 1),
}


@pytest.mark.parametrize("request_", [GET, HEAD, CLOSING, OLD, EXPECTING, GET * 3, GET + CLOSING])
@pytest.mark.parametrize("answer", ANSWERS)
async def test_the_same_bytes_as_uvicorn_s(request_, answer):
    messages, _ = ANSWERS[answer]
    theirs, ours = [await outcome(kind, request_, messages) for kind in (HttpToolsProtocol, Connection)]
    assert b"".join(ours.writes) == b"".join(theirs.writes)
    assert ours.scopes == theirs.scopes


@pytest.mark.parametrize("answer", ANSWERS)
async def test_a_head_whose_body_is_there_goes_with_it(answer):
    messages, writes = ANSWERS[answer]
    assert len((await outcome(Connection, GET, messages)).writes) == writes


WHOLE_ANSWERS = {name: each for name, (each, _) in ANSWERS.items() if len(each) == 2}


@pytest.mark.parametrize("request_", [GET, HEAD, CLOSING, EXPECTING, GET * 3])
@pytest.mark.parametrize("answer", WHOLE_ANSWERS)
async def test_a_response_in_one_message_is_the_same_as_in_two(request_, answer):
    messages = WHOLE_ANSWERS[answer]
    head, content = messages
    theirs = await outcome(HttpToolsProtocol, request_, messages)
    ours = await outcome(Connection, request_, [{**head, "type": WHOLE, "body": content["body"]}])
    assert b"".join(ours.writes) == b"".join(theirs.writes)


WRONG = {
    "a line in a value": [start(LENGTH, SECRET), body(b"hello")],
    "a line in a name": [start(LENGTH, SECRET[::-1]), body(b"hello")],
    "a space in a name": [start(LENGTH, (b"a b", b"c")), body(b"hello")],
    "a null": [start(LENGTH, (b"a", b"\0")), body(b"hello")],
    "a line in the length": [start((b"content-length", b"5\r\na: b")), body(b"hello")],
    "too long a body": [start(LENGTH), body(b"hello, you")],
    "too short a body": [start(LENGTH), body(b"he")],
    "no body": [start(LENGTH)],
    "no head": [body(b"hello")],
    "two heads": [start(LENGTH), start(LENGTH), body(b"hello")],
    "two bodies": [start(LENGTH), body(b"hello"), body(b"hello")],
    "neither head nor body": [{"type": "http.response.debug"}],
}


@pytest.mark.parametrize("answer", WRONG)
async def test_a_wrong_answer_is_cut_off_as_uvicorn_does_and_never_sent_as_it_is(answer):
    theirs, ours = [await outcome(kind, GET, WRONG[answer]) for kind in (HttpToolsProtocol, Connection)]
    sent = b"".join(ours.writes)
    # A head that was waiting for its body is not sent any more.
    assert b"".join(theirs.writes).startswith(sent)
    assert b"set-cookie" not in sent
    assert b"you" not in sent
