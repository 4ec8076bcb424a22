"""The journal app, as the suite assembles it."""

from functools import partial
from pathlib import Path

from potluck.apps.journal import account, comments, entries, importing, links, profile, search, stats, threads
from potluck.apps.journal.addresses import HOME
from potluck.apps.journal.consumers import consumers_of
from potluck.apps.journal.context import journal_context
from potluck.apps.journal.demo import demo_of
from potluck.apps.journal.entities import roll_model
from potluck.apps.journal.home_card import home_card_of
from potluck.apps.journal.links import APP, join, place_name, role_in_words
from potluck.apps.journal.pages import assistant, entry, entry_form, settings, timeline
from potluck.apps.journal.pages import links as link_pages
from potluck.apps.journal.pages import stats as stats_pages
from potluck.apps.journal.profile import account_renamed
from potluck.web import App, AppEntry, Core, Modules

MODULES = Modules(
    *(entries, comments, links, search, stats, threads, profile, account, importing),
    *(entry_form, timeline, entry, stats_pages, assistant, link_pages, settings),
)


def journal_app(core: Core) -> App:
    """The app on the suite's core."""
    context = journal_context(core.settings.assistant, core.derived_key("journal drafts"))
    account_data = account.JournalData(core.store)
    return App(
        name=APP,
        tables=[roll_model],
        modules=MODULES,
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
        demo=demo_of(core, MODULES.subjects, context),
    )
