"""Backups: a snapshot of a store in one file, with the small files that belong to it; and restoring one."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

import apsw

from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.catalog import check_format
from potluck.dynamo.storage.clean_close import (
    LogLost,
    is_marked_open,
    log_is_there,
    mark_closed,
    must_have_its_log,
    must_have_its_whole_log,
)
from potluck.dynamo.storage.private_files import COMPANION_SUFFIXES, place
from potluck.dynamo.storage.rows import INSERTED, MODIFIED
from potluck.dynamo.storage.wal_index import WalIndex

Progress = Callable[[float], None]
"""Called repeatedly, on any thread, with the fraction that is done."""

STEPS_BETWEEN_REPORTS = 100_000
CACHE_KIB = 2048

LEAP = 1 << 40
"""More changes than any store sees between a backup and its restore; sequences have room for millions of leaps."""


def write_backup(
    connection: apsw.Connection, path: Path, files: Mapping[str, bytes], progress: Progress | None
) -> None:
    """Copy the store while others read and write; the copy appears complete or not at all, and replaces no file."""
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists already, and a backup never overwrites a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to put {path.name} in")
    with copied(connection, path, progress) as partial:
        with changing(partial) as copy:
            mark_closed(copy)
            # A backup that was opened directly as a store still has this table, perhaps out of date.
            copy.execute("DROP TABLE IF EXISTS kept")
            if files:
                copy.execute("CREATE TABLE kept(name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID")
                copy.executemany("INSERT INTO kept VALUES (?, ?)", files.items())
        place(partial, path)


@contextmanager
def restored(backup: Path, path: Path, progress: Progress | None) -> Iterator[tuple[Path, dict[str, bytes]]]:
    """The store of a backup, checked and ready to be moved to this path, and the files that came with it."""
    with said_of(backup):
        source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        with said_of(backup):
            check_format(source)
            # A file copied from a running store without its log is not a backup.
            must_have_its_log(source, str(backup))
        with copied(source, path, progress) as partial:
            with said_of(backup):
                files = made_a_store(partial)
            yield partial, files
    finally:
        source.close()


def made_a_store(partial: Path) -> dict[str, bytes]:
    """Turn a copied backup into a store: remove its extra files, and move its streams past every reader."""
    with changing(partial) as copy:
        # A genuine store has none of these; the triggers of a forged one would run with every write from now on.
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage=0").get:
            raise apsw.CorruptError("it has views, triggers or virtual tables")
        mark_closed(copy)
        files: dict[str, bytes] = {}
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE name='kept'").get:
            files = dict(copy.execute("SELECT name, CAST(content AS BLOB) FROM kept"))
            copy.execute("DROP TABLE kept")
        for (number,) in copy.execute("SELECT number FROM streams").fetchall():
            # In a forged file it could be any text, and it becomes part of SQL statements.
            if not isinstance(number, int):
                raise apsw.CorruptError("a stream has no number")
            leap(copy, f"changes_{number}")
        problem = copy.execute("PRAGMA integrity_check(1)").get
        if problem != "ok":
            raise apsw.CorruptError(problem)
    return files


@contextmanager
def changing(partial: Path) -> Iterator[apsw.Connection]:
    """A connection to a copy that is still private; what it deletes is overwritten in the file."""
    copy = apsw.Connection(str(partial))
    try:
        copy.execute("PRAGMA secure_delete=ON").fetchall()
        with copy:
            yield copy
    finally:
        copy.close()


@contextmanager
def said_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise SQLite's errors about a file as StoreUnusable, in words for the person who makes the copy."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreUnusable(f"there is not enough room for a copy of {path}") from error
    except apsw.CantOpenError as error:
        raise StoreUnusable(f"{path} cannot be opened") from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        raise StoreUnusable(f"{path} is damaged, or not a store: {error}") from error


def leap(copy: apsw.Connection, log: str) -> None:
    """Repeat the last change under a sequence number beyond any that was issued after the backup.

    Otherwise new changes would reuse those numbers, and a reader that was already past them would miss the changes.
    """
    copy.execute(
        f"INSERT INTO {log} SELECT sequence + ?, at, iif(kind=?, ?, kind), key, new, iif(kind=?, new, old) FROM {log}"
        " ORDER BY sequence DESC LIMIT 1",
        (LEAP, INSERTED, MODIFIED, INSERTED),
    )


@contextmanager
def copied(connection: apsw.Connection, path: Path, progress: Progress | None) -> Iterator[Path]:
    """A private copy next to this path, deleted afterwards unless it was moved into place."""
    descriptor, partial = mkstemp(prefix=f"{path.name}-", suffix=".partial", dir=path.parent)
    os.close(descriptor)
    try:
        # Each page is read only once, and progress is the size of the copy, so pages should not wait in a large cache.
        connection.execute(f"PRAGMA cache_size={-CACHE_KIB}").fetchall()
        if progress is not None:
            report_on(connection, partial, progress)
        try:
            with said_of(connection.filename):
                connection.execute("VACUUM INTO ?", (partial,))
        finally:
            connection.set_progress_handler(None)
        yield Path(partial)
    finally:
        for file in (partial, *(partial + ending for ending in COMPANION_SUFFIXES)):
            with suppress(FileNotFoundError):
                os.unlink(file)


def report_on(connection: apsw.Connection, partial: str, progress: Progress) -> None:
    pages = connection.execute("PRAGMA page_count").get - connection.execute("PRAGMA freelist_count").get
    expected = pages * connection.execute("PRAGMA page_size").get

    def report() -> bool:
        progress(min(os.stat(partial).st_size / max(expected, 1), 1.0))
        return False

    connection.set_progress_handler(report, STEPS_BETWEEN_REPORTS)


def let_go_of(path: Path) -> None:
    """StoreUnusable unless no process has this store open and all of it is in the one file."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # Merging the log is a clean close; without the log, the store stays marked as one that lost it.
            with suppress(apsw.SQLError):  # another program's file
                if is_marked_open(connection) and log_is_there(str(path)):
                    mark_closed(connection)
            # Leaving WAL mode needs exclusive access; it moves the log into the file and deletes it.
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        finally:
            connection.close()
    except apsw.BusyError as error:
        raise StoreUnusable(f"{path} is in use: stop Potluck first, with all its workers") from error
    except (apsw.CorruptError, apsw.NotADBError):
        return  # it cannot be in use, and replacing it is what backups are for


def accept_lost_writes(path: Path) -> bool:
    """Allow a store to be opened although its log is lost or cut short; False if nothing is missing.

    The file is checked first, because a log also completes pages that were only half copied into it.
    """
    try:
        lost = is_lost(path)
        if lost:
            with said_of(path):
                connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
                try:
                    problem = connection.execute("PRAGMA integrity_check(1)").get
                    if problem != "ok":
                        raise apsw.CorruptError(problem)
                    mark_closed(connection)
                finally:
                    connection.close()
            let_go_of(path)
    except apsw.BusyError as error:
        raise StoreUnusable(f"{path} is in use: stop Potluck first, with all its workers") from error
    return lost


def is_lost(path: Path) -> bool:
    index = WalIndex.of(str(path))
    try:
        with said_of(path):
            must_have_its_whole_log(str(path), index.left_behind())
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                check_format(connection)
                must_have_its_log(connection, str(path))
            finally:
                connection.close()
    except LogLost:
        return True
    finally:
        index.release()
    return False
