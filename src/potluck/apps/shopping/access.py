"""Who may: whoever is in a family sees and changes what it has; its admins also manage people, stores and shelves."""

from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.fields import FamilyId
from potluck.table import the
from potluck.web.access import ByRow
from potluck.web.errors import Forbidden

__all__ = ["AdminsOnly", "FamilyAdmin", "InFamily"]


class AdminsOnly(Forbidden):
    """A member asks for what the family's admins do."""

    def __init__(self) -> None:
        super().__init__("Only an admin of the family may do this")


class InFamily(ByRow[Member], admits=the(Member.status) == "active"):
    """A member of the family in the path."""

    family_id: FamilyId


class FamilyAdmin(InFamily, needs=the(Member.role) == "admin", otherwise=AdminsOnly):
    """An admin of the family in the path."""
