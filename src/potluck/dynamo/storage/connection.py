"""Connections to the store's file, with every setting that durability rests on read back."""

import time

import apsw

__all__ = ["BUSY_SECONDS", "StoreDamaged", "open_connection"]

BUSY_SECONDS = 60.0
"""How long a writer waits for another process's turn before it gives up."""

PAGE_BYTES = 4096
CACHE_KIB = 32 * 1024
MAPPED_BYTES = 1 << 30


class StoreDamaged(Exception):
    """The file cannot be used as a store; the message says why."""


def open_connection(path: str, *, vfs: str | None = None, durable: bool = True, writes: bool) -> apsw.Connection:
    """A connection in WAL mode; a durable one syncs the log before a commit is answered."""
    connection = apsw.Connection(path, vfs=vfs, statementcachesize=512)
    connection.set_busy_handler(wait_for_turn)
    set_pragma(connection, "page_size", PAGE_BYTES, verify=False)  # has no effect on a file that has pages already
    use_write_ahead_log(connection)
    set_pragma(connection, "synchronous", 2 if durable else 0)
    set_pragma(connection, "fullfsync", 1 if durable else 0)
    set_pragma(connection, "checkpoint_fullfsync", 1 if durable else 0)
    set_pragma(connection, "cache_size", -CACHE_KIB)
    set_pragma(connection, "temp_store", 2)
    set_pragma(connection, "mmap_size", MAPPED_BYTES, verify=False)  # a file system or VFS may not map at all
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
    # Two processes that open a new file at once race for this switch, and SQLite does not wait there by itself.
    for attempt in range(1000):
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").get
        except apsw.BusyError:
            if not wait_for_turn(attempt):
                raise
        else:
            if mode != "wal":
                raise StoreDamaged(f"this file system does not allow a write-ahead log (journal mode is {mode})")
            return
    raise StoreDamaged("another process holds the store's file and does not let go")


def set_pragma(connection: apsw.Connection, name: str, value: int, *, verify: bool = True) -> None:
    """Set one thing and read it back: a setting that was skipped silently would be a durability bug."""
    connection.execute(f"PRAGMA {name}={value}").fetchall()
    if verify:
        found = connection.execute(f"PRAGMA {name}").get
        if found != value:
            raise StoreDamaged(f"SQLite did not take {name}={value}, it says {found}")
