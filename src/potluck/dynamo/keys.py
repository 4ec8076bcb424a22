"""Keys encoded as bytes that sort in DynamoDB's order, for strings, numbers and binaries."""

import zlib
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

HASH_BYTES = 4
"""Rows are clustered by a hash of their partition key first, so that a scan's segments are ranges."""

LOWEST_EXPONENT = -130
TERMINATOR = b"\x00\x01"
ZERO, ESCAPED = b"\x00", b"\x00\xff"


def encode_string(text: str) -> bytes:
    # Zero bytes are escaped, so the terminator sorts "a" before "a\0" and ends a component unambiguously.
    return text.encode().replace(ZERO, ESCAPED) + TERMINATOR


def encode_binary(base64_text: str) -> bytes:
    return b64decode(base64_text).replace(ZERO, ESCAPED) + TERMINATOR


def encode_number(text: str) -> bytes:
    """Sign, exponent, then two digits per byte; a negative number is the complement of its absolute value."""
    negative, digits, exponent = Decimal(text).as_tuple()
    figures = "".join(map(str, digits)).lstrip("0")
    if not figures:
        return b"\x80"
    exponent = int(exponent) + len(figures) - 1
    figures = figures.rstrip("0")
    if len(figures) % 2:
        figures += "0"
    pairs = bytes(int(figures[at : at + 2]) + 1 for at in range(0, len(figures), 2))
    body = bytes([exponent - LOWEST_EXPONENT]) + pairs + b"\x00"
    if negative:
        return b"\x7f" + bytes(255 - byte for byte in body)
    return b"\x81" + body


ENCODERS: dict[str, Callable[[str], bytes]] = {"S": encode_string, "N": encode_number, "B": encode_binary}

COMPONENT_BYTES: dict[str, Callable[[str], int]] = {
    "S": lambda text: len(text) if text.isascii() else len(text.encode()),
    "B": lambda text: len(b64decode(text)),
    "N": lambda text: (len(text.replace(".", "").replace("-", "").strip("0")) + 1) // 2 + 1,
}
"""The length of a key value as the service counts it towards its limits."""


def hashed(partition: bytes) -> bytes:
    """An encoded partition key prefixed with its hash, as every row's key begins."""
    # CRC-32 alone is linear: keys that differ in one digit could all land in the same half. Multiplying mixes the bits.
    checksum = zlib.crc32(partition)
    return ((checksum ^ checksum >> 16) * 0x85EBCA6B & 0xFFFFFFFF).to_bytes(HASH_BYTES, "big") + partition


def prefix_encoded(value: dict[str, Any]) -> bytes:
    """The common prefix of the encodings of all values that begin with this one."""
    ((kind, text),) = value.items()
    return ENCODERS[kind](text)[: -len(TERMINATOR)]


def prefix_end(prefix: bytes) -> bytes | None:
    """The upper bound of all keys with this prefix, exclusive; None if there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None


def partition_range(segment: int, total_segments: int) -> tuple[bytes, bytes | None]:
    """The key range of one of `total_segments` equal parts of the hash space."""
    space = 1 << (8 * HASH_BYTES)
    low = space * segment // total_segments
    high = space * (segment + 1) // total_segments
    return low.to_bytes(HASH_BYTES, "big"), None if high == space else high.to_bytes(HASH_BYTES, "big")
