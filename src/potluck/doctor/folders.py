"""The data folder: who can read what is in it, and how much room is left."""

import os
import shutil
from collections.abc import Iterator

from potluck.doctor.diagnoses import Diagnosis, note, ok, problem
from potluck.dynamo.storage.private_files import COMPANION_SUFFIXES, open_to
from potluck.settings import Settings
from potluck.web.storage_quota import FREE_FOR_PEOPLE, FREE_FOR_STRANGERS, least_free
from potluck.web.suite_secret import SECRET_FILE


def about_folder(settings: Settings) -> Iterator[Diagnosis]:
    """Whether it can be used, by its owner alone."""
    folder = settings.data
    if not folder.exists():
        yield problem("folder", f"there is no folder {folder}: `potluck serve` creates it, or name it with --data")
        return
    if not folder.is_dir():
        yield problem("folder", f"{folder} is a file: move it away, or name a folder with --data")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield problem(
            "folder", f"{folder} cannot be used by this user: run this as its owner, or change its owner (chown)"
        )
        return
    mode = open_to(folder)
    if mode:
        yield problem("folder", f"others on this machine can open {folder} (mode {mode:o}): chmod 700 {folder}")
    else:
        yield ok("folder", f"{folder} is its owner's alone")
    store = str(settings.file)
    files = [str(settings.data / SECRET_FILE), store, *(store + ending for ending in COMPANION_SUFFIXES)]
    readable = [file for file in files if os.path.exists(file) and open_to(file)]
    if readable:
        yield problem("files", f"others can read {', '.join(readable)}: chmod 600 {' '.join(readable)}")
    elif settings.file.exists():
        yield ok("files", "the store and its secret are readable by their owner alone")


def about_room(settings: Settings, used: int) -> Iterator[Diagnosis]:
    """Whether people can still write: the disk has room, and the store is within its budget."""
    disk = shutil.disk_usage(settings.data)
    free = f"{disk.free / 1e9:,.1f} GB"
    if disk.free < least_free(FREE_FOR_PEOPLE, disk.total):
        yield problem("room", f"only {free} are free on the disk of {settings.data}: no one can write. Make room")
    elif disk.free < least_free(FREE_FOR_STRANGERS, disk.total):
        yield note("room", f"only {free} are free on the disk: people who are not signed in cannot write. Make room")
    else:
        yield ok("room", f"{free} are free on the disk of {settings.data}")
    share = used / settings.store_budget
    text = f"the store has {used / 1e6:,.0f} MB, {share:.0%} of POTLUCK_STORE_BUDGET"
    if share >= 1:
        yield problem("budget", f"{text}: no one can write. Raise it, or have something deleted")
    elif share >= 0.5:
        yield note("budget", f"{text}: people who are not signed in cannot write. Raise it, or have something deleted")
    else:
        yield ok("budget", text)
