"""Exponential backoff with jitter."""

import asyncio
import random

SHORTEST_PAUSE = 0.05
LONGEST_PAUSE = 2.0


class Backoff:
    """Exponential backoff with jitter."""

    def __init__(self) -> None:
        self._next = SHORTEST_PAUSE

    async def wait(self) -> None:
        await asyncio.sleep(self._next * random.uniform(0.5, 1.0))
        self._next = min(self._next * 2, LONGEST_PAUSE)
