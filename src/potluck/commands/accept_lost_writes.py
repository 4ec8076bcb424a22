"""`potluck accept-lost-writes`: continue with a store whose write-ahead log is lost."""

import argparse
from dataclasses import replace
from pathlib import Path

from potluck.commands.arguments import add_data
from potluck.commands.refusal import CommandError
from potluck.commands.stores import no_store_at
from potluck.dynamo.storage.backup import accept_lost_writes
from potluck.settings import Settings


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    location = parser.add_mutually_exclusive_group()
    add_data(location, settings)
    location.add_argument("--file", type=Path, metavar="STORE", help="a store of `potluck dynamodb`")
    parser.add_argument("--yes", action="store_true", help="accept it; without this, only list the consequences")


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Check a store whose write-ahead log is lost, and continue without its latest writes."""
    settings = replace(settings, data=chosen.data)
    if settings.engine != "embedded" and chosen.file is None:
        raise CommandError("only an embedded store has a write-ahead log that can be lost")
    store = chosen.file or settings.file
    if not store.is_file():
        raise CommandError(f"there is no store at {store}" if chosen.file else no_store_at(store))
    if not chosen.yes:
        print(
            f"Writes to {store} since its log was last merged into it are lost, although they were confirmed.\n"
            "Look for the log first: it is the file that ends in -wal. A backup may have more than the remaining store."
        )
        raise CommandError("nothing was changed; add --yes to accept this")
    if accept_lost_writes(store):
        print("Accepted. The remaining store was checked and is intact. Make a backup, then start Potluck again.")
    else:
        print("The log is not lost. Nothing is missing, and nothing was changed.")
    return 0
