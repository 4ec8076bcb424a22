"""The store's single file: its connections, its writer, its checkpoints and its backup."""

import logging
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

import apsw

from potluck.dynamo.storage.backup import Progress, write_backup
from potluck.dynamo.storage.catalog import Catalog, prepare_file
from potluck.dynamo.storage.clean_close import (
    mark_closed,
    mark_open,
    must_be_whole,
    must_have_its_file,
    must_have_its_log,
    must_have_its_whole_log,
)
from potluck.dynamo.storage.commits import Commits
from potluck.dynamo.storage.connection import open_connection, opening, transaction
from potluck.dynamo.storage.creation import create_file
from potluck.dynamo.storage.damage import DAMAGE, Damage
from potluck.dynamo.storage.private_files import close_to_others, make_private
from potluck.dynamo.storage.reserve import Reserve, is_full
from potluck.dynamo.storage.rows import Rows
from potluck.dynamo.storage.touches import Touches
from potluck.dynamo.storage.wal_index import WalIndex
from potluck.dynamo.storage.writer import OnCommit, Writer
from potluck.states import WORK_FAILING, Trouble

logger = logging.getLogger(__name__)

CLOSING_MILLISECONDS = 1000


class StoreFile:
    """An open file; without a path, a temporary one that is deleted on close, at the latest when Python exits."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        on_commit: OnCommit,
        vfs: str | None = None,
        *,
        reserve: bool = False,
        wal_index: bool = True,
    ) -> None:
        if path is None:
            folder = tempfile.mkdtemp(prefix="potluck-")
            self._delete: Callable[[], object] = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.path = str(Path(folder, "temporary.db"))
        else:
            self._delete = lambda: None
            self.path = os.fspath(path)
        self._vfs = vfs
        self._durable = path is not None
        self._readers: list[apsw.Connection] = []
        self._local = threading.local()
        self._lock = threading.Lock()
        self._closed = False
        self.catalog = Catalog()
        self.damage = Damage(self.path, noted=self._durable)
        self.reserve = Reserve(self.path, wanted=reserve and self._durable)
        self._wal_index = WalIndex.of(self.path)
        try:
            with opening(self.path):
                connection = self._first_connection_with_room()
        except BaseException:
            self._wal_index.release()
            raise
        self._checkpoint_due = threading.Event()
        self._checkpoints = threading.Thread(target=self._keep_checkpointing, name="potluck-checkpoints", daemon=True)
        self._checkpoints.start()
        # Another VFS, as tests use, need not have a WAL index at all.
        index = self._wal_index.opened() if wal_index and vfs is None else None
        self.commits = Commits() if index is None else Touches(index, self.catalog)
        self.writer = Writer(
            connection,
            self.catalog,
            self.commits,
            self.damage,
            self.reserve,
            self._checkpoint_due.set,
            on_commit,
            self._durable,
        )

    def _first_connection_with_room(self) -> apsw.Connection:
        self.reserve.keep()
        try:
            return self._first_connection()
        except apsw.Error as error:
            if not is_full(error) or not self.reserve.release():
                raise
        return self._first_connection()

    def _first_connection(self) -> apsw.Connection:
        # Another VFS need not keep its files where the file system can be asked about them.
        on_disk = self._vfs is None
        if on_disk and self._durable:
            must_have_its_file(self.path)
            create_file(self.path)
            must_have_its_whole_log(self.path, self._wal_index.left_behind())
        elif on_disk:
            make_private(self.path)
        connection = self._connect(writes=True)
        try:
            with transaction(connection):
                if not prepare_file(connection) and on_disk:
                    must_be_whole(connection, self.path)
                    must_have_its_log(connection, self.path)
                self.catalog.refresh(connection)
                marked = self._durable and mark_open(connection)
            if marked:
                # In the file itself, because the log may get lost.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if on_disk:
                # Only once it is known to be a store: any other file is left as it was.
                close_to_others(self.path)
        except BaseException:
            connection.close()
            raise
        return connection

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
        """Pick up tables that another process created or changed; True if there were any."""
        return self.catalog.refresh(self.reader.connection)

    def backup(self, path: Path, files: Mapping[str, bytes], progress: Progress | None) -> None:
        """Write a consistent copy while others read and write."""
        with opening(self.path):
            connection = self._connect(writes=True)
        try:
            write_backup(connection, path, files, progress)
        finally:
            connection.close()

    def _keep_checkpointing(self) -> None:
        connection = self._connect(writes=True)
        failing = Trouble(WORK_FAILING, logger, "a checkpoint failed; the log still has its pages", level=logging.ERROR)
        while True:
            self._checkpoint_due.wait()
            self._checkpoint_due.clear()
            if self._closed:
                break
            try:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except DAMAGE as error:
                self.damage.noticed(error)
            except apsw.Error as error:
                if is_full(error):
                    self.reserve.full.met(error, traceback=False)
                else:
                    failing.met(error)
            else:
                failing.over()
        connection.close()

    def close(self) -> None:
        """Finish pending writes, then close the file."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.writer.close()
        self._checkpoint_due.set()
        self._checkpoints.join()
        for connection in self._readers:
            connection.close()
        self._close_cleanly(self.writer.connection)
        self.damage.trouble.forget()
        self.reserve.full.forget()
        self._wal_index.release()
        self._delete()

    def _close_cleanly(self, connection: apsw.Connection) -> None:
        """Mark the file as closed, then merge the log into it, unless other connections are left."""
        try:
            if self._durable:
                connection.set_busy_timeout(CLOSING_MILLISECONDS)
                with transaction(connection):
                    mark_closed(connection)
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        except apsw.BusyError:
            pass  # another process is writing, and will mark it when it closes
        except apsw.Error:
            logger.warning("%s was not closed cleanly; its log stays and is read at the next start", self.path)
        connection.close()
