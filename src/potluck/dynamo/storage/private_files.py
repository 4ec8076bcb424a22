"""Private files: created so that only their owner can access them, moved into place atomically."""

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
COMPANION_SUFFIXES = ("-wal", "-shm", "-journal", "-damaged")
"""The suffixes of the other files of a store: SQLite's, which have its mode, and the note of damage."""


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
    """Revoke other users' access to a file and its companions, left by an earlier version or by a copy."""
    real = os.path.realpath(path)
    for file in (real, *(real + ending for ending in COMPANION_SUFFIXES)):
        mode = 0
        try:
            mode = open_to(file)
            if mode:
                os.chmod(file, mode & ~OTHERS)
                logger.warning("other users could read %s (mode %o); now only its owner can", file, mode)
        except FileNotFoundError:
            continue
        except PermissionError:
            logger.warning("other users can read %s (mode %o), and only its owner can change that", file, mode)


def hand_over(file: Path) -> None:
    """If root created this file, give it to the folder's owner, as SQLite does with its own companion files."""
    if os.name == "posix" and os.geteuid() == 0:
        owner = os.stat(file.parent)
        # Never follow a link: the owner of the folder could plant one, and get any file.
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
