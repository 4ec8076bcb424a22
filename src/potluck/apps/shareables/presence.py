"""How many people are viewing a shareable now, across all processes: a number, and nothing about who they are.

Each process writes its own count, and viewers learn of it through the table's stream. The row expires unless it is
renewed, so viewers of a process that died are soon no longer counted.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from weakref import WeakValueDictionary

from potluck.apps.shareables.entities import Onlookers
from potluck.people import Random, system_random
from potluck.store import Clock, Store

log = logging.getLogger(__name__)

COUNTED_FOR = timedelta(seconds=90)
RENEWED_AFTER = timedelta(seconds=30)


class Presence:
    """Counts the viewers in this process, and publishes the count to the others."""

    def __init__(self, store: Store, clock: Clock, random: Random = system_random) -> None:
        self._store = store
        self._clock = clock
        self._worker = random(16).hex()
        self._people: Counter[str] = Counter()
        self._told: dict[str, float] = {}
        # Of two concurrent writes, the later count must win.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def people(self, short_id: str) -> int:
        """How many are viewing it now, in all processes."""
        return sum(each.people for each in await self._store.all(Onlookers.of(short_id)))

    @asynccontextmanager
    async def looking(self, short_id: str) -> AsyncIterator[None]:
        """Count one more viewer until the block ends."""
        self._people[short_id] += 1
        try:
            await self._tell(short_id)
            yield
        finally:
            self._people[short_id] -= 1
            await self._tell(short_id)

    async def renew(self, short_id: str) -> None:
        """Renew the row if it is due; call this now and then while somebody is viewing."""
        told = self._told.get(short_id)
        if told is not None and self._clock().timestamp() - told >= RENEWED_AFTER.total_seconds():
            await self._tell(short_id)

    async def _tell(self, short_id: str) -> None:
        try:
            await self._write(short_id)
        except Exception:
            # Failing to count viewers must not keep them out, and the row expires by itself.
            log.info("who looks could not be counted", exc_info=True)

    async def _write(self, short_id: str) -> None:
        async with self._locks.setdefault(short_id, asyncio.Lock()):
            now, people = self._clock(), self._people[short_id]
            row = Onlookers(
                short_id=short_id,
                worker=self._worker,
                people=people,
                ttl=int((now + COUNTED_FOR).timestamp()),
            )
            if people:
                self._told[short_id] = now.timestamp()
                await self._store.put(row)
            else:
                self._people.pop(short_id)
                self._told.pop(short_id, None)
                await self._store.delete(row)
