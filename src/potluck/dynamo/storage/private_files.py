"""Files only their owner can access: created private, moved into place whole, and locked down if they were open."""

import errno
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

logger = logging.getLogger(__name__)

FILE_MODE = 0o600
OTHERS = 0o077
BESIDE = ("-wal", "-shm", "-journal", "-damaged")
"""The suffixes of what belongs to a store: SQLite's files, which have its mode, and the note of damage."""


def make_private(path: str) -> None:
    """Create an empty private file unless one exists; SQLite itself would create it readable by everyone."""
    # A dangling link is followed, as SQLite would. Errors are ignored: SQLite explains a bad folder better. An existing
    # file is never opened: closing it would drop the locks that this process holds on it.
    with suppress(OSError):
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def open_to(path: str | os.PathLike[str]) -> int:
    """The mode of a file or folder if anyone but its owner has any access to it, else 0."""
    if os.name != "posix":
        return 0
    mode = stat.S_IMODE(os.stat(path).st_mode)
    return mode if mode & OTHERS else 0


def close_to_others(path: str) -> None:
    """Revoke other users' access to a file and those beside it, left by an earlier version or by a copy."""
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
    """If root created this file, give it to the folder's owner, much as SQLite does with the files beside its own."""
    if os.name == "posix" and os.geteuid() == 0:
        owner = os.stat(file.parent)
        # Never follow a link: the owner of the folder could plant one, and be given any file.
        os.chown(file, owner.st_uid, owner.st_gid, follow_symlinks=False)


def write_private(path: Path, content: bytes) -> None:
    """Create a private file with this content; FileExistsError if there is one."""
    # mkstemp makes it private whatever the umask.
    descriptor, partial = mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        place(Path(partial), path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)


def place(partial: Path, path: Path) -> None:
    """Sync a finished file and move it to its final name; FileExistsError if that name is taken."""
    with open(partial, "rb+") as written:
        os.fsync(written.fileno())
    try:
        # Linking fails if another process has just created the file; renaming would replace it.
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links, such as a USB stick's.
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.rename(partial, path)
    else:
        os.unlink(partial)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and new names in a folder durable."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
