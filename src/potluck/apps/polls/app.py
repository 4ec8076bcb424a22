"""Polls, as they are handed to the assembly."""

from pathlib import Path

# Its rules add to the subject of results.
import potluck.apps.polls.live_results  # noqa: F401
from potluck.apps.polls.account_deletion import AccountData
from potluck.apps.polls.context import polls_context
from potluck.apps.polls.deletion import Deletions
from potluck.apps.polls.demo import demo_of
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.polls.home_card import at_a_glance
from potluck.apps.polls.pages import ENDPOINTS
from potluck.apps.polls.polls import polls
from potluck.apps.polls.results import outcome
from potluck.apps.polls.votes import votes
from potluck.people.authentication import Principal
from potluck.web.app import App, Core, HomeCard, Waiting
from potluck.web.dishes import DISHES
from potluck.web.runner import Runner
from potluck.web.secret import derived, load_secret

__all__ = ["VOTER_IDS", "polls_app"]

APP = "polls"
ADDRESS = "/polls"
VOTER_IDS = "poll voters"
"""What the key for the ids of votes is derived for, from the suite's secret."""


def polls_app(core: Core) -> App:
    """The app on the suite's core."""
    context = polls_context(core.store, core.clock, derived(load_secret(core.settings), VOTER_IDS))
    account_data = AccountData(context)
    (dish,) = (each for each in DISHES if each.id == APP)

    async def home_card(principal: Principal) -> HomeCard:
        found = await at_a_glance(context, principal)
        return HomeCard(
            found.fact,
            [
                Waiting(each.title, each.note, f"{ADDRESS}/{each.poll_id}/results", dish.icon, "Look")
                for each in found.to_close
            ],
        )

    return App(
        name=APP,
        tables=[ranked_choice_polls],
        subjects=[polls, votes, outcome],
        endpoints=ENDPOINTS,
        context=context,
        templates=Path(__file__).parent / "templates",
        dish=dish._replace(address=ADDRESS),
        consumers=[Deletions(core.store).consumer()],
        export=account_data.export,
        forget=account_data.forget,
        home_card=home_card,
        demo=demo_of(Runner(core, context)),
    )
