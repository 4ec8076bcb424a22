"""Lists in parts: where the next one begins is told as a sealed text that only the same caller can use, here."""

import os
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from potluck.people.errors import InvalidFields, WrongField
from potluck.store import Page

__all__ = ["LONGEST_PART", "USUAL_PART", "Cursors", "Listed", "Part"]

USUAL_PART = 50
LONGEST_PART = 100

NONCE_BYTES = 12
LONGEST_CURSOR = 4000

T = TypeVar("T")
V = TypeVar("V")


class Listed(msgspec.Struct, Generic[V], rename="camel", kw_only=True, frozen=True):
    """A part of a list."""

    items: list[V]
    next_cursor: str | None
    """What to ask for the next part with; null if this is the last."""
    position: str | None = None
    """Where live updates of this list go on from."""


class Cursors:
    """Seals where a list goes on. A key in it may name what its reader must not see, so it is not merely signed."""

    def __init__(self, key: bytes) -> None:
        self._sealing = AESGCM(key)

    def seal(self, after: Mapping[str, Any], of: str) -> str:
        """The place, as only whoever asks for the same list can use it."""
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._sealing.encrypt(nonce, msgspec.msgpack.encode(after), of.encode())
        return _text(nonce + sealed)

    def unseal(self, cursor: str, of: str) -> dict[str, Any]:
        """The place; InvalidFields for what was not sealed here for this list and this caller."""
        try:
            if len(cursor) > LONGEST_CURSOR or not cursor.isascii():
                raise ValueError
            raw = b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            if _text(raw) != cursor:
                # One place is one text: not also one with bits at its end that nobody looks at.
                raise ValueError
            sealed = self._sealing.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], of.encode())
        except (ValueError, InvalidTag) as error:
            raise InvalidFields(WrongField("cursor", "cursor must be a nextCursor of this list")) from error
        place: dict[str, Any] = msgspec.msgpack.decode(sealed)
        return place


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a list is asked for, and by whom."""

    limit: int
    after: Mapping[str, Any] | None
    of: str
    cursors: Cursors

    def answer(self, page: Page[T], see: Callable[[T], V], position: str | None = None) -> Listed[V]:
        """The page as the caller may see it, with a cursor if there is more."""
        return Listed(
            items=[see(each) for each in page.items],
            next_cursor=None if page.next is None else self.cursors.seal(page.next, self.of),
            position=position,
        )
