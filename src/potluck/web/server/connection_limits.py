"""Limits of one connection: how large a request's head may be, and how long the client may take for anything.

uvicorn's own protocol waits for ever for a head or a body, and for the client to read the response; it accepts a head
of any length, and any number of pipelined requests.
"""

import asyncio
import logging
from enum import Enum
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from potluck.web.errors import BY_STATUS
from potluck.web.http.request_log import new_request_id
from potluck.web.http.security_headers import HEADERS
from potluck.web.http.whole_response import EXTENSIONS
from potluck.web.server.one_write import Cycle

__all__ = ["Connection"]

LONGEST_TARGET = 8 * 1024
LARGEST_HEAD = 32 * 1024
# On the wire, before any limit of a route: far above the largest body, because chunks and trailers add to it.
LARGEST_REQUEST = 32 * 1024 * 1024
# Pipelined requests, sent before the previous one was answered. Hardly any client does that.
MOST_WAITING = 16

HEAD_SECONDS = 15.0
# A larger body may take longer, but not at any pace.
BODY_SECONDS = 20.0
SLOWEST_BYTES_PER_SECOND = 500
# A client that has read nothing of its response for this long is gone.
UNREAD_SECONDS = 60.0


log = logging.getLogger("potluck.connections")


class Awaited(Enum):
    """What the client has to send next."""

    HEAD = "head"
    BODY = "body"
    NOTHING = "nothing"


# As names of this module: up to Python 3.11, looking up an enum's member takes ten times as long.
HEAD, BODY, NOTHING = Awaited.HEAD, Awaited.BODY, Awaited.NOTHING


class Connection(HttpToolsProtocol):
    """A connection that is closed when its client keeps us waiting for too long, or sends too much."""

    _awaited = HEAD
    _since = 0.0
    _arrived = 0
    _last = 0
    """The size of the last piece, part of which may belong to the previous request."""
    _now = 0.0
    _refused = False
    """Whether further input is ignored."""
    _answering: Any = None
    """The request that is being answered, or was last; uvicorn's `cycle` is the one that came in last."""
    _unsent = -1
    _unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._now = self.loop.time()
        self._await(HEAD)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._now = self.loop.time()
        if self._awaited is NOTHING:
            self._await(HEAD)
        self._last = len(data)
        self._arrived += self._last
        super().data_received(data)
        if self._awaited is HEAD and self._arrived > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._awaited is BODY and self._arrived > LARGEST_REQUEST:
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaited is not HEAD:
            self._await(HEAD)

    def on_headers_complete(self) -> None:
        if self._refused:
            return
        if len(self.pipeline) >= MOST_WAITING:
            # Those in the queue are answered, the last one with "connection: close".
            self._refused = True
            self.cycle.keep_alive = False
            return
        if len(self.url) > LONGEST_TARGET:
            self.refuse(HTTPStatus.REQUEST_URI_TOO_LONG)
            return
        # A head that came in one piece with other requests was not measured on arrival; pieces this large are rare.
        if self._arrived + self._last > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self._await(BODY)
        before = self.cycle
        self.cycle = self._new_cycle()
        # Else trailers after the body would be added to headers that have been read already.
        self.headers = []
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        else:
            # The queue is short enough to go on reading: otherwise we would not notice that the client is gone.
            self.pipeline.appendleft((self.cycle, self.app))

    def _new_cycle(self) -> Cycle:
        """As uvicorn makes one, with our own class for it, and without what is not for us: upgrades, a root path."""
        address = httptools.parse_url(self.url)
        path = address.path.decode("ascii")
        version = self.parser.get_http_version()
        scope = self.scope
        scope["method"] = self.parser.get_method().decode("ascii")
        scope["http_version"] = version
        scope["path"] = unquote(path) if "%" in path else path
        scope["raw_path"] = address.path
        scope["query_string"] = address.query or b""
        scope["extensions"] = EXTENSIONS
        return Cycle(
            scope=scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            super().on_message_complete()
            self._await(NOTHING)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # Else, after a reset, the object would live until the keep-alive timeout.
        self._unset_keepalive_if_required()
        for cycle in (self._answering, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()

    @property
    def idle_since(self) -> float | None:
        """Since when it has only waited for a request; None while there is something to do."""
        answered = self._answering is None or self._answering.response_complete
        return self._since if answered and self._awaited is not BODY else None

    def check(self, now: float) -> None:
        """Close the connection if its client has kept us waiting for too long."""
        if self.transport is None:
            return
        self._check_reading(now)
        if self._refused or self.transport.is_closing():
            return
        waited = now - self._since
        if self._awaited is HEAD and waited > HEAD_SECONDS:
            if self._arrived:
                self.refuse(HTTPStatus.REQUEST_TIMEOUT)
            else:
                self.transport.close()
        elif self._awaited is BODY:
            if self.flow.read_paused:
                # The application is the slow one.
                self._since = now
            elif waited > BODY_SECONDS + self._arrived / SLOWEST_BYTES_PER_SECOND:
                self.refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _check_reading(self, now: float) -> None:
        # A closing connection still sends what is left, however long that takes.
        pending = self.flow.write_paused or self.transport.is_closing()
        unsent = self.transport.get_write_buffer_size() if pending else -1
        if unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        elif unsent > 0 and now - self._unsent_since > UNREAD_SECONDS:
            self.transport.abort()

    def refuse(self, status: HTTPStatus) -> None:
        """Answer with this status, unless another answer is under way, and close."""
        if self._refused:
            return
        self._refused = True
        cycle = self._answering
        under_way = cycle is not None and not cycle.response_complete
        answerable = not under_way
        if under_way and cycle is self.cycle and self._awaited is BODY:
            answerable = not cycle.response_started
            # To the application it is as if the client had gone.
            cycle.disconnected = True
            cycle.message_event.set()
        if answerable and not self.transport.is_closing():
            request_id = new_request_id()
            self.transport.write(_refusal(status, request_id))
            log.info("a request was refused with status %d", status, extra={"request_id": request_id})
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        self.refuse(HTTPStatus.BAD_REQUEST)

    def _unsupported_upgrade_warning(self) -> None:
        """Nothing to warn of: the request is answered as if it had not asked for another protocol."""

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _head_size(self) -> int:
        return sum(len(name) + len(value) for name, value in self.headers)

    def _await(self, what: Awaited) -> None:
        self._awaited = what
        self._since = self._now
        self._arrived = 0


def _refusal(status: HTTPStatus, request_id: str) -> bytes:
    """A complete response with its headers: the application never saw the request."""
    body = msgspec.json.encode(BY_STATUS[status].body(status.description or status.phrase, request_id))
    headers = {
        "content-type": "application/problem+json",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "connection": "close",
        "x-request-id": request_id,
        **HEADERS,
    }
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
