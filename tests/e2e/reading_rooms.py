"""The suite with Library, in a process of its own: `python -m tests.e2e.reading_rooms FOLDER [WORKERS [PORT]]`."""

import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from argon2 import PasswordHasher

from potluck.apps.library.app import LibraryApp
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import assembled
from potluck.web.app import App, Core
from potluck.web.http.application import Application
from potluck.web.outbound import Outbound
from potluck.web.server.serve import serve
from tests.e2e.toys import Toy

__all__ = ["ReadingRoom", "reading_room_on"]


class ReadingRoom(Toy):
    module = "tests.e2e.reading_rooms"


@contextmanager
def reading_room_on(folder: Path, open_library: str) -> Iterator[ReadingRoom]:
    """With somebody on loopback who knows books."""
    room = ReadingRoom(folder, POTLUCK_OPEN_LIBRARY=open_library)
    room.start()
    try:
        yield room
    finally:
        room.stop()


def library_at_home(core: Core) -> App:
    # Names of the Internet lead to this machine.
    here = Outbound(permits=lambda address: str(address) == "127.0.0.1", resolve=lambda host, port: ["127.0.0.1"])
    return LibraryApp(replace(core, outbound=here))


def with_library(settings: Settings) -> AbstractAsyncContextManager[Application]:
    cheap = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    return assembled(settings, (library_at_home,), passwords=cheap)


if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    workers, port = (int(each) for each in (rest + ["1", "0"][len(rest) :]))
    chosen = replace(Settings.from_environment(), data=Path(folder), workers=workers, port=port)
    sys.exit(serve("tests.e2e.reading_rooms:with_library", chosen, folder))
