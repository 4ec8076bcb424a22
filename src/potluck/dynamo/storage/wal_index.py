"""Whether any process has committed, read from SQLite's index of its write-ahead log without a lock or a system call.

The `-shm` file begins with two copies of a 48-byte header (https://sqlite.org/walformat.html), in native byte order. Of
its twelve words these are used:

    0       the version of the format, always 3007000 so far; SQLite opens no file with another
    2       how many transactions were committed, restarting from 0 after a recovery
    3       its first byte is 1 once the header has been written
    4       how many frames of the log are committed
    8, 9    the salts of the log, as they are in its own header
    10, 11  a checksum of the words before

The word after both copies says how many frames have been copied into the file.

SQLite itself compares the header with the last one it saw to tell whether its page cache is still valid. A commit by
any process writes the second copy and then the first before it returns; so does a restart or recovery of the log. A
checkpoint that only copies pages writes neither. While the first copy is unchanged, nothing has been committed.
"""

import mmap
import os
import struct
import threading
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

WORDS = struct.Struct("=12I")
FORMAT_VERSION = 3007000
INITIALISED_AT = 12
COMMITTED_FRAMES = 4
SALTS = slice(32, 40)
COPIED_FRAMES = struct.Struct("=I")
# Enough for both copies, and never more than the file: SQLite creates it with 32 KiB.
MAPPED_BYTES = 4096
WORD = 1 << 32


class IndexedLog(NamedTuple):
    """The log as its index describes it: its salts, its committed frames, and how many of them are in the file too."""

    salts: bytes
    frames: int
    in_file: int


class WalIndex:
    """The WAL index of one file, shared by everything in this process that has the file open."""

    # Closing any descriptor of a file drops all POSIX locks this process holds on it, SQLite's included. So there is
    # one descriptor for each file, closed after the last connection to it.
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
        """The shared index of this file; to be taken before connecting to the file and released after disconnecting."""
        path = os.path.realpath(path)
        with cls._lock:
            index = cls._used.setdefault(path, cls(path))
            index._users += 1
            return index

    def left_behind(self) -> IndexedLog | None:
        """The log as a dead process left it; call it before connecting, which rebuilds the index."""
        with self._lock:
            if self._users > 1:
                return None  # in use in this process
            try:
                with open(f"{self._path}-shm", "rb") as index:
                    content = index.read(2 * WORDS.size + COPIED_FRAMES.size)
            except OSError:
                return None
        header = content[: WORDS.size]
        if len(content) < 2 * WORDS.size + COPIED_FRAMES.size or not is_whole(header):
            return None
        (copied,) = COPIED_FRAMES.unpack_from(content, 2 * WORDS.size)
        return IndexedLog(header[SALTS], WORDS.unpack(header)[COMMITTED_FRAMES], copied)

    def opened(self) -> "WalIndex | None":
        """The index, ready to read once a connection has read the file; None if there is nothing to map."""
        name = f"{self._path}-shm"
        with self._lock:
            try:
                if self._descriptor is None:
                    self._descriptor = os.open(name, os.O_RDONLY)
                if not self._mapped:
                    self._map = mmap.mmap(self._descriptor, MAPPED_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)
                    self._mapped = True
                # If an open store was removed and another created, the name now belongs to a different file.
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
        """The first copy, perhaps half written; if it is unchanged, no commit has returned since."""
        return self._map[: WORDS.size]

    def header(self) -> bytes | None:
        """The header; None while it is being written, or if its format is unknown."""
        both = self._map[: 2 * WORDS.size]
        header = both[: WORDS.size]
        return header if header == both[WORDS.size :] and is_whole(header) else None


def is_whole(header: bytes) -> bool:
    """Whether the header has the known format and a valid checksum."""
    words = WORDS.unpack(header)
    if words[0] != FORMAT_VERSION or header[INITIALISED_AT] != 1:
        return False
    return words[10:] == checksum(words[:10])


def checksum(words: Sequence[int]) -> tuple[int, int]:
    """SQLite's checksum of a header, in the log and in its index."""
    one = two = 0
    for at in range(0, len(words), 2):
        one += words[at] + two
        two += words[at + 1] + one
    return one % WORD, two % WORD


def commits_between(one: bytes, other: bytes) -> int:
    """How many commits lie between two headers, if the log was not recovered in between."""
    return int(WORDS.unpack(other)[2] - WORDS.unpack(one)[2]) % WORD
