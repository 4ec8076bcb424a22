"""Authenticated encryption of texts that callers hand back: unreadable, tamper-proof, and bound to one purpose."""

import os
from base64 import b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
LONGEST_SEALED = 4000


class NotSealed(ValueError):
    """The text was not sealed here, or was sealed for something else."""


class Seal:
    """Seals bytes with AES-GCM, as a text that fits a URL or a cookie as it is."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def encrypt(self, content: bytes, of: str) -> bytes:
        """The content encrypted, which opens only with the same `of`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, of.encode())

    def decrypt(self, sealed: bytes, of: str) -> bytes:
        """The content; NotSealed for any other bytes."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], of.encode())
        except (ValueError, InvalidTag) as error:
            raise NotSealed from error

    def seal(self, content: bytes, of: str) -> str:
        """The content as a sealed text, which opens only with the same `of`."""
        return _text(self.encrypt(content, of))

    def unseal(self, sealed: str, of: str) -> bytes:
        """The content; NotSealed for any other text."""
        try:
            if len(sealed) > LONGEST_SEALED or not sealed.isascii():
                raise ValueError
            raw = b64decode(sealed + "=" * (-len(sealed) % 4), altchars=b"-_", validate=True)
            if _text(raw) != sealed:
                # Only the canonical base64: the unused bits of the last character must not make a second valid text.
                raise ValueError
        except ValueError as error:
            raise NotSealed from error
        return self.decrypt(raw, of)


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")
