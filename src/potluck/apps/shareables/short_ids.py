"""The pool of short ids: unused ids, spread over a thousand partitions so that concurrent creators seldom conflict.

Creating a shareable claims an id in the same transaction. Finding a partition empty means that the pool is running
low, which happens when it is about half used: it is then refilled in the background.
"""

import asyncio
from collections.abc import Iterable
from string import ascii_uppercase, digits

from potluck.apps.shareables.entities import POOL_PARTITIONS, Shareable, ShortIdPoolEntry
from potluck.people import Random, system_random
from potluck.store import Store
from potluck.streams import Lease
from potluck.table import WriteRefused, absent, delete, put, the
from potluck.web import Outcome, or_raise, or_retry

POOL_DEPTH = 4
# This many empty partitions in a row mean that the pool is empty, or as good as.
PARTITIONS_TRIED = 8
# The pause between adding one id to every partition and the next round. The first round is enough to serve requests;
# the rest is in no hurry, and would take time from a process that has only just started.
REST_SECONDS = 5.0
SPELLING = (ascii_uppercase, ascii_uppercase, ascii_uppercase, "-") * 2 + (digits,) * 5

Place = tuple[int, int]
"""A partition, and a bucket within it."""


class ShortIdPool:
    """Finds ids to claim, and refills the pool."""

    def __init__(self, store: Store, random: Random = system_random) -> None:
        self._store = store
        self._random = random
        self.low = asyncio.Event()

    async def pick(self) -> ShortIdPoolEntry:
        """An id to claim. Somebody else may be faster: the claim decides."""
        partition = 0
        for _ in range(PARTITIONS_TRIED):
            partition = self._below(POOL_PARTITIONS)
            found = await self._store.all(ShortIdPoolEntry.in_partition(partition))
            if found:
                return found[self._below(len(found))]
            self.low.set()
        made: list[ShortIdPoolEntry] = []
        while not made:
            made = await self._fill((partition, bucket) for bucket in range(POOL_DEPTH))
        return made[self._below(len(made))]

    def claim(self, entry: ShortIdPoolEntry, shareable: Shareable) -> list[Outcome]:
        """The writes that claim the id for this shareable; if somebody was faster, the rule retries with another id."""

        async def in_use(_: WriteRefused) -> None:
            # The id was in the pool twice, or was put there by hand.
            await self._store.delete(entry)

        return [
            or_retry(delete(entry, when=the(ShortIdPoolEntry.id) == entry.id)),
            or_raise(put(shareable, when=absent), in_use),
        ]

    async def refill(self) -> None:
        """Fill every partition; ids claimed or added concurrently do no harm."""
        self.low.clear()
        there = {(each.partition, each.bucket) async for each in self._store.each(ShortIdPoolEntry.every())}
        places = ((partition, bucket) for bucket in range(POOL_DEPTH) for partition in range(POOL_PARTITIONS))
        missing = [place for place in places if place not in there]
        for start in range(0, len(missing), POOL_PARTITIONS):
            if start:
                await asyncio.sleep(REST_SECONDS)
            await self._fill(missing[start : start + POOL_PARTITIONS])

    async def _fill(self, places: Iterable[Place]) -> list[ShortIdPoolEntry]:
        """Put new ids in these places, replacing any that are there: whoever is about to claim one of those retries."""
        entries = [ShortIdPoolEntry(partition=each[0], bucket=each[1], id=self._new_id()) for each in places]
        in_use = await self._store.get_many([Shareable.one(each.id.lower()) for each in entries])
        entries = [each for each, used in zip(entries, in_use, strict=True) if used is None]
        await self._store.write_each(map(put, entries))
        return entries

    def _new_id(self) -> str:
        return "".join(signs[self._below(len(signs))] for signs in SPELLING)

    def _below(self, bound: int) -> int:
        return int.from_bytes(self._random(8)) % bound


class PoolRefill:
    """Refills the pool at start and whenever it runs low; a lease lets one process do so at a time."""

    name = "short-id-pool"

    def __init__(self, store: Store, pool: ShortIdPool) -> None:
        self._pool = pool
        self._lease = Lease(store.engine, "REFILL#ShortIdPool")

    async def run(self) -> None:
        await self._lease.work_table.create_if_missing(self._lease.engine)
        while True:
            await self._lease.run(self._pool.refill)
            await self._pool.low.wait()
