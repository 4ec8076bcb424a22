"""`potluck export`: all tables in a folder, to be imported elsewhere."""

import argparse
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from potluck.commands.arguments import add_data, add_rate
from potluck.commands.refusal import CommandError
from potluck.commands.running import progress_of, run_or_refuse
from potluck.commands.stores import open_store, settings_with_store
from potluck.commands.table_modules import suite_tables
from potluck.dynamo.database import Database
from potluck.engines.embedded import open_embedded
from potluck.moving.export_files import ExportDamaged
from potluck.moving.exporting import CannotExport, Export, Progress
from potluck.moving.importing import PATIENCE
from potluck.moving.moved_tables import MovedTables
from potluck.moving.pace import Pace
from potluck.moving.row_sums import RowSum
from potluck.moving.unfinished_imports import must_be_whole
from potluck.settings import Settings
from potluck.store import Store
from potluck.web.suite_secret import must_not_be_empty

SNAPSHOT = "snapshot.db"


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder, or one with an unfinished export")
    add_data(parser, settings)
    add_rate(parser)


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Write every table to a folder, in the format in which DynamoDB exports tables to S3. `potluck import` reads it,
    and so does Amazon's own import. If it is interrupted, run it again: it continues where it was."""
    settings = settings_with_store(chosen, settings)
    must_not_be_empty(settings)
    tables = MovedTables(suite_tables())
    pace = Pace(chosen.rate)
    try:
        export = Export.begin(chosen.folder, _name_of(settings))
        if settings.engine == "embedded":
            with progress_of("copying") as progress:
                snapshot = _snapshot(settings.file, chosen.folder, progress)
            with progress_of("exporting") as progress:
                run_or_refuse(_export_snapshot(snapshot, export, tables, pace, progress))
        else:
            with progress_of("exporting") as progress:
                run_or_refuse(_export(settings, export, tables, pace, progress))
        with progress_of("verifying") as progress:
            export.check(progress)
        for file in chosen.folder.glob(f"{SNAPSHOT}*"):
            file.unlink()
        totals = export.finish()
    except (CannotExport, ExportDamaged) as problem:
        raise CommandError(str(problem)) from problem
    print(f"Exported to {chosen.folder}, and compared with what was read:")
    print_totals(totals)
    print(
        "The export is as private as the store. It does not hold the suite's secret, without which no one can use it: "
        "keep POTLUCK_SECRET or the file `secret` as well.",
        file=sys.stderr,
    )
    if settings.engine != "embedded":
        print(
            "What was written meanwhile may be in it or not, because a scan reads no single moment. Stop Potluck while "
            "it runs, or export by point-in-time recovery, which `potluck import` reads too.",
            file=sys.stderr,
        )
    return 0


def print_totals(totals: dict[str, RowSum]) -> None:
    for name, rows in totals.items():
        print(f"  {name:<20} {rows.count:>12,} rows  {rows.checksum}")


def _name_of(settings: Settings) -> str:
    """The store in words; an unfinished export is continued only from the same one."""
    if settings.engine == "embedded":
        return str(settings.file.resolve())
    where = settings.endpoint or settings.region or "the default region"
    return f"DynamoDB at {where}, prefix {settings.table_prefix!r}"


def _snapshot(file: Path, folder: Path, progress: Progress) -> Path:
    """A copy of the store as of one moment, kept until the export is complete."""
    snapshot = folder / SNAPSHOT
    if not snapshot.exists():
        for partial in folder.glob(f"{SNAPSHOT}-*"):
            partial.unlink()
        size = file.stat().st_size
        if shutil.disk_usage(folder).free < size:
            raise CommandError(f"there is no room for a copy of {file} in {folder}: it takes {size:,} bytes")
        run_or_refuse(_copy(file, snapshot, progress))
    return snapshot


async def _copy(file: Path, snapshot: Path, progress: Progress) -> None:
    async with await Database.open(file) as database:
        await database.backup(snapshot, progress=progress)


async def _export_snapshot(snapshot: Path, export: Export, tables: MovedTables, pace: Pace, progress: Progress) -> None:
    # With a clock that is stopped at the beginning nothing expires, so the copy does not change.
    engine = await open_embedded(snapshot, lambda: 0.0)
    try:
        store = Store(engine, lambda: datetime.now(UTC))
        await must_be_whole(store)
        await export.read(store, tables, pace, progress)
    finally:
        await engine.close()


async def _export(settings: Settings, export: Export, tables: MovedTables, pace: Pace, progress: Progress) -> None:
    async with open_store(settings, patience=PATIENCE) as store:
        await must_be_whole(store)
        await export.read(store, tables, pace, progress)
