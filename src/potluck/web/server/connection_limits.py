"""What one connection may take from us: how long a request's head may be, and how long anything may be waited for.

uvicorn's own protocol waits for ever for a head or a body that does not come, and for an answer to be taken; it takes
a head of any length, and any number of requests before it has answered the first.
"""

import asyncio
import logging
from enum import Enum
from http import HTTPStatus
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from potluck.web.errors import BY_STATUS
from potluck.web.http.request_log import new_request_id
from potluck.web.http.security_headers import HEADERS

__all__ = ["Connection"]

LONGEST_TARGET = 8 * 1024
LARGEST_HEAD = 32 * 1024
# On the wire, whatever a route takes of it: far above the largest body, for what chunks and trailers add to it.
LARGEST_REQUEST = 32 * 1024 * 1024
# Requests that were sent before the one before them was answered. Hardly any client does that at all.
MOST_WAITING = 16

HEAD_SECONDS = 15.0
# A body may take longer the larger it is, but only at a pace at which it will end.
BODY_SECONDS = 20.0
SLOWEST_BYTES_PER_SECOND = 500
# An answer of which nothing at all has been taken for so long is for somebody who is gone.
UNREAD_SECONDS = 60.0


log = logging.getLogger("potluck.connections")


class Awaited(Enum):
    """What the client is to send next before we can go on."""

    HEAD = "head"
    BODY = "body"
    NOTHING = "nothing"


# By names of this module: up to Python 3.11 a class takes ten times as long to find its members, at every request.
HEAD, BODY, NOTHING = Awaited.HEAD, Awaited.BODY, Awaited.NOTHING


class Connection(HttpToolsProtocol):
    """A connection that ends by itself when its client keeps us waiting, or sends more than anybody needs to."""

    _awaited = HEAD
    _since = 0.0
    _arrived = 0
    _last = 0
    """How much came in last, of which a part may belong to what was awaited before."""
    _now = 0.0
    _refused = False
    """Whether nothing more is taken in."""
    _answering: Any = None
    """The request that is being answered, or was last; what uvicorn calls `cycle` is the one that came last."""
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
            # Those that wait are answered, the last of them with the word that the connection ends there.
            self._refused = True
            self.cycle.keep_alive = False
            return
        if len(self.url) > LONGEST_TARGET:
            self.refuse(HTTPStatus.REQUEST_URI_TOO_LONG)
            return
        # A head that came in one piece with others was not measured as it arrived, and few pieces are so large at all.
        if self._arrived + self._last > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self._await(BODY)
        super().on_headers_complete()
        if self.cycle is not self._answering:
            # There are few enough that wait, and whoever does not read does not see either that the client is gone.
            self.flow.resume_reading()
        # What follows a body as its trailer would be added to the headers that have been read already.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            super().on_message_complete()
            self._await(NOTHING)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # Else, after a reset, it would be kept for as long as another request might have come.
        self._unset_keepalive_if_required()
        for cycle in (self._answering, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()

    @property
    def idle_since(self) -> float | None:
        """Since when nothing is to be done for it but to wait for a request; None while there is."""
        answered = self._answering is None or self._answering.response_complete
        return self._since if answered and self._awaited is not BODY else None

    def check(self, now: float) -> None:
        """End the connection if its client has kept us waiting for too long."""
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
                # It is the application that takes its time.
                self._since = now
            elif waited > BODY_SECONDS + self._arrived / SLOWEST_BYTES_PER_SECOND:
                self.refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _check_reading(self, now: float) -> None:
        # What is left when it closes is sent first, however long that takes.
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
    """A whole answer: the application never saw the request, so nobody else gives it its headers."""
    problem = BY_STATUS.get(status)
    body = msgspec.json.encode(
        {
            "type": f"/problems/{problem.slug}" if problem else "about:blank",
            "title": problem.title if problem else status.phrase,
            "status": status.value,
            "detail": status.description or status.phrase,
            "requestId": request_id,
        }
    )
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
