"""Library, as it is handed to the assembly."""

from potluck.apps.library.collections import collections
from potluck.apps.library.consistency import CONSEQUENTIAL, ConsistencyManager
from potluck.apps.library.context import LibraryContext
from potluck.apps.library.covers import Covers
from potluck.apps.library.demo import demo_of
from potluck.apps.library.entities import Book, Video, media_library
from potluck.apps.library.export_files import exports
from potluck.apps.library.home_card import home_card_of
from potluck.apps.library.importing import imports
from potluck.apps.library.items import books, items, videos
from potluck.apps.library.leaving import export_of, forgetting
from potluck.apps.library.lending import events, loans
from potluck.apps.library.libraries import APP, libraries
from potluck.apps.library.lookup import Lookup, lookups
from potluck.apps.library.searching import Indexes, searching
from potluck.apps.library.shares import Sharing, shares
from potluck.people.entities import Account, accounts
from potluck.streams import Consumer, PositionLost
from potluck.web.app import App, Core
from potluck.web.app_catalogue import CATALOGUE
from potluck.web.direct import Direct
from potluck.web.outbound import Outbound

__all__ = ["SUBJECTS", "consumers_of", "library_app", "made_with"]

SUBJECTS = (
    libraries, collections, items, books, videos, events, loans, shares, searching, lookups, imports, exports
)  # fmt: skip


def library_app(core: Core) -> App:
    """The app on the suite's core."""
    return made_with(core, Outbound())


def made_with(core: Core, outbound: Outbound) -> App:
    """The app with its own way to other hosts."""
    (entry,) = (each for each in CATALOGUE if each.id == APP)
    sharing = Sharing(core)
    covers = Covers(core.store, outbound)
    context = LibraryContext(
        indexes=Indexes(core.store, core.live),
        lookup=Lookup.configured(core.store, core.clock, core.settings, outbound),
        covers=covers,
    )
    return App(
        name=APP,
        tables=[media_library],
        subjects=SUBJECTS,
        context=context,
        entry=entry,
        consumers=consumers_of(core, covers),
        export=export_of(core),
        forget=forgetting(core.store),
        place_name=sharing.place_name,
        accept=sharing.accept,
        home_card=home_card_of(core, f"{entry.address}/lent" if entry.address else ""),
        demo=demo_of(core, Direct(core, SUBJECTS, context)),
    )


def consumers_of(core: Core, covers: Covers) -> list[Consumer]:
    """What goes on behind the calls: names follow, what belonged to something deleted goes, covers are fetched."""
    manager = ConsistencyManager(core.store)
    return [
        Consumer(
            core.engine, "library-consistency", media_library.name, manager.handle, of=CONSEQUENTIAL, lost=manager.lost
        ),
        Consumer(core.engine, "library-owners", accounts.name, manager.follow_owner, of=[Account], lost=_missed),
        # Alone, so that nothing waits for somebody else's host.
        Consumer(core.engine, "library-covers", media_library.name, covers.handle, of=[Book, Video], lost=_missed),
    ]


async def _missed(lost: PositionLost) -> None:
    """A change of a name, or a cover, may have been missed; the next one is not, and a cover can be asked for."""
