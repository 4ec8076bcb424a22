"""Backups of the embedded store: one now, and those on a schedule, each checked before an older one is removed."""

from potluck.backups.backup import back_up, check_backup, files_of_backup
from potluck.backups.folder import KeptBackup, kept_backups
from potluck.backups.schedule import Failure, ScheduledBackups, last_failure

__all__ = [
    "Failure",
    "KeptBackup",
    "ScheduledBackups",
    "back_up",
    "check_backup",
    "files_of_backup",
    "kept_backups",
    "last_failure",
]
