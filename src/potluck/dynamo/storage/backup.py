"""Backups: a store as of one moment in one file, with what has to be kept along with it; and the way back."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

import apsw

from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.catalog import check_format
from potluck.dynamo.storage.private_files import BESIDE, place
from potluck.dynamo.storage.rows import INSERTED, MODIFIED

__all__ = ["Progress", "let_go_of", "restored", "write_backup"]

Progress = Callable[[float], None]
"""Told now and then, on any thread, which part is done."""

STEPS_BETWEEN_REPORTS = 100_000
CACHE_KIB = 2048

LEAP = 1 << 40
"""More changes than any store sees between a backup and the day that it is needed; some millions of leaps fit."""


def write_backup(connection: apsw.Connection, path: Path, kept: Mapping[str, bytes], progress: Progress | None) -> None:
    """Copy the store while others read and write; the copy appears whole or not at all, and never over another file."""
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists already, and a backup never overwrites")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to put {path.name} in")
    with copied(connection, path, progress) as partial:
        with changing(partial) as copy:
            # A store that was a backup's own file has some, perhaps of another time.
            copy.execute("DROP TABLE IF EXISTS kept")
            if kept:
                copy.execute("CREATE TABLE kept(name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID")
                copy.executemany("INSERT INTO kept VALUES (?, ?)", kept.items())
        place(partial, path)


@contextmanager
def restored(backup: Path, path: Path, progress: Progress | None) -> Iterator[tuple[Path, dict[str, bytes]]]:
    """A backup's store in a file beside this path, looked through and ready to be placed there; and what was kept."""
    with said_of(backup):
        source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        with said_of(backup):
            check_format(source)
        with copied(source, path, progress) as partial:
            with said_of(backup):
                kept = made_a_store(partial)
            yield partial, kept
    finally:
        source.close()


def made_a_store(partial: Path) -> dict[str, bytes]:
    """Take out of a copied backup what was kept with the store, and let its streams go on where nobody has been."""
    with changing(partial) as copy:
        # A store has none of them. Whoever made this up would have them act with every write from now on.
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage=0").get:
            raise apsw.CorruptError("it has views, triggers or virtual tables")
        kept: dict[str, bytes] = {}
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE name='kept'").get:
            kept = dict(copy.execute("SELECT name, CAST(content AS BLOB) FROM kept"))
            copy.execute("DROP TABLE kept")
        for (number,) in copy.execute("SELECT number FROM streams").fetchall():
            # In a file that was made up it may be any text, and becomes a part of statements.
            if not isinstance(number, int):
                raise apsw.CorruptError("a stream has no number")
            leap(copy, f"changes_{number}")
        found = copy.execute("PRAGMA integrity_check(1)").get
        if found != "ok":
            raise apsw.CorruptError(found)
    return kept


@contextmanager
def changing(partial: Path) -> Iterator[apsw.Connection]:
    """A connection to a copy that nobody else knows of yet; what is deleted from it cannot be read from the file."""
    copy = apsw.Connection(str(partial))
    try:
        copy.execute("PRAGMA secure_delete=ON").fetchall()
        with copy:
            yield copy
    finally:
        copy.close()


@contextmanager
def said_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """What SQLite finds wrong with a file, in words for whoever asked for a copy of it."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreUnusable(f"there is not enough room for a copy of {path}") from error
    except apsw.CantOpenError as error:
        raise StoreUnusable(f"{path} cannot be opened") from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        raise StoreUnusable(f"{path} is damaged, or no store at all: {error}") from error


def leap(copy: apsw.Connection, log: str) -> None:
    """Tell the last change once more, by a number that is beyond all that were given out after the backup.

    Else new changes would have those numbers, and whoever had read that far before would never be told of them.
    """
    copy.execute(
        f"INSERT INTO {log} SELECT sequence + ?, at, iif(kind=?, ?, kind), key, new, iif(kind=?, new, old) FROM {log}"
        " ORDER BY sequence DESC LIMIT 1",
        (LEAP, INSERTED, MODIFIED, INSERTED),
    )


@contextmanager
def copied(connection: apsw.Connection, path: Path, progress: Progress | None) -> Iterator[Path]:
    """A copy beside this path, for its owner alone; it is gone afterwards unless it was put in place."""
    descriptor, partial = mkstemp(prefix=f"{path.name}-", suffix=".partial", dir=path.parent)
    os.close(descriptor)
    try:
        # Everything is read once, and written as it comes: a copy that waits in memory is one whose size tells nothing.
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
        for each in (partial, *(partial + ending for ending in BESIDE)):
            with suppress(FileNotFoundError):
                os.unlink(each)


def report_on(connection: apsw.Connection, partial: str, progress: Progress) -> None:
    pages = connection.execute("PRAGMA page_count").get - connection.execute("PRAGMA freelist_count").get
    expected = pages * connection.execute("PRAGMA page_size").get

    def report() -> bool:
        progress(min(os.stat(partial).st_size / max(expected, 1), 1.0))
        return False

    connection.set_progress_handler(report, STEPS_BETWEEN_REPORTS)


def let_go_of(path: Path) -> None:
    """Make sure that no process has this store open, and that all of it is in the one file; StoreUnusable if not."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # The one change of mode for which SQLite must be alone; the log is then part of the file, and gone.
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        finally:
            connection.close()
    except apsw.BusyError as error:
        raise StoreUnusable(f"{path} is in use: stop Potluck first, with all its workers") from error
    except (apsw.CorruptError, apsw.NotADBError):
        return  # nobody can use it, and to replace it is what backups are for
