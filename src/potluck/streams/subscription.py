"""A consumer's subscription to one shard: the records that concern it, as the process's tail reads them."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

from potluck.streams.buffer import BufferedRecord
from potluck.streams.records import Concerns, Record

# A consumer that is further behind reads the log by itself.
MOST_UNHANDLED = 1000
# After this many records that do not concern it, a consumer is woken to save its position.
MOST_PASSED_OVER = 1000


class Subscription:
    """The records of one shard that concern a consumer, after a position, as the tail reads them."""

    def __init__(self, after: int | None, concerns: Concerns, unsubscribe: Callable[["Subscription"], None]) -> None:
        self.ended = False
        """Nothing more comes from here; the log has the rest."""
        self.read_to: str | None = None
        """The last record that was looked at, of concern or not."""
        self.passed_over = 0
        """How many records did not concern the consumer; the consumer resets it."""
        self._after = after
        self._concerns = concerns
        self._unsubscribe = unsubscribe
        self._unhandled: deque[Record] = deque()
        self._news = asyncio.Event()

    def offer(self, buffered: BufferedRecord) -> None:
        if self._after is not None and buffered.sequence <= self._after:
            return
        if self._concerns(buffered.record):
            self._unhandled.append(buffered.record)
            if len(self._unhandled) > MOST_UNHANDLED:
                self.end()
            self._news.set()
        else:
            self.passed_over += 1
            if self.passed_over == MOST_PASSED_OVER:
                self._news.set()
        self.read_to = buffered.record.sequence_number

    async def next(self, seconds: float) -> list[Record]:
        """The consumer's new records; none after this many seconds, or after the subscription ends."""
        if not self._unhandled and not self.ended:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        self._news.clear()
        records = [*self._unhandled]
        self._unhandled.clear()
        return records

    def end(self) -> None:
        self.ended = True
        self._unsubscribe(self)
        self._unhandled.clear()
        self._news.set()
