"""A limit on how many rows are read or written per second, so that a busy table has capacity left for others."""

import asyncio
import time


class Pace:
    """At most this many rows a second, on average from the start; None for as many as possible."""

    def __init__(self, rows_per_second: int | None) -> None:
        self._rate = rows_per_second
        self._began = time.monotonic()
        self._rows = 0

    async def keep(self, rows: int) -> None:
        """Wait until these rows, which were just read or written, fit into the limit."""
        if self._rate is None:
            return
        self._rows += rows
        await asyncio.sleep(max(0.0, self._began + self._rows / self._rate - time.monotonic()))
