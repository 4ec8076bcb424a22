"""Access to a family: members see and change what it has; admins also manage members, stores and storage locations."""

from typing import Any

from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.fields import FamilyId, MemberId
from potluck.table import the
from potluck.web import ByRow, Forbidden


class AdminsOnly(Forbidden):
    """A member asked for something that only the family's admins may do."""

    def __init__(self) -> None:
        super().__init__("Only an admin of the family may do this")


class InFamily(ByRow[Member], admits=the(Member.status) == "active"):
    """A member of the family in the path."""

    family_id: FamilyId

    def sees(self, thing: Any) -> bool:
        """A former member's row is kept, but shown to nobody."""
        return not isinstance(thing, Member) or thing.status == "active"


class FamilyAdmin(InFamily, needs=the(Member.role) == "admin", otherwise=AdminsOnly):
    """An admin of the family in the path."""


class LeavingOrAdmin(InFamily):
    """The member in the path, leaving by themselves; or an admin, removing them."""

    member_id: MemberId

    def effective_access(self) -> type[InFamily]:
        return InFamily if self.member_id == self.principal.user_id else FamilyAdmin
