"""The library app, as the assembly gets it."""

from functools import partial
from pathlib import Path

from potluck.apps.library import (
    collections,
    covers,
    export_files,
    importing,
    items,
    lending,
    libraries,
    lookup,
    ordering,
    searching,
    shares,
    title_search,
    titles,
)
from potluck.apps.library.account import export_of, forgetting
from potluck.apps.library.consumers import consumers_of
from potluck.apps.library.context import LibraryContext
from potluck.apps.library.covers import Covers
from potluck.apps.library.demo import demo_of
from potluck.apps.library.entities import media_library
from potluck.apps.library.home_card import home_card_of
from potluck.apps.library.libraries import APP
from potluck.apps.library.lookup import Lookup
from potluck.apps.library.owner_names import account_renamed
from potluck.apps.library.page_frame import HOME, LENT
from potluck.apps.library.pages import adding, loans, rows, sharing, shelves
from potluck.apps.library.pages import collections as collection_pages
from potluck.apps.library.pages import importing as import_pages
from potluck.apps.library.pages import items as item_pages
from potluck.apps.library.pages import searching as search_pages
from potluck.apps.library.pages import titles as title_pages
from potluck.apps.library.searching import Indexes
from potluck.apps.library.shares import join, place_name
from potluck.apps.library.title_search import TitleSearch
from potluck.streams import Lease, LeaseTerms
from potluck.web import App, AppEntry, Core, Direct, Modules, Outbound

MODULES = Modules(
    *(libraries, collections, ordering, items, lending, shares, searching, title_search, titles, lookup, covers),
    *(importing, export_files, rows, shelves, collection_pages, item_pages, adding, loans, search_pages, title_pages),
    *(import_pages, sharing),
)


def library_app(core: Core) -> App:
    """The app on the suite's core."""
    return made_with(core, Outbound())


def made_with(core: Core, outbound: Outbound) -> App:
    """The app with the given client for other hosts."""
    covers = Covers(core.store, outbound)
    context = LibraryContext(
        indexes=Indexes(core.store, core.live),
        lookup=Lookup.configured(core.store, core.clock, core.settings, outbound),
        covers=covers,
    )
    return App(
        name=APP,
        tables=[media_library],
        modules=MODULES,
        context=context,
        templates=Path(__file__).parent / "templates",
        entry=AppEntry(APP, "Library", "library-big", "Books and videos: who has them, and who may look.", HOME),
        stop=covers.stop,
        consumers=consumers_of(core.store, covers),
        background=titles_of(core, context.lookup),
        account_renamed=partial(account_renamed, core.store),
        export=export_of(core),
        forget=forgetting(core.store),
        place_name=partial(place_name, core.store),
        join=join,
        joined_page=lambda joined: f"{HOME}/{joined.library_id}",
        welcome="You can see this shelf now. Search finds what is here, too.",
        home_card=home_card_of(core, LENT),
        demo=demo_of(core, Direct(core, MODULES.subjects, context)),
    )


def titles_of(core: Core, lookup: Lookup) -> list[TitleSearch]:
    """The search for awaited titles; nothing where no service knows books, and they wait until one is set up."""
    if not lookup.serves("book"):
        return []
    terms = LeaseTerms.for_takeover_within(core.settings.takeover_seconds)
    lease = Lease(core.engine, "TITLES#MediaLibrary", **terms._asdict())
    return [TitleSearch(core.store, core.clock, lookup, lease)]
