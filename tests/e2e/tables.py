"""The whole suite, in a process of its own: `python -m tests.e2e.tables FOLDER [WORKERS [PORT]]`."""

import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from argon2 import PasswordHasher

from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.http.application import Application
from potluck.web.server.serve import serve
from tests.e2e.toys import Toy

__all__ = ["Table", "table_on"]


class Table(Toy):
    module = "tests.e2e.tables"


@contextmanager
def table_on(folder: Path) -> Iterator[Table]:
    table = Table(folder)
    table.start()
    try:
        yield table
    finally:
        table.stop()


def with_everything(settings: Settings) -> AbstractAsyncContextManager[Application]:
    # Passwords that cost little: browsers wait for what they sign in to, not for argon2.
    return assembled(settings, passwords=Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)))


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    workers, port = (int(each) for each in (rest + ["1", "0"][len(rest) :]))
    chosen = replace(Settings.from_environment(), data=Path(folder), workers=workers, port=port)
    sys.exit(serve("tests.e2e.tables:with_everything", chosen, folder))
