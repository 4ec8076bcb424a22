"""People as the assembly takes an app: their calls under /api/v1, and the pages to sign in and manage an account."""

from collections.abc import Sequence

from potluck.web.app import App, Core
from potluck.web.people.account_pages import account_pages
from potluck.web.people.accounts import accounts, me
from potluck.web.people.context import PeopleContext
from potluck.web.people.invitations import invitations
from potluck.web.people.joining_pages import joining_pages
from potluck.web.people.sessions import own_sessions, password_resets, sessions
from potluck.web.people.sign_in_pages import sign_in_pages
from potluck.web.people.tokens import tokens

__all__ = ["people_app"]


def people_app(core: Core, apps: Sequence[App]) -> App:
    return App(
        name="people",
        tables=[],
        subjects=[accounts, sessions, password_resets, invitations, me, own_sessions, tokens, *joining_pages(apps)],
        endpoints=[sign_in_pages, account_pages],
        context=PeopleContext(core, apps),
    )
