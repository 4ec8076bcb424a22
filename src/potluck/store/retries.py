"""Retrying a write that lost to a concurrent one."""

import asyncio
from typing import Self

from potluck.metrics import CONFLICTS
from potluck.store.sending import Patience
from potluck.table import Unavailable

# Each refusal means that another writer succeeded, so this many in a row is a very busy row.
MOST_ATTEMPTS = 200
# The attempt from which on the backoff no longer grows.
LONGEST_PAUSE_AT = 4


class Attempts:
    """Counts attempts, backing off before each but the first; Unavailable after MOST_ATTEMPTS.

    async for attempt in store.attempts("restocking"):
        if await done():
            return
    """

    # Not an async generator: leaving one midway, as nearly every caller does, takes another task to close it.
    __slots__ = ("_attempt", "_patience", "_what")

    def __init__(self, what: str, patience: Patience) -> None:
        self._what = what
        self._patience = patience
        self._attempt = -1

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> int:
        self._attempt += 1
        if self._attempt == MOST_ATTEMPTS:
            raise Unavailable(f"{self._what}: others were faster {MOST_ATTEMPTS} times")
        if self._attempt:
            CONFLICTS.add()
            await asyncio.sleep(self._patience.wait(min(self._attempt, LONGEST_PAUSE_AT)))
        return self._attempt
