"""The library app, declared for the suite."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec import Struct

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
from potluck.apps.library.account import export, forget
from potluck.apps.library.consumers import consumers_of
from potluck.apps.library.context import LibraryContext
from potluck.apps.library.covers import Covers
from potluck.apps.library.demo import fill
from potluck.apps.library.entities import media_library
from potluck.apps.library.home_card import home_card
from potluck.apps.library.libraries import APP
from potluck.apps.library.lookup import Lookup
from potluck.apps.library.owner_names import OwnerNames
from potluck.apps.library.page_frame import HOME
from potluck.apps.library.pages import adding, loans, rows, sharing, shelves
from potluck.apps.library.pages import collections as collection_pages
from potluck.apps.library.pages import importing as import_pages
from potluck.apps.library.pages import items as item_pages
from potluck.apps.library.pages import searching as search_pages
from potluck.apps.library.pages import titles as title_pages
from potluck.apps.library.sample import SAMPLE
from potluck.apps.library.searching import Indexes
from potluck.apps.library.shares import join, place_name
from potluck.apps.library.title_search import TitleSearch
from potluck.people import Account, InvitationOfPlace, Principal
from potluck.streams import Consumer, Steps, Work
from potluck.web import App, Core, Demo, HomeCard, SignedIn, Writes, _


class LibraryApp(App):
    name = APP
    title = _("Library")
    icon = "library-big"
    does = _("Books and videos: what you own, who has it, and who can see it.")
    address = HOME
    sample = SAMPLE
    welcome = _("You can see this shelf now. Search finds what’s on it, too.")
    joined_page = f"{HOME}/{{library_id}}"
    tables = (media_library,)
    templates = Path(__file__).parent / "templates"
    modules = (
        *(libraries, collections, ordering, items, lending, shares, searching, title_search, titles, lookup, covers),
        *(importing, export_files, rows, shelves, collection_pages, item_pages, adding, loans, search_pages),
        *(title_pages, import_pages, sharing),
    )

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._names = OwnerNames(core.store)

    def make_context(self) -> LibraryContext:
        return LibraryContext(indexes=Indexes(self.core), lookup=Lookup.configured(self.core), covers=Covers(self.core))

    def consumers(self) -> Sequence[Consumer]:
        return consumers_of(self.core.store, self.context.covers)

    def background(self) -> Sequence[TitleSearch]:
        """The background search for missing titles; none if no service for books is set up."""
        search: Lookup = self.context.lookup
        return [TitleSearch(self.core, search)] if search.serves("book") else []

    def stop(self) -> None:
        self.context.covers.stop()

    @property
    def renaming_steps(self) -> Sequence[Steps[Any]]:
        return [self._names.owners]

    async def account_renamed(self, before: Account, after: Account) -> Work[Any] | None:
        return await self._names.account_renamed(before, after)

    def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        return export(self.core.store, user_id)

    async def forget(self, user_id: UUID) -> None:
        await forget(self.core.store, user_id)

    async def place_name(self, place: str) -> str | None:
        return await place_name(self.core.store, place)

    async def join(self, at: SignedIn, invitation: InvitationOfPlace) -> Writes[Any] | None:
        return await join(at, invitation)

    async def home_card(self, caller: Principal) -> HomeCard:
        return await home_card(self.core.store, self.core.clock(), caller)

    async def demo(self, demo: Demo) -> None:
        await fill(demo)
