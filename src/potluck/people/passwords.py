"""Passwords: argon2id, computed in threads, a few at a time."""

import asyncio
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from secrets import token_bytes
from typing import Literal, Protocol
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from potluck.metrics import THREADS_QUEUE
from potluck.people.errors import Throttled

# What OWASP recommends for argon2id: 19 MiB, two passes, one lane.
MEMORY_KIB = 19_456
PASSES = 2
LANES = 1

HASHES_AT_ONCE = min(4, os.cpu_count() or 1)
# A hash takes about 30 ms; in a longer queue, people would wait too long.
HASHES_WAITING = 256
# Of those, the share of one client: its caller is not signed in yet, and must not fill the queue.
HASHES_OF_ONE = 16
SECONDS_UNTIL_LESS_BUSY = 2


class Hasher(Protocol):
    """What argon2's PasswordHasher does; tests give a cheaper one."""

    def hash(self, password: bytes, /) -> str: ...
    def verify(self, hash: str, password: bytes, /) -> Literal[True]: ...
    def check_needs_rehash(self, hash: str, /) -> bool: ...


def argon2id() -> Hasher:
    """The hasher for real passwords."""
    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES)


class Passwords:
    """Hashes and verifies off the event loop, never more than a few at once."""

    def __init__(self, hasher: Hasher | None = None, at_once: int = HASHES_AT_ONCE) -> None:
        self._hasher = hasher or argon2id()
        self._at_once = at_once
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="passwords")
        self._waiting: Counter[str | None] = Counter()
        # The hash of a random text: verifying against it takes as long as against a real password's.
        self._nobodys = self._hasher.hash(token_bytes(32))

    async def hash(self, password: str, client: str | None = None) -> str:
        """The hash to store for a password; `client` is where an anonymous request comes from."""
        return await self._in_turn(_bytes(password), None, client)

    async def verify(self, password: str, hash: str | None, client: str | None = None) -> bool:
        """Whether the hash is this password's. Without a hash it is False, after the same work."""
        is_match = await self._in_turn(_bytes(password), hash or self._nobodys, client)
        return bool(is_match) and hash is not None

    def measure(self) -> None:
        """Set the metrics of its threads."""
        THREADS_QUEUE.set(max(0, self._waiting.total() - self._at_once), "passwords")

    def outdated(self, hash: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(hash)

    def close(self) -> None:
        """Stop the threads once they have finished what they compute."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _in_turn(self, password: bytes, hash: str | None, client: str | None) -> str:
        if self._waiting.total() >= HASHES_WAITING or (client is not None and self._waiting[client] >= HASHES_OF_ONE):
            raise Throttled(SECONDS_UNTIL_LESS_BUSY)
        self._waiting[client] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._compute, password, hash)
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]

    def _compute(self, password: bytes, hash: str | None) -> str:
        """A new hash; or the hash that was given if it is the password's, else nothing."""
        if hash is None:
            return self._hasher.hash(password)
        try:
            self._hasher.verify(hash, password)
        except (VerificationError, InvalidHashError):
            return ""
        return hash


def _bytes(password: str) -> bytes:
    """The same bytes however a keyboard composes accents, and some for any text that JSON can carry."""
    return normalize("NFC", password).encode("utf-8", "surrogatepass")
