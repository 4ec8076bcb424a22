"""An event loop on virtual time: a minute of waiting takes no time, and a second of work none either.

While a call is with the engine, which answers from another thread, time stands still; when all tasks wait for a timer,
it jumps to the next one.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
REAL_WAIT_SECONDS = 1.0


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its clock is the sum of what tasks waited for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0
        """Calls that are with the engine."""
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self.now


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or self._loop.calls:
            waits = None if timeout is None else min(timeout, REAL_WAIT_SECONDS)
            return super().select(waits)
        # The loop runs timers that are due within its resolution.
        self._loop.now += max(0.0, timeout)
        return super().select(0)


class OutOfTime:
    """An engine whose calls take no virtual time."""

    def __init__(self, engine: Any, loop: VirtualLoop) -> None:
        self.engine = engine
        self._loop = loop

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self._loop.calls += 1
        try:
            answer: dict[str, Any] = await self.engine.call(operation, request)
            return answer
        finally:
            self._loop.calls -= 1

    async def changed(self, table: str, timeout: float) -> bool:
        return bool(await self.engine.changed(table, timeout))

    async def close(self) -> None:
        await self.engine.close()


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine on virtual time."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()
