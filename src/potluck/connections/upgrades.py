"""Requests to switch to another protocol. No server here speaks one, so they are answered in HTTP/1.1.

httptools ends every such request at its head, whatever body it announces, and parses what follows as another request.
Behind a proxy, which does send the body, an attacker could thus smuggle a request into a connection that other people
share: see docs/decisions/61.
"""

from collections.abc import Iterable
from typing import Any

import httptools

Headers = Iterable[tuple[bytes, bytes]]


def offers_http2(headers: Headers) -> bool:
    """Whether it only offers HTTP/2, as Java's client does with every request; such an offer is ignored."""
    return [value.strip().lower() for name, value in headers if name == b"upgrade"] == [b"h2c"]


def announced_body(headers: Headers) -> bytes:
    """The header line that frames the request's body; nothing if it has none."""
    for name, value in headers:
        if name == b"transfer-encoding" or (name == b"content-length" and value.strip(b" \t0")):
            return b"%b: %b\r\n" % (name, value)
    return b""


def body_parser(connection: Any, framing: bytes) -> httptools.HttpRequestParser:
    """A parser that continues after a request's head; it reports another head to the connection, then the body."""
    parser = httptools.HttpRequestParser(connection)
    # Like uvicorn's own.
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")
    return parser
