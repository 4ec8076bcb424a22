"""Whether anybody has committed, read from SQLite's own index of its write-ahead log, without a lock or a call.

The `-shm` file begins with a header of 48 bytes, twice (https://sqlite.org/walformat.html), in the machine's own byte
order. Of its twelve words these are used:

    0       the version of the format, 3007000 since there is one; SQLite opens no file with another
    2       how many transactions were committed, counted from 0 again after a recovery
    3       its first byte is 1 once the header was written
    10, 11  a checksum of the words before

SQLite compares the header with the one it knew to see whether what it has read is still true. A commit of any process
writes the second copy and then the first, before it returns; so does a log that begins anew or is recovered. A
checkpoint that only copies pages writes neither. Where the first copy is as it was, nothing was committed in between.
"""

import mmap
import os
import struct
import threading
from typing import ClassVar

__all__ = ["WalIndex", "commits_between"]

WORDS = struct.Struct("=12I")
FORMAT_VERSION = 3007000
INITIALISED_AT = 12
# The header's two copies, and less than the smallest file that has them; SQLite makes it 32 KiB at once.
MAPPED_BYTES = 4096
WORD = 1 << 32


class WalIndex:
    """The index of one file, for all who have the file open in this process."""

    # Closing any descriptor of a file lets go of all locks that this process has on it, SQLite's own among them. So a
    # process has one for each file, and closes it after its last connection to that.
    _used: ClassVar[dict[str, "WalIndex"]] = {}
    _lock = threading.Lock()

    def __init__(self, path: str) -> None:
        self._path = path
        self._users = 0
        self._descriptor: int | None = None
        self._map: mmap.mmap
        self._mapped = False

    @classmethod
    def of(cls, path: str) -> "WalIndex":
        """To be called before the file is connected to, and released after it is not any more."""
        path = os.path.realpath(path)
        with cls._lock:
            index = cls._used.setdefault(path, cls(path))
            index._users += 1
            return index

    def opened(self) -> "WalIndex | None":
        """Ready to be read, while there is a connection that has read the file; None if there is nothing to look at."""
        name = f"{self._path}-shm"
        with self._lock:
            try:
                if self._descriptor is None:
                    self._descriptor = os.open(name, os.O_RDONLY)
                if not self._mapped:
                    self._map = mmap.mmap(self._descriptor, MAPPED_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)
                    self._mapped = True
                # Whoever removes a store that is open and makes another has two files of one name.
                same = os.path.samestat(os.fstat(self._descriptor), os.stat(name))
            except (OSError, ValueError):
                return None
            return self if same else None

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            del self._used[self._path]
            if self._mapped:
                self._map.close()
            if self._descriptor is not None:
                os.close(self._descriptor)

    def first(self) -> bytes:
        """The header as it is being read or written: if it is as it was before, no commit has returned since."""
        return self._map[: WORDS.size]

    def header(self) -> bytes | None:
        """The header; None while it is being written, and if it is none that is known here."""
        both = self._map[: 2 * WORDS.size]
        header = both[: WORDS.size]
        return header if header == both[WORDS.size :] and is_whole(header) else None


def is_whole(header: bytes) -> bool:
    """Whether it is a header of the known format, all of it from one commit."""
    words = WORDS.unpack(header)
    if words[0] != FORMAT_VERSION or header[INITIALISED_AT] != 1:
        return False
    one = two = 0
    for at in (0, 2, 4, 6, 8):
        one += words[at] + two
        two += words[at + 1] + one
    return bool(words[10] == one % WORD and words[11] == two % WORD)


def commits_between(one: bytes, other: bytes) -> int:
    """How many commits made the other header of the one, if the log was not recovered in between."""
    return int(WORDS.unpack(other)[2] - WORDS.unpack(one)[2]) % WORD
