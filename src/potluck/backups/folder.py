"""The folder of scheduled backups: what is in it by name, and which files are removed.

A name that ends in `.backup` is a whole backup that was checked. While one is made it is called `.partial`, and until
it is checked `.unchecked`; what a killed process left behind under these names is removed by the next one.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from potluck.dynamo.storage.private_files import COMPANION_SUFFIXES, sync_folder

STAMP = "%Y%m%dT%H%M%SZ"
WHOLE = re.compile(r"potluck-([0-9]{8}T[0-9]{6}Z)\.backup")
LEFT_BEHIND = re.compile(
    rf"potluck-[0-9]{{8}}T[0-9]{{6}}Z\.unchecked(-[a-z0-9_]+\.partial)?({'|'.join(COMPANION_SUFFIXES)})?"
)


class KeptBackup(NamedTuple):
    """A backup that was checked, and when it was begun."""

    path: Path
    at: datetime


def kept_backups(folder: Path) -> list[KeptBackup]:
    """The backups in the folder, the latest first; none if there is no folder."""
    if not folder.is_dir():
        return []
    found = [(path, WHOLE.fullmatch(path.name)) for path in folder.iterdir()]
    kept = [KeptBackup(path, datetime.strptime(match[1], STAMP).replace(tzinfo=UTC)) for path, match in found if match]
    return sorted(kept, key=lambda backup: backup.at, reverse=True)


def unchecked_path(folder: Path, at: datetime) -> Path:
    """What a backup that is begun now is called until it is checked."""
    return folder / f"potluck-{at:{STAMP}}.unchecked"


def keep(unchecked: Path) -> Path:
    """Give a checked backup its final name, durably."""
    path = unchecked.with_suffix(".backup")
    unchecked.rename(path)
    sync_folder(path.parent)
    return path


def remove_left_behind(folder: Path) -> None:
    """Remove what was not finished: for the one process that makes backups, before it makes one."""
    for path in folder.iterdir():
        if LEFT_BEHIND.fullmatch(path.name):
            path.unlink(missing_ok=True)


def remove_all_but(folder: Path, number: int, last: KeptBackup) -> None:
    """Remove the oldest backups, so that this many are left; `last` is the one that was just made.

    What says that it is from later was made before by a clock that was ahead, so it is removed first.
    """
    latest_first = sorted(kept_backups(folder), key=lambda backup: (backup.at <= last.at, backup.at), reverse=True)
    for backup in latest_first[number:]:
        backup.path.unlink(missing_ok=True)
