"""Damage to a store's file: how it is recognised and reported, and the note that outlives the process."""

import logging
import os
from contextlib import suppress

import apsw
import msgspec

from potluck.dynamo.errors import StoreDamaged
from potluck.dynamo.storage.connection import WHAT_TO_DO
from potluck.states import STORE_DAMAGED, Trouble

logger = logging.getLogger(__name__)

DAMAGE = (apsw.CorruptError, apsw.NotADBError, msgspec.DecodeError, UnicodeDecodeError)
"""SQLite's errors for a malformed page, and the decoder's for a malformed row."""

NOTE = "-damaged"
ADVICE = f"Stop every program that uses it, {WHAT_TO_DO}. Once it is repaired, delete %s"


class Damage:
    """Whether a store is known to be damaged. A note next to the file tells other processes, and the next start."""

    def __init__(self, path: str, *, noted: bool) -> None:
        self._note = f"{os.path.realpath(path)}{NOTE}" if noted else None
        self._noticed = False
        advice = ADVICE % (self._note or "its note")
        self.trouble = Trouble(STORE_DAMAGED, logger, f"{path} is damaged. {advice}", level=logging.ERROR)
        self.look()

    @property
    def known(self) -> bool:
        return self._noticed or (self._note is not None and os.path.exists(self._note))

    def look(self) -> None:
        """Learn of damage that was found before, or by another process, and that the operator has deleted its note."""
        if not self.known:
            self.trouble.over()
        elif not self.trouble.lasts:
            self.trouble.met("it was found before")

    def noticed(self, error: Exception) -> StoreDamaged:
        """Log the damage, leave the note, and return the error that the caller gets."""
        self.trouble.met(error)
        if not self._noticed:
            self._noticed = True
            if self._note is not None:
                # The log line is what counts; a disk that takes no note must not hide the damage.
                with suppress(OSError):
                    descriptor = os.open(self._note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                    try:
                        os.write(descriptor, f"{error}\n".encode())
                    finally:
                        os.close(descriptor)
        return StoreDamaged()
