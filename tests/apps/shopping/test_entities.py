"""Shopping's table: its rows to the byte, every access pattern, and what the write decides."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from potluck.apps.shopping.entities import (
    ClearedItems,
    Deletion,
    EverythingOfFamily,
    Family,
    InventoryItem,
    Member,
    PendingGuard,
    ShoppingListItem,
    StorageLocation,
    Store,
    inventory,
)
from potluck.table import (
    ConditionFailed,
    InvalidValue,
    NotUnique,
    VersionConflict,
    absent,
    delete,
    put,
    the,
    update,
    upsert,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation
from tests.access_cases import AccessPatterns, Case, Requests
from tests.golden_rows import Golden, GoldenRows, unswept_store, wire_item
from tests.store_fixtures import Opened, filled_store, new_store, units_of_transaction
from tests.stores import NOW

FAMILY = UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")
OTHER_FAMILY = UUID("f47ac10b-58cc-4372-a567-0e02b2c3d470")
SARAH = UUID("550e8400-e29b-41d4-a716-446655440000")
TOM = UUID("550e8400-e29b-41d4-a716-446655440001")
PAPER_TOWELS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
MILK = UUID("7ba7b810-9dad-11d1-80b4-00c04fd430c9")
FLOUR = UUID("7ba7b810-9dad-11d1-80b4-00c04fd430d0")
GROCER = UUID("123e4567-e89b-12d3-a456-426614174000")
BAKER = UUID("123e4567-e89b-12d3-a456-426614174001")
CELLAR = UUID("223e4567-e89b-12d3-a456-426614174000")
CLEARING = UUID("323e4567-e89b-12d3-a456-426614174000")


SECOND = int(NOW.timestamp())
OF_FAMILY = f"FAMILY#{FAMILY}"


def at(hour: int) -> datetime:
    return datetime(2025, 12, 10, hour, tzinfo=UTC)


# --- the design's records ---------------------------------------------------------------------------------------------

PENDING_LINKED = """{
  "PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "SK": "SHOPPING#8f14e45f-ceea-467a-9b36-34f6c3b3e7d1",
  "GSI2PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479#SHOPPING",
  "GSI2SK": "STORE#123e4567-e89b-12d3-a456-426614174000#STATUS#pending",
  "shoppingItemId": "8f14e45f-ceea-467a-9b36-34f6c3b3e7d1",
  "familyId": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "itemId": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
  "name": "Paper Towels",
  "storeId": "123e4567-e89b-12d3-a456-426614174000",
  "status": "pending",
  "quantity": 2,
  "notes": "Prefer double-roll",
  "version": 1,
  "ttl": null,
  "addedBy": "550e8400-e29b-41d4-a716-446655440000",
  "entityType": "ShoppingListItem",
  "createdAt": "2025-12-10T12:00:00Z",
  "updatedAt": "2025-12-10T12:00:00Z"
}"""

PURCHASED = """{
  "PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "SK": "SHOPPING#9f14e45f-ceea-467a-9b36-34f6c3b3e7d2",
  "GSI2PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479#SHOPPING",
  "GSI2SK": "STORE#123e4567-e89b-12d3-a456-426614174000#STATUS#purchased",
  "shoppingItemId": "9f14e45f-ceea-467a-9b36-34f6c3b3e7d2",
  "familyId": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "itemId": "7ba7b810-9dad-11d1-80b4-00c04fd430c9",
  "name": "Milk",
  "storeId": "123e4567-e89b-12d3-a456-426614174000",
  "status": "purchased",
  "quantity": 1,
  "notes": null,
  "version": 2,
  "ttl": 1734451200,
  "addedBy": "550e8400-e29b-41d4-a716-446655440000",
  "entityType": "ShoppingListItem",
  "createdAt": "2025-12-10T10:00:00Z",
  "updatedAt": "2025-12-10T14:00:00Z"
}"""

FREE_TEXT = """{
  "PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "SK": "SHOPPING#af14e45f-ceea-467a-9b36-34f6c3b3e7d3",
  "GSI2PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479#SHOPPING",
  "GSI2SK": "STORE#UNASSIGNED#STATUS#pending",
  "shoppingItemId": "af14e45f-ceea-467a-9b36-34f6c3b3e7d3",
  "familyId": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
  "itemId": null,
  "name": "Birthday cake",
  "storeId": null,
  "status": "pending",
  "quantity": 1,
  "notes": "For Sarah's party on Saturday",
  "version": 1,
  "ttl": null,
  "addedBy": "550e8400-e29b-41d4-a716-446655440000",
  "entityType": "ShoppingListItem",
  "createdAt": "2025-12-10T15:00:00Z",
  "updatedAt": "2025-12-10T15:00:00Z"
}"""

paper_towels = ShoppingListItem(
    shopping_item_id=UUID("8f14e45f-ceea-467a-9b36-34f6c3b3e7d1"),
    family_id=FAMILY,
    item_id=PAPER_TOWELS,
    name="Paper Towels",
    store_id=GROCER,
    quantity=2,
    notes="Prefer double-roll",
    added_by=SARAH,
    created_at=at(12),
    updated_at=at(12),
)
milk = ShoppingListItem(
    shopping_item_id=UUID("9f14e45f-ceea-467a-9b36-34f6c3b3e7d2"),
    family_id=FAMILY,
    item_id=MILK,
    name="Milk",
    store_id=GROCER,
    status="purchased",
    quantity=1,
    version=2,
    ttl=1734451200,
    added_by=SARAH,
    created_at=at(10),
    updated_at=at(14),
)
birthday_cake = ShoppingListItem(
    shopping_item_id=UUID("af14e45f-ceea-467a-9b36-34f6c3b3e7d3"),
    family_id=FAMILY,
    name="Birthday cake",
    quantity=1,
    notes="For Sarah's party on Saturday",
    added_by=SARAH,
    created_at=at(15),
    updated_at=at(15),
)


# --- rows beside them -------------------------------------------------------------------------------------------------

# The design's record expired long ago.
bought_milk = replace(milk, ttl=SECOND + 3600)
family = Family(family_id=FAMILY, name="The Smiths", created_by=SARAH, created_at=at(9), updated_at=at(9))
sarah = Member(
    member_id=SARAH,
    family_id=FAMILY,
    name="Sarah",
    email="sarah@example.org",
    role="admin",
    created_at=at(9),
    updated_at=at(9),
)
tom = Member(
    member_id=TOM,
    family_id=FAMILY,
    name="Tom",
    email="tom@example.org",
    status="removed",
    created_at=at(9),
    updated_at=at(9),
)
sarah_elsewhere = replace(sarah, family_id=OTHER_FAMILY, role="member", status="removed")
towels_at_home = InventoryItem(
    item_id=PAPER_TOWELS,
    family_id=FAMILY,
    name="Paper Towels",
    quantity=2,
    threshold=2,
    unit="rolls",
    location_id=CELLAR,
    preferred_store_id=GROCER,
    alternate_store_ids=(BAKER,),
    created_by=SARAH,
    created_at=at(9),
    updated_at=at(9),
)
milk_at_home = InventoryItem(
    item_id=MILK,
    family_id=FAMILY,
    name="Milk",
    quantity=10,
    threshold=3,
    created_by=SARAH,
    created_at=at(9),
    updated_at=at(9),
)
flour_no_more = InventoryItem(
    item_id=FLOUR,
    family_id=FAMILY,
    name="Flour",
    status="archived",
    created_by=SARAH,
    created_at=at(9),
    updated_at=at(9),
)
cellar = StorageLocation(location_id=CELLAR, family_id=FAMILY, name="Cellar", created_at=at(9), updated_at=at(9))
grocer = Store(store_id=GROCER, family_id=FAMILY, name="Grocer", created_at=at(9), updated_at=at(9))
baker = Store(store_id=BAKER, family_id=FAMILY, name="Baker", address="Mill Lane 1", created_at=at(9), updated_at=at(9))
pending_towels = PendingGuard(
    family_id=FAMILY, item_id=PAPER_TOWELS, shopping_item_ids=frozenset({paper_towels.shopping_item_id})
)
deletion = Deletion(family_id=FAMILY, what="store", gone_id=TOM, deleted_by=SARAH, created_at=at(9))
cleared = ClearedItems(
    family_id=FAMILY,
    clearing_id=CLEARING,
    cleared_by=SARAH,
    items=[msgspec.to_builtins(bought_milk)],
    created_at=at(9),
    ttl=SECOND + 3600,
)
# Rows that no answer may hold: another family's, and those that expired a second ago or now.
elsewhere = replace(birthday_cake, family_id=OTHER_FAMILY)
expired = replace(bought_milk, shopping_item_id=UUID("bf14e45f-ceea-467a-9b36-34f6c3b3e7d4"), ttl=SECOND)
cleared_too_long_ago = replace(cleared, part=1, ttl=SECOND - 1)

ROWS = [
    *(paper_towels, bought_milk, birthday_cake, elsewhere, expired),
    *(family, sarah, tom, sarah_elsewhere, towels_at_home, milk_at_home, flour_no_more, cellar, grocer, baker),
    *(pending_towels, deletion, cleared, cleared_too_long_ago),
]


filled = filled_store(inventory, rows=ROWS)
new = new_store(inventory)
unswept = unswept_store(inventory)


# --- rows to the byte ------------------------------------------------------------------------------------------------

NINE = {"createdAt": "2025-12-10T09:00:00Z", "updatedAt": "2025-12-10T09:00:00Z"}


def found_by_link(item: ShoppingListItem) -> dict[str, str]:
    """What we add to a linked item: the index by which it is found from its inventory item, without a filter."""
    return {"GSI1PK": f"{OF_FAMILY}#ITEM#{item.item_id}", "GSI1SK": f"SHOPPING#{item.shopping_item_id}"}


def by_id(item: ShoppingListItem) -> Any:
    return ShoppingListItem.by_id(item.family_id, item.shopping_item_id)


RECORDS = {
    # The design's, by its own headings
    "Pending Item (Linked to Inventory)": Golden(
        paper_towels, by_id(paper_towels), json.loads(PENDING_LINKED), ours=found_by_link(paper_towels)
    ),
    "Purchased Item (With TTL)": Golden(milk, by_id(milk), json.loads(PURCHASED), ours=found_by_link(milk)),
    "Free-Text Item (Unassigned Store)": Golden(birthday_cake, by_id(birthday_cake), json.loads(FREE_TEXT)),
    # Those it rests on
    "a family": Golden(
        family,
        Family.by_id(FAMILY),
        {
            "PK": OF_FAMILY,
            "SK": OF_FAMILY,
            "entityType": "Family",
            "familyId": str(FAMILY),
            "name": "The Smiths",
            "createdBy": str(SARAH),
            "adminCount": 1,
            "memberCount": 1,
            "version": 1,
            **NINE,
        },
    ),
    "a member": Golden(
        sarah,
        Member.by_id(FAMILY, SARAH),
        {
            "PK": OF_FAMILY,
            "SK": f"MEMBER#{SARAH}",
            "GSI1PK": f"MEMBER#{SARAH}",
            "GSI1SK": OF_FAMILY,
            "entityType": "Member",
            "memberId": str(SARAH),
            "familyId": str(FAMILY),
            "name": "Sarah",
            "email": "sarah@example.org",
            "role": "admin",
            "status": "active",
            "version": 1,
            **NINE,
        },
    ),
    "an inventory item that is low": Golden(
        towels_at_home,
        InventoryItem.by_id(FAMILY, PAPER_TOWELS),
        {
            "PK": OF_FAMILY,
            "SK": f"ITEM#{PAPER_TOWELS}",
            "GSI1PK": f"{OF_FAMILY}#LOW",
            "GSI1SK": f"ITEM#{PAPER_TOWELS}",
            "GSI2PK": f"{OF_FAMILY}#ITEMS",
            "GSI2SK": "STATUS#active#QUANTITY#0000000002",
            "entityType": "InventoryItem",
            "itemId": str(PAPER_TOWELS),
            "familyId": str(FAMILY),
            "name": "Paper Towels",
            "quantity": 2,
            "threshold": 2,
            "unit": "rolls",
            "locationId": str(CELLAR),
            "preferredStoreId": str(GROCER),
            "alternateStoreIds": [str(BAKER)],
            "status": "active",
            "createdBy": str(SARAH),
            "version": 1,
            **NINE,
        },
    ),
    "an inventory item of which there is enough": Golden(
        milk_at_home,
        InventoryItem.by_id(FAMILY, MILK),
        {
            "PK": OF_FAMILY,
            "SK": f"ITEM#{MILK}",
            "GSI2PK": f"{OF_FAMILY}#ITEMS",
            "GSI2SK": "STATUS#active#QUANTITY#0000000010",
            "entityType": "InventoryItem",
            "itemId": str(MILK),
            "familyId": str(FAMILY),
            "name": "Milk",
            "quantity": 10,
            "threshold": 3,
            "unit": None,
            "locationId": None,
            "preferredStoreId": None,
            "alternateStoreIds": [],
            "status": "active",
            "createdBy": str(SARAH),
            "version": 1,
            **NINE,
        },
    ),
    "a storage location": Golden(
        cellar,
        StorageLocation.by_id(FAMILY, CELLAR),
        {
            "PK": OF_FAMILY,
            "SK": f"LOCATION#{CELLAR}",
            "entityType": "StorageLocation",
            "locationId": str(CELLAR),
            "familyId": str(FAMILY),
            "name": "Cellar",
            "description": None,
            "version": 1,
            **NINE,
        },
    ),
    "a store": Golden(
        baker,
        Store.by_id(FAMILY, BAKER),
        {
            "PK": OF_FAMILY,
            "SK": f"STORE#{BAKER}",
            "entityType": "Store",
            "storeId": str(BAKER),
            "familyId": str(FAMILY),
            "name": "Baker",
            "address": "Mill Lane 1",
            "version": 1,
            **NINE,
        },
    ),
    # Ours
    "what is pending of an inventory item": Golden(
        pending_towels,
        PendingGuard.by_item(FAMILY, PAPER_TOWELS),
        {
            "PK": OF_FAMILY,
            "SK": f"PENDING#{PAPER_TOWELS}",
            "entityType": "PendingGuard",
            "familyId": str(FAMILY),
            "itemId": str(PAPER_TOWELS),
            "shoppingItemIds": {str(paper_towels.shopping_item_id)},
        },
    ),
    "a deletion under way": Golden(
        deletion,
        Deletion.by_id(FAMILY, "store", TOM),
        {
            "PK": OF_FAMILY,
            "SK": f"DELETION#store#{TOM}",
            "entityType": "Deletion",
            "familyId": str(FAMILY),
            "what": "store",
            "goneId": str(TOM),
            "deletedBy": str(SARAH),
            "createdAt": "2025-12-10T09:00:00Z",
        },
    ),
    "cleared items": Golden(
        cleared,
        ClearedItems.by_clearing(FAMILY, CLEARING),
        {
            "PK": OF_FAMILY,
            "SK": f"CLEARED#{CLEARING}#000",
            "entityType": "ClearedItems",
            "familyId": str(FAMILY),
            "clearingId": str(CLEARING),
            "part": 0,
            "clearedBy": str(SARAH),
            "items": [msgspec.to_builtins(bought_milk)],
            "createdAt": "2025-12-10T09:00:00Z",
            "ttl": SECOND + 3600,
        },
    ),
}


class TestRows(GoldenRows):
    tables = (inventory,)
    records = RECORDS


def test_a_unit_is_in_the_row_only_if_there_is_one():
    encode = plan_of(ShoppingListItem).coding.encode
    assert "unit" not in encode(paper_towels)
    assert encode(replace(paper_towels, unit="rolls"))["unit"] == {"S": "rolls"}


@pytest.mark.parametrize(
    ("field", "allowed", "refused"),
    [
        ("shopping_item_id", [GROCER], ["123e4567", None]),
        ("family_id", [GROCER], ["123e4567", None]),
        ("item_id", [GROCER, None], ["123e4567"]),
        ("name", ["x", "x" * 100], ["", "x" * 101, None]),
        ("store_id", [GROCER, None], ["123e4567"]),
        ("status", ["pending", "purchased"], ["bought", "", None]),
        ("quantity", [None, 1, 100_000], [0, -1, 100_001, 1.5, "1"]),
        ("notes", [None, "", "x" * 500], ["x" * 501, 5]),
        ("version", [1, 2], [0, None]),
        ("added_by", [GROCER], ["123e4567", None]),
        # Ours
        ("unit", [None, "", "x" * 50], ["x" * 51]),
    ],
)
def test_the_validation_rules_of_the_design_hold_for_whatever_is_stored(field, allowed, refused):
    encode = plan_of(ShoppingListItem).coding.encode
    for value in allowed:
        encode(replace(birthday_cake, **{field: value}))
    for value in refused:
        with pytest.raises(InvalidValue) as caught:
            encode(replace(birthday_cake, **{field: value}))
        assert caught.value.field == field


# --- access patterns -------------------------------------------------------------------------------------------------

sent = Requests("InventoryManagement")


CASES = [
    # Those of the design, in its order
    Case(by_id(milk), sent.get_item(OF_FAMILY, "SHOPPING#9f14e45f-ceea-467a-9b36-34f6c3b3e7d2"), bought_milk, 1.0),
    Case(
        ShoppingListItem.all_of_family(FAMILY),
        sent.query(OF_FAMILY, begins_with="SHOPPING#"),
        [paper_towels, bought_milk, birthday_cake],
        1.0,
        in_vain=1,
    ),
    Case(
        ShoppingListItem.by_store(FAMILY, GROCER),
        sent.query(f"{OF_FAMILY}#SHOPPING", begins_with=f"STORE#{GROCER}#STATUS#", index="GSI2"),
        [paper_towels, bought_milk],
        0.5,
        in_vain=1,
    ),
    Case(
        ShoppingListItem.by_store(FAMILY, None),
        sent.query(f"{OF_FAMILY}#SHOPPING", begins_with="STORE#UNASSIGNED#STATUS#", index="GSI2"),
        [birthday_cake],
        0.5,
        about="unassigned",
    ),
    Case(
        ShoppingListItem.by_status(FAMILY, "purchased"),
        sent.query(f"{OF_FAMILY}#SHOPPING", begins_with="STORE#", index="GSI2", where={"status": "purchased"}),
        [bought_milk],
        0.5,
        in_vain=1,
    ),
    Case(
        ShoppingListItem.by_store_and_status(FAMILY, GROCER, "pending"),
        sent.query(f"{OF_FAMILY}#SHOPPING", equals=f"STORE#{GROCER}#STATUS#pending", index="GSI2"),
        [paper_towels],
        0.5,
    ),
    Case(
        ShoppingListItem.by_store_and_status(FAMILY, None, "pending"),
        sent.query(f"{OF_FAMILY}#SHOPPING", equals="STORE#UNASSIGNED#STATUS#pending", index="GSI2"),
        [birthday_cake],
        0.5,
        about="unassigned",
    ),
    # What becomes of links
    Case(
        ShoppingListItem.linked_to(FAMILY, PAPER_TOWELS),
        sent.query(f"{OF_FAMILY}#ITEM#{PAPER_TOWELS}", begins_with="SHOPPING#", index="GSI1"),
        [paper_towels],
        0.5,
    ),
    Case(
        ShoppingListItem.orphaned_by(FAMILY, MILK),
        sent.query(OF_FAMILY, begins_with="SHOPPING#", where={"itemId": str(MILK)}),
        [bought_milk],
        1.0,
        in_vain=1,
    ),
    Case(
        ShoppingListItem.unassigned_by(FAMILY, GROCER),
        sent.query(OF_FAMILY, begins_with="SHOPPING#", where={"storeId": str(GROCER)}),
        [paper_towels, bought_milk],
        1.0,
        in_vain=1,
    ),
    # What the list rests on
    Case(Family.by_id(FAMILY), sent.get_item(OF_FAMILY, OF_FAMILY), family, 1.0),
    Case(Member.by_id(FAMILY, SARAH), sent.get_item(OF_FAMILY, f"MEMBER#{SARAH}"), sarah, 1.0),
    Case(Member.all_of_family(FAMILY), sent.query(OF_FAMILY, begins_with="MEMBER#"), [sarah, tom], 1.0),
    Case(
        Member.families_of(SARAH, "active"),
        sent.query(f"MEMBER#{SARAH}", begins_with="FAMILY#", index="GSI1", where={"status": "active"}),
        [sarah],
        0.5,
    ),
    Case(
        Member.every_family_of(SARAH),
        sent.query(f"MEMBER#{SARAH}", begins_with="FAMILY#", index="GSI1"),
        [sarah_elsewhere, sarah],
        0.5,
    ),
    Case(InventoryItem.by_id(FAMILY, MILK), sent.get_item(OF_FAMILY, f"ITEM#{MILK}"), milk_at_home, 1.0),
    Case(
        InventoryItem.all_of_family(FAMILY),
        sent.query(OF_FAMILY, begins_with="ITEM#"),
        [towels_at_home, milk_at_home, flour_no_more],
        1.0,
    ),
    Case(
        InventoryItem.by_status(FAMILY, "active"),
        sent.query(f"{OF_FAMILY}#ITEMS", begins_with="STATUS#active#QUANTITY#", index="GSI2"),
        [towels_at_home, milk_at_home],
        0.5,
    ),
    Case(
        InventoryItem.low(FAMILY, "active"),
        sent.query(f"{OF_FAMILY}#LOW", begins_with="ITEM#", index="GSI1", where={"status": "active"}),
        [towels_at_home],
        0.5,
    ),
    Case(StorageLocation.by_id(FAMILY, CELLAR), sent.get_item(OF_FAMILY, f"LOCATION#{CELLAR}"), cellar, 1.0),
    Case(StorageLocation.all_of_family(FAMILY), sent.query(OF_FAMILY, begins_with="LOCATION#"), [cellar], 1.0),
    Case(Store.by_id(FAMILY, GROCER), sent.get_item(OF_FAMILY, f"STORE#{GROCER}"), grocer, 1.0),
    Case(Store.all_of_family(FAMILY), sent.query(OF_FAMILY, begins_with="STORE#"), [grocer, baker], 1.0),
    # Ours
    Case(
        PendingGuard.by_item(FAMILY, PAPER_TOWELS),
        sent.get_item(OF_FAMILY, f"PENDING#{PAPER_TOWELS}"),
        pending_towels,
        1.0,
    ),
    Case(Deletion.by_id(FAMILY, "store", TOM), sent.get_item(OF_FAMILY, f"DELETION#store#{TOM}"), deletion, 1.0),
    Case(Deletion.under_way(FAMILY), sent.query(OF_FAMILY, begins_with="DELETION#"), [deletion], 1.0),
    Case(
        ClearedItems.by_clearing(FAMILY, CLEARING),
        sent.query(OF_FAMILY, begins_with=f"CLEARED#{CLEARING}#"),
        [cleared],
        1.0,
        in_vain=1,
    ),
    Case(
        EverythingOfFamily.of(FAMILY),
        sent.query(OF_FAMILY, between=("CLEARED#", "STORE$")),
        EverythingOfFamily(
            family=family,
            members=[sarah, tom],
            inventory_items=[towels_at_home, milk_at_home, flour_no_more],
            locations=[cellar],
            stores=[grocer, baker],
            shopping_items=[paper_towels, bought_milk, birthday_cake],
            pending_guards=[pending_towels],
            deletions=[deletion],
            cleared_items=[cleared],
        ),
        3.0,
        in_vain=2,
    ),
]


class TestAccessPatterns(AccessPatterns):
    tables = (inventory,)
    cases = CASES


# --- what the write decides ------------------------------------------------------------------------------------------


async def test_names_of_stores_and_locations_are_unique_in_a_family_whatever_their_case_and_space(new: Opened):
    store, recording, engine = new
    with recording.scope() as calls:
        await store.put(grocer, when=absent)
    assert (calls.operations, calls.write_units) == (["TransactWriteItems"], units_of_transaction(engine, rows=2))
    guard = {"PK": {"S": OF_FAMILY}, "SK": {"S": "UNIQUE#STORE#grocer"}}
    assert "Item" in await recording.call("GetItem", {"TableName": "InventoryManagement", "Key": guard})
    same_name = replace(baker, name="  gROCER ")
    with pytest.raises(NotUnique) as refused:
        await store.put(same_name, when=absent)
    assert (refused.value.field, refused.value.value) == ("name", "  gROCER ")
    assert await store.all(Store.all_of_family(FAMILY)) == [grocer]
    await store.put(replace(same_name, family_id=OTHER_FAMILY), when=absent)
    await store.put(replace(cellar, name="Grocer"), when=absent)
    # Its name is free again when the store is called otherwise, or gone.
    await store.update(grocer, the(Store.name).becomes("Market"))
    await store.put(same_name, when=absent)
    await store.delete(same_name)
    await store.put(same_name, when=absent)


pending_ids = the(PendingGuard.shopping_item_ids)
pending_of_towels = PendingGuard.by_item(FAMILY, PAPER_TOWELS)


def add(number: int, confirmed: bool = False) -> list[Operation]:
    """Paper towels onto the list, refused if they are on it already and nobody confirmed that there are to be more."""
    item = replace(paper_towels, shopping_item_id=UUID(int=number))
    when = None if confirmed else pending_ids == frozenset()
    return [put(item, when=absent), upsert(pending_of_towels, pending_ids.include(item.shopping_item_id), when=when)]


async def test_of_twenty_identical_adds_at_once_one_is_done_and_the_others_are_told_of_it(new: Opened):
    store, _, _ = new
    outcomes = await asyncio.gather(*(store.transact(*add(number)) for number in range(20)), return_exceptions=True)
    refusals = [each for each in outcomes if each is not None]
    assert [type(each) for each in refusals] == [ConditionFailed] * 19
    (added,) = await store.all(ShoppingListItem.all_of_family(FAMILY))
    guard = replace(pending_towels, shopping_item_ids=frozenset({added.shopping_item_id}))
    assert all(each.current == guard for each in refusals)


async def test_a_confirmed_duplicate_joins_the_first_and_both_must_be_done_before_the_next(new: Opened):
    store, _, _ = new

    async def check_off(number: int) -> None:
        item = await store.one(ShoppingListItem.by_id(FAMILY, UUID(int=number)))
        await store.transact(
            update(item, the(ShoppingListItem.status).becomes("purchased")),
            update(pending_of_towels, pending_ids.exclude(item.shopping_item_id)),
        )

    await store.transact(*add(1))
    await store.transact(*add(2, confirmed=True))
    assert (await store.one(pending_of_towels)).shopping_item_ids == {UUID(int=1), UUID(int=2)}
    await check_off(1)
    with pytest.raises(ConditionFailed):
        await store.transact(*add(3))
    await check_off(2)
    await store.transact(*add(3))
    assert (await store.one(pending_of_towels)).shopping_item_ids == {UUID(int=3)}


async def test_an_item_is_checked_off_and_unchecked_as_the_design_has_it(new: Opened):
    store, recording, _ = new
    await store.put(paper_towels, when=absent)
    status, ttl = the(ShoppingListItem.status), the(ShoppingListItem.ttl)
    designed = wire_item(json.loads(PENDING_LINKED) | found_by_link(paper_towels))

    async def stored() -> dict[str, Any]:
        return (await recording.call("GetItem", by_id(paper_towels).request().body))["Item"]

    with recording.scope() as calls:
        bought = await store.update(paper_towels, status.becomes("purchased"), ttl.becomes(SECOND + 604_800))
    assert (calls.operations, bought.version) == (["UpdateItem"], 2)
    assert await stored() == designed | {
        "GSI2SK": {"S": f"STORE#{GROCER}#STATUS#purchased"},
        "status": {"S": "purchased"},
        "version": {"N": "2"},
        "ttl": {"N": str(SECOND + 604_800)},
    }
    with pytest.raises(VersionConflict) as refused:
        await store.update(paper_towels, status.becomes("purchased"))
    assert refused.value.current == bought
    await store.update(bought, status.becomes("pending"), ttl.becomes(None))
    assert await stored() == designed | {"version": {"N": "3"}}


async def test_what_pointed_to_something_deleted_points_to_nothing(new: Opened):
    store, _, _ = new
    for row in (paper_towels, bought_milk, birthday_cake, towels_at_home, grocer):
        await store.put(row, when=absent)
    orphans = await store.all(ShoppingListItem.orphaned_by(FAMILY, PAPER_TOWELS))
    item_id, store_id = the(ShoppingListItem.item_id), the(ShoppingListItem.store_id)
    await store.transact(delete(towels_at_home), *(update(each, item_id.becomes(None)) for each in orphans))
    assert await store.get(by_id(paper_towels)) == replace(paper_towels, item_id=None, version=2)
    assert await store.all(ShoppingListItem.linked_to(FAMILY, PAPER_TOWELS)) == []
    assert await store.all(InventoryItem.low(FAMILY, "active")) == []

    unassigned = await store.all(ShoppingListItem.unassigned_by(FAMILY, GROCER))
    await store.transact(delete(grocer), *(update(each, store_id.becomes(None)) for each in unassigned))
    assert await store.all(ShoppingListItem.by_store(FAMILY, GROCER)) == []
    names = [each.name for each in await store.all(ShoppingListItem.by_store_and_status(FAMILY, None, "pending"))]
    assert sorted(names) == ["Birthday cake", "Paper Towels"]
    # The name went with the store.
    await store.put(replace(baker, name="Grocer"), when=absent)


async def test_the_last_admin_of_a_family_cannot_be_lost(new: Opened):
    store, _, _ = new
    await store.put(family, when=absent)
    admins = the(Family.manager_count)
    assert (await store.update(Family.by_id(FAMILY), admins.add(1))).manager_count == 2
    lost_one = await store.update(Family.by_id(FAMILY), admins.add(-1), when=admins > 1)
    assert (lost_one.manager_count, lost_one.version) == (1, 1)
    with pytest.raises(ConditionFailed):
        await store.update(Family.by_id(FAMILY), admins.add(-1), when=admins > 1)


async def test_a_purchase_is_added_to_the_inventory_once(new: Opened):
    store, _, _ = new
    await store.put(bought_milk, when=absent)
    await store.put(milk_at_home, when=absent)
    restocked_at = the(ShoppingListItem.restocked_at)

    def restock(item: InventoryItem) -> list[Operation]:
        return [
            update(bought_milk, restocked_at.becomes(NOW), when=restocked_at.is_none(), keep_version=True),
            update(item, the(InventoryItem.quantity).becomes(item.quantity + 1)),
        ]

    await store.transact(*restock(milk_at_home))
    there = await store.one(InventoryItem.by_id(FAMILY, MILK))
    assert (there.quantity, there.version) == (11, 2)
    with pytest.raises(ConditionFailed) as refused:
        await store.transact(*restock(there))
    assert (refused.value.position, refused.value.current.restocked_at) == (0, NOW)
    assert await store.one(InventoryItem.by_id(FAMILY, MILK)) == there


async def test_only_what_is_low_is_in_the_index_of_low_items(new: Opened):
    store, recording, _ = new
    await store.put(milk_at_home, when=absent)
    milk_ref, low = InventoryItem.by_id(FAMILY, MILK), InventoryItem.low(FAMILY, "active")

    async def found(quantity: int) -> list[str]:
        await store.modify(milk_ref, lambda item: [the(InventoryItem.quantity).becomes(quantity)])
        with recording.scope() as calls:
            names = [item.name for item in await store.all(low)]
        # Nothing is read that is not returned.
        assert sum(call.items for call in calls) == len(names)
        return names

    assert await found(3) == ["Milk"]
    assert await found(4) == []
    assert await found(0) == ["Milk"]
    await store.modify(milk_ref, lambda item: [the(InventoryItem.threshold).becomes(0)])
    assert await found(1) == []


def test_cleared_items_at_their_longest_fit_into_one_row():
    longest = replace(
        bought_milk, name="\U0001f9c0" * 100, notes="\U0001f9c0" * 500, unit="\U0001f9c0" * 50, restocked_at=NOW
    )
    full = replace(cleared, items=[msgspec.to_builtins(longest)] * 99)
    assert len(json.dumps(plan_of(full).coding.encode(full), ensure_ascii=False).encode()) < 400_000


def test_a_cleared_item_comes_back_as_it_was():
    stored = plan_of(cleared).coding.encode(cleared)
    (again,) = plan_of(cleared).coding.decode(stored).items
    assert msgspec.convert(again, ShoppingListItem) == bought_milk
