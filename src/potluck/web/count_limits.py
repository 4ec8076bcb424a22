"""How many there may be of something in one place: counted now and then, not for every one that is added.

It keeps a place from filling the store, and is no rule of the app: those who add at the same moment, or through another
worker, may pass it by what they add in a few minutes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from datetime import timedelta
from typing import Any, NamedTuple

from potluck.people.errors import TooMany
from potluck.store import Store
from potluck.table import Query

__all__ = ["CountLimits"]

COUNTED_AGAIN_AFTER = timedelta(minutes=10)
MOST_COUNTED = 10_000


class Counted(NamedTuple):
    number: int
    until: float


class CountLimits:
    """What was counted, and what this process has let be added since."""

    def __init__(self, rows: Store, most_counted: int = MOST_COUNTED) -> None:
        self._rows = rows
        self._most_counted = most_counted
        self._counted: OrderedDict[Hashable, Counted] = OrderedDict()

    async def must_fit(self, query: Query[Any], most: int, what: str, more: int = 1) -> None:
        """TooMany, if there would be more than so many of what the query finds."""
        key = (query.pattern.name, query.partition)
        now = self._rows.clock().timestamp()
        known = self._counted.get(key)
        if known is None or known.until <= now or known.number + more > most:
            # What was deleted since is seen here as well.
            known = Counted(await self._rows.count(query), now + COUNTED_AGAIN_AFTER.total_seconds())
        fits = known.number + more <= most
        self._counted[key] = Counted(known.number + more, known.until) if fits else known
        self._counted.move_to_end(key)
        if len(self._counted) > self._most_counted:
            self._counted.popitem(last=False)
        if not fits:
            raise TooMany(what, most)
