"""The Polls app, as the suite mounts it."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

from msgspec import Struct

from potluck.apps.polls import live_results, polls, results, votes
from potluck.apps.polls.access import HOME
from potluck.apps.polls.account import PollsData
from potluck.apps.polls.consumers import consumers_of
from potluck.apps.polls.context import PollsContext, polls_context
from potluck.apps.polls.demo import fill
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.polls.home_card import home_card
from potluck.apps.polls.pages import ballot_pages, creating, managing, own_polls, sharing, voting
from potluck.apps.polls.pages import results as result_pages
from potluck.people import Principal
from potluck.streams import Consumer
from potluck.web import App, Demo, HomeCard, Sample, _

TEMPLATES = Path(__file__).parent / "templates"
VOTER_IDS = "poll voters"
"""The purpose for which the key behind vote ids is derived from the suite's secret."""


class PollsApp(App):
    name = "polls"
    title = _("Polls")
    icon = "vote"
    does = _("Ranked choice, with a count that anyone can check.")
    address = HOME
    sample = Sample("polls/sample.html")
    tables = (ranked_choice_polls,)
    templates = TEMPLATES
    modules = (
        *(polls, votes, results, live_results),
        *(own_polls, creating, sharing, ballot_pages, voting, result_pages, managing),
    )

    def make_context(self) -> PollsContext:
        return polls_context(self.core.store, self.core.derived_key(VOTER_IDS))

    def consumers(self) -> Sequence[Consumer]:
        return consumers_of(self.core)

    def export(self, user_id: UUID) -> AsyncIterator[tuple[str, Struct]]:
        return PollsData(self.context).export(user_id)

    async def forget(self, user_id: UUID) -> None:
        await PollsData(self.context).forget(user_id)

    async def home_card(self, caller: Principal) -> HomeCard:
        return await home_card(self.context, caller)

    async def demo(self, demo: Demo) -> None:
        await fill(demo)
