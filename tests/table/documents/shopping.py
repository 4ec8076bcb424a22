"""The document of the shopping list, taken literally as far as it can be declared at all."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from potluck.table import Entity, ExpiresAt, OrNull, Seconds, Table, Version, get, query

inventory = Table(
    "InventoryManagement",
    "PK",
    "SK",
    indexes={"GSI2": ("GSI2PK", "GSI2SK")},
    ttl="ttl",
    type_attribute="entityType",
)

Status = Literal["pending", "purchased"]


class ShoppingListItem(
    Entity,
    table=inventory,
    type="ShoppingListItem",
    key=("FAMILY#{family_id}", "SHOPPING#{shopping_item_id}"),
    GSI2=("FAMILY#{family_id}#SHOPPING", "STORE#{store_id|UNASSIGNED}#STATUS#{status}"),
):
    """An item that needs to be purchased."""

    shopping_item_id: UUID
    family_id: UUID
    item_id: OrNull[UUID] = None
    name: Annotated[str, Meta(min_length=1, max_length=100)]
    store_id: OrNull[UUID] = None
    status: Status = "pending"
    quantity: OrNull[Annotated[int, Meta(gt=0)]] = None
    notes: OrNull[Annotated[str, Meta(max_length=500)]] = None
    version: Version = 1
    ttl: OrNull[ExpiresAt] = None
    added_by: UUID
    created_at: Seconds
    updated_at: Seconds

    @get
    def by_id(family_id: UUID, shopping_item_id: UUID) -> None:
        """Get shopping item by ID."""

    @query()
    def all_of_family(family_id: UUID) -> None:
        """List all shopping items."""

    @query("GSI2", prefix="STORE#{store_id|UNASSIGNED}")
    def by_store(family_id: UUID, store_id: UUID | None) -> None:
        """List by store: SK begins_with STORE#{storeId}. List unassigned items: SK begins_with STORE#UNASSIGNED."""

    @query("GSI2")
    def pending_by_store(family_id: UUID, store_id: UUID | None, status: Status) -> None:
        """List pending by store."""

    @query(filter=("item_id", "status"))
    def duplicates(family_id: UUID, item_id: UUID, status: Status) -> None:
        """Duplicate prevention: is an item with the same itemId pending?"""
