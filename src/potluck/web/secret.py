"""The suite's own secret: given, or made once in the data folder; what is sealed with it is sealed for every worker."""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from potluck.settings import SHORTEST_SECRET, Settings, SettingsError

__all__ = ["SECRET_FILE", "derived", "load_secret"]

SECRET_FILE = "secret"
SECRET_BYTES = 32
# For its owner alone.
FILE_MODE = 0o600
FOLDER_MODE = 0o700
# Longer than any secret; whatever is in the file, no more of it is read.
LONGEST_FILE = 4096


def load_secret(settings: Settings) -> bytes:
    """At least 32 bytes that nobody else knows: those of the setting, else those of the file, made if need be.

    Of several processes that start at once, one makes the file and all have the same. Several machines have each their
    own data folder, so there the setting must give it.
    """
    if settings.secret is not None:
        return settings.secret.encode()
    file = settings.data / SECRET_FILE
    try:
        return _read(file)
    except FileNotFoundError:
        _make(file)
    return _read(file)


def derived(secret: bytes, purpose: str) -> bytes:
    """Another secret of 32 bytes, for one purpose alone: knowing it tells neither the first nor any other."""
    return hmac.digest(secret, b"potluck " + purpose.encode(), "sha256")


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        mode = os.fstat(opened.fileno()).st_mode & 0o777
        # Not repaired in passing: whoever could read it may have, and only the operator can tell.
        if os.name == "posix" and mode & 0o077:
            raise SettingsError(
                f"{file} may be read by others than its owner (mode {mode:o}): delete it, and another is made, "
                "or set POTLUCK_SECRET; if nobody has read it, chmod 600 is enough"
            )
        secret = opened.read(LONGEST_FILE).strip()
    if len(secret) < SHORTEST_SECRET:
        raise SettingsError(f"{file} holds no secret of at least {SHORTEST_SECRET} characters: delete it to make one")
    return secret


def _make(file: Path) -> None:
    """Whole or not at all, and never over one that is there."""
    file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    # mkstemp makes it readable to its owner alone, whatever the umask.
    descriptor, name = mkstemp(prefix=f".{file.name}-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(secrets.token_hex(SECRET_BYTES).encode() + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        # A link is refused where a rename would replace what another process has just made.
        with suppress(FileExistsError):
            os.link(name, file)
            _sync(file.parent)
    finally:
        os.unlink(name)


def _sync(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
