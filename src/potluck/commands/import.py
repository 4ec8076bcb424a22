"""`potluck import`: exported tables become the tables of an empty store."""

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from potluck.commands.arguments import add_data, add_rate
from potluck.commands.export import print_totals
from potluck.commands.refusal import CommandError
from potluck.commands.running import progress_of, run_or_refuse
from potluck.commands.stores import open_store
from potluck.commands.table_modules import suite_tables
from potluck.dynamo.storage.private_files import hand_over
from potluck.moving.export_files import ExportDamaged, exports_in
from potluck.moving.exporting import UNFINISHED
from potluck.moving.importing import PATIENCE, CannotImport, Import, matched
from potluck.moving.moved_tables import MovedTables
from potluck.moving.pace import Pace
from potluck.settings import Settings
from potluck.store import Store
from potluck.web.suite_secret import SECRET_FILE, load_secret, made_by, made_by_another, must_not_be_empty


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder with exported tables")
    add_data(parser, settings, "the folder of the store to import into")
    add_rate(parser)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Read tables that `potluck export` or DynamoDB itself exported into an empty store, and compare them with the
    export. If it is interrupted, run it again: it continues where it was. Until it is complete, the suite does not
    start."""
    settings = replace(settings, data=chosen.data)
    must_not_be_empty(settings)
    if not chosen.folder.is_dir():
        raise CommandError(f"there is no folder {chosen.folder}")
    if (chosen.folder / UNFINISHED).exists():
        raise CommandError(f"the export in {chosen.folder} is unfinished: run `potluck export` again")
    try:
        tables = MovedTables(suite_tables())
        exports = matched(exports_in(chosen.folder), tables)
        with progress_of("importing") as writing, progress_of("verifying") as verifying:
            done, secret = run_or_refuse(
                _import(
                    settings,
                    lambda store: Import(
                        store, tables, exports, pace=Pace(chosen.rate), writing=writing, verifying=verifying
                    ),
                )
            )
    except (CannotImport, ExportDamaged) as problem:
        raise CommandError(str(problem)) from problem
    print(f"Imported {chosen.folder}, and compared with the export:")
    print_totals(done.imported)
    print(secret, file=sys.stderr)
    return 0


async def _import(settings: Settings, made: Callable[[Store], Import]) -> tuple[Import, str]:
    """Import into the configured store; what was done, and what to do about the secret."""
    if settings.engine == "embedded":
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with open_store(settings, patience=PATIENCE) as store:
        if settings.engine == "embedded":
            with suppress(FileNotFoundError):
                hand_over(settings.file)
        done = made(store)
        await done.run()
        return done, await _about_the_secret(store, settings)


async def _about_the_secret(store: Store, settings: Settings) -> str:
    file = settings.data / SECRET_FILE
    if settings.secret is None and (settings.engine != "embedded" or not file.exists()):
        copied = f", or copy that file to {file}" if settings.engine == "embedded" else ""
        return (
            "The export holds no secret. Before you start Potluck, set POTLUCK_SECRET to that of the store that was "
            f"exported, which is in its POTLUCK_SECRET or its file `secret`{copied}."
        )
    if await made_by(store, load_secret(settings)) is False:
        return f"The secret here is another one: {made_by_another(settings)}."
    return "The secret here is the one that the store was made with: you can start Potluck."
