"""A cache of decoded rows: a row that is read again and again is decoded once.

The key is all of the row's bytes, which are read from the engine each time, and cached entities are immutable. So an
entry is never stale, and nothing has to be invalidated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from potluck.table.entity import EntityPlan

Members = tuple[EntityPlan, ...]
Unpack = Callable[[list[bytes]], list[dict[str, Any]]]

CACHED_BYTES = 8 * 1024 * 1024
"""How many bytes of rows are cached; their entities take about twice as much."""

LONGEST_CACHED_ROW = 8 * 1024
"""Longer rows are rare, and each would push out many others."""

MOST_HASHES_SEEN = 50_000

NEVER = float("inf")
LAST = 2.0**62
"""Later than anything can expire."""


class _CachedRow(NamedTuple):
    members: Members  # the kinds that it was matched against
    entity: Any  # None if it is of none of these kinds, or had expired
    expires_at: float


class RowCache:
    """Decodes packed rows, and caches the entities whose fields are all immutable."""

    def __init__(self, unpack: Unpack, now: Callable[[], int], most_bytes: int = CACHED_BYTES) -> None:
        self.unpack = unpack
        self._now = now
        # Two generations: rows not read while the newer one filled up are dropped with the older one.
        self._generation_bytes = most_bytes // 2
        self._newer: dict[bytes, _CachedRow] = {}
        self._older: dict[bytes, _CachedRow] = {}
        self._bytes = 0
        self._hashes_seen: set[int] = set()

    def entity(self, members: Members, row: bytes) -> Any:
        """The row's entity; None if it is of none of these kinds, or has expired."""
        return self.entity_until(members, row)[0]

    def entity_until(self, members: Members, row: bytes) -> tuple[Any, float]:
        """The row's entity, and until when it is valid."""
        cached = self._newer.get(row)
        if cached is None or cached[0] != members:
            cached = self._cache(members, row, None)
        if cached[2] == NEVER or cached[2] > self._now():
            return cached[1], cached[2]
        return None, LAST

    def visible(self, members: Members, rows: list[bytes]) -> tuple[list[bytes], list[Any], float]:
        """The rows of these kinds that have not expired, their entities, and when the next of them expires.

        That time is NEVER only if none of the rows has an expiry, and 0 if none of them was cached.
        """
        now = self._now()
        cached_rows = list(map(self._newer.get, rows))
        if self._all_new(rows, cached_rows):
            return self._decode_uncached(members, rows, now)
        new = [at for at, cached in enumerate(cached_rows) if cached is None or cached[0] != members]
        if new:
            # Unpacking them all at once takes half as long as one by one.
            items = self.unpack([rows[at] for at in new])
            for at, item in zip(new, items, strict=True):
                cached_rows[at] = self._cache(members, rows[at], item)
        entities = [cached[1] if cached[2] > now else None for cached in cached_rows if cached is not None]
        if None in entities:
            rows = [row for row, entity in zip(rows, entities, strict=True) if entity is not None]
            entities = [entity for entity in entities if entity is not None]
        ends = [cached[2] for cached in cached_rows if cached is not None and cached[2] != NEVER]
        return rows, entities, min([end for end in ends if end > now], default=LAST) if ends else NEVER

    def _all_new(self, rows: list[bytes], cached_rows: list[_CachedRow | None]) -> bool:
        """Whether none of the rows was read before: rows that are read only once are not worth caching."""
        if any(cached_rows):
            return False
        hashes = list(map(hash, rows))
        new = self._hashes_seen.isdisjoint(hashes)
        if len(self._hashes_seen) > MOST_HASHES_SEEN:
            self._hashes_seen.clear()
        self._hashes_seen.update(hashes)
        return new

    def _decode_uncached(self, members: Members, rows: list[bytes], now: int) -> tuple[list[bytes], list[Any], float]:
        entities: list[Any] = []
        visible: list[bytes] = []
        for row, item in zip(rows, self.unpack(rows), strict=True):
            for plan in members:
                if plan.matches(item):
                    if not plan.expired(item, now):
                        entities.append(plan.coding.decode(item))
                        visible.append(row)
                    break
        return visible, entities, 0

    def _cache(self, members: Members, row: bytes, item: dict[str, Any] | None) -> _CachedRow:
        cached = self._older.get(row)
        if cached is None or cached.members != members:
            cached = self._decode(members, self.unpack([row])[0] if item is None else item)
            if cached.entity is None or not cached.entity.__plan__.coding.shareable or len(row) > LONGEST_CACHED_ROW:
                return cached
        self._bytes += len(row)
        if self._bytes > self._generation_bytes:
            self._older, self._newer, self._bytes = self._newer, {}, len(row)
        self._newer[row] = cached
        return cached

    def _decode(self, members: Members, item: dict[str, Any]) -> _CachedRow:
        for plan in members:
            if plan.matches(item):
                expires_at = NEVER if plan.expiry is None else plan.expires_at(item)
                # An expired row is never seen, so it does not matter if it is malformed.
                gone = expires_at != NEVER and expires_at <= self._now()
                return _CachedRow(members, None if gone else plan.coding.decode(item), expires_at)
        return _CachedRow(members, None, NEVER)
