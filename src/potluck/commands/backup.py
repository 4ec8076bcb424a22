"""`potluck backup`: the store and its secret in one file."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from potluck.backups import back_up
from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.running import progress_of, run_or_refuse
from potluck.commands.stores import no_store_at
from potluck.dynamo.database import Database
from potluck.dynamo.storage.private_files import open_to
from potluck.settings import Settings


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("to", type=Path, metavar="FILE", help="the file to create; it must not exist yet")
    source = parser.add_mutually_exclusive_group()
    add_data(source, settings, "the folder to copy")
    source.add_argument("--file", type=Path, metavar="STORE", help="a store of `potluck dynamodb`, which has no secret")


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Copy the store and its secret to one file, even while the suite is running. `potluck restore` restores it."""
    settings = replace(settings, data=chosen.data)
    if settings.engine != "embedded" and chosen.file is None:
        raise CommandError(
            "backup copies the embedded store; on Amazon DynamoDB use point-in-time recovery, and keep POTLUCK_SECRET"
        )
    store = chosen.file or settings.file
    if not store.is_file():
        raise CommandError(f"there is no store at {store}" if chosen.file else no_store_at(store))
    if store.stat().st_size <= 1:
        raise CommandError(f"{store} is empty: there is nothing to copy")
    with progress_of("copying") as progress:
        run_or_refuse(
            _back_up_engine(store, chosen.to, progress) if chosen.file else back_up(settings, chosen.to, progress)
        )
    size = f"{chosen.to.stat().st_size:,} bytes"
    if chosen.file is None:
        print(f"Copied {store} and its secret to {chosen.to} ({size})")
        print(
            "Keep it as safe as the store: it holds all data and also the secret. `potluck restore` restores it.",
            file=sys.stderr,
        )
    else:
        print(f"Copied {store} to {chosen.to} ({size}); the copy is a store too")
    if open_to(chosen.to):
        print(f"Other users can read {chosen.to}: this file system does not prevent it.", file=sys.stderr)
    return 0


async def _back_up_engine(store: Path, to: Path, progress: Callable[[float], None]) -> None:
    async with await Database.open(store) as database:
        await database.backup(to, progress=progress)
