"""Positions: how far a reader has read in each shard of each stream, as an encrypted text.

Encrypted, because sequence numbers show how much others write, and because with a forged position someone could read
what happened before they had access. The same goes for a position from a list they had access to earlier, and for one
from someone who had access before them, so each is valid only for the partitions and the caller it was made for. The
same position is always the same text.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from potluck.streams.log import TAG_BYTES, Vector, is_marker, tag_of

FORMAT = 1
# Added to the length of a number that is a marker, which is negative.
MARKER = 0x80
TIME_BYTES = 5
LONGEST_POSITION = 4000
KEY_BYTES = 32
POSITIONS_CACHED = 1024
# With this key anyone can read positions, and forge them.
NO_KEY = bytes(KEY_BYTES)
# Used as the id of the lists: valid for every list of the tables. No caller is ever given such a position.
EVERY_LIST = b""


class InvalidPosition(ValueError):
    """The text is not a position that was issued here."""


@dataclass(frozen=True, slots=True)
class LivePosition:
    """How far each stream was read, by its tag and the tags of its shards, and when that was."""

    at: int
    streams: Mapping[bytes, Mapping[bytes, int | None]]


class PositionCodec:
    """Encrypts positions, and decrypts them in any process that has the same key."""

    def __init__(self, key: bytes | None = None) -> None:
        self._cipher = AESSIV(NO_KEY if key is None else key)
        # After a restart, or a change, many clients read the same lists in the same second.
        self._text = lru_cache(POSITIONS_CACHED)(self._encrypted)

    def encode(self, at: int, streams: Iterable[tuple[bytes, Vector]], of: bytes = EVERY_LIST) -> str:
        """The position as a text; `of` identifies the lists that it is valid for."""
        return self._text(at, tuple([(tag, tuple(vector.items())) for tag, vector in streams]), of)

    def _encrypted(self, at: int, streams: Iterable[tuple[bytes, Iterable[tuple[str, int | None]]]], of: bytes) -> str:
        parts = [bytes([FORMAT]), at.to_bytes(TIME_BYTES, "big")]
        for tag, vector in streams:
            shards = list(vector)
            parts += [tag, len(shards).to_bytes(2, "big")]
            for shard, sequence in shards:
                number = b"" if sequence is None else abs(sequence).to_bytes((sequence.bit_length() + 7) // 8, "big")
                parts += [tag_of(shard), bytes([len(number) | (MARKER if is_marker(sequence) else 0)]), number]
        return urlsafe_b64encode(self._cipher.encrypt(b"".join(parts), [of])).decode().rstrip("=")

    def decode(self, text: str, of: bytes = EVERY_LIST) -> LivePosition:
        """The position; InvalidPosition for a text that was not made here, or was made for other lists."""
        if not text or len(text) > LONGEST_POSITION or not text.isascii():
            raise InvalidPosition
        try:
            opened = self._decrypted(urlsafe_b64decode(text + "=" * (-len(text) % 4)), of)
        except (InvalidTag, NotBase64, ValueError) as error:
            raise InvalidPosition from error
        rest = iter(opened)
        if next(rest, None) != FORMAT:
            raise InvalidPosition
        at = _number(rest, TIME_BYTES)
        streams: dict[bytes, dict[bytes, int | None]] = {}
        while tag := _taken(rest, TAG_BYTES):
            shards = streams[tag] = {}
            for _ in range(_number(rest, 2)):
                shard = _taken(rest, TAG_BYTES)
                length = _number(rest, 1)
                sign = -1 if length & MARKER else 1
                shards[shard] = sign * _number(rest, length & ~MARKER) if length else None
        return LivePosition(at, streams)

    def _decrypted(self, sealed: bytes, of: bytes) -> bytes:
        try:
            return self._cipher.decrypt(sealed, [of])
        except InvalidTag:
            return self._cipher.decrypt(sealed, [EVERY_LIST])


def _taken(rest: Iterator[int], count: int) -> bytes:
    return bytes(islice(rest, count))


def _number(rest: Iterator[int], count: int) -> int:
    return int.from_bytes(_taken(rest, count), "big")
