"""Checks that a backup can be restored, by reading it as it is in its file: nothing is written, not even next to it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import apsw

from potluck.dynamo.storage.backup import STEPS_BETWEEN_REPORTS, said_of
from potluck.dynamo.storage.catalog import check_format, decode
from potluck.dynamo.storage.clean_close import is_marked_open
from potluck.dynamo.storage.rows import unpack
from potluck.dynamo.tables import Table
from potluck.dynamo.values import Item

READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class BackupReader:
    """A backup, opened read-only."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def check(self) -> dict[str, int]:
        """How many items each table has; apsw.CorruptError unless all is whole, and as many as were counted."""
        connection = self._connection
        check_format(connection)
        if is_marked_open(connection):
            raise apsw.CorruptError("it was copied from a store that was in use, without its log")
        problem = connection.execute("PRAGMA integrity_check(1)").get
        if problem != "ok":
            raise apsw.CorruptError(problem)
        counts: dict[str, tuple[int, int]] = {
            of: (items, size) for of, items, size in connection.execute("SELECT of, items, bytes FROM counts")
        }
        tables = list(self._tables())
        stored = {of: f'SELECT count(*), coalesce(sum(size), 0) FROM "{of}"' for of in counts}
        for table in tables:
            for index in table.indexes:
                if index.shows_all:  # what an item takes in such an index is only in the item's own row
                    stored[index.rows] = (
                        f"SELECT count(*), coalesce(sum(t.size), 0) FROM {index.rows} i"
                        f" CROSS JOIN {table.rows} t ON t.key = substr(i.key, i.base)"
                    )
        for of, counted in counts.items():
            there = connection.execute(stored[of]).fetchall()
            if there != [counted]:
                raise apsw.CorruptError(f"{of} has other rows than were counted")
        return {table.name: counts[table.rows][0] for table in tables}

    def files(self) -> dict[str, bytes]:
        """The files that came with the store."""
        if not self._connection.execute("SELECT 1 FROM sqlite_schema WHERE name='kept'").get:
            return {}
        files: Any = self._connection.execute("SELECT name, CAST(content AS BLOB) FROM kept").fetchall()
        return dict(files)

    def item(self, table_name: str, key: Item) -> Item | None:
        """One item, by its key."""
        for table in self._tables():
            if table.name == table_name:
                select = f"SELECT item FROM {table.rows} WHERE key=?"
                blob: Any = self._connection.execute(select, (table.row_key(key),)).get
                return None if blob is None else cast(Item, unpack(blob))
        return None

    def _tables(self) -> Iterator[Table]:
        definitions: list[Any] = self._connection.execute("SELECT definition FROM tables").fetchall()
        for (blob,) in definitions:
            yield Table(decode(blob))


@contextmanager
def reading_backup(path: Path, going_on: Callable[[], None] = lambda: None) -> Iterator[BackupReader]:
    """The backup in this file; StoreUnusable, also from the block, if it is damaged or no store.

    It is read from the disk, not from memory. `going_on` is called repeatedly, and may raise to stop.
    """
    _forget_cached(path)
    with said_of(path):
        # Immutable: SQLite neither locks the file nor looks for a log next to it.
        connection = apsw.Connection(f"file:{quote(str(path.resolve()))}?immutable=1", flags=READ_ONLY)
        try:

            def report() -> bool:
                going_on()
                return False

            connection.set_progress_handler(report, STEPS_BETWEEN_REPORTS)
            yield BackupReader(connection)
        finally:
            connection.close()


def _forget_cached(path: Path) -> None:
    """Have the system read the file again: what it has in memory says nothing about the disk."""
    if not hasattr(os, "posix_fadvise"):
        return
    with suppress(OSError), path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
