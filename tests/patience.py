"""How long a test waits for what must happen."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

__all__ = ["PATIENCE_SECONDS", "stopped", "until"]

Said = TypeVar("Said")

PATIENCE_SECONDS = 60
"""A bound on what must happen at all, on a machine that has other things to do; no measure of how fast it is."""


async def until(true: Callable[[], Awaitable[Said]], *, every: float = 0.02) -> Said:
    """What it says, once it says something; asked so seldom that what is to make it true has its turn.

    `every` is the shortest pause in between: longer where it takes seconds anyway, as when a dead process is replaced.
    """
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            asked = time.perf_counter()
            if said := await true():
                return said
            await asyncio.sleep(max(every, 2 * (time.perf_counter() - asked)))


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    """Cancel them until they have ended: until Python 3.12, `wait_for` may lose a cancellation."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=1.0)
