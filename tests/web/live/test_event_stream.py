"""The stream as an HTTP answer: its headers, where it begins, and what is left when a client goes."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from potluck.connections import limits, uvicorn_adapter
from potluck.engines.embedded import open_embedded
from potluck.store import Store
from potluck.validation.errors import ValidationError
from potluck.web.live import EventStreamResponse, Live, event_stream
from potluck.web.live.event_stream import event_text
from tests.patience import PATIENCE_SECONDS
from tests.web.live.boards import KEY, SOMEBODY, Card, boards, clock, shown, yes
from tests.web.server_here import served_here

# Of a change, as one reader is told of it.
LONG_EVENT = 50_000


class Client:
    """One request to an application, as a server makes it, whose reader may go away or be slow."""

    def __init__(self, app: Starlette, path: str, query: str = "", **headers: str) -> None:
        self.scope: Any = {
            "type": "http",
            "method": headers.pop("method", "GET"),
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "scheme": "http",
            "http_version": "1.1",
            "asgi": {"version": "3.0"},
            "root_path": "",
        }
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.complete = False
        self.broken = False
        self._gone = asyncio.Event()
        self._asked = False
        self.taking = asyncio.Event()
        self.taking.set()
        self.task = asyncio.create_task(app(self.scope, self._receive, self._send))

    async def _receive(self) -> Any:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            await self.taking.wait()
            if self.broken:
                raise OSError("the connection is gone")
            self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False)

    def go_away(self) -> None:
        self._gone.set()

    async def until(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while text not in self.body:  # noqa: ASYNC110 - the application calls
                await asyncio.sleep(0.005)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    engine = await open_embedded(tmp_path / "store.db")
    store = Store(engine, clock)
    await store.create_tables(boards)
    yield store
    await engine.close()


@pytest.fixture
async def live(store: Store) -> AsyncIterator[Live]:
    live = Live(store.engine, clock, key=KEY)
    yield live
    await live.stop()


@pytest.fixture
def app(live: Live) -> Starlette:
    def opened(request: Request, **options: Any) -> EventStreamResponse:
        since, last_event_id = request.query_params.get("since"), request.headers.get("last-event-id")
        source = live.open(since, last_event_id, of=Card.on_board("b"), see=shown, allowed=yes, by=SOMEBODY, **options)
        return EventStreamResponse(source)

    async def events(request: Request) -> Response:
        return opened(request)

    async def long(request: Request) -> Response:
        return opened(request, render=lambda _: "x" * LONG_EVENT)

    async def changes(request: Request) -> Response:
        found = await live.changes(request.query_params.get("since"), of=Card.on_board("b"), see=shown)
        return Response(msgspec.json.encode(found))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, ValidationError)
        return Response(error.errors[0].field, status_code=422)

    routes = [Route("/events", events), Route("/long", long), Route("/changes", changes)]
    return Starlette(routes=routes, exception_handlers={ValidationError: refused})


async def test_the_answer_begins_at_once_and_goes_on(app: Starlette, store: Store) -> None:
    client = Client(app, "/events")
    await client.until(b"retry: 1000\n\nid: ")
    assert client.status == 200
    assert client.headers["content-type"].partition(";")[0] == "text/event-stream"
    assert client.headers["cache-control"] == "no-store"
    assert client.headers["x-accel-buffering"] == "no"
    assert "content-length" not in client.headers
    await store.put(Card(board="b", card="one", text="ü"))
    await client.until('event: created\ndata: {"card":"one","text":"ü"}\n\n'.encode())
    client.go_away()
    await asyncio.wait_for(client.task, PATIENCE_SECONDS)


async def test_a_head_request_gets_the_headers_and_opens_nothing(app: Starlette, live: Live) -> None:
    client = Client(app, "/events", method="HEAD")
    await asyncio.wait_for(client.task, PATIENCE_SECONDS)
    assert (client.status, client.body, client.complete) == (200, b"", True)
    assert client.headers["content-type"].partition(";")[0] == "text/event-stream"
    assert live.open_streams == 0


async def test_nothing_is_left_of_a_client_that_went_away(app: Starlette, live: Live) -> None:
    clients = [Client(app, "/events") for _ in range(5)]
    for client in clients:
        await client.until(b"id: ")
    assert live.open_streams == 5
    for client in clients:
        client.go_away()
    await asyncio.wait_for(asyncio.gather(*(client.task for client in clients)), PATIENCE_SECONDS)
    assert live.open_streams == 0
    assert live._tails[boards.name]._waiting == {}


async def test_a_client_that_does_not_read_holds_up_nobody(app: Starlette, store: Store) -> None:
    slow, fast = Client(app, "/events"), Client(app, "/events")
    await slow.until(b"id: ")
    await fast.until(b"id: ")
    slow.taking.clear()
    for number in range(5):
        await store.put(Card(board="b", card=f"c{number}"))
    await fast.until(b'"c4"')
    slow.taking.set()
    await slow.until(b'"c4"')
    assert [slow.body.count(f'"c{number}"'.encode()) for number in range(5)] == [1] * 5
    for client in (slow, fast):
        client.go_away()
    await asyncio.wait_for(asyncio.gather(slow.task, fast.task), PATIENCE_SECONDS)


async def test_for_a_client_that_stops_reading_little_is_written_and_not_for_ever(
    app: Starlette, store: Store, live: Live, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(uvicorn_adapter, "TICKS_BETWEEN_CHECKS", 1)
    monkeypatch.setattr(limits, "UNREAD_SECONDS", 1.0)
    since = await live.position(boards)
    for number in range(200):
        await store.put(Card(board="b", card=f"c{number}"))
    async with served_here(app) as (serving, port, _):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, f"GET /long?since={since} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not live.open_streams:  # noqa: ASYNC110 - it happens in the server
                    await asyncio.sleep(0.01)
                (connection,) = serving.server_state.connections
                most = 0
                while live.open_streams:
                    most = max(most, connection.transport.get_write_buffer_size())
                    await asyncio.sleep(0.01)
        # Ten megabytes were to be told. What lies with us is what came before it was noticed, and one piece more.
        assert most < 10 * LONG_EVENT
        async with asyncio.timeout(PATIENCE_SECONDS):
            while serving.server_state.connections or serving.server_state.tasks:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == []


async def test_a_client_that_takes_nothing_is_given_up(
    app: Starlette, store: Store, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "STALLED_SECONDS", 0.1)
    client = Client(app, "/events")
    await client.until(b"id: ")
    client.taking.clear()
    await store.put(Card(board="b", card="one"))
    await asyncio.wait_for(client.task, PATIENCE_SECONDS)
    assert not client.complete
    assert live.open_streams == 0


async def test_a_connection_that_breaks_ends_the_stream(app: Starlette, store: Store, live: Live) -> None:
    client = Client(app, "/events")
    await client.until(b"id: ")
    client.broken = True
    await store.put(Card(board="b", card="one"))
    await asyncio.wait_for(client.task, PATIENCE_SECONDS)
    assert live.open_streams == 0


async def test_the_header_goes_before_the_query(app: Starlette, store: Store, live: Live) -> None:
    first = await live.position(boards)
    await store.put(Card(board="b", card="one"))
    second = (await live.changes(first, of=Card.on_board("b"), see=shown)).position
    await store.put(Card(board="b", card="two"))
    by_query = Client(app, "/events", f"since={first}")
    by_header = Client(app, "/events", f"since={first}", last_event_id=second)
    await by_query.until(b'"two"')
    await by_header.until(b'"two"')
    assert b'"one"' in by_query.body
    assert b'"one"' not in by_header.body
    as_json = Client(app, "/changes", f"since={second}")
    await asyncio.wait_for(as_json.task, PATIENCE_SECONDS)
    assert b'"event":"created"' in as_json.body
    assert b'"item":{"card":"two","text":""}' in as_json.body
    assert b'"reset":false,"more":false' in as_json.body
    for client in (by_query, by_header):
        client.go_away()
        await asyncio.wait_for(client.task, PATIENCE_SECONDS)


async def test_garbage_in_the_query_is_refused_and_in_the_header_begins_anew(app: Starlette) -> None:
    refused = Client(app, "/events", "since=garbage")
    await asyncio.wait_for(refused.task, PATIENCE_SECONDS)
    assert (refused.status, refused.body) == (422, b"since")
    # What a browser sends back by itself must not end its stream for good.
    forgiven = Client(app, "/events", last_event_id="garbage")
    await forgiven.until(b"event: reset\ndata: {}\n\n")
    forgiven.go_away()
    await asyncio.wait_for(forgiven.task, PATIENCE_SECONDS)


async def test_stopping_completes_the_answer(app: Starlette, live: Live) -> None:
    client = Client(app, "/events")
    await client.until(b"id: ")
    await live.stop()
    await asyncio.wait_for(client.task, PATIENCE_SECONDS)
    assert client.complete


@pytest.mark.parametrize("name", ["a\nb", "a\rdata: x", "a\r\n"])
def test_an_event_has_a_name_of_one_line(name: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        event_text(name, "", "1")
