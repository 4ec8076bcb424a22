"""People as the assembly takes an app: their calls under /api/v1, and the pages to sign in and manage an account."""

from collections.abc import Sequence

from potluck.web.app import App, Core
from potluck.web.modules import Modules
from potluck.web.people import accounts, invitations, password_resets, sessions, tokens
from potluck.web.people.context import PeopleContext
from potluck.web.people.joining_pages import joining_pages
from potluck.web.people.pages import account as account_pages
from potluck.web.people.pages import invitation, sign_in

MODULES = Modules(accounts, sessions, password_resets, invitations, tokens, sign_in, account_pages, invitation)


def people_app(core: Core, apps: Sequence[App]) -> App:
    """Builds the app on the suite's core, for these apps."""
    return App(
        name="people",
        tables=[],
        modules=MODULES,
        subjects=joining_pages(apps),
        context=PeopleContext(core, apps),
    )
