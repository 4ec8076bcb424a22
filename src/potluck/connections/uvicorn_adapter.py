"""Everything that reaches into uvicorn: its connections, its requests and its server, with the seams we need.

None of this is a public interface of uvicorn, so only versions that were tried are allowed. `pyproject.toml` names the
same ones, and `tests/connections/test_uvicorn_adapter.py` checks what we build on in the one that is installed. To try
another:

    pip install --target /tmp/uvicorn uvicorn==0.53.0
    PYTHONPATH=/tmp/uvicorn pytest tests/connections tests/web/server tests/web/live tests/dynamo/test_server.py
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState as ServerState

from potluck.connections.asgi_extension import EXTENSIONS, WHOLE

VERSIONS_TRIED = ("0.53.0", "0.54.0")

START, BODY = "http.response.start", "http.response.body"

# Header lines that are sent unchanged: uvicorn's checks of every name and value, in one match.
WELL_FORMED = re.compile(rb'(?:[^\x00-\x20\x7fA-Z()<>@,;:\[\]={}\\"]+: [^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+')
# Headers that say whether the connection stays open, or how the body is framed.
ABOUT_CONNECTION = frozenset({b"connection", b"transfer-encoding"})

TICKS_BETWEEN_CHECKS = 10

Headers = Sequence[tuple[bytes, bytes]]


def header_lines(headers: Headers) -> tuple[bytes, int]:
    """The header lines and the content length of a response that states it; nothing for any other."""
    length = None
    parts: list[bytes] = []
    for name, value in headers:
        if name == b"content-length":
            if length is not None or not value.isdigit():
                return b"", 0
            length = int(value)
        elif name in ABOUT_CONNECTION:
            return b"", 0
        parts += (name, b": ", value, b"\r\n")
    lines = b"".join(parts)
    # Also counted: a value that contains a line end would be two well-formed lines.
    if length is None or lines.count(b"\n") != len(headers) or not WELL_FORMED.fullmatch(lines):
        return b"", 0
    return lines, length


class Cycle(RequestResponseCycle):
    """A request and its response, sent in one write wherever the body is available when the response starts.

    uvicorn writes the head and then the body: two system calls and usually two packets, which wake the client twice.
    """

    _head = b""
    """The head, held back until the body arrives."""

    async def send(self, message: Any) -> None:
        kind = message["type"]
        if kind != BODY and not self.response_started and self._holds_back(message):
            if kind == START:
                return
            kind = BODY
        if kind == BODY and self._head:
            if self.flow.write_paused and not self.disconnected:
                await self.flow.drain()
            if not self.disconnected:
                self._send_with_head(message.get("body", b""), message.get("more_body", False))
        elif kind == WHOLE:
            begun: Any = {**message, "type": START}
            await super().send(begun)
            await super().send({"type": "http.response.body", "body": message["body"], "more_body": False})
        else:
            await super().send(message)

    def _holds_back(self, message: Any) -> bool:
        """Hold back the head of an ordinary response; one that is streamed, or unusual, is left to uvicorn."""
        lines, length = header_lines([*self.default_headers, *message.get("headers", ())])
        if not lines:
            return False
        self._head = STATUS_LINE[message["status"]] + lines
        self.expected_content_length = length
        self.response_started = True
        self.waiting_for_100_continue = False
        self.chunked_encoding = False
        return True

    def _send_with_head(self, body: bytes, more_body: bool) -> None:
        head, self._head = self._head, b""
        if self.scope["method"] == "HEAD":
            self.expected_content_length = 0
            body = b""
        if len(body) > self.expected_content_length:
            raise RuntimeError("Response content longer than Content-Length")
        self.expected_content_length -= len(body)
        head += b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n"
        # One system call for both, without copying the body.
        self.transport.writelines((head, body) if body else (head,))
        if not more_body:
            if self.expected_content_length:
                raise RuntimeError("Response content shorter than Content-Length")
            self.response_complete = True
            self.message_event.set()
            if not self.keep_alive:
                self.transport.close()
            self.on_response()


class HttpConnection(HttpToolsProtocol):
    """uvicorn's connection, split into steps. It answers requests in turn and has no timers."""

    _answering: Any = None
    """The request being answered, or answered last; uvicorn's `cycle` is the latest that arrived."""

    @property
    def is_answering(self) -> bool:
        """Whether a request is in progress or waiting."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def requests_waiting(self) -> int:
        return len(self.pipeline)

    @property
    def closes_after_last(self) -> bool:
        """Whether the connection closes once all requests are answered."""
        return not self.cycle.keep_alive

    @property
    def reading_is_paused(self) -> bool:
        """Whether the application has yet to read what has arrived."""
        return self.flow.read_paused

    @property
    def is_writable(self) -> bool:
        """Whether the transport accepts more to send."""
        return not self.flow.write_paused and not self.transport.is_closing()

    def complete_scope(self) -> None:
        """Finish the scope once the head is parsed: as uvicorn does, without upgrades and a root path."""
        address = httptools.parse_url(self.url)
        raw_path = address.path or b"/"
        path = raw_path.decode("ascii")
        scope = self.scope
        scope["method"] = self.parser.get_method().decode("ascii")
        scope["http_version"] = self.parser.get_http_version()
        scope["path"] = unquote(path) if "%" in path else path
        scope["raw_path"] = raw_path
        scope["query_string"] = address.query or b""
        scope["extensions"] = EXTENSIONS
        # Otherwise trailers after the body would be added to headers that were already read.
        self.headers = []

    def start_request(self, keep_alive: bool) -> None:
        """Call the application, now or after the requests before this one."""
        waits = self.is_answering
        self.cycle = Cycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=keep_alive,
            on_response=self.on_response_complete,
        )
        if waits:
            # The queue is short, so keep reading: otherwise we would not notice that the client is gone.
            self.pipeline.appendleft((self.cycle, self.app))
        else:
            self._start_asgi_task(self.cycle, self.app)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def send_at_once(self, lines: bytes, body: bytes) -> None:
        """Send a 200 with these header lines in one write, without calling the application."""
        parts = [STATUS_LINE[200]]
        for name, value in self.server_state.default_headers:
            parts += (name, b": ", value, b"\r\n")
        parts += (lines, b"\r\n")
        self.transport.writelines((b"".join(parts), body))
        self.server_state.total_requests += 1

    def end_of_body(self) -> None:
        # There is no cycle if all requests so far were answered at once.
        if self.cycle is not None:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Like uvicorn's, but without a timer per response."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def close_after_last(self) -> None:
        """Close once all requests are answered."""
        self.cycle.keep_alive = False

    def abandon(self) -> bool:
        """End the request that is still arriving, as if its client had disconnected; True if it has no response yet."""
        cycle = self._answering
        if cycle is not self.cycle:
            return False
        _disconnect(cycle)
        return not cycle.response_started

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for cycle in (self._answering, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                _disconnect(cycle)
        self.pipeline.clear()

    def check(self, now: float) -> None:
        """Called once a second, to close the connection if its client has taken too long."""


def _disconnect(cycle: Any) -> None:
    cycle.disconnected = True
    cycle.message_event.set()


class HttpServer(uvicorn.Server):
    """uvicorn's server for our connections, which it checks once a second."""

    def __init__(self, application: Any, connection: type[HttpConnection], **options: Any) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                http=connection,
                interface="asgi3",
                ws="none",
                log_config=None,
                access_log=False,
                # uvicorn would trust forwarded addresses from this machine.
                proxy_headers=False,
                server_header=False,
                **options,
            )
        )

    @property
    def connections(self) -> list[HttpConnection]:
        return [connection for connection in self.server_state.connections if isinstance(connection, HttpConnection)]

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_BETWEEN_CHECKS == 0:
            self.check_connections(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def check_connections(self, now: float) -> None:
        for connection in self.connections:
            connection.check(now)
