"""What `potluck doctor` looks at: each check says what it found and, if something is wrong, what to do about it."""

from potluck.doctor.configuration import about_settings
from potluck.doctor.diagnoses import Diagnosis
from potluck.doctor.folders import about_folder, about_room
from potluck.doctor.scheduled_backups import about_backups
from potluck.doctor.service import about_service
from potluck.doctor.store import about_store
from potluck.doctor.suite import about_suite

__all__ = [
    "Diagnosis",
    "about_backups",
    "about_folder",
    "about_room",
    "about_service",
    "about_settings",
    "about_store",
    "about_suite",
]
