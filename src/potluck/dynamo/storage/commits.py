"""Counts commits by any process, so that callers know whether a cached read is current."""

import threading
from collections.abc import Iterable

import apsw

from potluck.dynamo.errors import NotPlain
from potluck.dynamo.storage.rows import Rows, Stored

Place = tuple[str, str | None, str | None]
"""A table, an index or None for the table itself, and a partition or None for the whole table."""

EVERYWHERE: Place = ("", None, None)


class Commits:
    """Asks SQLite by PRAGMA data_version whether others have committed; what a commit touched is not known."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._versions: dict[apsw.Connection, int] = {}

    def count(self, reader: Rows | None = None) -> int:
        """How many commits have been seen; NotPlain if there may be more and there is no reader to account for them."""
        if reader is None:
            raise NotPlain
        version = int(reader.execute("PRAGMA data_version").get)
        with self._lock:
            # Each connection has its own versions, so one commit may count several times.
            if self._versions.get(reader.connection) != version:
                self._versions[reader.connection] = version
                self._count += 1
            return self._count

    def untouched(self, places: Iterable[Place], since: int) -> bool:
        """Whether certainly nothing was written to any of these places after that count."""
        return False

    def begin(self, rows: Rows) -> None:
        """Account for other processes' commits; call it in a write transaction, so that they cannot make more."""

    def coming(self, stored: list[Stored]) -> None:
        """Announce that the transaction is about to be committed, with these changes."""

    def ended(self, *, committed: bool) -> None:
        """Note that the transaction was committed or rolled back."""

    def doubt(self) -> None:
        """Discard what is known: from now on, every table counts as written."""
