"""Access to a family: members see and edit its content; admins also manage members, stores and storage locations."""

from potluck.apps.shopping.entities import Member
from potluck.apps.shopping.fields import FamilyId
from potluck.web import InPlace


class InFamily(InPlace[Member]):
    """A member of the family in the path."""

    family_id: FamilyId


class FamilyAdmin(InFamily, role="admin"):
    """An admin of the family in the path."""
