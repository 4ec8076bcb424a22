"""Connections to the store's file; every setting that durability depends on is read back."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import msgspec

from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.memory_limit import memory_limit

BUSY_SECONDS = 60.0
"""How long a writer waits for another process's lock before it gives up."""

WHAT_TO_DO = (
    "keep the file and those next to it (-wal, -shm) as they are, and restore a backup"
    " (`potluck restore FILE --replace`)"
)
"""The operator's part in repairing a damaged store."""

PAGE_BYTES = 4096
CACHE_BYTES = 32 << 20
MAPPED_BYTES = 1 << 30
CACHE_PART, MAPPED_PART = 64, 32
"""Of the memory that the process may use, at most this part. Each connection has its own: the writer's, that for
checkpoints, and one for each thread that reads. What is mapped of the file is resident, and counts in a container."""


def open_connection(path: str, *, vfs: str | None = None, durable: bool = True, writes: bool) -> apsw.Connection:
    """A connection in WAL mode; a durable one syncs the log before a commit is answered.

    Closing it leaves the log as it is: only a clean close of the store merges it into the file.
    """
    connection = apsw.Connection(path, vfs=vfs, statementcachesize=512)
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.set_busy_handler(wait_for_turn)
        return prepared(connection, durable, writes)
    except BaseException:
        connection.close()
        raise


@contextmanager
def opening(path: str) -> Iterator[None]:
    """Raise SQLite's errors about a file as StoreUnusable, in a sentence for the person who opens it."""
    try:
        yield
    except apsw.CantOpenError as error:
        raise StoreUnusable(f"{path} cannot be opened; its folder must exist and be writable") from error
    except apsw.ReadOnlyError as error:
        raise StoreUnusable(
            f"{path} cannot be written: a store needs its file and its folder to be writable"
        ) from error
    except apsw.FullError as error:
        raise StoreUnusable(f"{path} cannot be opened: its disk is full") from error
    except apsw.BusyError as error:
        raise StoreUnusable(f"{path} cannot be opened: another process keeps it locked") from error
    except apsw.NotADBError as error:
        raise StoreUnusable(
            f"{path} is not a store, nor any SQLite file. If it was a store, it is damaged: {WHAT_TO_DO}"
        ) from error
    except (apsw.Error, msgspec.DecodeError, UnicodeDecodeError) as error:
        # Any other error: the tables of an intact store can be read.
        raise StoreUnusable(f"{path} is damaged ({error}): {WHAT_TO_DO}") from error


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Write in one transaction, as the only writer; rolled back on an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")
        raise


def prepared(connection: apsw.Connection, durable: bool, writes: bool) -> apsw.Connection:
    set_pragma(connection, "page_size", PAGE_BYTES, verify=False)  # has no effect on an existing file
    use_write_ahead_log(connection)
    set_pragma(connection, "synchronous", 2 if durable else 0)
    set_pragma(connection, "fullfsync", 1 if durable else 0)
    set_pragma(connection, "checkpoint_fullfsync", 1 if durable else 0)
    limit = memory_limit()
    set_pragma(connection, "cache_size", -(min(CACHE_BYTES, limit // CACHE_PART) >> 10))
    set_pragma(connection, "temp_store", 2)
    # A file system or VFS may not support mapping.
    set_pragma(connection, "mmap_size", min(MAPPED_BYTES, limit // MAPPED_PART), verify=False)
    if not writes:
        set_pragma(connection, "query_only", 1)
    return connection


def wait_for_turn(attempt: int) -> bool:
    pause = 0.001 if attempt < 20 else 0.005
    waited = attempt * 0.001 if attempt < 20 else 0.02 + (attempt - 20) * 0.005
    if waited > BUSY_SECONDS:
        return False
    time.sleep(pause)
    return True


def use_write_ahead_log(connection: apsw.Connection) -> None:
    # Two processes opening a new file race to switch its mode, and SQLite does not wait for the lock there by itself.
    for attempt in range(1000):
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").get
        except apsw.BusyError:
            if not wait_for_turn(attempt):
                raise
        else:
            if mode != "wal":
                raise StoreUnusable(f"this file system does not allow a write-ahead log (journal mode is {mode})")
            return
    raise StoreUnusable("another process holds the store's file")


def set_pragma(connection: apsw.Connection, name: str, value: int, *, verify: bool = True) -> None:
    """Set a pragma and read it back: one that was silently ignored would be a durability bug."""
    connection.execute(f"PRAGMA {name}={value}").fetchall()
    if verify:
        actual = connection.execute(f"PRAGMA {name}").get
        if actual != value:
            raise StoreUnusable(f"SQLite ignored {name}={value}; the value is {actual}")
