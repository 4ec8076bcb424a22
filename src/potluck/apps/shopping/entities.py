"""Shopping's table: the shopping list as in its design document, and the rows that the list relies on."""

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, field

from potluck.apps.shopping.fields import (
    Address,
    AlternateStores,
    Description,
    FamilyId,
    InventoryStatus,
    ItemId,
    ItemStatus,
    LocationId,
    LocationName,
    MemberId,
    Name,
    Notes,
    Quantity,
    Role,
    ShoppingItemId,
    StoreId,
    Threshold,
    ToBuy,
    Unit,
)
from potluck.table import (
    Counter,
    Entity,
    ExpiresAt,
    ItemCollection,
    OrNull,
    Seconds,
    Table,
    Unique,
    Version,
    get,
    query,
    scan,
)
from potluck.web import MemberRow, PlaceRow

inventory = Table(
    "InventoryManagement",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2SK")},
    ttl="ttl",
    type_attribute="entityType",
    names="camel",
    accepted={
        "scan: Deletion.every": "only after the consumer lost its place in the log",
        "filter: ShoppingListItem.by_status": "a family looks at the whole list; the filter only shows a part",
        "filter: ShoppingListItem.orphaned_by": "an index may lag, and a link that it misses would stay for ever",
        "filter: ShoppingListItem.unassigned_by": "an index may lag, and a link that it misses would stay for ever",
        "filter: Member.families_of": "a person is in a few families and has left a few others",
        "filter: InventoryItem.low": "few of the items that run low are archived",
        "shared-row: Family.manager_count": "only a change of admins writes it",
        "shared-row: Family.member_count": "only joining and leaving write it",
        "unbounded-row: ClearedItems": "99 shopping items have less than 400 KB at their longest",
    },
)


class ShoppingListItem(
    Entity,
    table=inventory,
    type="ShoppingListItem",
    key=("FAMILY#{family_id}", "SHOPPING#{shopping_item_id}"),
    # Ours: the design reads the whole list to find the items linked to an inventory item. Free text is not indexed.
    GSI1=("FAMILY#{family_id}#ITEM#{item_id}", "SHOPPING#{shopping_item_id}"),
    GSI2=("FAMILY#{family_id}#SHOPPING", "STORE#{store_id|UNASSIGNED}#STATUS#{status}"),
):
    """An item that needs to be purchased, linked to an inventory item or free text."""

    # Primary identifiers. The design says UUID v4, but its own records have others: any UUID is accepted.
    shopping_item_id: ShoppingItemId
    family_id: FamilyId
    # Item details
    item_id: OrNull[ItemId] = None
    name: Name
    store_id: OrNull[StoreId] = None
    status: ItemStatus = "pending"
    quantity: OrNull[ToBuy] = None
    notes: OrNull[Notes] = None
    # Concurrency control
    version: Version = 1
    # Automatic cleanup: seven days after the purchase, None while pending
    ttl: OrNull[ExpiresAt] = None
    # Audit fields; `added_by` is a memberId
    added_by: UUID
    created_at: Seconds
    updated_at: Seconds
    # Ours; omitted when None, so that a row without them is a row of the design.
    unit: Unit | None = None
    restocked_at: Seconds | None = None
    """When the purchase was added to the inventory, which happens once."""
    updated_by: UUID | None = None
    """The memberId of the person who changed it last, so that a version conflict can name them."""

    @get(consistent=True)
    def by_id(family_id: UUID, shopping_item_id: UUID) -> None:
        """Get shopping item by ID."""

    # Consistent, because people look at the list right after changing it, and live updates continue from this read.
    @query(consistent=True)
    def all_of_family(family_id: UUID) -> None:
        """List all shopping items."""

    # The design's prefix `STORE#{storeId}` would also match any longer store id; ours ends with "#".
    @query("GSI2")
    def by_store(family_id: UUID, store_id: UUID | None) -> None:
        """List by store; with no store, list unassigned items."""

    # The design's "SK contains" is not a key condition: this reads the family's whole list and filters it.
    @query("GSI2", filter=("status",))
    def by_status(family_id: UUID, status: ItemStatus) -> None:
        """List by status."""

    @query("GSI2")
    def by_store_and_status(family_id: UUID, store_id: UUID | None, status: ItemStatus) -> None:
        """List pending by store, or list purchased by store."""

    # The design queries this before every add to find duplicates; here, the PendingGuard refuses them.
    @query("GSI1")
    def linked_to(family_id: UUID, item_id: UUID) -> None:
        """Which items on the list are linked to this inventory item?"""

    # Not by the index, which may lag: a link that it misses would never be cleared.
    @query(filter=("item_id",), consistent=True)
    def orphaned_by(family_id: UUID, item_id: UUID) -> None:
        """Which items become free text when this inventory item is deleted?"""

    @query(filter=("store_id",), consistent=True)
    def unassigned_by(family_id: UUID, store_id: UUID) -> None:
        """Which items become unassigned when this store is deleted?"""


