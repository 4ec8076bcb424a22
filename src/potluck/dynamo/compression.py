"""Compressed bodies: decompressing requests, and choosing the content coding of a response."""

import gzip
import zlib
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO

GZIP_OR_DEFLATE = {b"gzip": 31, b"deflate": 15}
"""The content codings of the service and zlib's `wbits` for each: the window size, plus 16 for gzip."""

# A client on the same machine waits for the compressor, not for the network.
LEVEL = 1


class Broken(Exception):
    """The content does not match its declared encoding."""


class TooLarge(Exception):
    """The content exceeds the limit."""


def expanded(body: bytes, coding: bytes, limit: int) -> bytes:
    """The decompressed body; nothing beyond the limit is ever decompressed."""
    try:
        content = EXPANDERS[coding.strip().lower()](body, limit)
    except (KeyError, EOFError, OSError, zlib.error):
        raise Broken from None
    if len(content) > limit:
        raise TooLarge
    return content


def expanded_gzip(body: bytes, limit: int) -> bytes:
    """Decompress one gzip member, or several in a row."""
    if not body:
        raise EOFError
    with gzip.GzipFile(fileobj=BytesIO(body)) as file:
        return file.read(limit + 1)


def expanded_deflate(body: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj()
    content = stream.decompress(body, limit + 1)
    if len(content) <= limit and (not stream.eof or stream.unused_data):
        raise EOFError
    return content


EXPANDERS: dict[bytes, Callable[[bytes, int], bytes]] = {
    b"gzip": expanded_gzip,
    b"deflate": expanded_deflate,
    b"identity": lambda body, limit: body,
    b"": lambda body, limit: body,
}


def compressed(body: bytes, coding: bytes) -> bytes:
    return zlib.compress(body, LEVEL, GZIP_OR_DEFLATE[coding])


@lru_cache(256)
def preferred(accepted: bytes) -> bytes | None:
    """The content coding that an Accept-Encoding header asks for, as the service reads it; None for no compression.

    The service never prefers `identity`, reads any "q=" as the weight, and treats an unreadable weight as 1.
    """
    entries = [
        (name.strip(), weight(parameters))
        for name, _, parameters in (entry.partition(b";") for entry in accepted.lower().split(b","))
    ]
    named = {name for name, _ in entries}
    choices = [(quality, True, name) for name, quality in entries if name in GZIP_OR_DEFLATE and quality > 0]
    for coding in GZIP_OR_DEFLATE:
        choices += [(quality, False, coding) for name, quality in entries if name == b"*" and coding not in named]
    # At equal weight, a named coding beats one matched by "*"; then the first wins.
    quality, _, coding = max(choices, key=lambda choice: choice[:2], default=(0.0, False, b""))
    return coding if quality > 0 else None


def weight(parameters: bytes) -> float:
    _, weighted, value = parameters.partition(b"q=")
    try:
        quality = float(value.partition(b";")[0]) if weighted else 1.0
    except ValueError:
        return 1.0
    return min(quality, 1.0) if quality == quality else 1.0
