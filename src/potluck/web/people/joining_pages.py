"""Joining by the button on an invitation's page, at `{address}/invitation` of the app that invites."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from potluck.web.access import SignedIn
from potluck.web.actions import Actions
from potluck.web.app import App
from potluck.web.declarations import Action
from potluck.web.inputs import DeclarationError
from potluck.web.invitations import accepted
from potluck.web.people.invitation_cookie import CARRIED_INVITATION
from potluck.web.writes import Writes


def joining_pages(apps: Sequence[App]) -> list[Actions[Any]]:
    """A form for each app that says where a new member is led; DeclarationError for an invitation without one."""
    pages = []
    for app in apps:
        if app.entry is None or app.join is None:
            continue
        path = f"{app.entry.address}/invitation"
        if app.joined_page is not None:
            pages.append(_joining(path, app.joined_page, app.welcome))
        elif path not in _served(app):
            raise DeclarationError(
                f"{app.name}: say with `joined_page=` where a new member is led, or serve POST {path} yourself:"
                " the page of an invitation sends its button there"
            )
    return pages


def _served(app: App) -> set[str | None]:
    return {each.form_path for subject in app.subjects for each in subject.declared if isinstance(each, Action)}


def _joining(path: str, page: Callable[[Any], str], welcome: str) -> Actions[Any]:
    joining: Actions[Any] = Actions(SignedIn, page=path)

    @joining.form("", then=lambda _, joined: page(joined), flash=welcome, drops=CARRIED_INVITATION)
    async def join(at: SignedIn) -> Writes[Struct]:
        return await accepted(at, CARRIED_INVITATION.value(at.visitor), at.context.join_of)

    return joining
