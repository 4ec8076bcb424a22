"""Limits on how many things a place may hold, by a cached count that is refreshed now and then.

They keep a place from filling the store, and are approximate: concurrent callers, and those of other workers, may
exceed one by what they add in a few minutes. An exact limit is a condition of the write.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from datetime import timedelta
from typing import Any, NamedTuple

from potluck.people.errors import TooMany
from potluck.store import Store
from potluck.table import Query

COUNTED_AGAIN_AFTER = timedelta(minutes=10)
MOST_COUNTED = 10_000


class Counted(NamedTuple):
    number: int
    until: float


class CountLimits:
    """The cached counts, with what this process has let through since."""

    def __init__(self, store: Store, most_counted: int = MOST_COUNTED) -> None:
        self._rows = store
        self._most_counted = most_counted
        self._counted: OrderedDict[Hashable, Counted] = OrderedDict()

    async def must_fit(self, query: Query[Any], most: int, what: str, more: int = 1) -> None:
        """Raise TooMany if the query would find more than `most` after adding `more`."""
        key = (query.pattern.name, query.partition)
        now = self._rows.clock().timestamp()
        known = self._counted.get(key)
        if known is None or known.until <= now or known.number + more > most:
            # A fresh count also sees what was deleted since.
            known = Counted(await self._rows.count(query), now + COUNTED_AGAIN_AFTER.total_seconds())
        fits = known.number + more <= most
        self._counted[key] = Counted(known.number + more, known.until) if fits else known
        self._counted.move_to_end(key)
        if len(self._counted) > self._most_counted:
            self._counted.popitem(last=False)
        if not fits:
            raise TooMany(what, most)
