"""Homes: members do the chores, admins also manage the home."""

from uuid import UUID

from chores.entities import Home, Member
from potluck.web import InPlace, Place


class InHome(InPlace[Member]):
    """A member of the home in the path."""

    home_id: UUID


class HomeAdmin(InHome, role="admin"):
    """An admin of the home in the path."""


homes = Place(
    "chores", Home, InHome, HomeAdmin, members=Member.of_home, places=Member.of_user, api="/homes", page="/chores"
)
