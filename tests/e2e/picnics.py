"""The suite with Shareables alone, in a process of its own: `python -m tests.e2e.picnics FOLDER [WORKERS [PORT]]`."""

import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from argon2 import PasswordHasher

from potluck.apps.shareables.app import shareables_app
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.http.application import Application
from potluck.web.server.serve import serve
from tests.e2e.toys import Toy

__all__ = ["Picnic", "picnic_on"]


class Picnic(Toy):
    module = "tests.e2e.picnics"


@contextmanager
def picnic_on(folder: Path) -> Iterator[Picnic]:
    picnic = Picnic(folder)
    picnic.start()
    try:
        yield picnic
    finally:
        picnic.stop()


def with_shareables(settings: Settings) -> AbstractAsyncContextManager[Application]:
    # Passcodes that cost little: browsers wait for what they unlock, not for argon2.
    cheap = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    return assembled(settings, (shareables_app,), passwords=cheap)


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    workers, port = (int(each) for each in (rest + ["1", "0"][len(rest) :]))
    chosen = replace(Settings.from_environment(), data=Path(folder), workers=workers, port=port)
    sys.exit(serve("tests.e2e.picnics:with_shareables", chosen, folder))
