"""Serving apps to browsers, in processes of their own: `python -m tests.e2e.NAME FOLDER [WORKERS [PORT]]`."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from argon2 import PasswordHasher

from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import APPS, assembled
from potluck.web.app import AppMaker
from potluck.web.http.application import Application
from potluck.web.server.serve import serve
from tests.people.assembly import looked_after

__all__ = ["serve_as_asked", "with_apps"]


@asynccontextmanager
async def with_apps(settings: Settings, *apps: AppMaker) -> AsyncIterator[Application]:
    """The suite with these apps; with all of them, if none is named. Whoever comes first is no admin."""
    # Passwords that cost little: browsers wait for what they sign in to, not for argon2.
    cheap = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    async with assembled(settings, apps or APPS, passwords=cheap) as application:
        await looked_after(application.state.core.store)
        yield application


def serve_as_asked(application: str) -> int:
    """Serve `module:function` in the folder, with the workers and at the port of the command line."""
    folder, *rest = sys.argv[1:]
    workers, port = (int(each) for each in (rest + ["1", "0"][len(rest) :]))
    chosen = replace(Settings.from_environment(), data=Path(folder), workers=workers, port=port)
    return serve(application, chosen, folder)
