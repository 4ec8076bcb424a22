"""What people's rules and pages use in addition to the core: account data, exports, and the places of every app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from potluck.web.invitations import Join
from potluck.web.people.account import AccountData
from potluck.web.people.export import Exports
from potluck.web.places.access import role_name
from potluck.web.redirects import address_after

if TYPE_CHECKING:
    from potluck.web.app import App, Core


class PeopleContext:
    """What people's pages need of the other apps. Each app knows the places that it invites to."""

    def __init__(self, core: Core, apps: Sequence[App]) -> None:
        self.account_data = AccountData(core, apps)
        self.exports = Exports(self.account_data.export, apps, core.clock)
        self._apps = {app.name: app for app in apps}

    async def place_name(self, app: str, place: str) -> str | None:
        """The name of the place; None if its app does not tell, or is not served."""
        return await self._apps[app].place_name(place) if app in self._apps else None

    def role_in_words(self, app: str, role: str) -> str:
        return self._apps[app].role_in_words(role) if app in self._apps else role_name(role)

    def joins_at_once(self, app: str) -> bool:
        """Whether joining this app asks nothing first."""
        return app in self._apps and self._apps[app].invites and bool(self._apps[app].joined_page)

    def joined_page(self, app: str, joined: Struct) -> str:
        """Where a new member is led by this app, with what joining answered."""
        page = self._apps[app].joined_page
        return address_after(page, joined, {}) if page else self._apps[app].address

    def app_name(self, app: str) -> str:
        return self._apps[app].title if app in self._apps else app

    def join_of(self, app: str) -> Join | None:
        """What joining by an invitation of this app writes; None if the app is not served."""
        return self._apps[app].join if app in self._apps and self._apps[app].invites else None
