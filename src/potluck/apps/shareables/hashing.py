"""Passcodes hashed by the suite's own hasher, a few at a time for each client: the others of one client wait."""

import asyncio
from weakref import WeakValueDictionary

from potluck.people.passwords import Passwords

__all__ = ["Hashing"]

AT_ONCE = 4


class Hashing:
    """Waits where the hasher itself would refuse, which lets a client have only so many waiting."""

    def __init__(self, passwords: Passwords) -> None:
        self._passwords = passwords
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._tries: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def hash(self, passcode: str, client: str) -> str:
        """What is stored of a passcode."""
        async with self._turn(client):
            return await self._passwords.hash(passcode, client)

    async def verify(self, passcode: str, hash: str | None, client: str) -> bool:
        """Whether the hash is this passcode's. Without a hash it is False, after the same work."""
        async with self._turn(client):
            return await self._passwords.verify(passcode, hash, client)

    def trying(self, client: str) -> asyncio.Lock:
        """To be held from counting a try until it is known to be right: many who come at once behind one address must
        not be taken for somebody who guesses."""
        return self._tries.setdefault(client, asyncio.Lock())

    def _turn(self, client: str) -> asyncio.Semaphore:
        return self._turns.setdefault(client, asyncio.Semaphore(AT_ONCE))
