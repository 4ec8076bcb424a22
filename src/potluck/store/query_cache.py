"""A cache of query answers, each valid until something is written to a partition that it was read from.

Every lookup takes the engine's current state, a number that grows with every write by any process, and asks whether
the answer's partitions have been written to since. So a cached answer is served only while the query would still give
the same one, and writers need not invalidate anything.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from potluck.store.row_cache import NEVER

CACHED_BYTES = 4 * 1024 * 1024
"""How many bytes of rows are cached; the objects decoded from them take several times as much."""

Places = tuple[Hashable, ...]
Untouched = Callable[[Any, int], bool]


class CachedAnswer(NamedTuple):
    """An answer, when it is valid, and the state of the store and the partitions that it was read from."""

    answer: Any
    since: int
    until: float  # when to query again even if nothing was written; NEVER if the answer does not depend on time
    state: int
    places: Places
    size: int


class QueryCache:
    """Answers by key, in two generations: those not used while the newer one fills up are evicted."""

    def __init__(self, now: Callable[[], int], untouched: Untouched, most_bytes: int = CACHED_BYTES) -> None:
        self._now = now
        self._untouched = untouched
        self._most_bytes = most_bytes
        self._newer: dict[Hashable, CachedAnswer] = {}
        self._older: dict[Hashable, CachedAnswer] = {}
        self._bytes = 0

    def find(self, key: Hashable, state: int) -> CachedAnswer | None:
        """The cached answer if it is valid in this state, else None."""
        cached = self._newer.get(key)
        if cached is None:
            cached = self._older.get(key)
            if cached is None:
                return None
            self._put(key, cached)
        if cached[3] != state:
            # Another thread may have cached an answer from a later state; it is not valid in this one.
            if cached[3] > state or not self._untouched(cached[4], cached[3]):
                return None
            # Not _replace, which takes longer than everything else here.
            answer, since, until, _, places, size = cached
            cached = self._newer[key] = CachedAnswer(answer, since, until, state, places, size)
        # When the clock is set back, items that had expired are visible again.
        return cached if cached[2] == NEVER or cached[1] <= self._now() < cached[2] else None

    def add(self, key: Hashable, state: int, answer: Any, until: float, size: int, places: Places) -> None:
        """Cache an answer that was read from these places, beginning in this state."""
        if size <= self._most_bytes // 2:
            self._put(key, CachedAnswer(answer, self._now(), until, state, places, size))

    def _put(self, key: Hashable, cached: CachedAnswer) -> None:
        before = self._newer.get(key)
        self._bytes += cached.size - (0 if before is None else before.size)
        if self._bytes > self._most_bytes // 2:
            self._older, self._newer, self._bytes = self._newer, {}, cached.size
        self._newer[key] = cached
