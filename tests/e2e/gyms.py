"""The suite with the journal alone, in a process of its own: `python -m tests.e2e.gyms FOLDER [WORKERS [PORT]]`."""

import sys
from contextlib import AbstractAsyncContextManager

from potluck.apps.journal.app import JournalApp
from potluck.settings import Settings
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy

__all__ = ["GymServer"]


class GymServer(Toy):
    module = "tests.e2e.gyms"


def with_journal(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings, JournalApp)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.gyms:with_journal"))
