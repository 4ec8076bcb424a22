"""The pool of short ids: unused ids, spread over a thousand partitions so that concurrent creators rarely conflict.

Creating a shareable claims an id in the same transaction. An empty partition means that the pool is running low, which
happens when it is about half used: it is then refilled in the background.
"""

import asyncio
from collections.abc import Iterable
from random import Random
from string import ascii_uppercase, digits

from potluck.apps.shareables.entities import POOL_PARTITIONS, Shareable, ShortIdPoolEntry
from potluck.store import Store
from potluck.table import WriteRefused, absent, delete, put, the
from potluck.web import Core, Outcome, or_raise, or_retry

POOL_DEPTH = 4
# This many empty partitions in a row mean that the pool is empty, or nearly.
PARTITIONS_TRIED = 8
# The pause between rounds that each add one id to every partition. The first round is enough to serve requests; the
# others can wait, and would take time from a process that has only just started.
REST_SECONDS = 5.0
SPELLING = (ascii_uppercase, ascii_uppercase, ascii_uppercase, "-") * 2 + (digits,) * 5

Place = tuple[int, int]
"""A partition, and a bucket within it."""


class ShortIdPool:
    """Finds ids to claim, and refills the pool."""

    def __init__(self, store: Store, random: Random) -> None:
        self._store = store
        self._random = random
        self.low = asyncio.Event()

    async def pick(self) -> ShortIdPoolEntry:
        """An id to claim. Another request may be faster: the claim decides."""
        partition = 0
        for _ in range(PARTITIONS_TRIED):
            partition = self._below(POOL_PARTITIONS)
            entries = await self._store.all(ShortIdPoolEntry.in_partition(partition))
            if entries:
                return entries[self._below(len(entries))]
            self.low.set()
        new: list[ShortIdPoolEntry] = []
        while not new:
            new = await self._fill((partition, bucket) for bucket in range(POOL_DEPTH))
        return new[self._below(len(new))]

    def claim(self, entry: ShortIdPoolEntry, shareable: Shareable) -> list[Outcome]:
        """The writes that claim the id for this shareable; if it is taken, the rule retries with another id."""

        async def in_use(_: WriteRefused) -> None:
            # The id was in the pool twice, or was added manually.
            await self._store.delete(entry)

        return [
            or_retry(delete(entry, when=the(ShortIdPoolEntry.id) == entry.id)),
            or_raise(put(shareable, when=absent), in_use),
        ]

    async def refill(self) -> None:
        """Fill every partition; ids claimed or added concurrently do no harm."""
        self.low.clear()
        filled = {(entry.partition, entry.bucket) async for entry in self._store.each(ShortIdPoolEntry.every())}
        places = ((partition, bucket) for bucket in range(POOL_DEPTH) for partition in range(POOL_PARTITIONS))
        missing = [place for place in places if place not in filled]
        for start in range(0, len(missing), POOL_PARTITIONS):
            if start:
                await asyncio.sleep(REST_SECONDS)
            await self._fill(missing[start : start + POOL_PARTITIONS])

    async def _fill(self, places: Iterable[Place]) -> list[ShortIdPoolEntry]:
        """Put new ids in these places, replacing any that are there: a request about to claim one of those retries."""
        entries = [ShortIdPoolEntry(partition=place[0], bucket=place[1], id=self._new_id()) for place in places]
        in_use = await self._store.get_many([Shareable.one(entry.id.lower()) for entry in entries])
        entries = [entry for entry, used in zip(entries, in_use, strict=True) if used is None]
        await self._store.write_each(map(put, entries))
        return entries

    def _new_id(self) -> str:
        return "".join(characters[self._below(len(characters))] for characters in SPELLING)

    def _below(self, bound: int) -> int:
        return int.from_bytes(self._random.randbytes(8)) % bound


class PoolRefill:
    """Refills the pool at start and whenever it runs low; a lease lets one process do so at a time."""

    name = "short-id-pool"

    def __init__(self, core: Core, pool: ShortIdPool) -> None:
        self._pool = pool
        self._lease = core.lease("REFILL#ShortIdPool")

    async def run(self) -> None:
        while True:
            await self.once()
            await self._pool.low.wait()

    async def once(self) -> None:
        await self._lease.run(self._pool.refill)
