"""The suite with the guide's app alone, in a process of its own: `python -m tests.e2e.chores_suite FOLDER`."""

import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "examples"))

from chores.app import ChoresApp

from potluck.settings import Settings
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy


class Chores(Toy):
    module = "tests.e2e.chores_suite"


def with_chores(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings, ChoresApp)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.chores_suite:with_chores"))
