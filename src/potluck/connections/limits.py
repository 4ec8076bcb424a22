"""Limits of one connection: how large a request's head may be, and how long the client may take for anything.

uvicorn's own protocol waits for ever for a head or a body, and for the client to read the response; it accepts a head
of any length, and any number of pipelined requests. Its parser joins all pieces of a header whenever one arrives, so an
endless header slows down every other client.
"""

import asyncio
import re
from collections.abc import Mapping
from enum import Enum
from http import HTTPStatus

import httptools

from potluck.connections.upgrades import announced_body, body_parser, offers_http2
from potluck.connections.uvicorn_adapter import HttpConnection

LONGEST_TARGET = 8 * 1024
LARGEST_HEAD = 32 * 1024
# On the wire, before any route's limit: far above the largest body, because chunks and trailers count too.
LARGEST_REQUEST = 32 * 1024 * 1024
# Chunk sizes and other framing, on top of one byte per byte of body: some clients send tiny chunks.
LARGEST_FRAMING = 64 * 1024
# Pipelined requests, sent before the previous one was answered. Hardly any client sends them.
MOST_WAITING = 16
# If one is repeated, a proxy in front might believe the first and we the last.
GIVEN_ONCE = frozenset({b"host", b"content-type", b"transfer-encoding"})
VERSIONS = ("1.1", "1.0")
# The form that clients send to proxies; servers must accept it too.
ABSOLUTE_TARGET = re.compile(rb"[^/]+://([^/?#]*)")

HEAD_SECONDS = 15.0
# A larger body may take longer, but not at any pace.
BODY_SECONDS = 20.0
SLOWEST_BYTES_PER_SECOND = 500
# A client that has read nothing of its response for this long is gone.
UNREAD_SECONDS = 60.0


class Awaited(Enum):
    """What the client has to send next."""

    HEAD = "head"
    BODY = "body"
    NOTHING = "nothing"


# As module-level names: up to Python 3.11, looking up an enum's member takes ten times as long.
HEAD, BODY, NOTHING = Awaited.HEAD, Awaited.BODY, Awaited.NOTHING


