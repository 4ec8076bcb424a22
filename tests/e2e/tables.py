"""The whole suite, in a process of its own: `python -m tests.e2e.tables FOLDER [WORKERS [PORT]]`."""

import sys
from contextlib import AbstractAsyncContextManager

from potluck.settings import Settings
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy

__all__ = ["Table"]


class Table(Toy):
    module = "tests.e2e.tables"


def with_everything(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.tables:with_everything"))
