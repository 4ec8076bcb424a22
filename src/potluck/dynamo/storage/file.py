"""The store's one file: its connections, its writer, its checkpoints and its backup."""

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import apsw

from potluck.dynamo.storage.catalog import Catalog, prepare_file
from potluck.dynamo.storage.connection import open_connection
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.storage.writer import Writer

__all__ = ["StoreFile"]

logger = logging.getLogger(__name__)


class StoreFile:
    """An open file; without a path, a temporary one that is gone when closed."""

    def __init__(
        self, path: str | os.PathLike[str] | None, on_commit: Callable[[set[str] | None], None], vfs: str | None = None
    ) -> None:
        self._folder = tempfile.mkdtemp(prefix="potluck-") if path is None else None
        self.path = str(Path(self._folder, "temporary.db")) if self._folder else os.fspath(path or "")
        self._vfs = vfs
        self._durable = path is not None
        self._readers: list[apsw.Connection] = []
        self._local = threading.local()
        self._lock = threading.Lock()
        self._closed = False
        self.catalog = Catalog()
        connection = self._connect(writes=True)
        prepare_file(connection)
        self.catalog.refresh(connection)
        self._checkpoint_due = threading.Event()
        self._checkpoints = threading.Thread(target=self._keep_checkpointing, name="potluck-checkpoints", daemon=True)
        self._checkpoints.start()
        self.writer = Writer(connection, self.catalog, self._checkpoint_due.set, on_commit)

    def _connect(self, *, writes: bool) -> apsw.Connection:
        return open_connection(self.path, vfs=self._vfs, durable=self._durable, writes=writes)

    @property
    def reader(self) -> Rows:
        """The calling thread's own view of the rows."""
        rows: Rows | None = getattr(self._local, "rows", None)
        if rows is None:
            with self._lock:
                if self._closed:
                    raise ValueError("the store is closed")
                connection = self._connect(writes=False)
                self._readers.append(connection)
            rows = self._local.rows = Rows(connection, self.catalog)
        return rows

    def refresh_catalog(self) -> bool:
        """Take notice of tables that another process made or changed; True if there were any."""
        return self.catalog.refresh(self.reader.connection)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a consistent copy while others read and write; it appears whole or not at all."""
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        partial.unlink(missing_ok=True)
        connection = self._connect(writes=True)
        try:
            connection.execute("VACUUM INTO ?", (str(partial),))
        finally:
            connection.close()
        with open(partial, "rb+") as copy:
            os.fsync(copy.fileno())
        os.replace(partial, target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _keep_checkpointing(self) -> None:
        connection = self._connect(writes=True)
        while True:
            self._checkpoint_due.wait()
            self._checkpoint_due.clear()
            if self._closed:
                break
            try:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except apsw.Error:
                logger.exception("a checkpoint failed; the log keeps what it would have moved")
        connection.close()

    def close(self) -> None:
        """Finish the writes under way, then let go of the file."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.writer.close()
        self._checkpoint_due.set()
        self._checkpoints.join()
        for connection in self._readers:
            connection.close()
        self.writer.connection.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
