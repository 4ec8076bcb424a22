"""A store in memory, without a file or a thread: writes are made at once, by the thread that asks for them."""

import logging
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import apsw

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.storage.backup import Progress
from potluck.dynamo.storage.catalog import Catalog, prepare_file
from potluck.dynamo.storage.commits import Commits, Place
from potluck.dynamo.storage.damage import Damage
from potluck.dynamo.storage.reserve import Reserve
from potluck.dynamo.storage.rows import Rows, StaleTable
from potluck.dynamo.storage.writer import OnCommit, Work

logger = logging.getLogger(__name__)

NAME = ":memory:"


class MemoryFile:
    """What a `StoreFile` is on disk: the rows, their catalog and their writer."""

    path = NAME

    def __init__(self, on_commit: OnCommit, content: apsw.Connection | None = None) -> None:
        self.connection = apsw.Connection(NAME, statementcachesize=512)
        self.catalog = Catalog()
        self.reader = Rows(self.connection, self.catalog)
        self.commits = MemoryCommits()
        self.damage = Damage(NAME, noted=False)
        self.reserve = Reserve(NAME, wanted=False)
        self.writer = MemoryWriter(self.reader, self.commits, on_commit)
        self.fill_from(content or empty_store())

    def fill_from(self, content: apsw.Connection) -> None:
        """Replace everything in this store by a copy of another one."""
        with COPYING, self.connection.backup("main", content, "main") as copy:
            copy.step(-1)
        self.catalog.refresh(self.connection, undone=True)
        self.commits.ended(committed=True)

    def refresh_catalog(self) -> bool:
        return self.catalog.refresh(self.connection)

    def backup(self, path: Path, files: Mapping[str, bytes], progress: Progress | None) -> NoReturn:
        raise ValueError("a store in memory has no file to back up")

    def close(self) -> None:
        self.connection.close()


class MemoryCommits(Commits):
    """Only this process writes, so its own commits are all there are."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = 0

    def count(self, reader: Rows | None = None) -> int:
        return self._ended

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        return False

    def ended(self, *, committed: bool) -> None:
        self._ended += 1


class MemoryWriter:
    """Does each piece of work in a transaction of its own, before `submit` returns."""

    waiting = 0

    def __init__(self, rows: Rows, commits: Commits, on_commit: OnCommit) -> None:
        self.rows = rows
        self.commits = commits
        self.on_commit = on_commit

    async def submit(self, work: Work) -> Any:
        """Do the work. It never suspends, so a call needs no event loop."""
        rows = self.rows
        rows.execute("BEGIN")
        try:
            result = work(rows)
            rows.save_counts()
            rows.execute("COMMIT")
        except BaseException as error:
            rows.counts.clear()
            rows.stored.clear()
            rows.execute("ROLLBACK")
            if not isinstance(error, DynamoError | StaleTable):
                rows.catalog.refresh(rows.connection, undone=True)
            raise
        stored, rows.stored = rows.stored, []
        if stored:
            self.commits.ended(committed=True)
            for loop, call in self.on_commit(stored) or ():
                loop.call_soon_threadsafe(call)
        return result

    def watch(self) -> None:
        """No other process writes."""

    def unwatch(self) -> None:
        """No other process writes."""


COPYING = threading.Lock()
"""Held while a store is copied: SQLite reads and writes both sides meanwhile."""

_empty: list[apsw.Connection] = []


def empty_store() -> apsw.Connection:
    """A store without tables, made once and then copied, which takes a tenth of the time."""
    with COPYING:
        if not _empty:
            connection = apsw.Connection(NAME)
            prepare_file(connection)
            _empty.append(connection)
    return _empty[0]
