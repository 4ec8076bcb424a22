"""`potluck restore`: a backup becomes the store of a data folder."""

import argparse
import os
import sys
from contextlib import suppress
from dataclasses import replace as with_changes
from datetime import UTC, datetime
from pathlib import Path

from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.running import progress_of, run_or_refuse
from potluck.commands.stores import open_store
from potluck.dynamo.errors import StoreUnusable
from potluck.dynamo.storage.backup import Progress, let_go_of, restored
from potluck.dynamo.storage.private_files import COMPANION_SUFFIXES, hand_over, open_to, place, sync_folder
from potluck.settings import Settings
from potluck.web.suite_secret import SECRET_FILE, made_by, make_secret


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("backup", type=Path, metavar="FILE", help="a file that `potluck backup` created")
    add_data(parser, settings, "the folder to restore it to")
    parser.add_argument("--replace", action="store_true", help="move existing files aside")


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Restore the store and the secret that `potluck backup` copied. The backup is checked first."""
    settings = with_changes(settings, data=chosen.data)
    if settings.engine != "embedded":
        raise CommandError("restore restores the embedded store; on Amazon DynamoDB use point-in-time recovery")
    if not chosen.backup.is_file():
        raise CommandError(f"there is no backup at {chosen.backup}")
    with progress_of("restoring") as progress:
        aside, with_secret = run_or_refuse(restore(settings, chosen.backup, replace=chosen.replace, progress=progress))
    print(f"Restored {settings.file}{' and its secret' if with_secret else ''} from {chosen.backup}")
    if not with_secret:
        print(
            f"The backup holds no secret: it was made by an earlier version, or with --file. Before you start Potluck, "
            f"set POTLUCK_SECRET, or copy the secret file to {settings.data / SECRET_FILE}.",
            file=sys.stderr,
        )
    if open_to(chosen.backup):
        print(f"Other users can read {chosen.backup}: chmod 600 {chosen.backup}", file=sys.stderr)
    if aside is not None:
        print(f"The files from before are in {aside}; delete them when you no longer need them.", file=sys.stderr)
    return 0


async def restore(
    settings: Settings, backup: Path, *, replace: bool = False, progress: Progress | None = None
) -> tuple[Path | None, bool]:
    """Restore a backup, checked before it is put in place.

    Existing files are never overwritten; `replace` moves them aside. Returns the folder they were moved to, and whether
    the backup contained the secret.
    """
    file, secret_file = settings.file, settings.data / SECRET_FILE
    in_the_way = _there(file, *(Path(f"{file}{ending}") for ending in COMPANION_SUFFIXES))
    if in_the_way and not replace:
        raise StoreUnusable(
            f"{in_the_way[0]} is here already: choose another folder (--data), or move it aside with --replace"
        )
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with restored(backup, file, progress) as (partial, files):
        secret = files.get(SECRET_FILE)
        if secret is not None:
            if settings.secret is not None and settings.secret.encode() != secret:
                raise StoreUnusable("POTLUCK_SECRET differs from the backup's secret: unset it, and try again")
            async with open_store(settings, partial) as store:
                if await made_by(store, secret) is False:
                    raise StoreUnusable(f"the secret in {backup} does not belong to the store in it")
            if _there(secret_file) and secret_file.read_bytes().strip() != secret:
                if not replace:
                    raise StoreUnusable(f"{secret_file} differs from the backup's secret; --replace moves it aside")
                in_the_way.append(secret_file)
        aside = _put_aside(settings, in_the_way)
        if secret is not None:
            # The secret first, so that no store is ever in place without it.
            make_secret(secret_file, secret)
            hand_over(secret_file)
        hand_over(partial)
        place(partial, file)
    return aside, secret is not None


def _there(*files: Path) -> list[Path]:
    return [file for file in files if os.path.lexists(file)]


def _put_aside(settings: Settings, files: list[Path]) -> Path | None:
    """Move these files into a new folder, provided no process has the store open."""
    if not files:
        return None
    if settings.file.exists():
        let_go_of(settings.file)
    aside = settings.data / f"replaced-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    aside.mkdir(mode=0o700)
    for file in reversed(files):
        # Closing the store merged its write-ahead log into the file, so the log may be gone by now.
        with suppress(FileNotFoundError):
            file.rename(aside / file.name)
    sync_folder(aside)
    sync_folder(settings.data)
    return aside
