"""Trying a write again when somebody else was faster."""

import asyncio
from collections.abc import AsyncIterator

from potluck.sending import Patience
from potluck.table import Unavailable

__all__ = ["attempts"]

# Each refusal means that another writer went on, so this many in a row is a very busy row.
MOST_ATTEMPTS = 200
# From here on the pauses get no longer.
LONGEST_PAUSE_AT = 4


async def attempts(what: str, patience: Patience) -> AsyncIterator[int]:
    """The numbers of attempts, with a pause before each but the first; Unavailable after very many.

    async for attempt in attempts("restocking", rows.patience):
        if await done():
            return
    """
    for attempt in range(MOST_ATTEMPTS):
        if attempt:
            await asyncio.sleep(patience.wait(min(attempt, LONGEST_PAUSE_AT)))
        yield attempt
    raise Unavailable(f"{what}: others were faster {MOST_ATTEMPTS} times")
