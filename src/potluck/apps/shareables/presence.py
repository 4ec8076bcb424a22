"""How many people are viewing a shareable now, across all processes: a number, and nothing about who they are.

Each process writes its own count, and viewers get it through the table's stream. The row expires unless it is renewed,
so that viewers of a process that died are soon no longer counted.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from weakref import WeakValueDictionary

from potluck.apps.shareables.entities import Onlookers
from potluck.store import Store

log = logging.getLogger(__name__)

COUNTED_FOR = timedelta(seconds=90)
RENEWED_AFTER = timedelta(seconds=30)


class Presence:
    """Counts the viewers in this process, and publishes the count to the others."""

    def __init__(self, store: Store, random: Random) -> None:
        self._store = store
        self._worker = random.randbytes(16).hex()
        self._people: Counter[str] = Counter()
        self._written_at: dict[str, float] = {}
        # Of two concurrent writes, the one with the later count must win.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def people(self, short_id: str) -> int:
        """How many are viewing it now, in all processes."""
        return sum(row.people for row in await self._store.all(Onlookers.of(short_id)))

    @asynccontextmanager
    async def looking(self, short_id: str) -> AsyncIterator[None]:
        """Count one more viewer until the block ends."""
        self._people[short_id] += 1
        try:
            await self._publish(short_id)
            yield
        finally:
            self._people[short_id] -= 1
            await self._publish(short_id)

    async def renew(self, short_id: str) -> None:
        """Renew the row if it is due; to be called now and then while there are viewers."""
        written_at = self._written_at.get(short_id)
        if written_at is not None and self._store.clock().timestamp() - written_at >= RENEWED_AFTER.total_seconds():
            await self._publish(short_id)

    async def _publish(self, short_id: str) -> None:
        try:
            await self._write(short_id)
        except Exception:
            # Failing to count viewers must not keep them out, and the row expires by itself.
            log.info("viewers could not be counted", exc_info=True)

    async def _write(self, short_id: str) -> None:
        async with self._locks.setdefault(short_id, asyncio.Lock()):
            now, people = self._store.clock(), self._people[short_id]
            row = Onlookers(
                short_id=short_id,
                worker=self._worker,
                people=people,
                ttl=int((now + COUNTED_FOR).timestamp()),
            )
            if people:
                self._written_at[short_id] = now.timestamp()
                await self._store.put(row)
            else:
                self._people.pop(short_id)
                self._written_at.pop(short_id, None)
                await self._store.delete(row)
