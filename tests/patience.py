"""How long a test waits for what must happen."""

import asyncio
from typing import Any

__all__ = ["PATIENCE_SECONDS", "stopped"]

PATIENCE_SECONDS = 60
"""A bound on what must happen at all, on a machine that has other things to do; no measure of how fast it is."""


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    """Cancel them until they have ended: until Python 3.12, `wait_for` may lose a cancellation."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=1.0)
