"""`potluck doctor`: looks at an installation, and says what is wrong and what to do about it."""

import argparse
import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from potluck.commands.arguments import add_data
from potluck.commands.running import progress_of, run_async
from potluck.commands.stores import open_store
from potluck.commands.table_modules import suite_tables
from potluck.doctor import (
    Diagnosis,
    about_backups,
    about_folder,
    about_room,
    about_service,
    about_settings,
    about_store,
    about_suite,
)
from potluck.doctor.store import about_pages
from potluck.engines import offered_by
from potluck.settings import Settings
from potluck.web.server.reasons import reason_of
from potluck.web.suite_secret import must_not_be_empty

SIGNS = {"ok": "ok  ", "note": "note", "problem": "FIX "}


def declare(parser: argparse.ArgumentParser, settings: Settings) -> None:
    add_data(parser, settings)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="the output format (%(default)s)")


def run(chosen: argparse.Namespace, settings: Settings) -> int:
    """Check the folder, permissions, secret, store, tables, clock, free space, backups and settings, even while the
    suite is running. Nothing is changed. The exit status is 1 if something has to be fixed."""
    settings = replace(settings, data=chosen.data)
    with progress_of("reading") as progress:
        diagnoses = [*about_settings(settings), *run_async(_diagnoses(settings, progress))]
    if chosen.format == "json":
        print(json.dumps([diagnosis._asdict() for diagnosis in diagnoses], indent=2))
    else:
        width = max(len(diagnosis.check) for diagnosis in diagnoses)
        for diagnosis in diagnoses:
            print(f"{SIGNS[diagnosis.status]}  {diagnosis.check:<{width}}  {diagnosis.text}")
    return 1 if any(diagnosis.status == "problem" for diagnosis in diagnoses) else 0


async def _diagnoses(settings: Settings, progress: Callable[[float], None]) -> list[Diagnosis]:
    if settings.engine == "embedded":
        return await _embedded(settings, progress)
    try:
        async with open_store(settings) as store:
            return await about_service(settings, store, suite_tables())
    except Exception as error:
        return [_as_diagnosis("dynamodb", error)]


async def _embedded(settings: Settings, progress: Callable[[float], None]) -> list[Diagnosis]:
    diagnoses = list(about_folder(settings))
    if not settings.file.exists():
        if settings.data.is_dir():
            diagnoses.append(
                Diagnosis("store", "note", f"there is none at {settings.file} yet: `potluck serve` creates it")
            )
        return diagnoses
    try:
        must_not_be_empty(settings)
        async with open_store(settings) as store:
            diagnoses += await asyncio.to_thread(lambda: list(about_pages(settings.file, progress)))
            diagnoses += await about_store(settings, store, suite_tables())
            diagnoses += about_room(settings, offered_by(store.engine, "used_bytes")())
    except Exception as error:
        diagnoses.append(_as_diagnosis("store", error))
    return [*diagnoses, *about_backups(settings), *about_suite(settings)]


def _as_diagnosis(check: str, error: Exception) -> Diagnosis:
    """What could not be looked at; an error that is a bug is raised."""
    reason = reason_of(error)
    if reason is None:
        raise error
    return Diagnosis(check, "problem", reason)
