"""The shareables app, as the suite assembles it."""

from functools import partial
from pathlib import Path
from typing import Any

# Imported for their rules and pages, which register with the subjects.
import potluck.apps.shareables.live
import potluck.apps.shareables.pages  # noqa: F401
from potluck.apps.polls.app import TEMPLATES as POLLS_TEMPLATES
from potluck.apps.polls.app import VOTER_IDS
from potluck.apps.polls.context import polls_context
from potluck.apps.polls.entities import ranked_choice_polls
from potluck.apps.shareables.account import ShareablesData
from potluck.apps.shareables.ballots import ballots, results
from potluck.apps.shareables.consumers import consumers_of
from potluck.apps.shareables.context import ShareablesContext
from potluck.apps.shareables.demo import demo_of
from potluck.apps.shareables.entities import shareables as shareables_table
from potluck.apps.shareables.entities import short_id_pool
from potluck.apps.shareables.hashing import Hashing
from potluck.apps.shareables.home_card import home_card
from potluck.apps.shareables.items import items
from potluck.apps.shareables.presence import Presence
from potluck.apps.shareables.shareables import HOME, own, shareables
from potluck.apps.shareables.short_ids import PoolRefill, ShortIdPool
from potluck.web import Actions, App, AppEntry, Core, Direct

APP = "shareables"
SUBJECTS: tuple[Actions[Any], ...] = (own, shareables, items, ballots, results)


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
        subjects=SUBJECTS,
        context=context,
        templates=Path(__file__).parent / "templates",
        borrowed_templates=[POLLS_TEMPLATES],
        entry=AppEntry(
            APP, "Shareables", "list-checks", "Lists and polls that anyone with the short id can open.", HOME
        ),
        consumers=consumers_of(core),
        background=[PoolRefill(core.store, pool)],
        export=account_data.export,
        forget=account_data.forget,
        home_card=partial(home_card, core.store, core.clock),
        demo=demo_of(Direct(core, SUBJECTS, context)),
    )
