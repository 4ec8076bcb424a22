"""The places that people are invited to: what they are called, and how one joins. Each app knows its own."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from msgspec import Struct

from potluck.people.authentication import Also, Principal
from potluck.people.errors import InvitationInvalid
from potluck.people.invitations import Invitations
from potluck.web.app import Accept, App

__all__ = ["Joining", "PlaceNames"]


class PlaceNames:
    """Asks the app that a place is in."""

    def __init__(self, apps: Iterable[App]) -> None:
        self._names: dict[str, Callable[[str], Awaitable[str | None]]] = {app.name: app.place_name for app in apps}

    async def name_of(self, app: str, place: str) -> str | None:
        """What the place is called; None if its app does not say, or is not here."""
        named = self._names.get(app)
        return None if named is None else await named(place)


class Joining:
    """Lets people join by the app that invited them."""

    def __init__(self, apps: Iterable[App], invitations: Invitations) -> None:
        self._accept: dict[str, Accept] = {app.name: app.accept for app in apps}
        self._invitations = invitations

    async def accept(self, caller: Principal, secret: str, also: Also[Any]) -> Struct:
        """Where the invitation led; InvitationInvalid if its app is not here."""
        accept = self._accept.get((await self._invitations.look(secret)).app)
        if accept is None:
            raise InvitationInvalid
        return await accept(caller, secret, also)
