"""What callers are shown: the same for the JSON door, the pages, live updates and the export."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from potluck.apps.shopping.entities import (
    Family,
    InventoryItem,
    InventoryStatus,
    ItemStatus,
    Member,
    ShoppingListItem,
    StorageLocation,
    Store,
)
from potluck.apps.shopping.names import Names
from potluck.people.entities import InvitationOfPlace

__all__ = [
    "Cleared",
    "FamilyShown",
    "Group",
    "InventoryItemShown",
    "InvitationShown",
    "Joined",
    "LocationShown",
    "MemberShown",
    "Restocked",
    "ShoppingItemShown",
    "ShoppingListShown",
    "StoreShown",
    "family_shown",
    "inventory_item_shown",
    "invitation_shown",
    "location_shown",
    "member_shown",
    "shopping_item_shown",
    "store_shown",
]

FORMER_MEMBER = "Former member"


class FamilyShown(Struct, rename="camel", frozen=True, kw_only=True):
    """A family, as one who is in it sees it."""

    family_id: UUID
    name: str
    role: Literal["admin", "member"]
    """What the caller is in it."""
    member_count: int
    created_by: UUID
    version: int
    created_at: datetime
    updated_at: datetime


class MemberShown(Struct, rename="camel", frozen=True, kw_only=True):
    """A person in the family."""

    member_id: UUID
    name: str
    email: str
    role: Literal["admin", "member"]
    version: int


class InvitationShown(Struct, rename="camel", frozen=True, kw_only=True):
    """An invitation that is open, without what opens it."""

    id: UUID
    role: str
    email: str | None
    invited_by: UUID
    created_at: datetime
    expires_at: datetime


class Joined(Struct, rename="camel", frozen=True, kw_only=True):
    """Where an invitation led."""

    family_id: UUID


class StoreShown(Struct, rename="camel", frozen=True, kw_only=True):
    store_id: UUID
    family_id: UUID
    name: str
    address: str | None
    version: int
    created_at: datetime
    updated_at: datetime


class LocationShown(Struct, rename="camel", frozen=True, kw_only=True):
    location_id: UUID
    family_id: UUID
    name: str
    description: str | None
    version: int
    created_at: datetime
    updated_at: datetime


class InventoryItemShown(Struct, rename="camel", frozen=True, kw_only=True):
    item_id: UUID
    family_id: UUID
    name: str
    quantity: int
    threshold: int
    low: bool
    """Whether there is no more of it than the threshold says."""
    unit: str | None
    location_id: UUID | None
    location_name: str | None
    preferred_store_id: UUID | None
    preferred_store_name: str | None
    alternate_store_ids: tuple[UUID, ...]
    status: InventoryStatus
    created_by: UUID
    version: int
    created_at: datetime
    updated_at: datetime


class ShoppingItemShown(Struct, rename="camel", frozen=True, kw_only=True):
    shopping_item_id: UUID
    family_id: UUID
    item_id: UUID | None
    name: str
    store_id: UUID | None
    store_name: str | None
    status: ItemStatus
    quantity: int | None
    unit: str | None
    notes: str | None
    version: int
    ttl: int | None
    added_by: UUID
    added_by_name: str
    created_at: datetime
    updated_at: datetime
    restocked_at: datetime | None


class Group(Struct, rename="camel", frozen=True, kw_only=True):
    """What is on the list for one store, in numbers; no store, for what is unassigned."""

    store_id: UUID | None
    store_name: str | None
    pending: int
    purchased: int


class ShoppingListShown(Struct, rename="camel", frozen=True, kw_only=True):
    """A list in its order: by store name and unassigned last, pending first, newest first."""

    items: list[ShoppingItemShown]
    groups: list[Group]


class Cleared(Struct, rename="camel", frozen=True, kw_only=True):
    """How much was cleared, and what brings it back; no token where nothing was."""

    cleared: int
    undo_token: UUID | None


class Restocked(Struct, rename="camel", frozen=True, kw_only=True):
    """A purchase that is at home now."""

    shopping_item: ShoppingItemShown
    inventory_item: InventoryItemShown


# --- from what is stored ---------------------------------------------------------------------------------------------


def family_shown(family: Family, to: Member) -> FamilyShown:
    return FamilyShown(
        family_id=family.family_id,
        name=family.name,
        role=to.role,
        member_count=family.member_count,
        created_by=family.created_by,
        version=family.version,
        created_at=family.created_at,
        updated_at=family.updated_at,
    )


def member_shown(member: Member) -> MemberShown:
    return MemberShown(
        member_id=member.member_id,
        name=member.name,
        email=member.email,
        role=member.role,
        version=member.version,
    )


def invitation_shown(invitation: InvitationOfPlace) -> InvitationShown:
    return InvitationShown(
        id=invitation.invitation_id,
        role=invitation.role,
        email=invitation.email,
        invited_by=invitation.invited_by,
        created_at=invitation.created_at,
        expires_at=datetime.fromtimestamp(invitation.ttl, invitation.created_at.tzinfo),
    )


def store_shown(store: Store) -> StoreShown:
    return StoreShown(
        store_id=store.store_id,
        family_id=store.family_id,
        name=store.name,
        address=store.address,
        version=store.version,
        created_at=store.created_at,
        updated_at=store.updated_at,
    )


def location_shown(location: StorageLocation) -> LocationShown:
    return LocationShown(
        location_id=location.location_id,
        family_id=location.family_id,
        name=location.name,
        description=location.description,
        version=location.version,
        created_at=location.created_at,
        updated_at=location.updated_at,
    )


def inventory_item_shown(item: InventoryItem, names: Names) -> InventoryItemShown:
    """The item; a store or location that is gone is none."""
    location_name = names.locations.get(item.location_id) if item.location_id else None
    store_name = names.stores.get(item.preferred_store_id) if item.preferred_store_id else None
    return InventoryItemShown(
        item_id=item.item_id,
        family_id=item.family_id,
        name=item.name,
        quantity=item.quantity,
        threshold=item.threshold,
        low=item.quantity <= item.threshold,
        unit=item.unit,
        location_id=None if location_name is None else item.location_id,
        location_name=location_name,
        preferred_store_id=None if store_name is None else item.preferred_store_id,
        preferred_store_name=store_name,
        alternate_store_ids=tuple(each for each in item.alternate_store_ids if each in names.stores),
        status=item.status,
        created_by=item.created_by,
        version=item.version,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def shopping_item_shown(item: ShoppingListItem, names: Names) -> ShoppingItemShown:
    """The item; a link to an inventory item or a store that is gone is none."""
    store_name = names.stores.get(item.store_id) if item.store_id else None
    return ShoppingItemShown(
        shopping_item_id=item.shopping_item_id,
        family_id=item.family_id,
        item_id=None if item.item_id in names.gone_items else item.item_id,
        name=item.name,
        store_id=None if store_name is None else item.store_id,
        store_name=store_name,
        status=item.status,
        quantity=item.quantity,
        unit=item.unit,
        notes=item.notes,
        version=item.version,
        ttl=item.ttl,
        added_by=item.added_by,
        added_by_name=names.members.get(item.added_by, FORMER_MEMBER),
        created_at=item.created_at,
        updated_at=item.updated_at,
        restocked_at=item.restocked_at,
    )
