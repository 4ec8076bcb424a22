"""The engine without `await`: for scripts, tests and threads."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

from potluck.dynamo.database import Database
from potluck.dynamo.errors import CLOSED, DynamoError
from potluck.dynamo.memory import MemoryDatabase, now, run_at_once
from potluck.dynamo.namespaces import DEFAULT, Namespace

T = TypeVar("T")


class Run(Protocol):
    """Waits for a coroutine of the database."""

    def __call__(self, answer: Coroutine[Any, Any, T]) -> T: ...


class SyncDatabase:
    """A `Database` whose calls block. Open it with `SyncDatabase.open(path)` and use it from any thread."""

    def __init__(self, database: Database, run: Run, stop: Callable[[], None]) -> None:
        self.database = database
        self._run = run
        self._stop = stop
        self._closed = False

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] | None = None
    ) -> "SyncDatabase":
        """Open a store's file, creating it if need be; without a path, a store in memory."""
        if path is None:
            return cls(MemoryDatabase(clock=clock or now), run_at_once, lambda: None)
        thread = LoopThread()
        try:
            database = thread.run(Database.open(path, clock=clock or time.time))
        except BaseException:
            thread.stop()
            raise
        return cls(database, thread.run, thread.stop)

    def call(
        self,
        operation: str,
        request: dict[str, Any],
        *,
        account: str = DEFAULT.account,
        region: str = DEFAULT.region,
    ) -> dict[str, Any]:
        """Answer one operation as the service would in this account and region, or raise its DynamoError."""
        namespace = Namespace(account, region)
        callee = self.database if namespace == DEFAULT else self.database.within(namespace)
        return self._run(callee.call(operation, request))

    def copy(self) -> "SyncDatabase":
        """A second store in memory with everything that this one has now, such as tables and sample data."""
        database = MemoryDatabase(clock=self.database.clock, content=self._in_memory())
        return SyncDatabase(database, run_at_once, lambda: None)

    def reset(self) -> None:
        """Delete every table, stream and token of a store in memory."""
        self._in_memory().reset()

    def sweep(self) -> int:
        """Delete expired items, and return how many there were. A store in memory does so with its next call."""
        return self._run(self.database.sweep())

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a consistent copy of a store's file to a new file."""
        self._run(self.database.backup(Path(path)))

    def close(self) -> None:
        """Finish pending writes and close the file; what is in memory is gone."""
        if not self._closed:
            self._closed = True
            self._run(self.database.close())
            self._stop()

    def __enter__(self) -> "SyncDatabase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _in_memory(self) -> MemoryDatabase:
        if not isinstance(self.database, MemoryDatabase):
            raise ValueError("only a store in memory can be copied or reset: this one is in a file")
        return self.database


class LoopThread:
    """An event loop on a thread of its own, for those who have none."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="potluck-loop", daemon=True)
        self._thread.start()

    def run(self, answer: Coroutine[Any, Any, T]) -> T:
        if not self._thread.is_alive():
            answer.close()
            raise DynamoError(CLOSED, "The store is closed")
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
