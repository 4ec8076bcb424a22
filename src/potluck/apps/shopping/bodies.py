"""What callers may send, with its bounds; the messages are the design's, word for word, where it has one."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from potluck.apps.shopping.fields import MOST
from potluck.apps.shopping.old_shopping_list import LONGEST_LINES
from potluck.apps.shopping.validation import (
    ID_MESSAGES,
    LONGEST_NAME,
    LONGEST_NOTES,
    LONGEST_UNIT,
    MOST_ALTERNATES,
)
from potluck.people.particulars import checked_email, wrong_with
from potluck.web.bodies import Body, Holds, Says

__all__ = [
    "Adjustment",
    "FamilyChange",
    "FamilyId",
    "InventoryChange",
    "InventoryStatusText",
    "InvitationId",
    "ItemId",
    "ItemStatusText",
    "LocationChange",
    "LocationId",
    "MemberId",
    "NewFamily",
    "NewInventoryItem",
    "NewInvitation",
    "NewLocation",
    "NewShoppingItem",
    "NewStore",
    "PastedLines",
    "Restock",
    "RoleChange",
    "ShoppingItemChange",
    "ShoppingItemId",
    "StatusChange",
    "StoreChange",
    "StoreChoice",
    "StoreId",
    "Undo",
]

# A name is more than space; what is around it is not kept.
SAYS_SOMETHING = r"\S"
LARGEST_VERSION = 10**15

FamilyId = Annotated[UUID, Says(ID_MESSAGES["familyId"])]
MemberId = Annotated[UUID, Says(ID_MESSAGES["memberId"])]
InvitationId = Annotated[UUID, Says(ID_MESSAGES["invitationId"])]
ItemId = Annotated[UUID, Says(ID_MESSAGES["itemId"])]
StoreId = Annotated[UUID, Says(ID_MESSAGES["storeId"])]
LocationId = Annotated[UUID, Says(ID_MESSAGES["locationId"])]
ShoppingItemId = Annotated[UUID, Says(ID_MESSAGES["shoppingItemId"])]
StoreChoice = Annotated[
    str,
    Meta(pattern="^(unassigned|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$"),
    Says(ID_MESSAGES["storeId"]),
]

Name = Annotated[
    str,
    Meta(min_length=1, max_length=LONGEST_NAME, pattern=SAYS_SOMETHING),
    Says(f"Name must be 1-{LONGEST_NAME} characters"),
]
LocationName = Annotated[
    str, Meta(min_length=1, max_length=50, pattern=SAYS_SOMETHING), Says("Name must be 1-50 characters")
]
Address = Annotated[str, Meta(max_length=200), Says("Address must be 200 characters or less")]
Description = Annotated[str, Meta(max_length=200), Says("Description must be 200 characters or less")]
Notes = Annotated[str, Meta(max_length=LONGEST_NOTES), Says(f"Notes must be {LONGEST_NOTES} characters or less")]
Unit = Annotated[str, Meta(max_length=LONGEST_UNIT), Says(f"Unit must be {LONGEST_UNIT} characters or less")]
ToBuy = Annotated[
    int,
    Meta(ge=1, le=MOST),
    Says("Quantity must be a positive integer", too_large=f"Quantity must be at most {MOST:,}"),
]
Quantity = Annotated[int, Meta(ge=0, le=MOST), Says(f"Quantity must be an integer from 0 to {MOST:,}")]
Threshold = Annotated[int, Meta(ge=0, le=MOST), Says(f"Threshold must be an integer from 0 to {MOST:,}")]
Step = Annotated[int, Meta(ge=-MOST, le=MOST), Says(f"By must be an integer from -{MOST:,} to {MOST:,}")]
AlternateStores = Annotated[
    tuple[StoreId, ...],
    Meta(max_length=MOST_ALTERNATES),
    Says(f"There can be at most {MOST_ALTERNATES} alternate stores"),
]
VersionSeen = Annotated[int, Meta(ge=1, le=LARGEST_VERSION), Says("Version must be a positive integer")]
ItemStatusText = Annotated[Literal["pending", "purchased"], Says("Status must be 'pending' or 'purchased'")]
InventoryStatusText = Annotated[Literal["active", "archived"], Says("Status must be 'active' or 'archived'")]
RoleText = Annotated[Literal["admin", "member"], Says("Role must be 'admin' or 'member'")]
Email = Annotated[
    str,
    Meta(max_length=254, pattern=r"^\s*[^@\s]+@[^@\s]+\s*$", examples=["ada@example.org"]),
    Holds(lambda email: wrong_with(checked_email(email, ""))),
    Says("E-mail must be an address such as ada@example.org, of at most 254 characters"),
]

# --- families --------------------------------------------------------------------------------------------------------


class NewFamily(Body):
    name: Name


class FamilyChange(Body):
    version: VersionSeen | UnsetType = UNSET
    name: Name | UnsetType = UNSET


class RoleChange(Body):
    role: RoleText
    version: VersionSeen | UnsetType = UNSET


class NewInvitation(Body):
    role: RoleText
    email: Email | None = None
    """A note for those who manage the family: it is looked up nowhere, and opens nothing."""


# --- at home, and where things are bought ----------------------------------------------------------------------------


class NewInventoryItem(Body):
    name: Name
    item_id: ItemId | UnsetType = UNSET
    quantity: Quantity = 0
    threshold: Threshold = 0
    unit: Unit | None = None
    location_id: LocationId | None = None
    preferred_store_id: StoreId | None = None
    alternate_store_ids: AlternateStores = ()


class InventoryChange(Body):
    version: VersionSeen | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    quantity: Quantity | UnsetType = UNSET
    threshold: Threshold | UnsetType = UNSET
    unit: Unit | UnsetType | None = UNSET
    location_id: LocationId | UnsetType | None = UNSET
    preferred_store_id: StoreId | UnsetType | None = UNSET
    alternate_store_ids: AlternateStores | UnsetType = UNSET
    status: InventoryStatusText | UnsetType = UNSET


class Adjustment(Body):
    by: Step


class NewStore(Body):
    name: Name
    store_id: StoreId | UnsetType = UNSET
    address: Address | None = None


class StoreChange(Body):
    version: VersionSeen | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    address: Address | UnsetType | None = UNSET


class NewLocation(Body):
    name: LocationName
    location_id: LocationId | UnsetType = UNSET
    description: Description | None = None


class LocationChange(Body):
    version: VersionSeen | UnsetType = UNSET
    name: LocationName | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET


# --- the shopping list -----------------------------------------------------------------------------------------------


class NewShoppingItem(Body):
    """Something to buy. Of an inventory item it has the name, the store and the unit, unless others are said."""

    shopping_item_id: ShoppingItemId | UnsetType = UNSET
    item_id: ItemId | None = None
    name: Name | UnsetType | None = UNSET
    store_id: StoreId | UnsetType | None = UNSET
    quantity: ToBuy | None = None
    unit: Unit | UnsetType | None = UNSET
    notes: Notes | None = None
    allow_duplicate: bool = False


class PastedLines(Body):
    lines: Annotated[str, Meta(max_length=LONGEST_LINES), Says(f"Lines must be {LONGEST_LINES} characters or less")]
    """One thing to a line, perhaps with how much in front: "2 milk"."""


class ShoppingItemChange(Body):
    version: VersionSeen | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    store_id: StoreId | UnsetType | None = UNSET
    quantity: ToBuy | UnsetType | None = UNSET
    unit: Unit | UnsetType | None = UNSET
    notes: Notes | UnsetType | None = UNSET


class StatusChange(Body):
    status: ItemStatusText
    version: VersionSeen | UnsetType = UNSET
    allow_duplicate: bool = False


class Restock(Body):
    quantity: ToBuy | None = None
    """How much came home; as much as was to be bought, if nothing is said, or one."""


class Undo(Body):
    undo_token: Annotated[UUID, Says(ID_MESSAGES["undoToken"])]
