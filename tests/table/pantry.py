"""A family's inventory and shopping list, and a few odd rows: one entity for each thing that a write can meet."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, field

from potluck.table import (
    Counter,
    Entity,
    ExpiresAt,
    KeyOnly,
    OrNull,
    Seconds,
    Table,
    Unique,
    Version,
    get,
)

__all__ = [
    "Book",
    "InventoryItem",
    "Invitation",
    "Label",
    "Noted",
    "Shop",
    "ShoppingListItem",
    "Tally",
    "inventory",
]

inventory = Table(
    "InventoryManagement",
    "PK",
    "SK",
    indexes={"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK", "GSI2N"), "GSI3": ("GSI3PK", "GSI3SK")},
    numbers=("GSI2N",),
    ttl="ttl",
    type_attribute="entityType",
)

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Quantity = Annotated[int, Meta(ge=0, le=9_999_999_999)]


class Noted(Entity):
    """What can have a note on it."""

    note: Annotated[str, Meta(max_length=500)] = ""


class ShoppingListItem(
    Entity,
    table=inventory,
    type="ShoppingListItem",
    key=("FAMILY#{family_id}", "SHOPPING#{shopping_item_id}"),
    GSI1=("FAMILY#{family_id}#ITEM#{item_id}", "SHOPPING#{shopping_item_id}"),
    GSI3=("FAMILY#{family_id}#SHOPPING", "STORE#{store_id|UNASSIGNED}#STATUS#{status}"),
):
    """An item that needs to be bought, linked to the inventory or free text."""

    shopping_item_id: UUID
    family_id: UUID
    item_id: OrNull[UUID] = None
    name: Name
    store_id: OrNull[UUID] = None
    status: Literal["pending", "purchased"] = "pending"
    quantity: OrNull[Annotated[int, Meta(ge=1)]] = None
    notes: OrNull[Annotated[str, Meta(max_length=500)]] = None
    version: Version = 1
    ttl: OrNull[ExpiresAt] = None
    updated_at: Seconds

    @get
    def one(family_id: UUID, shopping_item_id: UUID) -> None:
        """Which thing on the list is this?"""


class InventoryItem(
    Entity,
    table=inventory,
    type="InventoryItem",
    key=("FAMILY#{family_id}", "ITEM#{item_id}"),
    GSI1=("FAMILY#{family_id}#LOW", "ITEM#{item_id}", lambda quantity, threshold: quantity <= threshold),
    GSI2=("FAMILY#{family_id}#ORDER", "{shelf}"),
    GSI3=("FAMILY#{family_id}#ITEMS", "STATUS#{status}#QUANTITY#{quantity:10}"),
):
    """Something in the house."""

    family_id: UUID
    item_id: UUID
    name: Name
    quantity: Quantity = 0
    threshold: Quantity = 0
    shelf: Annotated[int, Meta(ge=-999, le=999)] | None = None
    status: Literal["active", "archived"] = "active"
    version: Version = 1

    @get
    def one(family_id: UUID, item_id: UUID) -> None:
        """Which thing in the house is this?"""


class Book(
    Entity,
    table=inventory,
    type="Book",
    key=("BOOK#{book_id}", "BOOK"),
    GSI1=(
        "owner#{owner_id}#library#{library_id}",
        ("item#{collection_name:folded 200}#{order:05}#{title:folded 400}", "item#{title:folded 400}#~"),
    ),
):
    """A book on a shelf, alone or as part of a series. Whoever changes it last is right."""

    book_id: UUID
    owner_id: Annotated[str, Meta(max_length=40)]
    library_id: UUID | None = None
    title: Name
    collection_name: Name | None = None
    order: OrNull[Annotated[int, Meta(ge=0, le=99_999)]] = None

    @get
    def one(book_id: UUID) -> None:
        """Which book is this?"""


class Shop(Noted, table=inventory, type="Shop", key=("FAMILY#{family_id}", "SHOP#{shop_id}")):
    """Where a family buys; no two have the same name, however it is spelt."""

    family_id: UUID
    shop_id: UUID
    name: Annotated[Name, Unique("FAMILY#{family_id}", "UNIQUE#SHOP#{name:folded}")]
    web: Annotated[Name | None, Unique("WEB#{web}", "UNIQUE")] = None
    version: Version = 1

    @get
    def one(family_id: UUID, shop_id: UUID) -> None:
        """Which shop is this?"""


class Invitation(Entity, table=inventory, type="Invitation", key=("INVITATION#{invitation_id}", "INVITATION")):
    """A way into the family that closes by itself."""

    invitation_id: UUID
    code: Annotated[Name, Unique("CODE#{code}", "UNIQUE")]
    ttl: ExpiresAt | None = None

    @get
    def one(invitation_id: UUID) -> None:
        """Which invitation is this?"""


class Tally(Entity, table=inventory, type="Tally", key=("TALLY#{place}", "TALLY")):
    """Numbers and sets that many write at once."""

    place: Annotated[str, Meta(max_length=40), KeyOnly]
    votes: Counter = 0
    stock: Annotated[int, Meta(ge=0, le=100)] = 10
    weight: float = 0.0
    tags: frozenset[str] = frozenset()
    lots: set[int]
    name: Name = "tally"
    version: Version = 1

    @get
    def one(place: str) -> None:
        """Which tally is this?"""


class Label(Entity, table=inventory, type="Label", key=("LABEL#{label_id}", "LABEL")):
    """Fields whose names are words of DynamoDB's language or no words at all."""

    label_id: UUID
    name: Name
    status: Name | None = None
    size: int = 0
    one: int = 0
    now: int = 0
    null: str = ""
    second: str = field(name="name_2", default="")

    @get
    def read(label_id: UUID) -> None:
        """Which label is this?"""
