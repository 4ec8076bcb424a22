"""Whether the store has room for what somebody writes: strangers are refused first, long before the disk is full.

Half of the budget is for people who are signed in alone. What frees room is never refused.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from potluck.people.errors import NoRoom
from potluck.settings import Settings

__all__ = ["Measured", "StorageQuota", "measured_by", "storage_quota_of"]

MB = 1_000_000
# Of the budget.
STRANGERS_SHARE = 0.5
# What stays free on the disk, or a part of a small one: for others on the machine, the log of writes, and a backup.
FREE_FOR_STRANGERS = 1_000 * MB, 0.1
FREE_FOR_PEOPLE = 200 * MB, 0.02
# What is written in between is far less than there is between the marks.
MEASURED_EVERY_SECONDS = 1.0


class Measured(NamedTuple):
    """How full it is, in bytes."""

    used: int
    free: int
    disk: int


Measure = Callable[[], Measured]


class StorageQuota:
    """Knows how full the store is, and for whom it is full."""

    def __init__(
        self, budget: int, measure: Measure | None = None, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        """Without `measure`, as for a store that is not on this machine, there is always room."""
        self._budget = budget
        self._measure = measure
        self._seconds = seconds
        self._measured: Measured | None = None
        self._at = 0.0

    def must_have_room(self, *, stranger: bool) -> None:
        """NoRoom, if the store is too full for a write of theirs."""
        if self._measure is None:
            return
        now = self._seconds()
        if self._measured is None or now - self._at >= MEASURED_EVERY_SECONDS:
            self._measured, self._at = self._measure(), now
        used, free, disk = self._measured
        share = STRANGERS_SHARE if stranger else 1.0
        most, part = FREE_FOR_STRANGERS if stranger else FREE_FOR_PEOPLE
        if used >= self._budget * share or free < min(most, disk * part):
            raise NoRoom(stranger)


def measured_by(used: Callable[[], int], folder: Path) -> Measure:
    """What the store uses, and what is left on the disk of this folder."""

    def measure() -> Measured:
        disk = shutil.disk_usage(folder)
        return Measured(used(), disk.free, disk.total)

    return measure


def storage_quota_of(settings: Settings, engine: object) -> StorageQuota:
    """The room of the store that these settings choose; what Amazon keeps is not measured."""
    used = used_by(engine)
    return StorageQuota(settings.store_budget, None if used is None else measured_by(used, settings.data))


def used_by(engine: object) -> Callable[[], int] | None:
    """How an engine, or the one that it is wrapped around, tells what it uses."""
    found: object | None = engine
    while found is not None:
        used: Callable[[], int] | None = getattr(found, "used_bytes", None)
        if used is not None:
            return used
        found = getattr(found, "engine", None)
    return None
