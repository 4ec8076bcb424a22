"""Background work that failed is started again, and the operator knows of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from potluck.engines import AccessDenied
from potluck.states import WORK_FAILING, Trouble
from potluck.streams.leases import Deposed

# What has run for this long since it failed no longer fails.
STEADY_SECONDS = 30.0


async def restarted(name: str, run: Callable[[], Awaitable[None]], pause_seconds: float, log: logging.Logger) -> None:
    """Run it until it returns, again and again after failures; Deposed if another process does the work now."""
    failing = Trouble(WORK_FAILING, log, f"{name} failed, and is restarted", level=logging.ERROR)
    try:
        while True:
            steady = asyncio.get_running_loop().call_later(STEADY_SECONDS, failing.over)
            try:
                return await run()
            except Deposed:
                raise
            except Exception as error:
                # A refusal says all there is to say; where it happened would not help.
                failing.met(error.message if isinstance(error, AccessDenied) else error)
            finally:
                steady.cancel()
            await asyncio.sleep(pause_seconds)
    finally:
        failing.forget()
