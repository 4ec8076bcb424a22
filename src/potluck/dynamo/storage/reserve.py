"""Disk space set aside for a store while its disk is filling up, and released when the disk is full."""

import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

import apsw

from potluck.states import DISK_FULL, Trouble

logger = logging.getLogger(__name__)

MIB = 1 << 20
LARGEST = 32 * MIB
PART_OF_DISK = 0.05
FILLING_UP = 32
"""Space is set aside once less than this many reserves are free; on a disk with plenty of room it is useless."""


def is_full(error: BaseException) -> bool:
    """Whether SQLite ran out of space, in the file, in the log or in the index of the log."""
    return isinstance(error, apsw.FullError) or (
        isinstance(error, apsw.IOError) and getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE
    )


class Reserve:
    """A file next to the store that only takes up space; without `wanted`, there is none."""

    def __init__(self, path: str, *, wanted: bool) -> None:
        self._file = Path(f"{os.path.realpath(path)}-reserve")
        self._wanted = wanted
        self.is_spent = False
        """Whether it was released, by any process, and the disk is still full."""
        self.full = Trouble(DISK_FULL, logger, f"the disk of {self._file.parent} is full")

    def keep(self) -> None:
        """Set the space aside if the disk is filling up and has more than that free."""
        if not self._wanted:
            return
        if self._file.exists():
            self.is_spent = False
            return
        disk = shutil.disk_usage(self._file.parent)
        size = min(LARGEST, int(disk.total * PART_OF_DISK))
        # Twice the size, so that space that was just released is not set aside again at once.
        self.is_spent = disk.free < 2 * size
        if self.is_spent:
            self.full.met("what is left is for deleting and signing in")
            return
        self.full.over()
        if disk.free < FILLING_UP * size:
            with suppress(OSError):
                self._set_aside(size)

    def has_room(self) -> None:
        """Note that a commit found room; unless that was the reserve's, the disk is no longer full."""
        if not self.is_spent:
            self.full.over()

    def _set_aside(self, size: int) -> None:
        descriptor, partial = mkstemp(prefix=f".{self._file.name}-", dir=self._file.parent)
        try:
            try:
                allocate(descriptor, size)
            finally:
                os.close(descriptor)
            os.rename(partial, self._file)
        except OSError:
            os.unlink(partial)
            raise

    def release(self) -> bool:
        """Give the space back; False if there is none."""
        try:
            self._file.unlink()
        except OSError:
            return False
        self.is_spent = True
        self.full.met("its reserve is released, for deleting and signing in")
        return True


def allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    for _ in range(0, size, MIB):
        os.write(descriptor, bytes(MIB))
