"""Whether anybody has committed, read from SQLite's own index of its write-ahead log, without a lock or a call.

The first 48 bytes of the `-shm` file are what SQLite itself compares to know whether what it has read is still true
(https://sqlite.org/walformat.html): they are written, twice, by every commit of every process before it returns. Where
they are the same as before, nothing was committed in between.
"""

import mmap
import os
import sys
import threading
from typing import ClassVar

__all__ = ["WalIndex", "commits_between"]

HEADER_BYTES = 48
CHANGES_AT = slice(8, 12)
INITIALISED_AT = 12
MAPPED_BYTES = 4096


class WalIndex:
    """The index of one open file. It may be read until it is released, after the file's connections are closed."""

    # Closing any descriptor of a file lets go of all locks that this process has on it, SQLite's own among them. So a
    # process has one for each file, and closes it after its last connection.
    _open: ClassVar[dict[str, "WalIndex"]] = {}
    _lock = threading.Lock()

    def __init__(self, path: str) -> None:
        self._path = path
        self._users = 0
        self._descriptor = os.open(f"{path}-shm", os.O_RDONLY)
        self._map = mmap.mmap(self._descriptor, MAPPED_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)

    @classmethod
    def of(cls, path: str) -> "WalIndex | None":
        """The index of a file that has a connection; None where there is none to look at."""
        path = os.path.realpath(path)
        with cls._lock:
            try:
                index = cls._open[path] = cls._open.get(path) or cls(path)
            except (OSError, ValueError):
                return None
            index._users += 1
            return index

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                del self._open[self._path]
                self._map.close()
                os.close(self._descriptor)

    def first(self) -> bytes:
        """The header as it is being read or written: if it is as it was before, no commit has returned since."""
        return self._map[:HEADER_BYTES]

    def header(self) -> bytes | None:
        """The header; None while it is being written."""
        both = self._map[: 2 * HEADER_BYTES]
        header = both[:HEADER_BYTES]
        return header if header == both[HEADER_BYTES:] and header[INITIALISED_AT] else None


def commits_between(one: bytes, other: bytes) -> int:
    """How many commits made the other header of the one, if the log was not recovered in between."""
    before = int.from_bytes(one[CHANGES_AT], sys.byteorder)
    after = int.from_bytes(other[CHANGES_AT], sys.byteorder)
    return (after - before) % (1 << 32)
