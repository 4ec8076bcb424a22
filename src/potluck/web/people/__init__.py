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

# Others are on no page, but their links work.
INVITATIONS_SHOWN = 3


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
        await self._add_invitations(card, caller)
        if self.core.settings.registration == "approval":
            await self._add_approvals(card, caller)
        return card

    async def _add_invitations(self, card: HomeCard, caller: Principal) -> None:
        """Invitations to the caller's address, if that is verified."""
        context: PeopleContext = self.context
        rows = self.core.people.invitations
        for text, row in await rows.addressed_to(caller.user_id, INVITATIONS_SHOWN):
            inviter = await rows.inviter(row)
            place = await context.place_name(row.app, row.place)
            if inviter is None or context.join_of(row.app) is None:
                continue
            name = _("%(name)s invites you to %(place)s", name=inviter, place=place or context.app_name(row.app))
            note = _(
                "%(app)s. Your role: %(role)s.",
                app=context.app_name(row.app),
                role=context.role_in_words(row.app, row.role),
            )
            page = f"/invitation?id={row.invitation_id}"
            if context.joins_at_once(row.app):
                card.add(name, note, page, "mail", _("Accept"), at="/invitation/accept", sends={"invitation": text})
            else:
                card.add(name, note, page, "mail", _("Answer"))

    async def _add_approvals(self, card: HomeCard, caller: Principal) -> None:
        """Accounts that wait for an admin, if the caller is one."""
        account = await self.core.store.get(Account.by_id(caller.user_id))
        if account is None or not counts_as_admin(account):
            return
        waiting = await self.core.store.count(Account.all_with_status("waiting"))
        if waiting:
            people = ngettext(
                "%(num)s person is waiting for approval", "%(num)s people are waiting for approval", waiting
            )
            card.add(people, _("New accounts"), "/people", "user-plus", _("Review"))

    def make_context(self) -> PeopleContext:
        return PeopleContext(self.core, self._apps)
