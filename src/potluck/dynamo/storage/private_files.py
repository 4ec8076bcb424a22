"""Files for their owner alone: made so from the first byte, put in place whole, and closed where they were open."""

import errno
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

__all__ = ["BESIDE", "close_to_others", "hand_over", "make_private", "open_to", "place", "sync_folder", "write_private"]

logger = logging.getLogger(__name__)

FILE_MODE = 0o600
OTHERS = 0o077
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file, under the file's own name and with the file's own mode."""


def make_private(path: str) -> None:
    """An empty file for its owner alone, unless there is one: SQLite's own choice would be a file for all to read."""
    # Where a link leads to nothing yet, the file is made where it leads, as SQLite would. Whatever is wrong with the
    # folder, SQLite says it better. Never an existing file: to close it would drop the locks that this process has.
    with suppress(OSError):
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def open_to(path: str | os.PathLike[str]) -> int:
    """The mode of a file or folder if others than its owner may do anything with it, else 0."""
    if os.name != "posix":
        return 0
    mode = stat.S_IMODE(os.stat(path).st_mode)
    return mode if mode & OTHERS else 0


def close_to_others(path: str) -> None:
    """Take from others what an earlier version, or whoever copied it, let them do with a file and those beside it."""
    real = os.path.realpath(path)
    for each in (real, *(real + ending for ending in BESIDE)):
        mode = 0
        try:
            mode = open_to(each)
            if mode:
                os.chmod(each, mode & ~OTHERS)
                logger.warning("%s could be read by others (mode %o); from now on it is its owner's alone", each, mode)
        except FileNotFoundError:
            continue
        except PermissionError:
            logger.warning("%s can be read by others (mode %o), and belongs to another user to change", each, mode)


def hand_over(file: Path) -> None:
    """If root made this, give it to whoever has the folder, as SQLite does with what it makes beside a file."""
    if os.name == "posix" and os.geteuid() == 0:
        owner = os.stat(file.parent)
        # Never what a link leads to: whoever has the folder could put one there, and be given any file.
        os.chown(file, owner.st_uid, owner.st_gid, follow_symlinks=False)


def write_private(path: Path, content: bytes) -> None:
    """Make a file of this content, for its owner alone; FileExistsError if there is one."""
    # mkstemp makes it readable to its owner alone, whatever the umask.
    descriptor, partial = mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        place(Path(partial), path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)


def place(partial: Path, path: Path) -> None:
    """Give a file its name, whole and on the disk; FileExistsError if another file has that name."""
    with open(partial, "rb+") as written:
        os.fsync(written.fileno())
    try:
        # A link is refused where a rename would replace what another process has just made.
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links, such as a stick's.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.rename(partial, path)
    else:
        os.unlink(partial)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk too."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
