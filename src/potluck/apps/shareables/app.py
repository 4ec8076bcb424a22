"""The shareables app, as the suite assembles it."""

from functools import partial
from pathlib import Path

from potluck.apps.polls.app import TEMPLATES as POLLS_TEMPLATES
from potluck.apps.polls.app import VOTER_IDS
from potluck.apps.polls.context import polls_context
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.shareables import ballots, creation, items, live, shareables
from potluck.apps.shareables.account import ShareablesData
from potluck.apps.shareables.consumers import consumers_of
from potluck.apps.shareables.context import ShareablesContext
from potluck.apps.shareables.demo import demo_of
from potluck.apps.shareables.entities import shareables as shareables_table
from potluck.apps.shareables.entities import short_id_pool
from potluck.apps.shareables.hashing import Hashing
from potluck.apps.shareables.home_card import home_card
from potluck.apps.shareables.pages import admin, opening, shareable, voting
from potluck.apps.shareables.pages import creation as creation_pages
from potluck.apps.shareables.presence import Presence
from potluck.apps.shareables.short_ids import PoolRefill, ShortIdPool
from potluck.web import App, AppEntry, Core, Direct, Modules

APP = "shareables"
MODULES = Modules(
    *(shareables, creation, items, ballots, live),
    *(creation_pages, opening, shareable, voting, admin),
)


def shareables_app(core: Core) -> App:
    """The app on the suite's core."""
    polls = polls_context(core.store, core.clock, core.derived_key(VOTER_IDS), shared=True)
    pool = ShortIdPool(core.store)
    context = ShareablesContext(
        pool=pool,
        hashing=Hashing(core.people.passwords),
        presence=Presence(core.store, core.clock),
        polls=polls,
    )
    account_data = ShareablesData(core.store, core.clock)
    return App(
        name=APP,
        # Polls in shareables are stored in the polls app's table, whether or not that app is served.
        tables=[short_id_pool, shareables_table, ranked_choice_polls],
        modules=MODULES,
        context=context,
        templates=Path(__file__).parent / "templates",
        borrowed_templates=[POLLS_TEMPLATES],
        entry=AppEntry(
            APP, "Shareables", "list-checks", "Lists and polls that anyone with the short id can open.", shareables.HOME
        ),
        consumers=consumers_of(core),
        background=[PoolRefill(core.store, pool)],
        export=account_data.export,
        forget=account_data.forget,
        home_card=partial(home_card, core.store, core.clock),
        demo=demo_of(Direct(core, MODULES.subjects, context)),
    )
