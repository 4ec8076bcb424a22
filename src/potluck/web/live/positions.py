"""Positions: how far a reader has come in each shard of each stream, as a text that only this suite can read or make.

It is sealed because sequence numbers count what others do, and because a made-up one would reach back to before its
maker was allowed to look. So would one of another place that its maker could see earlier: a position is good for
the lists of the partitions that it is of. The same position is always the same text.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

__all__ = ["EVERY_LIST", "LONGEST_POSITION", "Position", "PositionCodec", "Unreadable", "Vector", "tag_of"]

Vector = Mapping[str, int | None]
"""By shard, the sequence number of the last change that was told; None before the first."""

FORMAT = 1
TAG_BYTES = 6
TIME_BYTES = 5
LONGEST_POSITION = 4000
KEY_BYTES = 32
POSITIONS_KNOWN = 1024
# Without a key of the suite's own, anyone can read positions and make them up.
NO_KEY = bytes(KEY_BYTES)
# Instead of the name of some lists: of whole tables, and good for every list in them. No caller is given such a one.
EVERY_LIST = b""


class Unreadable(ValueError):
    """The text is no position that was given out here."""


@dataclass(frozen=True, slots=True)
class Position:
    """What was told so far, of each stream by its tag, and when that was; shards are known by tags as well."""

    at: int
    streams: Mapping[bytes, Mapping[bytes, int | None]]


@lru_cache(1024)
def tag_of(name: str) -> bytes:
    """A short name for a stream or shard: the long ones would be most of a position."""
    return blake2b(name.encode(), digest_size=TAG_BYTES).digest()


class PositionCodec:
    """Seals positions, and opens them again in any process that has the same key."""

    def __init__(self, key: bytes | None = None) -> None:
        self._sealing = AESSIV(NO_KEY if key is None else key)
        # After a restart, or a change, everybody reads the same lists in the same second.
        self._text = lru_cache(POSITIONS_KNOWN)(self._sealed)

    def encode(self, at: int, streams: Iterable[tuple[bytes, Vector]], of: bytes = EVERY_LIST) -> str:
        """The position as a text; `of` names the lists that it is good for."""
        return self._text(at, tuple([(tag, tuple(vector.items())) for tag, vector in streams]), of)

    def _sealed(self, at: int, streams: Iterable[tuple[bytes, Iterable[tuple[str, int | None]]]], of: bytes) -> str:
        parts = [bytes([FORMAT]), at.to_bytes(TIME_BYTES, "big")]
        for tag, vector in streams:
            shards = list(vector)
            parts += [tag, len(shards).to_bytes(2, "big")]
            for shard, sequence in shards:
                number = b"" if sequence is None else sequence.to_bytes((sequence.bit_length() + 7) // 8, "big")
                parts += [tag_of(shard), bytes([len(number)]), number]
        return urlsafe_b64encode(self._sealing.encrypt(b"".join(parts), [of])).decode().rstrip("=")

    def decode(self, text: str, of: bytes = EVERY_LIST) -> Position:
        """The position; Unreadable for what was not made here, or for other lists."""
        if not text or len(text) > LONGEST_POSITION or not text.isascii():
            raise Unreadable
        try:
            opened = self._opened(urlsafe_b64decode(text + "=" * (-len(text) % 4)), of)
        except (InvalidTag, NotBase64, ValueError) as error:
            raise Unreadable from error
        rest = iter(opened)
        if next(rest, None) != FORMAT:
            raise Unreadable
        at = _number(rest, TIME_BYTES)
        streams: dict[bytes, dict[bytes, int | None]] = {}
        while tag := _taken(rest, TAG_BYTES):
            shards = streams[tag] = {}
            for _ in range(_number(rest, 2)):
                shard = _taken(rest, TAG_BYTES)
                length = _number(rest, 1)
                shards[shard] = _number(rest, length) if length else None
        return Position(at, streams)

    def _opened(self, sealed: bytes, of: bytes) -> bytes:
        try:
            return self._sealing.decrypt(sealed, [of])
        except InvalidTag:
            return self._sealing.decrypt(sealed, [EVERY_LIST])


def _taken(rest: Iterator[int], count: int) -> bytes:
    return bytes(islice(rest, count))


def _number(rest: Iterator[int], count: int) -> int:
    return int.from_bytes(_taken(rest, count), "big")
