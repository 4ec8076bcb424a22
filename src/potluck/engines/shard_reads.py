"""How often one process may read a shard of a stream: its share of what the service allows all readers together."""

import asyncio
import time
from collections.abc import Callable

# The service allows five. What several processes send evenly does not arrive evenly.
READS_PER_SECOND = 4.0
# Shards are replaced every few hours.
SHARDS_KEPT = 1000


class ShardReads:
    """Spaces the reads of each shard, whatever they are for."""

    def __init__(self, per_second: float = READS_PER_SECOND) -> None:
        self.per_second = per_second
        self.processes: Callable[[], int] = lambda: 1
        """How many processes read the same shards."""
        self._next: dict[str, float] = {}

    async def turn(self, shard: str) -> None:
        """Wait until the shard may be read again; callers go in the order in which they asked."""
        now = time.monotonic()
        at = max(now, self._next.pop(shard, now))
        self._next[shard] = at + self.processes() / self.per_second
        while len(self._next) > SHARDS_KEPT:
            del self._next[next(iter(self._next))]
        if at > now:
            await asyncio.sleep(at - now)
