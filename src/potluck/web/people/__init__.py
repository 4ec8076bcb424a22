"""People as the assembly takes an app: their calls under /api/v1, and the pages to sign in and manage an account."""

from collections.abc import Sequence

from potluck.web.app import App, Core
from potluck.web.people.accounts import accounts, me
from potluck.web.people.context import PeopleContext
from potluck.web.people.invitations import invitations
from potluck.web.people.joining_pages import joining_pages
from potluck.web.people.pages import invitation
from potluck.web.people.pages.account import files, goodbyes
from potluck.web.people.pages.sign_in import front
from potluck.web.people.password_resets import password_resets
from potluck.web.people.sessions import own_sessions, sessions
from potluck.web.people.tokens import tokens

__all__ = ["SUBJECTS", "invitation", "people_app"]

SUBJECTS = (accounts, sessions, password_resets, invitations, me, own_sessions, tokens, front, goodbyes)


def people_app(core: Core, apps: Sequence[App]) -> App:
    return App(
        name="people",
        tables=[],
        subjects=[*SUBJECTS, *joining_pages(apps)],
        endpoints=[files],
        context=PeopleContext(core, apps),
    )
