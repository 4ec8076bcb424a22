"""Creates a store's file atomically, so that an empty or incomplete file is never one of ours."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

import apsw

from potluck.dynamo.storage.catalog import prepare_file
from potluck.dynamo.storage.connection import open_connection, transaction
from potluck.dynamo.storage.private_files import COMPANION_SUFFIXES, make_private, sync_folder


def create_file(path: str) -> None:
    """Create the store unless there is a file; without hard links, SQLite creates it."""
    # A dangling link is followed, as SQLite would.
    real = Path(os.path.realpath(path))
    if os.path.lexists(real):
        return
    # An error is left to SQLite, which explains a bad folder better.
    with suppress(OSError):
        descriptor, partial = mkstemp(prefix=f".{real.name}-", dir=real.parent)
        os.close(descriptor)
        try:
            write_new_store(partial)
            with open(partial, "rb+") as written:
                os.fsync(written.fileno())
            with suppress(FileExistsError):  # another process was faster
                os.link(partial, real)
            sync_folder(real.parent)
            return
        finally:
            for file in (partial, *(partial + ending for ending in COMPANION_SUFFIXES)):
                with suppress(FileNotFoundError):
                    os.unlink(file)
    make_private(path)


def write_new_store(partial: str) -> None:
    # Synced only when complete: until then, no other process uses it.
    connection = open_connection(partial, durable=False, writes=True)
    try:
        with transaction(connection):
            prepare_file(connection)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    finally:
        connection.close()
