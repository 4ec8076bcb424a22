"""The embedded engine: potluck.dynamo in this process."""

import time
from collections.abc import Callable
from pathlib import Path

from potluck.acceleration import BY_ENVIRONMENT, Accelerations
from potluck.dynamo.database import Database
from potluck.engines import Engine


async def open_embedded(
    path: str | Path | None = None,
    clock: Callable[[], float] = time.time,
    *,
    reserve: bool = False,
    accelerations: Accelerations = BY_ENVIRONMENT,
) -> Engine:
    """Open the store in one file; without a path, a temporary one that is gone at close."""
    return await Database.open(path, clock=clock, reserve=reserve, accelerations=accelerations)
