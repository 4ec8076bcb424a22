"""The journal app, as the suite assembles it."""

from functools import partial
from pathlib import Path
from typing import Any

from potluck.apps.journal.account import JournalData, export
from potluck.apps.journal.addresses import HOME
from potluck.apps.journal.comments import comments
from potluck.apps.journal.consumers import consumers_of
from potluck.apps.journal.context import journal_context
from potluck.apps.journal.demo import demo_of
from potluck.apps.journal.entities import roll_model
from potluck.apps.journal.entries import entries, shared_entries
from potluck.apps.journal.home_card import home_card_of
from potluck.apps.journal.importing import imports
from potluck.apps.journal.links import APP, athletes, join, links, place_name, role_in_words
from potluck.apps.journal.pages import ENDPOINTS, home, joining
from potluck.apps.journal.profile import account_renamed, profile
from potluck.apps.journal.search import search
from potluck.apps.journal.stats import stats
from potluck.apps.journal.threads import messages, threads
from potluck.web import Actions, App, AppEntry, Core

SUBJECTS: tuple[Actions[Any], ...] = (
    *(entries, shared_entries, comments, links, athletes),
    *(search, stats, threads, messages, profile, export, imports, home, joining),
)


def journal_app(core: Core) -> App:
    """The app on the suite's core."""
    context = journal_context(core.settings.assistant, core.derived_key("journal drafts"))
    account_data = JournalData(core.store)
    return App(
        name=APP,
        tables=[roll_model],
        subjects=SUBJECTS,
        endpoints=ENDPOINTS,
        context=context,
        templates=Path(__file__).parent / "templates",
        entry=AppEntry(
            APP, "Journal", "notebook-pen", "A training journal: part shared with coaches, part only yours.", HOME
        ),
        consumers=consumers_of(core),
        account_renamed=partial(account_renamed, core.store),
        export=account_data.export,
        forget=account_data.forget,
        place_name=partial(place_name, core.store),
        role_in_words=role_in_words,
        join=join,
        home_card=home_card_of(core),
        demo=demo_of(core, SUBJECTS, context),
    )
