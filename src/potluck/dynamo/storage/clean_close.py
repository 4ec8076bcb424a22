"""Whether a store was closed cleanly, and whether its file and its write-ahead log are complete.

While any process has the store open, a row in the file says so. Opening the store sets it, and moves it from the log
into the file at once; closing the store clears it; a process that keeps the store open sets it again. So:

- A file that says open has a log that is not empty. SQLite syncs the log, and the folder that names it, before it
  copies the row into the file. Connections leave the log alone when they close. Only the last step of a clean close
  merges it, after the row was cleared: a kill or a power cut in between leaves a log that says closed.
- A file that says open and has no log, or one without a valid header, has lost it, and with it the latest writes. It
  is refused. SQLite would take a log without a valid header for an empty one.

A log that was cut short is recognised while SQLite's index of it (`-shm`) still says how long it was. That index is not
synced, but it is updated after the log was, so it never claims more than the log had.
"""

import os
import struct
from typing import NamedTuple

import apsw

from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.connection import WHAT_TO_DO
from potluck.dynamo.storage.wal_index import IndexedLog, checksum

MARK = "open"
LOG_HEADER = struct.Struct(">8I")
# The words of its checksum are in the byte order that the lowest bit of the first word says.
MAGIC = {0x377F0682: "<6I", 0x377F0683: ">6I"}
SALTS = slice(16, 24)
FRAME_HEADER = struct.Struct(">6I")
FRAME_SALTS = slice(8, 16)
RESTORE = "restore a backup (`potluck restore FILE --replace`)"


class LogLost(StoreUnusable):
    """The write-ahead log is missing, or shorter than it was, and the latest writes with it."""


# --- the mark --------------------------------------------------------------------------------------------------------


def is_marked_open(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT last FROM numbers WHERE kind=?", (MARK,)).get)


def mark_open(connection: apsw.Connection) -> bool:
    """Mark the store as open, in the current transaction; False if it is already."""
    if is_marked_open(connection):
        return False
    connection.execute("REPLACE INTO numbers VALUES (?, 1)", (MARK,))
    return True


def mark_closed(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM numbers WHERE kind=?", (MARK,))


# --- before SQLite touches the files ---------------------------------------------------------------------------------


class Frames(NamedTuple):
    """The log's own header: its salts, the size of its pages, and how many frames fit into the log."""

    salts: bytes
    page_bytes: int
    number: int

    @property
    def frame_bytes(self) -> int:
        return FRAME_HEADER.size + self.page_bytes


def must_have_its_file(path: str) -> None:
    """Refuse a log whose store is missing or empty: SQLite would delete it and begin anew."""
    # SQLite treats a file of one byte as empty.
    if size_of(path) <= 1 and log_is_there(path):
        raise StoreUnusable(
            f"{path} is missing or empty, but its write-ahead log {log_of(path)} is here: put the file back, or"
            f" {RESTORE}"
        )


def must_have_its_whole_log(path: str, left: IndexedLog | None) -> None:
    """Refuse a log that is shorter than its index says, unless the file has all of it."""
    if left is None or left.in_file >= left.frames:
        return
    frames = frames_of(path)
    # With other salts the log was restarted since, and the index says nothing about it.
    if frames is not None and frames.salts == left.salts and frames.number < left.frames:
        raise LogLost(
            f"the write-ahead log {log_of(path)} was cut short: it had {left.frames} pages and has {frames.number}, so"
            f" the latest writes are missing. Put the whole file back, or {RESTORE}; `potluck accept-lost-writes` goes"
            " on without them"
        )


# --- in the first transaction ----------------------------------------------------------------------------------------


def must_have_its_log(connection: apsw.Connection, path: str) -> None:
    """Refuse a store that was not closed and whose log is gone, or damaged so that SQLite ignores it."""
    if not is_marked_open(connection):
        return
    if not log_is_there(path):
        raise LogLost(
            f"{path} was not closed, and its write-ahead log {log_of(path)} is missing, so the latest writes may be"
            f" too. Put that file back, or {RESTORE}; `potluck accept-lost-writes` goes on without it, also if another"
            " program has merged it into the store"
        )
    if not log_has_its_header(path):
        raise LogLost(
            f"{path} was not closed, and its write-ahead log {log_of(path)} is damaged, so the latest writes cannot be"
            f" read. Put that file back as it was, or {RESTORE}; `potluck accept-lost-writes` goes on without it"
        )


def must_be_whole(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that is shorter than its header says, unless the log has the rest; call it while writing."""
    there = size_of(path) // int(connection.execute("PRAGMA page_size").get)
    pages = int(connection.execute("PRAGMA page_count").get)
    if there >= pages:
        return
    missing = set(range(there + 1, pages + 1)) - logged_pages(path)
    if missing:
        raise StoreUnusable(
            f"{path} was cut short: {len(missing)} of its {pages} pages are missing. To rescue what is left,"
            f" {WHAT_TO_DO}"
        )


def log_is_there(path: str) -> bool:
    """Whether there is a log with anything in it; opening a store without one leaves an empty file."""
    return size_of(log_of(path)) > LOG_HEADER.size


def log_has_its_header(path: str) -> bool:
    """Whether the log begins with a header that SQLite accepts; otherwise it reads nothing of the log."""
    with open(log_of(path), "rb") as log:
        header = log.read(LOG_HEADER.size)
    magic, *_, one, two = LOG_HEADER.unpack(header)
    words = MAGIC.get(magic)
    return words is not None and checksum(struct.unpack_from(words, header)) == (one, two)


def log_of(path: str) -> str:
    """The path of the log: next to the file itself, not next to a link to it."""
    return os.path.realpath(path) + "-wal"


def size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def frames_of(path: str) -> Frames | None:
    try:
        # Unlike the store's own file, SQLite holds no locks on the log that closing it here would drop.
        with open(log_of(path), "rb") as log:
            header = log.read(LOG_HEADER.size)
            size = os.fstat(log.fileno()).st_size
    except FileNotFoundError:
        return None
    if len(header) < LOG_HEADER.size:
        return None
    frames = Frames(header[SALTS], LOG_HEADER.unpack(header)[2], 0)
    return frames._replace(number=(size - LOG_HEADER.size) // frames.frame_bytes)


def logged_pages(path: str) -> set[int]:
    """The numbers of the pages that the log has, of those frames that belong to it."""
    frames = frames_of(path)
    if frames is None:
        return set()
    pages = set()
    with open(log_of(path), "rb") as log:
        for number in range(frames.number):
            log.seek(LOG_HEADER.size + number * frames.frame_bytes)
            header = log.read(FRAME_HEADER.size)
            if header[FRAME_SALTS] != frames.salts:
                break
            pages.add(FRAME_HEADER.unpack(header)[0])
    return pages
