"""Backups of the store and its secret in one file, restoring them, and replacing a secret that was lost."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from potluck.dynamo.database import Database
from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.backup import Progress, let_go_of, restored
from potluck.dynamo.storage.private_files import BESIDE, hand_over, place, sync_folder
from potluck.engines import open_engine
from potluck.people.entities import accounts
from potluck.settings import Settings
from potluck.store import Store
from potluck.web.suite_secret import (
    SECRET_FILE,
    accept_secret,
    fits_a_file,
    load_secret,
    made_by,
    made_by_another,
    make_secret,
    must_not_be_empty,
)

__all__ = ["WITH_ANOTHER_SECRET", "accept_new_secret", "back_up", "restore"]

WITH_ANOTHER_SECRET = """\
A store knows by its secret who has voted. With another one:
  - everybody who has voted in a poll that is open can vote there once more, and both votes count;
  - codes that were handed out for polls are good no longer: hand out new ones;
  - lists that are read in parts, and pages that show changes live, begin anew once;
  - a request that is sent again under its Idempotency-Key is refused, for a day.
Accounts, passwords, sessions, API tokens and invitations stay good, and so do the keys by which people manage their
polls and change their votes."""


async def back_up(settings: Settings, to: Path, progress: Progress | None = None) -> None:
    """Copy the store and its secret to a new file; safe while the suite is running."""
    secret = load_secret(settings)
    if not fits_a_file(secret):
        raise StoreUnusable(
            "POTLUCK_SECRET begins or ends with a space, or is too long for a file, so a backup could not bring it back"
        )
    async with _store(settings, settings.file) as store:
        if await made_by(store, secret) is False:
            raise StoreUnusable(made_by_another(settings))
    async with await Database.open(settings.file) as database:
        await database.backup(to, kept={SECRET_FILE: secret}, progress=progress)


async def restore(
    settings: Settings, backup: Path, *, replace: bool = False, progress: Progress | None = None
) -> tuple[Path | None, bool]:
    """Restore a backup, checked before it is put in place.

    Existing files are never overwritten; `replace` moves them aside. Returns the folder they were moved to, and whether
    the backup contained the secret.
    """
    file, secret_file = settings.file, settings.data / SECRET_FILE
    in_the_way = _there(file, *(Path(f"{file}{ending}") for ending in BESIDE))
    if in_the_way and not replace:
        raise StoreUnusable(
            f"{in_the_way[0]} is here already: take another folder (--data), or --replace puts it aside"
        )
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with restored(backup, file, progress) as (partial, kept):
        secret = kept.get(SECRET_FILE)
        if secret is not None:
            if settings.secret is not None and settings.secret.encode() != secret:
                raise StoreUnusable("POTLUCK_SECRET is another secret than the backup's: unset it, and try again")
            async with _store(settings, partial) as store:
                if await made_by(store, secret) is False:
                    raise StoreUnusable(f"the secret in {backup} is not the one of the store in it")
            if _there(secret_file) and secret_file.read_bytes().strip() != secret:
                if not replace:
                    raise StoreUnusable(f"{secret_file} is another secret than the backup's; --replace puts it aside")
                in_the_way.append(secret_file)
        aside = _put_aside(settings, in_the_way)
        if secret is not None:
            # The secret first, so that no store is ever in place without it.
            make_secret(secret_file, secret)
            hand_over(secret_file)
        hand_over(partial)
        place(partial, file)
    return aside, secret is not None


async def accept_new_secret(settings: Settings) -> bool:
    """Bind the store to the configured secret, or to a new one if none is set; False if it already has that one."""
    if settings.engine == "embedded":
        if not settings.file.is_file():
            raise StoreUnusable(f"there is no store at {settings.file}")
        must_not_be_empty(settings)
        async with await Database.open(settings.file):
            pass  # what is damaged is refused before anything is changed
        let_go_of(settings.file)
    if settings.secret is None:
        make_secret(settings.data / SECRET_FILE)
    secret = load_secret(settings)
    async with _store(settings, settings.file) as store:
        if await made_by(store, secret):
            return False
        await store.create_tables(accounts)
        await accept_secret(store, secret)
    return True


@asynccontextmanager
async def _store(settings: Settings, file: Path) -> AsyncIterator[Store]:
    engine = await open_engine(
        settings.engine,
        path=file,
        region=settings.region,
        endpoint=settings.endpoint,
        prefix=settings.table_prefix,
    )
    try:
        yield Store(engine, lambda: datetime.now(UTC))
    finally:
        await engine.close()


def _there(*files: Path) -> list[Path]:
    return [each for each in files if os.path.lexists(each)]


def _put_aside(settings: Settings, files: list[Path]) -> Path | None:
    """Move these files into a new folder, provided no process has the store open."""
    if not files:
        return None
    if settings.file.exists():
        let_go_of(settings.file)
    aside = settings.data / f"replaced-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    aside.mkdir(mode=0o700)
    for each in reversed(files):
        # Closing the store merged its write-ahead log into the file, so the log may be gone by now.
        with suppress(FileNotFoundError):
            each.rename(aside / each.name)
    sync_folder(aside)
    sync_folder(settings.data)
    return aside
