"""People as the assembly takes an app: their calls under /api/v1, and the pages to sign in and manage an account."""

from collections.abc import Sequence

from potluck.web.app import App, Core
from potluck.web.people import accounts, administration, invitations, password_resets, provider, sessions, tokens
from potluck.web.people.context import PeopleContext
from potluck.web.people.joining_pages import joining_pages
from potluck.web.people.pages import account as account_pages
from potluck.web.people.pages import administration as administration_pages
from potluck.web.people.pages import invitation, sign_in
from potluck.web.people.pages import provider as provider_pages


class PeopleApp(App):
    """People, for these apps."""

    name = "people"
    modules = (
        accounts,
        sessions,
        password_resets,
        invitations,
        tokens,
        administration,
        provider,
        sign_in,
        account_pages,
        administration_pages,
        provider_pages,
        invitation,
    )

    def __init__(self, core: Core, apps: Sequence[App]) -> None:
        self._apps = apps
        super().__init__(core)
        self.subjects = (*self.subjects, *joining_pages(apps))

    def make_context(self) -> PeopleContext:
        return PeopleContext(self.core, self._apps)
