"""One backup: the store and its secret in one file, and the check that it can be restored."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path

from potluck.dynamo.database import Database
from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.backup import Progress
from potluck.dynamo.storage.backup_check import reading_backup
from potluck.people.entities import SecretCheck
from potluck.settings import Settings
from potluck.store import Store
from potluck.web.suite_secret import SECRET_FILE, fits_a_file, is_made_by, load_secret, made_by, made_by_another


async def back_up(settings: Settings, to: Path, progress: Progress | None = None) -> None:
    """Copy the store and its secret to a new file; safe while the suite is running."""
    files = files_of_backup(settings)
    async with await Database.open(settings.file) as database:
        if await made_by(Store(database, lambda: datetime.now(UTC)), files[SECRET_FILE]) is False:
            raise StoreUnusable(made_by_another(settings))
        await database.backup(to, files=files, progress=progress)


def files_of_backup(settings: Settings) -> dict[str, bytes]:
    """What a backup holds besides the store: its secret, without which no store can be used."""
    secret = load_secret(settings)
    if not fits_a_file(secret):
        raise StoreUnusable(
            "POTLUCK_SECRET begins or ends with a space, or is too long for a file, so a backup could not restore it"
        )
    return {SECRET_FILE: secret}


def check_backup(
    path: Path, tables: Collection[str] = (), going_on: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Read a backup from the disk, and return how many items each of its tables has.

    StoreUnusable unless every page is whole, every count is right, these tables are there, and the secret in it is the
    one that the store was made with. `going_on` is called repeatedly, and may raise to stop.
    """
    with reading_backup(path, going_on) as backup:
        items = backup.check()
        missing = sorted(set(tables) - items.keys())
        if missing:
            raise StoreUnusable(f"{path} lacks the tables {', '.join(missing)}")
        secret = backup.files().get(SECRET_FILE)
        if secret is None:
            raise StoreUnusable(f"{path} holds no secret, so its store could not be used")
        recorded = SecretCheck.of_store().request().body
        row = backup.item(recorded["TableName"], recorded["Key"])
        if row is None or not is_made_by(row, secret):
            raise StoreUnusable(f"the secret in {path} does not belong to the store in it")
    return items