# --- rows that the shopping list relies on -------------------------------------------------------------------------


class Family(
    PlaceRow,
    table=inventory,
    type="Family",
    key=("FAMILY#{family_id}", "FAMILY#{family_id}"),
):
    """People who share an inventory and a list; everything else is in its partition."""

    family_id: FamilyId
    name: Name
    created_by: UUID
    # Ours: every write that removes an admin is conditional on this number, so a family always keeps one.
    manager_count: Counter = field(default=1, name="adminCount")
    # Ours: the number of members, so that one transaction can remove all of them with the family.
    member_count: Counter = 1
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    @get(consistent=True)
    def by_id(family_id: UUID) -> None:
        """Get family by ID."""


class Member(
    MemberRow,
    table=inventory,
    type="Member",
    key=("FAMILY#{family_id}", "MEMBER#{member_id}"),
    GSI1=("MEMBER#{member_id}", "FAMILY#{family_id}"),
):
    """A person in a family. The row stays when they leave, so that their items show a former member."""

    member_id: MemberId
    """The account's userId."""
    family_id: FamilyId
    name: Name
    email: Annotated[str, Meta(min_length=3, max_length=254)]
    role: Role = "member"
    status: Literal["active", "removed"] = "active"
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    # Read for every request, so that a removed member has no access from the next one on.
    @get(consistent=True)
    def by_id(family_id: UUID, member_id: UUID) -> None:
        """May this person see the family, and in which role?"""

    @query(consistent=True)
    def all_of_family(family_id: UUID) -> None:
        """Who is, or was, in the family?"""

    @query("GSI1", filter=("status",))
    def families_of(member_id: UUID, status: Literal["active", "removed"]) -> None:
        """Which families is this person in?"""

    @query("GSI1")
    def every_family_of(member_id: UUID) -> None:
        """Which families is or was this person in, to copy a new name, to export, or to delete them?"""


class InventoryItem(
    Entity,
    table=inventory,
    type="InventoryItem",
    key=("FAMILY#{family_id}", "ITEM#{item_id}"),
    # Ours: a sparse index that has an item only while it is low, so that querying low items reads no others.
    GSI1=("FAMILY#{family_id}#LOW", "ITEM#{item_id}", lambda quantity, threshold: quantity <= threshold),
    GSI2=("FAMILY#{family_id}#ITEMS", "STATUS#{status}#QUANTITY#{quantity:10}"),
):
    """Something the family keeps at home, with its quantity."""

    item_id: ItemId
    family_id: FamilyId
    # "Pasta" and "pasta" are the same item, even if two people add them at once.
    name: Annotated[Name, Unique("FAMILY#{family_id}", "UNIQUE#ITEM#{name:caseless}")]
    quantity: Quantity = 0
    threshold: Threshold = 0
    unit: OrNull[Unit] = None
    location_id: OrNull[LocationId] = None
    preferred_store_id: OrNull[StoreId] = None
    alternate_store_ids: AlternateStores = ()
    status: InventoryStatus = "active"
    created_by: UUID
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    @get(consistent=True)
    def by_id(family_id: UUID, item_id: UUID) -> None:
        """Get inventory item by ID."""

    # Consistent, because deleting a store or a location searches it for links.
    @query(consistent=True)
    def all_of_family(family_id: UUID) -> None:
        """List all inventory items."""

    @query("GSI2")
    def by_status(family_id: UUID, status: InventoryStatus) -> None:
        """List by status, the smallest quantity first."""

    @query("GSI1", filter=("status",))
    def low(family_id: UUID, status: InventoryStatus) -> None:
        """What is running low?"""


