"""Hashing of passcodes by the suite's own hasher, with a limit on how many hashes each client has in progress."""

import asyncio
from weakref import WeakValueDictionary

from potluck.web import Core

AT_ONCE = 4


class Hashing:
    """Queues a client's hashes here: the hasher itself would refuse a client that has too many waiting."""

    def __init__(self, core: Core) -> None:
        self._passwords = core.people.passwords
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._tries: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def hash(self, passcode: str, client: str) -> str:
        """The hash to store for a passcode."""
        async with self._turn(client):
            return await self._passwords.hash(passcode, client)

    async def verify(self, passcode: str, hash: str | None, client: str) -> bool:
        """Whether the hash is this passcode's; without a hash False, after the same amount of work."""
        async with self._turn(client):
            return await self._passwords.verify(passcode, hash, client)

    def trying(self, client: str) -> asyncio.Lock:
        """The lock to hold from counting an attempt until it is verified: many people who arrive at once, from one
        address, must not be mistaken for someone guessing."""
        return self._tries.setdefault(client, asyncio.Lock())

    def _turn(self, client: str) -> asyncio.Semaphore:
        return self._turns.setdefault(client, asyncio.Semaphore(AT_ONCE))
