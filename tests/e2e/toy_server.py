"""The suite with the toy in it, served on its own: `python -m tests.e2e.toy_server FOLDER [WORKERS [PORT]]`."""

import sys
from contextlib import AbstractAsyncContextManager

from potluck.settings import Settings
from potluck.suite import APPS
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.toy import NotesApp

__all__ = ["with_toy"]


def with_toy(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings, *APPS, NotesApp)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.toy_server:with_toy"))
