"""The Shareables app, as the suite mounts it."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

from msgspec import Struct

from potluck.apps.polls.app import TEMPLATES as POLLS_TEMPLATES
from potluck.apps.polls.app import VOTER_IDS
from potluck.apps.polls.context import polls_context
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.shareables import ballots, creation, items, live, shareables
from potluck.apps.shareables.account import ShareablesData
from potluck.apps.shareables.consumers import consumers_of
from potluck.apps.shareables.context import ShareablesContext
from potluck.apps.shareables.demo import fill
from potluck.apps.shareables.entities import shareables as shareables_table
from potluck.apps.shareables.entities import short_id_pool
from potluck.apps.shareables.hashing import Hashing
from potluck.apps.shareables.home_card import home_card
from potluck.apps.shareables.pages import admin, opening, shareable, voting
from potluck.apps.shareables.pages import creation as creation_pages
from potluck.apps.shareables.presence import Presence
from potluck.apps.shareables.short_ids import PoolRefill, ShortIdPool
from potluck.people import Principal
from potluck.streams import Consumer
from potluck.web import App, Demo, HomeCard, Sample, _


class ShareablesApp(App):
    name = "shareables"
    title = _("Shareables")
    icon = "list-checks"
    does = _("Lists and polls that anyone with the link can open.")
    address = shareables.HOME
    sample = Sample("shareables/sample.html")
    # Polls in shareables are stored in the polls app's table, whether or not that app is served.
    tables = (short_id_pool, shareables_table, ranked_choice_polls)
    templates = Path(__file__).parent / "templates"
    borrowed_templates = (POLLS_TEMPLATES,)
    modules = (
        *(shareables, creation, items, ballots, live),
        *(creation_pages, opening, shareable, voting, admin),
    )

    def make_context(self) -> ShareablesContext:
        core = self.core
        return ShareablesContext(
            pool=ShortIdPool(core.store, core.random),
            hashing=Hashing(core),
            presence=Presence(core.store, core.random),
            polls=polls_context(core.store, core.derived_key(VOTER_IDS), shared=True),
        )

    def consumers(self) -> Sequence[Consumer]:
        return consumers_of(self.core)

    def background(self) -> Sequence[PoolRefill]:
        return [PoolRefill(self.core, self.context.pool)]

    def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        return ShareablesData(self.core.store).export(user_id)

    async def forget(self, user_id: UUID) -> None:
        await ShareablesData(self.core.store).forget(user_id)

    async def home_card(self, caller: Principal) -> HomeCard:
        return await home_card(self.core.store, caller)

    async def demo(self, demo: Demo) -> None:
        await fill(demo)
