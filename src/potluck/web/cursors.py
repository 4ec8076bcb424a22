"""Where a list goes on, as a sealed text that only the same caller can use for the same list."""

import os
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from potluck.people.errors import InvalidFields, WrongField

__all__ = ["LONGEST_CURSOR", "Cursors"]

NONCE_BYTES = 12
LONGEST_CURSOR = 4000


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
