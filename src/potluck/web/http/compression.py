"""Compression of answers, and which answers are never compressed.

The length of a compressed body says how much of it repeats. If a body has a secret, and also something that another
site made the caller's browser send, its length gives the secret away, guess by guess (BREACH). See docs/decisions/115.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import brotli  # type: ignore[import-untyped]
from starlette.types import ASGIApp, Scope

from potluck.web.http.responses import WholeResponse
from potluck.web.http.security_headers import Header

# In bytes: what fits into a packet with its headers arrives no sooner if it is smaller.
SMALLEST = 1_000
# Larger bodies are compressed in a thread: 64 kB take about a millisecond.
LARGEST_AT_ONCE = 64_000
# brotli's step from 5 to 9 costs forty times the time for 2 % of the size.
BROTLI_QUALITY = 5
GZIP_LEVEL = 5
BROTLI_BEST = 11
GZIP_BEST = 9
GZIP_WINDOW = 31  # with gzip's own header

MEDIA_TYPES = frozenset({b"application/json", b"application/manifest+json", b"image/svg+xml"})
TEXT = b"text/"
NO_TRANSFORM = b"no-transform"
BY_CODING: Header = (b"vary", b"accept-encoding")

# What browsers send has about 30 bytes; what is accepted is cached by header.
LONGEST_ACCEPTED = 200

# A request that no other site made: by our own pages, or typed into the address bar.
OWN_REQUESTS = frozenset({b"same-origin", b"none"})

Coding = str
BROTLI: Coding = "br"
GZIP: Coding = "gzip"
CODINGS = (BROTLI, GZIP)


def gzipped(body: bytes, level: int) -> bytes:
    compressor = zlib.compressobj(level, zlib.DEFLATED, GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


QUICKLY: dict[Coding, Callable[[bytes], bytes]] = {
    BROTLI: partial(brotli.compress, quality=BROTLI_QUALITY),
    GZIP: partial(gzipped, level=GZIP_LEVEL),
}
SMALL: dict[Coding, Callable[[bytes], bytes]] = {
    BROTLI: partial(brotli.compress, quality=BROTLI_BEST),
    GZIP: partial(gzipped, level=GZIP_BEST),
}
"""For what is compressed once and sent often."""


@lru_cache(maxsize=256)
def accepted(header: bytes) -> Coding | None:
    """The best coding that an Accept-Encoding header allows."""
    allowed: dict[str, bool] = {}
    for part in header.decode("latin-1").lower().split(","):
        name, _, parameters = part.partition(";")
        allowed[name.strip()] = not _is_refused(parameters)
    return next((coding for coding in CODINGS if allowed.get(coding, allowed.get("*", False))), None)


def _is_refused(parameters: str) -> bool:
    """Whether the parameters of a coding are a weight of 0."""
    name, _, weight = parameters.partition("=")
    return name.strip() == "q" and not weight.strip().strip("0.")


def coding_of(scope: Scope) -> Coding | None:
    """How the answer to this request may be compressed; None if it may not be.

    An answer to a form or to a write may have a secret, and what was sent; so only what is read is compressed. Of what
    a browser reads with its cookies, that is what no other site can have made it read; a browser that does not say
    who did must not have sent a query.
    """
    if scope["method"] not in ("GET", "HEAD"):
        return None
    header = site = None
    has_cookies = False
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            header = value if header is None else header + b"," + value
        elif name == b"cookie":
            has_cookies = True
        elif name == b"sec-fetch-site":
            site = value
    if header is None or len(header) > LONGEST_ACCEPTED:
        return None
    if has_cookies and (site not in OWN_REQUESTS if site is not None else scope["query_string"]):
        return None
    return accepted(header)


def is_compressible(headers: Sequence[Header]) -> bool:
    """Whether a body with these headers gets smaller, and may be compressed."""
    compressible = False
    for name, value in headers:
        if name == b"content-type":
            media_type = value.partition(b";")[0]
            compressible = media_type in MEDIA_TYPES or media_type.startswith(TEXT)
        elif name == b"content-encoding" or (name == b"cache-control" and NO_TRANSFORM in value):
            return False
    return compressible


def encoded(response: Any, coding: Coding, body: bytes) -> WholeResponse:
    """The response with its body in this coding."""
    headers = [
        (name, _tag_in(coding, value) if name == b"etag" else value)
        for name, value in _headers_of(response)
        if name != b"content-length" and (name, value) != BY_CODING
    ]
    headers += [(b"content-encoding", coding.encode()), (b"content-length", b"%d" % len(body)), BY_CODING]
    return WholeResponse(body, response.status_code, headers)


def _tag_in(coding: Coding, tag: bytes) -> bytes:
    """A strong ETag names the very bytes, so each coding has its own; a weak one is good for all of them."""
    return tag if tag.startswith(b"W/") else b'%b-%b"' % (tag[:-1], coding.encode())


def _headers_of(response: Any) -> list[Header]:
    headers: list[Header] = response.headers if isinstance(response, WholeResponse) else response.raw_headers
    return headers


def varying(response: Any) -> ASGIApp:
    """The response as it is, saying that others get it compressed."""
    headers = _headers_of(response)
    return response if BY_CODING in headers else WholeResponse(response.body, 200, [*headers, BY_CODING])


async def compressed(scope: Scope, response: ASGIApp) -> ASGIApp:
    """The response as the caller gets it: compressed if they accept that, and if it gives nothing away."""
    whole: Any = response
    body = getattr(response, "body", None)
    # What is streamed has no body here.
    if body is None or len(body) < SMALLEST or whole.status_code != 200 or not is_compressible(_headers_of(whole)):
        return response
    coding = coding_of(scope)
    if coding is None:
        return varying(whole)
    kept: dict[Coding, WholeResponse] | None = getattr(response, "encodings", None)
    if kept is not None and coding in kept:
        return kept[coding]
    compress = QUICKLY[coding]
    small = compress(body) if len(body) <= LARGEST_AT_ONCE else await asyncio.to_thread(compress, body)
    answer = encoded(whole, coding, small)
    if kept is not None:
        kept[coding] = answer
    return answer
