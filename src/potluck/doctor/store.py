"""The embedded store: its pages, its tables, its secret, and the clock that its changes were written by."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from potluck.aws.verification import differences
from potluck.doctor.diagnoses import Diagnosis, note, ok, problem
from potluck.dynamo.storage.backup import STEPS_BETWEEN_REPORTS
from potluck.moving.unfinished_imports import UNFINISHED, UnfinishedImport
from potluck.people.entities import Administration, SecretCheck, accounts
from potluck.settings import Settings, SettingsError
from potluck.store import Store
from potluck.table.tables import Table
from potluck.web.suite_secret import SECRET_FILE, load_secret, made_by, made_by_another

RESTORE = "keep the folder as it is, and restore the latest backup (`potluck restore FILE --replace`)"
# Clocks of one machine do not differ; a second was rounded at most.
BEHIND_SECONDS = 2.0


async def about_store(settings: Settings, store: Store, tables: Sequence[Table]) -> list[Diagnosis]:
    """What the store itself says, by a few reads."""
    if await UnfinishedImport(store).mark() is not None:
        return [problem("tables", UNFINISHED)]
    diagnoses = [*about_secret(settings, await _is_ours(settings, store))]
    different = await differences(store.engine, tables)
    missing = {difference.table for difference in different}
    if different:
        names = ", ".join(sorted(missing))
        diagnoses.append(problem("tables", f"{names} are not as this version needs them: start `potluck serve` once"))
    else:
        diagnoses.append(ok("tables", f"{len(tables)} tables match their design"))
    if accounts.name not in missing:
        diagnoses += await about_admins(store)
    return diagnoses


async def about_admins(store: Store) -> list[Diagnosis]:
    """Whether anyone looks after the people here."""
    row = await store.get(Administration.of_store())
    made = await store.get(SecretCheck.of_store())
    if row is None and (made is None or made.has_admins):
        return [ok("admins", "no one has an account yet; the first one becomes an admin's")]
    # Without the row, the store is from before there were admins.
    if row is None or row.admins == 0:
        return [note("admins", "no one is an admin: `potluck people promote EMAIL` makes someone one")]
    return [ok("admins", "1 admin" if row.admins == 1 else f"{row.admins} admins")]


async def _is_ours(settings: Settings, store: Store) -> bool | str | None:
    """Whether the store was made with the configured secret, None if it records none; or why there is no secret."""
    if settings.secret is None and not (settings.data / SECRET_FILE).exists():
        return (
            f"there is no secret: it was in POTLUCK_SECRET or in {settings.data / SECRET_FILE}. Set it or put it back; "
            "`potluck restore` takes it from a backup"
        )
    try:
        return await made_by(store, load_secret(settings))
    except SettingsError as wrong:
        return str(wrong)


def about_secret(settings: Settings, is_ours: bool | str | None) -> Iterator[Diagnosis]:
    match is_ours:
        case str():
            yield problem("secret", is_ours)
        case False:
            yield problem("secret", made_by_another(settings))
        case None:
            yield note("secret", "the store does not record its secret yet: start `potluck serve` once")
        case _:
            yield ok("secret", "it is the one that the store was made with")


def about_pages(file: Path, progress: Callable[[float], None]) -> Iterator[Diagnosis]:
    """Whether every page can be read, and the clock is not behind the latest change; for a store that is open."""
    if file.with_name(f"{file.name}-damaged").exists():
        yield problem("store", f"damage was found in {file} while Potluck ran: {RESTORE}")
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:

        def report() -> bool:
            progress(0.0)
            return False

        connection.set_progress_handler(report, STEPS_BETWEEN_REPORTS)
        said = connection.execute("PRAGMA quick_check(1)").get
        if said == "ok":
            yield ok("store", f"every page of {file} can be read")
        else:
            yield problem("store", f"{file} is damaged ({said}): {RESTORE}")
        yield from _clock(connection)
    except apsw.Error as error:
        yield problem("store", f"{file} is damaged ({error}): {RESTORE}")
    finally:
        connection.close()


def _clock(connection: apsw.Connection) -> Iterator[Diagnosis]:
    """Whether the clock is behind the store's latest change: then it was set back, or was wrong before."""
    latest = 0.0
    streams: list[Any] = connection.execute("SELECT number FROM streams").fetchall()
    for (number,) in streams:
        at: Any = connection.execute(f"SELECT at FROM changes_{int(number)} ORDER BY sequence DESC LIMIT 1").get
        latest = max(latest, float(at or 0.0))
    now = datetime.now(UTC).timestamp()
    if latest > now + BEHIND_SECONDS:
        yield problem(
            "clock",
            f"it is {_in_words(latest - now)} behind the store's latest change: set it, and keep it right with a time "
            "service such as chrony",
        )
    elif latest:
        changed = datetime.fromtimestamp(latest, UTC)
        yield ok("clock", f"it is ahead of the store's latest change, of {changed:%Y-%m-%d %H:%M} UTC")
    else:
        yield ok("clock", "the store has no change in its logs to compare it with")


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