class Connection(HttpConnection):
    """A connection that is closed when its client takes too long or sends too much."""

    _awaited = HEAD
    _since = 0.0
    _arrived = 0
    _body_arrived = 0
    _framing_bytes = 0
    """How much has arrived since the last of the body: the framing of the next chunk, or trailers."""
    _last = 0
    """The size of the last piece, part of which may belong to the previous request."""
    _now = 0.0
    _refused = False
    """Whether further input is ignored."""
    _unparsed_framing = b""
    """The framing of a body that the parser stopped before; see `_parse`."""
    most_waiting = MOST_WAITING
    _may_answer_at_once = False
    """Once per piece that arrives, so that a long pipeline does not block other connections."""
    _unsent = -1
    _unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._parts: list[bytes] = []
        self._now = self.loop.time()
        self._await(HEAD)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._now = self.loop.time()
        if self._awaited is NOTHING:
            self._await(HEAD)
        self._may_answer_at_once = True
        self._last = len(data)
        self._arrived += self._last
        self._framing_bytes += self._last
        self._parse(data)
        if self._parts:
            self._hand_over_body()
        if self._awaited is HEAD and self._arrived > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._awaited is BODY and (
            self._arrived > LARGEST_REQUEST
            or self._framing_bytes > LARGEST_HEAD
            or self._arrived - 2 * self._body_arrived > LARGEST_FRAMING
        ):
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def _parse(self, data: bytes) -> None:
        """Parse what arrived. At a request to upgrade, which ends the parser's work, decide how to continue."""
        while not self._refused:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserError:
                self.refuse(HTTPStatus.BAD_REQUEST)
            except httptools.HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                if self._unparsed_framing and not self._refused:
                    self.parser = body_parser(self, self._unparsed_framing)
                elif not self._refused and self.closes_after_last:
                    # It is answered. What follows may already be in the other protocol.
                    self._refused = True
            else:
                return

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._awaited is not HEAD:
            self._await(HEAD)

    def on_headers_complete(self) -> None:
        if self._refused:
            return
        if self._unparsed_framing:
            # Not a head but the second parser's way to the body; the request already has its own head.
            self._unparsed_framing = b""
            self._await(BODY)
            return
        if self.requests_waiting >= self.most_waiting:
            # Those in the queue are answered, the last one with "connection: close".
            self._refused = True
            self.close_after_last()
            return
        if len(self.url) > LONGEST_TARGET:
            self.refuse(HTTPStatus.REQUEST_URI_TOO_LONG)
            return
        # A head that came in one piece with other requests was not measured on arrival; pieces this large are rare.
        if self._arrived + self._last > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        if self._is_ambiguous():
            self.refuse(HTTPStatus.BAD_REQUEST)
            return
        upgrades = self.parser.should_upgrade()
        if upgrades and not self._is_answerable_upgrade():
            self.refuse(HTTPStatus.BAD_REQUEST)
            return
        # Before the body is awaited: an unreadable target is not the fault of the request in progress.
        self.complete_scope()
        self._await(BODY)
        keep_alive = self.scope["http_version"] != "1.0" and self.parser.should_keep_alive()
        if upgrades:
            keep_alive = keep_alive and offers_http2(self.scope["headers"])
        elif keep_alive and self._may_answer_at_once and not self.is_answering and self.answers_at_once():
            self._may_answer_at_once = False
            return
        self.start_request(keep_alive)

    def answers_at_once(self) -> bool:
        """Answer the request that was just parsed without calling the application, if that is possible."""
        return False

    def on_body(self, body: bytes) -> None:
        self._body_arrived += len(body)
        self._framing_bytes = 0
        self._parts.append(body)

    def _hand_over_body(self) -> None:
        # All chunks of one read at once: uvicorn would copy the body so far with every chunk.
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._unparsed_framing:
            return
        if self._parts:
            self._hand_over_body()
        if not self._refused:
            self.end_of_body()
            self._await(NOTHING)

    def on_response_complete(self) -> None:
        if self._awaited is NOTHING:
            self._since = self.loop.time()
        super().on_response_complete()

    @property
    def idle_since(self) -> float | None:
        """Since when it has been idle; None while a request is in progress."""
        return None if self.is_answering or self._awaited is BODY else self._since

    def check(self, now: float) -> None:
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
            if self.reading_is_paused:
                # The application is slow, not the client.
                self._since = now
            elif waited > BODY_SECONDS + self._body_arrived / SLOWEST_BYTES_PER_SECOND:
                self.refuse(HTTPStatus.REQUEST_TIMEOUT)
        elif self._awaited is NOTHING and waited > self.timeout_keep_alive and self.idle_since is not None:
            self.transport.close()

    def _check_reading(self, now: float) -> None:
        # A closing connection still sends what is left, however long that takes.
        unsent = -1 if self.is_writable else self.transport.get_write_buffer_size()
        if unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        elif unsent > 0 and now - self._unsent_since > UNREAD_SECONDS:
            self.transport.abort()

    def refuse(self, status: HTTPStatus) -> None:
        """Answer with this status, unless another answer is under way, and close."""
        if self._refused:
            return
        self._refused = True
        answerable = not self.is_answering or (self._awaited is BODY and self.abandon())
        if answerable and not self.transport.is_closing():
            self.transport.write(self.refusal(status))
        self.transport.close()

    def refusal(self, status: HTTPStatus) -> bytes:
        """The complete response that refuses a request."""
        return response(status, {"content-type": "text/plain; charset=utf-8"}, f"{status.phrase}\n".encode())

    def _is_ambiguous(self) -> bool:
        """Whether a proxy may have read this as a request to another host, or with another body (smuggling)."""
        stated: dict[bytes, bytes] = {}
        for name, value in self.headers:
            if name in GIVEN_ONCE:
                if name in stated:
                    return True
                stated[name] = value
        version = self.parser.get_http_version()
        if version not in VERSIONS or (b"host" not in stated and version != "1.0"):
            return True
        coding = stated.get(b"transfer-encoding")
        if coding is not None and (coding.lower() != b"chunked" or version == "1.0"):
            return True
        absolute = None if self.url.startswith(b"/") else ABSOLUTE_TARGET.match(self.url)
        if absolute is None:
            return False
        host = stated.get(b"host")
        return host is None or host.lower() != absolute[1].lower()

    def _is_answerable_upgrade(self) -> bool:
        """Whether the end of a request to upgrade, or CONNECT, is certain. Prepares for its body if it has one."""
        if self.parser.get_method() == b"CONNECT":
            return False
        framing = announced_body(self.headers)
        if framing and not offers_http2(self.headers):
            return False
        self._unparsed_framing = framing
        return True

    def _head_size(self) -> int:
        return sum(len(name) + len(value) for name, value in self.headers)

    def _await(self, what: Awaited) -> None:
        self._awaited = what
        self._since = self._now
        self._arrived = 0
        self._body_arrived = 0
        self._framing_bytes = 0


def response(status: HTTPStatus, headers: Mapping[str, str], body: bytes) -> bytes:
    """A complete response, after which the connection is closed."""
    stated = {**headers, "content-length": str(len(body)), "connection": "close"}
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in stated.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
