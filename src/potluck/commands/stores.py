"""The configured store, opened for a command, even while the suite is running on it."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from potluck.commands.refusal import CommandError
from potluck.engines import open_engine
from potluck.setting_types import origin_named
from potluck.settings import Settings
from potluck.store import Store
from potluck.store.sending import Patience
from potluck.web.server.serve import port_in_use


def no_store_at(file: Path) -> str:
    return f"there is no store at {file}: name its folder with --data or POTLUCK_DATA"


def settings_with_store(chosen: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with the chosen data folder, in which there must be a store."""
    settings = replace(settings, data=chosen.data)
    if settings.engine == "embedded" and not settings.file.is_file():
        raise CommandError(no_store_at(settings.file))
    return settings


@asynccontextmanager
async def open_store(
    settings: Settings, file: Path | None = None, patience: Patience | None = None
) -> AsyncIterator[Store]:
    """The configured store, or the one in another file."""
    engine = await open_engine(
        settings.engine,
        path=file or settings.file,
        region=settings.region,
        endpoint=settings.endpoint,
        prefix=settings.table_prefix,
    )
    try:
        yield Store(engine, lambda: datetime.now(UTC), patience)
    finally:
        await engine.close()


def origin_of(settings: Settings) -> str:
    """The origin at which people reach the suite, as far as this machine can tell."""
    if settings.origin is not None:
        return settings.origin
    host = "localhost" if settings.host in ("", "0.0.0.0", "::") else settings.host
    port = port_in_use(settings) or settings.port
    return origin_named("http", f"{f'[{host}]' if ':' in host else host}:{port}") or f"http://{host}"
