"""Taking turns at an item that many change at once, and trying again when somebody elsewhere was faster."""

import asyncio
from typing import Any
from weakref import WeakValueDictionary

from potluck.store import Patience
from potluck.table import Unavailable

__all__ = ["Again", "Turns"]

# Each refusal means that another writer went on, so this many in a row is a very busy item.
ATTEMPTS = 200
# From here on the pauses get no longer.
LONGEST_PAUSE_AT = 4


class Again:
    """The attempts at one change."""

    def __init__(self, what: str, patience: Patience) -> None:
        self._what = what
        self._patience = patience
        self.attempt = 0

    async def wait(self) -> None:
        """Wait for the next attempt; Unavailable, with nothing written, after very many."""
        self.attempt += 1
        if self.attempt >= ATTEMPTS:
            raise Unavailable(f"{self._what}: others were faster {ATTEMPTS} times")
        await asyncio.sleep(self._patience.wait(min(self.attempt, LONGEST_PAUSE_AT)))


class Turns:
    """Those of one process who change the same thing wait for each other; only a writer elsewhere refuses them."""

    def __init__(self) -> None:
        # Kept only while somebody holds or awaits one.
        self._turns: WeakValueDictionary[tuple[Any, ...], asyncio.Lock] = WeakValueDictionary()

    def at(self, *thing: Any) -> asyncio.Lock:
        return self._turns.setdefault(thing, asyncio.Lock())
