"""What packed rows were found to be, so that a row that is read again and again is taken apart once.

A row is known by all of its bytes, which are read anew each time, and what it says cannot be changed: so whatever was
found of it stays right, whoever writes what in the meantime. Nothing here has to be told of a write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from potluck.table.entity import EntityPlan

__all__ = ["NEVER", "KnownRows"]

Members = tuple[EntityPlan, ...]
Unpack = Callable[[list[bytes]], list[dict[str, Any]]]

BYTES_KNOWN = 8 * 1024 * 1024
"""How many bytes of rows are kept, with about twice as much for what they are."""

LONGEST_KNOWN = 8 * 1024
"""Longer rows are few, and would push out many."""

MOST_MET = 50_000

NEVER = float("inf")
LAST = 2.0**62
"""After every time at which anything can expire."""


class _Known(NamedTuple):
    members: Members  # the kinds of which it was asked to be one
    entity: Any  # None if it is none of them
    expires_at: float


class KnownRows:
    """Makes entities of packed rows, and remembers them where all that they hold is as unchangeable as they are."""

    def __init__(self, unpack: Unpack, now: Callable[[], int], most_bytes: int = BYTES_KNOWN) -> None:
        self.unpack = unpack
        self._now = now
        # Two halves: what was not asked for while the newer one filled is forgotten with the older.
        self._half = most_bytes // 2
        self._newer: dict[bytes, _Known] = {}
        self._older: dict[bytes, _Known] = {}
        self._bytes = 0
        self._met: set[int] = set()

    def entity(self, members: Members, row: bytes) -> Any:
        """The entity that the row is; None if it is none of these kinds, or has expired."""
        known = self._newer.get(row)
        if known is None or known[0] != members:
            known = self._found(members, row, None)
        return known[1] if known[2] == NEVER or known[2] > self._now() else None

    def visible(self, members: Members, rows: list[bytes]) -> tuple[list[bytes], list[Any], float]:
        """Those of many rows that are of these kinds and have not expired, what they are, and when the next expires.

        It is NEVER only where none of them ever does or did, and 0 where none of them is remembered.
        """
        now = self._now()
        found = list(map(self._newer.get, rows))
        if self._is_new_to_all(rows, found):
            return self._read_once(members, rows, now)
        new = [at for at, known in enumerate(found) if known is None or known[0] != members]
        if new:
            # All at once, which takes half as long as one after the other.
            items = self.unpack([rows[at] for at in new])
            for at, item in zip(new, items, strict=True):
                found[at] = self._found(members, rows[at], item)
        entities = [known[1] if known[2] > now else None for known in found if known is not None]
        if None in entities:
            rows = [row for row, entity in zip(rows, entities, strict=True) if entity is not None]
            entities = [entity for entity in entities if entity is not None]
        ends = [known[2] for known in found if known is not None and known[2] != NEVER]
        return rows, entities, min([end for end in ends if end > now], default=LAST) if ends else NEVER

    def _is_new_to_all(self, rows: list[bytes], found: list[_Known | None]) -> bool:
        """Whether none of the rows was ever met. Much is read once and never again: it is not worth remembering."""
        if any(found):
            return False
        hashes = list(map(hash, rows))
        new = self._met.isdisjoint(hashes)
        if len(self._met) > MOST_MET:
            self._met.clear()
        self._met.update(hashes)
        return new

    def _read_once(self, members: Members, rows: list[bytes], now: int) -> tuple[list[bytes], list[Any], float]:
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

    def _found(self, members: Members, row: bytes, item: dict[str, Any] | None) -> _Known:
        known = self._older.get(row)
        if known is None or known.members != members:
            known = self._read(members, self.unpack([row])[0] if item is None else item)
            if known.entity is None or not known.entity.__plan__.coding.shareable or len(row) > LONGEST_KNOWN:
                return known
        self._bytes += len(row)
        if self._bytes > self._half:
            self._older, self._newer, self._bytes = self._newer, {}, len(row)
        self._newer[row] = known
        return known

    def _read(self, members: Members, item: dict[str, Any]) -> _Known:
        for plan in members:
            if plan.matches(item):
                expires_at = NEVER if plan.expiry is None else plan.expires_at(item)
                # What has expired is not looked into: nobody sees it, whatever is wrong with it.
                gone = expires_at != NEVER and expires_at <= self._now()
                return _Known(members, None if gone else plan.coding.decode(item), expires_at)
        return _Known(members, None, NEVER)
