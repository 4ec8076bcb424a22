"""The suite in a made-up language, in a process of its own: `python -m tests.e2e.made_up_suite FOLDER`."""

import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from potluck.settings import Settings
from potluck.web import catalogues
from potluck.web.http.application import Application
from tests.e2e.serving import serve_as_asked, with_apps
from tests.e2e.toys import Toy

__all__ = ["CATALOGUES", "MadeUpSuite"]

# In the folder of the store.
CATALOGUES = "locale"


class MadeUpSuite(Toy):
    module = "tests.e2e.made_up_suite"


def application(settings: Settings) -> AbstractAsyncContextManager[Application]:
    catalogues.OF_SUITE = Path(settings.data) / CATALOGUES
    return with_apps(settings)


if __name__ == "__main__":
    sys.exit(serve_as_asked("tests.e2e.made_up_suite:application"))
