"""The suite with Shareables alone, in a process of its own: `python -m tests.e2e.picnics FOLDER [WORKERS [PORT]]`."""

import sys
from contextlib import AbstractAsyncContextManager

from potluck.apps.shareables.app import ShareablesApp
from potluck.settings import Settings
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy

__all__ = ["Picnic"]


class Picnic(Toy):
    module = "tests.e2e.picnics"


def with_shareables(settings: Settings) -> AbstractAsyncContextManager[Application]:
    return with_apps(settings, ShareablesApp)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.picnics:with_shareables"))
