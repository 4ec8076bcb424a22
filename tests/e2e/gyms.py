"""The suite with the journal alone, in a process of its own: `python -m tests.e2e.gyms FOLDER [WORKERS [PORT]]`."""

import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from argon2 import PasswordHasher

from potluck.apps.journal.app import journal_app
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.http.application import Application
from potluck.web.server.serve import serve
from tests.e2e.toys import Toy

__all__ = ["GymServer", "gym_server_on"]


class GymServer(Toy):
    module = "tests.e2e.gyms"


@contextmanager
def gym_server_on(folder: Path) -> Iterator[GymServer]:
    server = GymServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def with_journal(settings: Settings) -> AbstractAsyncContextManager[Application]:
    # Passwords that cost little: browsers wait for what they sign in to, not for argon2.
    cheap = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    return assembled(settings, (journal_app,), passwords=cheap)


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    workers, port = (int(each) for each in (rest + ["1", "0"][len(rest) :]))
    chosen = replace(Settings.from_environment(), data=Path(folder), workers=workers, port=port)
    sys.exit(serve("tests.e2e.gyms:with_journal", chosen, folder))
