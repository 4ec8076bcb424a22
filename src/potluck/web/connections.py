"""What one connection may take from us: how long a request's head may be, and how long anything may be waited for.

uvicorn's own protocol waits for ever for a head or a body that does not come, and takes a head of any length.
"""

import asyncio
import logging
from enum import Enum
from http import HTTPStatus

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from potluck.web.errors import BY_STATUS
from potluck.web.logs import new_request_id
from potluck.web.security import HEADERS

__all__ = ["Connection"]

LONGEST_TARGET = 8 * 1024
LARGEST_HEAD = 32 * 1024
# On the wire, whatever a route takes of it: far above the largest body, for what chunks and trailers add to it.
LARGEST_REQUEST = 32 * 1024 * 1024

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


class Connection(HttpToolsProtocol):
    """A connection that ends by itself when its client keeps us waiting, or sends more than anybody needs to."""

    _awaited = Awaited.HEAD
    _since = 0.0
    _arrived = 0
    _refused = False
    _unsent = -1
    _unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await(Awaited.HEAD)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._awaited is Awaited.NOTHING:
            self._await(Awaited.HEAD)
        self._arrived += len(data)
        super().data_received(data)
        if self._awaited is Awaited.HEAD and self._arrived > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._awaited is Awaited.BODY and self._arrived > LARGEST_REQUEST:
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaited is not Awaited.HEAD:
            self._await(Awaited.HEAD)

    def on_headers_complete(self) -> None:
        if self._refused:
            return
        if len(self.url) > LONGEST_TARGET:
            self.refuse(HTTPStatus.REQUEST_URI_TOO_LONG)
            return
        # A head that came in one piece with others was not measured as it arrived.
        if sum(len(name) + len(value) for name, value in self.headers) > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self._await(Awaited.BODY)
        super().on_headers_complete()
        # What follows a body as its trailer would be added to the headers that have been read already.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            super().on_message_complete()
            self._await(Awaited.NOTHING)

    def check(self, now: float) -> None:
        """End the connection if its client has kept us waiting for too long."""
        if self._refused or self.transport is None or self.transport.is_closing():
            return
        waited = now - self._since
        if self._awaited is Awaited.HEAD and waited > HEAD_SECONDS:
            if self._arrived:
                self.refuse(HTTPStatus.REQUEST_TIMEOUT)
            else:
                self.transport.close()
        elif self._awaited is Awaited.BODY:
            if self.flow.read_paused:
                # It is the application that takes its time.
                self._since = now
            elif waited > BODY_SECONDS + self._arrived / SLOWEST_BYTES_PER_SECOND:
                self.refuse(HTTPStatus.REQUEST_TIMEOUT)
        self._check_reading(now)

    def _check_reading(self, now: float) -> None:
        unsent = self.transport.get_write_buffer_size() if self.flow.write_paused else -1
        if unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        elif unsent > 0 and now - self._unsent_since > UNREAD_SECONDS:
            self.transport.abort()

    def refuse(self, status: HTTPStatus) -> None:
        """Answer with this status, unless another answer is under way, and close."""
        if self._refused:
            return
        self._refused = True
        cycle = self.cycle
        under_way = cycle is not None and not cycle.response_complete
        answerable = not under_way
        if under_way and self._awaited is Awaited.BODY:
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

    def _await(self, what: Awaited) -> None:
        self._awaited = what
        self._since = self.loop.time()
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
