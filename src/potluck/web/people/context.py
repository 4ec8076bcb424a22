"""What people's rules and pages are given besides the core: exports, and the places of every app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from potluck.web.people.export import Exports
from potluck.web.people.places import Joining, PlaceNames

if TYPE_CHECKING:
    from potluck.web.app import App, Core

__all__ = ["PeopleContext"]


class PeopleContext:
    """What the other apps have to do with people."""

    def __init__(self, core: Core, apps: Sequence[App]) -> None:
        self.exports = Exports(core.people.accounts, apps, core.clock)
        self.places = PlaceNames(apps)
        self.joining = Joining(apps, core.people.invitations)
