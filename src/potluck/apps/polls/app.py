"""The Polls app, as the suite mounts it."""

from functools import partial
from pathlib import Path

from potluck.apps.polls import live_results, polls, results, votes
from potluck.apps.polls.access import HOME
from potluck.apps.polls.account import PollsData
from potluck.apps.polls.consumers import consumers_of
from potluck.apps.polls.context import polls_context
from potluck.apps.polls.demo import demo_of
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.polls.home_card import home_card
from potluck.apps.polls.pages import ballot_pages, creating, managing, own_polls, sharing, voting
from potluck.apps.polls.pages import results as result_pages
from potluck.web import App, AppEntry, Core, Direct, Modules

APP = "polls"
TEMPLATES = Path(__file__).parent / "templates"
MODULES = Modules(
    *(polls, votes, results, live_results),
    *(own_polls, creating, sharing, ballot_pages, voting, result_pages, managing),
)
VOTER_IDS = "poll voters"
"""The purpose for which the key behind vote ids is derived from the suite's secret."""


def polls_app(core: Core) -> App:
    """Builds the app on the suite's core."""
    context = polls_context(core.store, core.clock, core.derived_key(VOTER_IDS))
    account_data = PollsData(context)
    return App(
        name=APP,
        tables=[ranked_choice_polls],
        modules=MODULES,
        context=context,
        templates=TEMPLATES,
        entry=AppEntry(APP, "Polls", "vote", "Ranked choice, counted in the open, so that everyone can check.", HOME),
        consumers=consumers_of(core),
        export=account_data.export,
        forget=account_data.forget,
        home_card=partial(home_card, context),
        demo=demo_of(Direct(core, MODULES.subjects, context)),
    )
