"""Shopping's field types: each field's bounds and error message, which is the design's where it gives one."""

from typing import Annotated, Literal
from uuid import UUID

from potluck.validation import Integer, Length, Message, Text

# The largest quantity, on the list and in the inventory. The design has no limit, but every number needs one.
MOST = 100_000
MOST_ALTERNATES = 20
# What a family may have. A list of two thousand items is longer than anyone's, and still fast to read.
MOST_LISTED = 2_000
MOST_AT_HOME = 5_000
MOST_STORES = 200
MOST_LOCATIONS = 200
# The families that one person may be in.
MOST_FAMILIES = 100
LONGEST_LINES = 10_000

FamilyId = Annotated[UUID, Message("Invalid family ID format")]
MemberId = Annotated[UUID, Message("Invalid member ID format")]
InvitationId = Annotated[UUID, Message("Invalid invitation ID format")]
ItemId = Annotated[UUID, Message("Invalid inventory item ID format")]
StoreId = Annotated[UUID, Message("Invalid store ID format")]
LocationId = Annotated[UUID, Message("Invalid location ID format")]
ShoppingItemId = Annotated[UUID, Message("Invalid shopping item ID format")]
UndoToken = Annotated[UUID, Message("Invalid undo token format")]
StoreChoice = Annotated[
    str,
    Text(
        0,
        36,
        "Invalid store ID format",
        kind="raw",
        trim=False,
        pattern="^(unassigned|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$",
    ),
]
"""A store's id, or `unassigned` for items without a store."""

Name = Annotated[str, Text(1, 100, "Name must be 1-100 characters")]
LocationName = Annotated[str, Text(1, 50, "Name must be 1-50 characters")]
Address = Annotated[str, Text(0, 200, "Address must be 200 characters or less")]
Description = Annotated[str, Text(0, 200, "Description must be 200 characters or less")]
Notes = Annotated[str, Text(0, 500, "Notes must be 500 characters or less", kind="lines")]
Unit = Annotated[str, Text(0, 50, "Unit must be 50 characters or less")]
Lines = Annotated[
    str, Text(0, LONGEST_LINES, f"Lines must be {LONGEST_LINES} characters or less", kind="lines", trim=False)
]
ToBuy = Annotated[
    int, Integer(1, MOST, "Quantity must be a positive integer", too_large=f"Quantity must be at most {MOST:,}")
]
Quantity = Annotated[int, Integer(0, MOST, f"Quantity must be an integer from 0 to {MOST:,}")]
Threshold = Annotated[int, Integer(0, MOST, f"Threshold must be an integer from 0 to {MOST:,}")]
Step = Annotated[int, Integer(-MOST, MOST, f"By must be an integer from -{MOST:,} to {MOST:,}")]
AlternateStores = Annotated[
    tuple[StoreId, ...], Length(0, MOST_ALTERNATES, f"There can be at most {MOST_ALTERNATES} alternate stores")
]

ItemStatus = Annotated[Literal["pending", "purchased"], Message("Status must be 'pending' or 'purchased'")]
InventoryStatus = Annotated[Literal["active", "archived"], Message("Status must be 'active' or 'archived'")]
Role = Annotated[Literal["admin", "member"], Message("Role must be 'admin' or 'member'")]
