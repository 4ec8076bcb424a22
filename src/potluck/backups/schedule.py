"""Backups on a schedule: made by the process that has the lease, checked, and only then are older ones removed.

When the next one is due follows from the names in the folder, so it survives restarts and whichever process has the
lease. A failure is a state, is tried again sooner, and is noted in the data folder, where `potluck doctor` finds it.
"""

import asyncio
import json
import logging
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from potluck.backups.backup import check_backup, files_of_backup
from potluck.backups.folder import (
    KeptBackup,
    keep,
    kept_backups,
    remove_all_but,
    remove_left_behind,
    unchecked_path,
)
from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.private_files import write_private
from potluck.engines import Engine, offered_by
from potluck.metrics import BACKUP_AT
from potluck.settings import Settings
from potluck.states import BACKUP_FAILING, Trouble
from potluck.store import Clock
from potluck.streams import Lease

# How often it is looked whether one is due: soon after a clock was set, too.
LOOK_SECONDS = 30.0
RETRY_SECONDS = 600.0
# Left free on a disk that the store is on too: a backup must not be what stops people from writing.
LEFT_FREE = 1_000_000_000, 0.1
FAILURE_FILE = "backup-failed"
# A backup from further ahead was made by a clock that was wrong.
AHEAD = timedelta(minutes=5)

log = logging.getLogger(__name__)

T = TypeVar("T")


class Stopped(Exception):
    """The suite stops, or another process has the lease: what was begun is dropped."""


class Failure(NamedTuple):
    """The last attempt, if it failed."""

    at: datetime
    reason: str


class ScheduledBackups:
    """Makes a backup whenever one is due, while it has the lease."""

    name = "scheduled backups"

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        lease: Lease,
        clock: Clock,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        assert settings.backup.every is not None
        assert settings.backup.to is not None
        self.folder = settings.backup.to
        self._every = timedelta(seconds=settings.backup.every)
        self._settings = settings
        self._engine = engine
        self._lease = lease
        self._clock = clock
        self._monotonic = monotonic
        self._look_seconds = look_seconds
        self._not_before = float("-inf")
        self._stopping = False
        self._failing = Trouble(BACKUP_FAILING, log, "the scheduled backup failed", level=logging.ERROR)

    async def run(self) -> None:
        """Make backups until cancelled."""
        try:
            await self._lease.run(self._keep_backing_up)
        finally:
            self._failing.forget()

    def is_due(self) -> bool:
        """Whether it is time for another; a failure waits a while."""
        if self._monotonic() < self._not_before:
            return False
        now = self._clock()
        latest = next((backup for backup in kept_backups(self.folder) if backup.at <= now + AHEAD), None)
        return latest is None or latest.at + self._every <= now

    async def attempt(self) -> KeptBackup | None:
        """Make one, check it and remove older ones; None if that failed, which is logged and noted."""
        self._stopping = False
        try:
            backup = await self._make()
        except Exception as error:
            self._not_before = self._monotonic() + min(RETRY_SECONDS, self._every.total_seconds())
            known = isinstance(error, StoreUnusable | OSError)
            reason = str(error) if known else f"{type(error).__name__}: {error}"
            self._failing.met(reason if known else error)
            self._note(reason)
            return None
        self._failing.over()
        self._note(None)
        BACKUP_AT.set(backup.at.timestamp())
        return backup

    async def _keep_backing_up(self) -> None:
        latest = next(iter(kept_backups(self.folder)), None)
        if latest is not None:
            BACKUP_AT.set(latest.at.timestamp())
        while True:
            if self.is_due():
                await self.attempt()
            await asyncio.sleep(self._look_seconds)

    async def _make(self) -> KeptBackup:
        at = self._clock().astimezone(UTC).replace(microsecond=0)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_left_behind(self.folder)
        self._must_have_room()
        files = files_of_backup(self._settings)
        tables = (await self._engine.call("ListTables", {}))["TableNames"]
        write: Callable[..., Awaitable[None]] = offered_by(self._engine, "backup")
        path = unchecked_path(self.folder, at)
        await self._to_its_end(write(path, files=files, progress=lambda _: self._must_go_on()))
        await self._to_its_end(asyncio.to_thread(check_backup, path, tables, self._must_go_on))
        kept = KeptBackup(keep(path), at)
        remove_all_but(self.folder, self._settings.backup.keep, kept)
        return kept

    async def _to_its_end(self, work: Awaitable[T]) -> T:
        """Await work in a thread; if we are cancelled, have the thread stop first."""
        task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._stopping = True
            with suppress(Exception):
                await task
            raise

    def _must_go_on(self) -> None:
        if self._stopping:
            raise Stopped

    def _must_have_room(self) -> None:
        """StoreUnusable unless a copy fits, and leaves room for the store where both are on one disk."""
        used: Callable[[], int] = offered_by(self._engine, "used_bytes")
        needed, disk = used(), shutil.disk_usage(self.folder)
        shared = os.stat(self.folder).st_dev == os.stat(self._settings.data).st_dev
        left_free = min(LEFT_FREE[0], int(disk.total * LEFT_FREE[1])) if shared else 0
        if disk.free < needed + left_free:
            raise StoreUnusable(
                f"there is not enough room for a backup in {self.folder}: it takes about {_in_mb(needed)}, and "
                f"{_in_mb(max(0, disk.free - left_free))} may be used. Make room, or set POTLUCK_BACKUP_TO to a folder "
                "on another disk"
            )

    def _note(self, reason: str | None) -> None:
        """Note the failure for `potluck doctor`, or that there is none; as far as the disk allows."""
        path = self._settings.data / FAILURE_FILE
        with suppress(OSError):
            path.unlink(missing_ok=True)
            if reason is not None:
                noted: dict[str, Any] = {"at": self._clock().isoformat(), "reason": reason}
                write_private(path, json.dumps(noted).encode())


def last_failure(data: Path) -> Failure | None:
    """The failure of the last attempt, as noted in the data folder; None if it succeeded or there was none."""
    try:
        noted = json.loads((data / FAILURE_FILE).read_text())
        return Failure(datetime.fromisoformat(noted["at"]), str(noted["reason"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _in_mb(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"
