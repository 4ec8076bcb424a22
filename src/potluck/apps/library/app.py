"""Library, as it is handed to the assembly."""

from potluck.apps.library.collections import collections
from potluck.apps.library.consistency import ConsistencyManager
from potluck.apps.library.entities import media_library
from potluck.apps.library.items import books, items, videos
from potluck.apps.library.lending import events, loans
from potluck.apps.library.libraries import APP, libraries
from potluck.apps.library.shares import Sharing, shares
from potluck.people.entities import accounts
from potluck.streams import Consumer, PositionLost
from potluck.web.app import App, Core
from potluck.web.app_catalogue import CATALOGUE

__all__ = ["SUBJECTS", "consumers_of", "library_app"]

SUBJECTS = (libraries, collections, items, books, videos, events, loans, shares)


def library_app(core: Core) -> App:
    """The app on the suite's core."""
    (entry,) = (each for each in CATALOGUE if each.id == APP)
    sharing = Sharing(core)
    return App(
        name=APP,
        tables=[media_library],
        subjects=SUBJECTS,
        entry=entry,
        consumers=consumers_of(core),
        place_name=sharing.place_name,
        accept=sharing.accept,
    )


def consumers_of(core: Core) -> list[Consumer]:
    """What goes on behind the calls: names follow, and what belonged to something deleted goes with it."""
    manager = ConsistencyManager(core.store)
    return [
        Consumer(core.engine, "library-consistency", media_library.name, manager.handle, lost=manager.lost),
        Consumer(core.engine, "library-owners", accounts.name, manager.follow_owner, lost=_missed),
    ]


async def _missed(lost: PositionLost) -> None:
    """A change of a name may have been missed; the next one is not."""
