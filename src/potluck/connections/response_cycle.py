"""One request and its response, sent in one write wherever the body is available when the response starts.

uvicorn writes the head and then the body: two system calls and usually two packets, which wake the client twice.
"""

import re
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from potluck.connections.asgi_extension import WHOLE

START, BODY = "http.response.start", "http.response.body"

# Header lines that are sent as they are: uvicorn's checks of each name and value, in one match for all of them.
WELL_FORMED = re.compile(rb'(?:[^\x00-\x20\x7fA-Z()<>@,;:\[\]={}\\"]+: [^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+')
# Headers that say whether the connection stays open, or how the body is framed.
ABOUT_CONNECTION = frozenset({b"connection", b"transfer-encoding"})


def lines_of(headers: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, int]:
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
    # Counted as well: a value with a line end in it would be two well-formed lines.
    if length is None or lines.count(b"\n") != len(headers) or not WELL_FORMED.fullmatch(lines):
        return b"", 0
    return lines, length


def head_of(message: Any, default_headers: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, int]:
    """The head of a response up to its last header, and the content length it states; nothing without a length."""
    # Without a request id beside it, no middleware has filled the cache.
    kept = message.get("kept") if "request_id" in message else None
    if kept is None:
        lines, length = lines_of([*default_headers, *message.get("headers", ())])
        return (STATUS_LINE[message["status"]] + lines, length) if lines else (b"", 0)
    if "lines" not in kept:
        kept["lines"] = lines_of(message["headers"])
    lines, length = kept["lines"]
    request_id = message["request_id"].encode()
    if not lines:
        message["headers"] = [*message["headers"], (b"x-request-id", request_id)]
        return b"", 0
    parts = [STATUS_LINE[message["status"]]]
    for name, value in default_headers:
        parts += (name, b": ", value, b"\r\n")
    parts += (lines, b"x-request-id: ", request_id, b"\r\n")
    return b"".join(parts), length


class Cycle(RequestResponseCycle):
    """uvicorn's cycle, in which a head that states its body's length waits for the body."""

    _head = b""
    """What is held back until the body comes."""

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
        self._head, self.expected_content_length = head_of(message, self.default_headers)
        if not self._head:
            return False
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
