"""The suite with the toy in it, served on its own: `python -m tests.e2e.toy_server FOLDER [WORKERS [PORT]]`."""

import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from argon2 import PasswordHasher

from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.http.application import Application
from potluck.web.server.serve import serve
from tests.toy import notes_app

__all__ = ["with_toy"]


def with_toy(settings: Settings) -> AbstractAsyncContextManager[Application]:
    # Passwords that cost little: browsers wait for what they sign in to, not for argon2.
    cheap = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    return assembled(settings, (notes_app,), passwords=cheap)


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    workers, port = (int(each) for each in (rest + ["1", "0"][len(rest) :]))
    chosen = replace(Settings.from_environment(), data=Path(folder), workers=workers, port=port)
    sys.exit(serve("tests.e2e.toy_server:with_toy", chosen, folder))