class StorageLocation(
    Entity,
    table=inventory,
    type="StorageLocation",
    key=("FAMILY#{family_id}", "LOCATION#{location_id}"),
):
    """A place at home where things are kept."""

    location_id: LocationId
    family_id: FamilyId
    name: Annotated[LocationName, Unique("FAMILY#{family_id}", "UNIQUE#LOCATION#{name:caseless}")]
    description: OrNull[Description] = None
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    @get(consistent=True)
    def by_id(family_id: UUID, location_id: UUID) -> None:
        """Get storage location by ID."""

    @query(consistent=True)
    def all_of_family(family_id: UUID) -> None:
        """List all storage locations."""


class Store(
    Entity,
    table=inventory,
    type="Store",
    key=("FAMILY#{family_id}", "STORE#{store_id}"),
):
    """A shop where things are bought."""

    store_id: StoreId
    family_id: FamilyId
    name: Annotated[Name, Unique("FAMILY#{family_id}", "UNIQUE#STORE#{name:caseless}")]
    address: OrNull[Address] = None
    version: Version = 1
    created_at: Seconds
    updated_at: Seconds

    @get(consistent=True)
    def by_id(family_id: UUID, store_id: UUID) -> None:
        """Get store by ID."""

    @query(consistent=True)
    def all_of_family(family_id: UUID) -> None:
        """List all stores."""


# --- ours ------------------------------------------------------------------------------------------------------------


class PendingGuard(
    Entity,
    table=inventory,
    type="PendingGuard",
    key=("FAMILY#{family_id}", "PENDING#{item_id}"),
):
    """The pending items linked to one inventory item, so that the write of a duplicate is refused.

    Adding an item puts its id into the set and creates the row if necessary; checking off or deleting removes the id.
    Unless duplicates are allowed, the set must be empty. The row is deleted with the inventory item.
    """

    family_id: FamilyId
    item_id: ItemId
    shopping_item_ids: Annotated[frozenset[UUID], Meta(max_length=5000)] = frozenset()

    @get(consistent=True)
    def by_item(family_id: UUID, item_id: UUID) -> None:
        """Which pending items are linked to this inventory item?"""


Deletable = Literal["item", "location", "store", "family"]


class Deletion(
    Entity,
    table=inventory,
    type="Deletion",
    key=("FAMILY#{family_id}", "DELETION#{what}#{gone_id}"),
):
    """A deleted thing that other rows may still link to; it stays until the last link is cleared.

    The deleting transaction puts it. It makes the consumer clear the links that were made while that transaction was
    prepared, and those that did not fit into it. Until then, it tells readers which links are dangling.
    """

    family_id: FamilyId
    what: Deletable
    gone_id: UUID
    deleted_by: UUID
    created_at: Seconds

    @scan(consistent=True)
    def every() -> None:
        """Which deletions are unfinished, in all families?"""

    @get(consistent=True)
    def by_id(family_id: UUID, what: Deletable, gone_id: UUID) -> None:
        """Is this deletion unfinished?"""

    @query(consistent=True)
    def under_way(family_id: UUID) -> None:
        """Which links are dangling?"""


class ClearedItems(
    Entity,
    table=inventory,
    type="ClearedItems",
    key=("FAMILY#{family_id}", "CLEARED#{clearing_id}#{part:03}"),
):
    """Purchased items that were cleared from the list, unchanged, for as long as that can be undone."""

    family_id: FamilyId
    clearing_id: UUID
    """The undo token."""
    part: Annotated[int, Meta(ge=0, le=999)] = 0
    cleared_by: UUID
    # One transaction deletes these items and puts this row; even the largest items fit into its size limit.
    items: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=99)]
    created_at: Seconds
    ttl: ExpiresAt

    @query(consistent=True)
    def by_clearing(family_id: UUID, clearing_id: UUID) -> None:
        """Which items does this undo restore?"""


class EverythingOfFamily(ItemCollection):
    """A family and everything else in its partition."""

    family: Family | None
    members: list[Member]
    inventory_items: list[InventoryItem]
    locations: list[StorageLocation]
    stores: list[Store]
    shopping_items: list[ShoppingListItem]
    pending_guards: list[PendingGuard]
    deletions: list[Deletion]
    cleared_items: list[ClearedItems]

    @query(consistent=True)
    def of(family_id: UUID) -> None:
        """Which rows are deleted with the family?"""
