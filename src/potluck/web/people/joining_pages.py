"""Joining by the button on an invitation's page, at `{address}/invitation` of the app that invites."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.app import App
from potluck.web.declarations import Action
from potluck.web.inputs import DeclarationError
from potluck.web.invitations import CARRIED_INVITATION, accepted
from potluck.web.redirects import address_after
from potluck.web.writes import Writes


def joining_pages(apps: Sequence[App]) -> list[Actions[Any]]:
    """A form for each app that says where a new member is led; DeclarationError for an invitation without one."""
    pages = []
    for app in apps:
        if not app.title or not app.invites:
            continue
        path = f"{app.address}/invitation"
        if app.joined_page:
            pages.append(_joining(path, app.joined_page, app.welcome))
        elif path not in _served(app):
            raise DeclarationError(
                f"{app.name}: say with `joined_page=` where a new member is led, or serve POST {path} yourself:"
                " the page of an invitation sends its button there"
            )
    return pages


def _served(app: App) -> set[str | None]:
    return {
        declaration.form_path
        for subject in app.subjects
        for declaration in subject.declared
        if isinstance(declaration, Action)
    }


def _joining(path: str, page: str, welcome: str) -> Actions[Any]:
    joining: Actions[Any] = Actions(SignedIn, page=path)

    @joining.form("", then=lambda _, joined: address_after(page, joined, {}), flash=welcome, drops=CARRIED_INVITATION)
    async def join(at: SignedIn) -> Writes[Struct]:
        return await accepted(at, CARRIED_INVITATION.value(at.visitor), at.context.join_of)

    return joining
