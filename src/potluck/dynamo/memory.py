"""A database in memory: opened in a tenth of a millisecond, and answering without an event loop or a thread."""

import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from potluck.dynamo import streams, ttl
from potluck.dynamo.actions import Action
from potluck.dynamo.backfill import backfill
from potluck.dynamo.database import TRIM_SECONDS, Database
from potluck.dynamo.storage.memory import MemoryFile, empty_store

if TYPE_CHECKING:
    from potluck.dynamo.views import NamespaceView

T = TypeVar("T")


def run_at_once(answer: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        answer.send(None)
    except StopIteration as over:
        result: T = over.value
        return result
    answer.close()
    raise RuntimeError("it waits for something, so it needs an event loop")


def now() -> float:
    """The system's time, also where a test has replaced `time.time`."""
    return time.time()


class MemoryDatabase(Database):
    """Tables in memory. Any thread and any event loop may call it, and no call ever waits, except `changed`."""

    file: MemoryFile  # type: ignore[assignment]

    def __init__(self, *, clock: Callable[[], float] = now, content: "MemoryDatabase | None" = None) -> None:
        self._calling = threading.RLock()
        self._kept = clock()
        self._trimmed = self._kept
        self._prepare(clock)
        if content is None:
            self.file = MemoryFile(self._note_commit)
        else:
            with content._calling:
                self.file = MemoryFile(self._note_commit, content.file.connection)
        self._has_namespaces = True

    async def answer(
        self,
        action: Action | None,
        operation: str,
        request: dict[str, Any],
        *,
        view: "NamespaceView | None" = None,
        checked: bool = False,
    ) -> dict[str, Any]:
        # Kept for a whole call, which therefore sees one state, as a read in a file does.
        with self._calling:
            await self._keep_house_now()
            return await super().answer(action, operation, request, view=view, checked=checked)

    def row(self, table: str, key: dict[str, Any]) -> bytes | None:
        with self._calling:
            return super().row(table, key)

    def rows_of(self, table: str, keys: list[dict[str, Any]]) -> dict[int, bytes]:
        with self._calling:
            return super().rows_of(table, keys)

    def near_end(self, table: str, changes: int) -> str | None:
        with self._calling:
            return super().near_end(table, changes)

    def note_seen(self, table: str) -> bool:
        try:
            return super().note_seen(table)
        except RuntimeError:
            return False  # there is no event loop, and so no task that could wait

    async def read_aside(self, work: Callable[..., T], *arguments: Any) -> T:
        return work(*arguments)

    def fill_indexes(self) -> None:
        for name, table in list(self.file.catalog.tables.items()):
            if any(index.is_filling for index in table.indexes):
                run_at_once(backfill(self, name))

    async def _keep_house_now(self) -> None:
        """What a database on disk does in the background, once a second of its clock."""
        at = self.clock()
        if self._closed or int(at) == int(self._kept):
            return
        self._kept = at
        await ttl.sweep(self)
        if abs(at - self._trimmed) > TRIM_SECONDS:
            self._trimmed = at
            await streams.trim(self)

    def reset(self) -> None:
        """Delete every table, stream and token."""
        with self._calling:
            self.file.fill_from(empty_store())

    async def close(self) -> None:
        with self._calling:
            if not self._closed:
                self._closed = True
                self.file.close()
