"""Joining by the button on an invitation's page, at `{address}/invitation` of the app that invites."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from starlette.responses import Response

from potluck.people.authentication import nothing_else
from potluck.web.app import Accept, App, no_invitations
from potluck.web.endpoints import Call, Endpoints
from potluck.web.http.responses import redirect
from potluck.web.inputs import DeclarationError
from potluck.web.people.invitation_cookie import carried_invitation, drop_invitation


def joining_pages(apps: Sequence[App]) -> Endpoints:
    """One endpoint for each app that says where somebody who joined is led; DeclarationError where nobody can join."""
    pages = Endpoints()
    for app in apps:
        if app.entry is None or app.accept is no_invitations:
            continue
        path = f"{app.entry.address}/invitation"
        if app.joined_page is not None:
            pages.post(path)(partial(_join, app.accept, app.joined_page))
        elif not any(each.path == path for endpoints in app.endpoints for each in endpoints.declared):
            raise DeclarationError(
                f"{app.name}: say with `joined_page=` where somebody who joined is led, or serve POST {path} yourself:"
                " the page of an invitation sends its button there"
            )
    return pages


async def _join(accept: Accept, page: Callable[[Any], str], call: Call) -> Response:
    """Accept the invitation that the browser carries."""
    joined = await accept(call.signed_in(), carried_invitation(call), nothing_else)
    return redirect(page(joined), *drop_invitation(call))
