"""The journal app, as the suite assembles it."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec import Struct

from potluck.apps.journal import account, comments, entries, importing, links, profile, search, stats, threads
from potluck.apps.journal.addresses import HOME
from potluck.apps.journal.consumers import consumers_of
from potluck.apps.journal.context import JournalContext, journal_context
from potluck.apps.journal.demo import fill
from potluck.apps.journal.entities import roll_model
from potluck.apps.journal.home_card import home_card
from potluck.apps.journal.links import APP, join, place_name, role_in_words
from potluck.apps.journal.pages import assistant, entry, entry_form, settings, timeline
from potluck.apps.journal.pages import links as link_pages
from potluck.apps.journal.pages import stats as stats_pages
from potluck.apps.journal.profile import account_renamed
from potluck.apps.journal.sample import SAMPLE
from potluck.people import Account, InvitationOfPlace, Principal
from potluck.streams import Consumer
from potluck.web import App, Demo, HomeCard, SignedIn, Writes, _


class JournalApp(App):
    name = APP
    title = _("Journal")
    icon = "notebook-pen"
    does = _("A training journal: some of it shared with coaches, the rest only yours.")
    address = HOME
    sample = SAMPLE
    tables = (roll_model,)
    templates = Path(__file__).parent / "templates"
    modules = (
        *(entries, comments, links, search, stats, threads, profile, account, importing),
        *(entry_form, timeline, entry, stats_pages, assistant, link_pages, settings),
    )

    def make_context(self) -> JournalContext:
        return journal_context(self.core, self.core.derived_key("journal drafts"))

    def consumers(self) -> Sequence[Consumer]:
        return consumers_of(self.core)

    async def account_renamed(self, before: Account, after: Account) -> None:
        await account_renamed(self.core.store, before, after)

    def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        return account.JournalData(self.core.store).export(user_id)

    async def forget(self, user_id: UUID) -> None:
        await account.JournalData(self.core.store).forget(user_id)

    async def place_name(self, place: str) -> str | None:
        return await place_name(self.core.store, place)

    def role_in_words(self, role: str) -> str:
        return role_in_words(role)

    async def join(self, at: SignedIn, invitation: InvitationOfPlace) -> Writes[Any] | None:
        return await join(at, invitation)

    async def home_card(self, caller: Principal) -> HomeCard:
        return await home_card(self.core.store, self.core.clock(), caller)

    async def demo(self, demo: Demo) -> None:
        await fill(demo)
