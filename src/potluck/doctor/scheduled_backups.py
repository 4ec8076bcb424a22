"""Backups on a schedule: how old the latest is, whether the last attempt failed, and where they are."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from potluck.backups import kept_backups, last_failure
from potluck.doctor.diagnoses import Diagnosis, note, ok, problem
from potluck.dynamo.storage.private_files import open_to
from potluck.settings import Settings

# The suite may be restarting when one is due, and a large store takes a while.
LATE = timedelta(hours=1)


def about_backups(settings: Settings) -> Iterator[Diagnosis]:
    """Whether there is a backup as recent as the settings want."""
    every, folder = settings.backup.every, settings.backup.to
    if every is None or folder is None:
        yield note(
            "backups",
            "none are made on a schedule: set POTLUCK_BACKUP_EVERY and POTLUCK_BACKUP_TO, or run `potluck backup`",
        )
        return
    failure, kept = last_failure(settings.data), kept_backups(folder)
    if failure is not None:
        yield problem("backups", f"the last attempt failed, at {failure.at:%Y-%m-%d %H:%M} UTC: {failure.reason}")
    if not kept:
        yield problem("backups", f"there is none in {folder} yet: they are made while `potluck serve` runs")
        return
    latest, now = kept[0], datetime.now(UTC)
    text = f"the latest is of {latest.at:%Y-%m-%d %H:%M} UTC and was checked; {len(kept)} in {folder}"
    if now - latest.at > timedelta(seconds=every) + LATE:
        yield problem("backups", f"{text}. It is late: is `potluck serve` running, with the same settings?")
    else:
        yield ok("backups", text)
    mode = open_to(folder)
    if mode:
        yield problem(
            "backup folder", f"others can open {folder} (mode {mode:o}), and backups hold all data: chmod 700 {folder}"
        )
    if settings.data.exists() and os.stat(folder).st_dev == os.stat(settings.data).st_dev:
        yield note(
            "backup folder", f"{folder} is on the disk of the store: put backups on another one, or copy them elsewhere"
        )
