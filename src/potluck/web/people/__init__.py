"""People as the assembly takes an app: their calls under /api/v1, and the pages to sign in and manage an account."""

from collections.abc import Sequence

from potluck.people.admins import counts_as_admin
from potluck.people.authentication import Principal
from potluck.people.entities import Account
from potluck.web.app import App, Core, HomeCard
from potluck.web.people import accounts, administration, invitations, password_resets, provider, sessions, tokens
from potluck.web.people.context import PeopleContext
from potluck.web.people.joining_pages import joining_pages
from potluck.web.people.pages import account as account_pages
from potluck.web.people.pages import administration as administration_pages
from potluck.web.people.pages import invitation, sign_in
from potluck.web.people.pages import provider as provider_pages
from potluck.web.translation import _, ngettext


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

    async def home_card(self, caller: Principal) -> HomeCard:
        card = HomeCard()
        if self.core.settings.registration != "approval":
            return card
        account = await self.core.store.get(Account.by_id(caller.user_id))
        if account is not None and counts_as_admin(account):
            waiting = await self.core.store.count(Account.all_with_status("waiting"))
            if waiting:
                people = ngettext(
                    "%(num)s person is waiting for approval", "%(num)s people are waiting for approval", waiting
                )
                card.add(people, _("New accounts"), "/people", "user-plus", _("Review"))
        return card

    def make_context(self) -> PeopleContext:
        return PeopleContext(self.core, self._apps)
