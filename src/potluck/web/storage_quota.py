"""The storage quota: whether the store has room for a write. Strangers are refused first, long before the disk is full.

Half of the budget is reserved for people who are signed in. What frees room is never refused.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from potluck.engines import offered_by
from potluck.metrics import DISK_FREE_BYTES, NO_ROOM, STORE_BUDGET_BYTES
from potluck.people.errors import NoRoom
from potluck.settings import Settings

MB = 1_000_000
# Of the budget.
STRANGERS_SHARE = 0.5
# What must stay free, in bytes or as a part of a small disk: for other programs, the write-ahead log and a backup. The
# last is the least: deleting and signing in need room for the log, whatever the size of the disk.
FREE_FOR_STRANGERS = 1_000 * MB, 0.1, 100 * MB
FREE_FOR_PEOPLE = 200 * MB, 0.02, 50 * MB
# What is written between two measurements is far less than these margins.
MEASURED_EVERY_SECONDS = 1.0


class Measured(NamedTuple):
    """How full the store and its disk are, in bytes; what the store has yet to take of the disk is not free."""

    used: int
    free: int
    disk: int


Measure = Callable[[], Measured]


class StorageQuota:
    """Decides whether the store is too full, for strangers and for people who are signed in."""

    def __init__(
        self,
        budget: int,
        measure: Measure | None = None,
        seconds: Callable[[], float] = time.monotonic,
        is_short: Callable[[], bool] = lambda: False,
    ) -> None:
        """Without `measure`, as for a store that is not on this machine, there is always room.

        `is_short` says that the disk is full, whatever was measured before.
        """
        self._budget = budget
        self._measure = measure
        self._is_short = is_short
        self._seconds = seconds
        self._measured: Measured | None = None
        self._at = 0.0

    def measure(self) -> None:
        """Set the metrics of the disk."""
        if self._measure is not None:
            STORE_BUDGET_BYTES.set(self._budget)
            DISK_FREE_BYTES.set(self._measure().free)

    def must_have_room(self, *, stranger: bool) -> None:
        """Raise NoRoom if the store is too full for a write by such a caller."""
        if self._measure is None:
            return
        now = self._seconds()
        if self._measured is None or now - self._at >= MEASURED_EVERY_SECONDS:
            self._measured, self._at = self._measure(), now
        used, free, disk = self._measured
        share = STRANGERS_SHARE if stranger else 1.0
        margin = FREE_FOR_STRANGERS if stranger else FREE_FOR_PEOPLE
        if used >= self._budget * share or free < least_free(margin, disk) or self._is_short():
            NO_ROOM.add()
            raise NoRoom(stranger)


def least_free(margin: tuple[float, float, float], disk: float) -> float:
    """What must stay free on a disk of this size, in bytes."""
    most, part, least = margin
    return max(least, min(most, disk * part))


def measured_by(used: Callable[[], int], owed: Callable[[], int], folder: Path) -> Measure:
    """Measures what the store uses, and what is free on the disk of this folder."""

    def measure() -> Measured:
        disk = shutil.disk_usage(folder)
        return Measured(used(), disk.free - owed(), disk.total)

    return measure


def storage_quota_of(settings: Settings, engine: object) -> StorageQuota:
    """The quota of the store that these settings choose; a store on AWS is not measured."""
    used: Callable[[], int] | None = offered_by(engine, "used_bytes")
    if used is None:
        return StorageQuota(settings.store_budget)
    return StorageQuota(
        settings.store_budget,
        measured_by(used, offered_by(engine, "owed_bytes"), settings.data),
        is_short=offered_by(engine, "is_short_of_space"),
    )
