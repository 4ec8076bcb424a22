"""Watches the system's clock: a wall clock that goes ahead or back, held against the monotonic one.

Expiry, sessions and positions go by the wall clock; leases and timeouts do not. So a jump does no lasting harm, but an
operator who asks why people were signed out, or why something expired late, should find it.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from potluck.metrics import CLOCK_JUMPS
from potluck.states import CLOCK_JUMPED, Trouble

LOOK_SECONDS = 1.0
# More than a clock is ever slewed within a second, and less than anyone would notice.
JUMP_SECONDS = 2.0
# How long a jump counts as the state of the suite.
REMEMBERED_SECONDS = 600.0
FORWARD, BACK = "forward", "back"

log = logging.getLogger(__name__)


class ClockWatch:
    """Notices when the wall clock has moved by more or less than the time that has passed."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._ahead = wall() - monotonic()
        self._jumped_at = float("-inf")
        self._trouble = Trouble(CLOCK_JUMPED, log, "the system's clock jumped", monotonic=monotonic)

    def look(self) -> None:
        """Compare the clocks with the last look."""
        before = self._monotonic()
        wall = self._wall()
        if self._monotonic() - before >= JUMP_SECONDS / 4:
            # The process was held up between the two clocks, which say nothing together; the next look compares.
            return
        ahead = wall - before
        by, self._ahead = ahead - self._ahead, ahead
        if abs(by) >= JUMP_SECONDS:
            self._jumped_at = self._monotonic()
            CLOCK_JUMPS.add(FORWARD if by > 0 else BACK)
            self._trouble.met(f"{abs(by):.0f} s {FORWARD if by > 0 else BACK}")
        elif self._monotonic() - self._jumped_at > REMEMBERED_SECONDS:
            self._trouble.over()

    async def run(self) -> None:
        """Look every second, until cancelled."""
        try:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                self.look()
        finally:
            self._trouble.forget()
