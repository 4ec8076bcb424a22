"""Shopping's rows as its table design writes them, and every access pattern: its request, its answer, its cost."""

import json
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest

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
    AlreadyExists,
    ConditionFailed,
    Gather,
    InvalidValue,
    NotUnique,
    Query,
    Ref,
    Request,
    VersionConflict,
    absent,
    delete,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from tests.engine_targets import BOTH, EMBEDDED, LOCAL
from tests.stores import NOW, recorded_store

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


# --- the design's records --------------------------------------------------------------------------------------------

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

# Ours, and not in the design's records: where a linked item is found by its inventory item.
LINK = {
    PENDING_LINKED: {
        "GSI1PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479#ITEM#6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "GSI1SK": "SHOPPING#8f14e45f-ceea-467a-9b36-34f6c3b3e7d1",
    },
    PURCHASED: {
        "GSI1PK": "FAMILY#f47ac10b-58cc-4372-a567-0e02b2c3d479#ITEM#7ba7b810-9dad-11d1-80b4-00c04fd430c9",
        "GSI1SK": "SHOPPING#9f14e45f-ceea-467a-9b36-34f6c3b3e7d2",
    },
    FREE_TEXT: {},
}


def at(hour: int) -> datetime:
    return datetime(2025, 12, 10, hour, tzinfo=UTC)


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


def wire(record: dict[str, Any]) -> dict[str, Any]:
    """A record of the design as DynamoDB's API writes it."""
    kinds = {str: "S", int: "N"}
    return {
        name: {"NULL": True} if value is None else {kinds[type(value)]: str(value)} for name, value in record.items()
    }


@pytest.mark.parametrize(
    ("record", "item"), [(PENDING_LINKED, paper_towels), (PURCHASED, milk), (FREE_TEXT, birthday_cake)]
)
def test_the_records_of_the_design_are_written_and_read_to_the_byte(record, item):
    coding = plan_of(ShoppingListItem).coding
    designed = wire(json.loads(record))
    assert coding.encode(item) == designed | wire(LINK[record])
    assert coding.decode(designed) == item


def test_a_unit_is_in_the_row_only_if_there_is_one():
    encode = plan_of(ShoppingListItem).coding.encode
    assert "unit" not in encode(paper_towels)
    assert encode(msgspec.structs.replace(paper_towels, unit="rolls"))["unit"] == {"S": "rolls"}


@pytest.mark.parametrize(
    ("field", "allowed", "refused"),
    [
        ("name", ["x", "x" * 100], ["", "x" * 101, None]),
        ("status", ["pending", "purchased"], ["bought", "", None]),
        ("quantity", [None, 1, 100_000], [0, -1, 100_001, 1.5, "1"]),
        ("notes", [None, "", "x" * 500], ["x" * 501, 5]),
        ("version", [1, 2], [0, None]),
        ("unit", [None, "", "x" * 50], ["x" * 51]),
        ("shopping_item_id", [GROCER], ["123e4567", None]),
        ("family_id", [GROCER], ["123e4567", None]),
        ("item_id", [GROCER, None], ["123e4567"]),
        ("store_id", [GROCER, None], ["123e4567"]),
        ("added_by", [GROCER], ["123e4567", None]),
    ],
)
def test_the_validation_rules_of_the_design_hold_for_whatever_is_stored(field, allowed, refused):
    encode = plan_of(ShoppingListItem).coding.encode
    for value in allowed:
        encode(msgspec.structs.replace(birthday_cake, **{field: value}))
    for value in refused:
        with pytest.raises(InvalidValue) as caught:
            encode(msgspec.structs.replace(birthday_cake, **{field: value}))
        assert caught.value.field == field


# --- access patterns -------------------------------------------------------------------------------------------------

SECOND = int(NOW.timestamp())
# The design's record expired long ago.
bought_milk = msgspec.structs.replace(milk, ttl=SECOND + 3600)
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
sarah_elsewhere = msgspec.structs.replace(sarah, family_id=OTHER_FAMILY, role="member", status="removed")
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
elsewhere = msgspec.structs.replace(birthday_cake, family_id=OTHER_FAMILY)
expired = msgspec.structs.replace(
    bought_milk, shopping_item_id=UUID("bf14e45f-ceea-467a-9b36-34f6c3b3e7d4"), ttl=SECOND
)
cleared_too_long_ago = msgspec.structs.replace(cleared, part=1, ttl=SECOND - 1)

ROWS = [
    *(paper_towels, bought_milk, birthday_cake, elsewhere, expired),
    *(family, sarah, tom, sarah_elsewhere, towels_at_home, milk_at_home, flour_no_more, cellar, grocer, baker),
    *(pending_towels, deletion, cleared, cleared_too_long_ago),
]

OF_FAMILY = f"FAMILY#{FAMILY}"


def getting(sort: str) -> Request:
    key = {"PK": {"S": OF_FAMILY}, "SK": {"S": sort}}
    return Request("GetItem", {"TableName": "InventoryManagement", "Key": key, "ConsistentRead": True})


def querying(condition: str, filter: str | None = None, index: str | None = None, **values: str) -> Request:
    """A query with these expressions; each placeholder of a name is the name itself."""
    body: dict[str, Any] = {"TableName": "InventoryManagement", "KeyConditionExpression": condition}
    if index is not None:
        body["IndexName"] = index
    else:
        body["ConsistentRead"] = True
    if filter is not None:
        body["FilterExpression"] = filter
    names = re.findall(r"#(\w+)", f"{condition} {filter or ''}")
    body["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    body["ExpressionAttributeValues"] = {f":{name}": {"S": value} for name, value in values.items()}
    return Request("Query", body)


BEGINNING = "#PK = :PK AND begins_with(#SK, :SK)"
IN_GSI1 = "#GSI1PK = :GSI1PK AND begins_with(#GSI1SK, :GSI1SK)"
IN_GSI2 = "#GSI2PK = :GSI2PK AND begins_with(#GSI2SK, :GSI2SK)"
EXACTLY_IN_GSI2 = "#GSI2PK = :GSI2PK AND #GSI2SK = :GSI2SK"


class Case(NamedTuple):
    """A question, what it asks of DynamoDB, what comes back, and the read units it takes."""

    asked: Ref[Any] | Query[Any] | Gather[Any]
    request: Request
    found: Any
    units: float

    @property
    def pattern(self) -> str:
        if isinstance(self.asked, Ref):
            return self.asked.pattern
        return (self.asked.query if isinstance(self.asked, Gather) else self.asked).pattern.name


CASES = [
    # The access patterns of the design, in its order
    Case(
        ShoppingListItem.by_id(FAMILY, milk.shopping_item_id),
        getting("SHOPPING#9f14e45f-ceea-467a-9b36-34f6c3b3e7d2"),
        bought_milk,
        1.0,
    ),
    Case(
        ShoppingListItem.all_of_family(FAMILY),
        querying(BEGINNING, PK=OF_FAMILY, SK="SHOPPING#"),
        [paper_towels, bought_milk, birthday_cake],
        1.0,
    ),
    Case(
        ShoppingListItem.by_store(FAMILY, GROCER),
        querying(IN_GSI2, index="GSI2", GSI2PK=f"{OF_FAMILY}#SHOPPING", GSI2SK=f"STORE#{GROCER}#STATUS#"),
        [paper_towels, bought_milk],
        0.5,
    ),
    Case(
        ShoppingListItem.by_store(FAMILY, None),
        querying(IN_GSI2, index="GSI2", GSI2PK=f"{OF_FAMILY}#SHOPPING", GSI2SK="STORE#UNASSIGNED#STATUS#"),
        [birthday_cake],
        0.5,
    ),
    Case(
        ShoppingListItem.by_status(FAMILY, "purchased"),
        querying(
            IN_GSI2,
            "#status = :status",
            index="GSI2",
            GSI2PK=f"{OF_FAMILY}#SHOPPING",
            GSI2SK="STORE#",
            status="purchased",
        ),
        [bought_milk],
        0.5,
    ),
    Case(
        ShoppingListItem.by_store_and_status(FAMILY, GROCER, "pending"),
        querying(
            EXACTLY_IN_GSI2, index="GSI2", GSI2PK=f"{OF_FAMILY}#SHOPPING", GSI2SK=f"STORE#{GROCER}#STATUS#pending"
        ),
        [paper_towels],
        0.5,
    ),
    Case(
        ShoppingListItem.by_store_and_status(FAMILY, None, "pending"),
        querying(
            EXACTLY_IN_GSI2, index="GSI2", GSI2PK=f"{OF_FAMILY}#SHOPPING", GSI2SK="STORE#UNASSIGNED#STATUS#pending"
        ),
        [birthday_cake],
        0.5,
    ),
    # What becomes of links
    Case(
        ShoppingListItem.linked_to(FAMILY, PAPER_TOWELS),
        querying(IN_GSI1, index="GSI1", GSI1PK=f"{OF_FAMILY}#ITEM#{PAPER_TOWELS}", GSI1SK="SHOPPING#"),
        [paper_towels],
        0.5,
    ),
    Case(
        ShoppingListItem.orphaned_by(FAMILY, MILK),
        querying(BEGINNING, "#itemId = :itemId", PK=OF_FAMILY, SK="SHOPPING#", itemId=str(MILK)),
        [bought_milk],
        1.0,
    ),
    Case(
        ShoppingListItem.unassigned_by(FAMILY, GROCER),
        querying(BEGINNING, "#storeId = :storeId", PK=OF_FAMILY, SK="SHOPPING#", storeId=str(GROCER)),
        [paper_towels, bought_milk],
        1.0,
    ),
    # What the list rests on
    Case(Family.by_id(FAMILY), getting(OF_FAMILY), family, 1.0),
    Case(Member.by_id(FAMILY, SARAH), getting(f"MEMBER#{SARAH}"), sarah, 1.0),
    Case(Member.all_of_family(FAMILY), querying(BEGINNING, PK=OF_FAMILY, SK="MEMBER#"), [sarah, tom], 1.0),
    Case(
        Member.families_of(SARAH, "active"),
        querying(
            IN_GSI1, "#status = :status", index="GSI1", GSI1PK=f"MEMBER#{SARAH}", GSI1SK="FAMILY#", status="active"
        ),
        [sarah],
        0.5,
    ),
    Case(
        Member.every_family_of(SARAH),
        querying(IN_GSI1, index="GSI1", GSI1PK=f"MEMBER#{SARAH}", GSI1SK="FAMILY#"),
        [sarah_elsewhere, sarah],
        0.5,
    ),
    Case(InventoryItem.by_id(FAMILY, MILK), getting(f"ITEM#{MILK}"), milk_at_home, 1.0),
    Case(
        InventoryItem.all_of_family(FAMILY),
        querying(BEGINNING, PK=OF_FAMILY, SK="ITEM#"),
        [towels_at_home, milk_at_home, flour_no_more],
        1.0,
    ),
    Case(
        InventoryItem.by_status(FAMILY, "active"),
        querying(IN_GSI2, index="GSI2", GSI2PK=f"{OF_FAMILY}#ITEMS", GSI2SK="STATUS#active#QUANTITY#"),
        [towels_at_home, milk_at_home],
        0.5,
    ),
    Case(
        InventoryItem.low(FAMILY, "active"),
        querying(
            IN_GSI1, "#status = :status", index="GSI1", GSI1PK=f"{OF_FAMILY}#LOW", GSI1SK="ITEM#", status="active"
        ),
        [towels_at_home],
        0.5,
    ),
    Case(StorageLocation.by_id(FAMILY, CELLAR), getting(f"LOCATION#{CELLAR}"), cellar, 1.0),
    Case(StorageLocation.all_of_family(FAMILY), querying(BEGINNING, PK=OF_FAMILY, SK="LOCATION#"), [cellar], 1.0),
    Case(Store.by_id(FAMILY, GROCER), getting(f"STORE#{GROCER}"), grocer, 1.0),
    Case(Store.all_of_family(FAMILY), querying(BEGINNING, PK=OF_FAMILY, SK="STORE#"), [grocer, baker], 1.0),
    # Ours
    Case(PendingGuard.by_item(FAMILY, PAPER_TOWELS), getting(f"PENDING#{PAPER_TOWELS}"), pending_towels, 1.0),
    Case(Deletion.by_id(FAMILY, "store", TOM), getting(f"DELETION#store#{TOM}"), deletion, 1.0),
    Case(Deletion.under_way(FAMILY), querying(BEGINNING, PK=OF_FAMILY, SK="DELETION#"), [deletion], 1.0),
    Case(
        ClearedItems.by_clearing(FAMILY, CLEARING),
        querying(BEGINNING, PK=OF_FAMILY, SK=f"CLEARED#{CLEARING}#"),
        [cleared],
        1.0,
    ),
    Case(
        EverythingOfFamily.of(FAMILY),
        querying("#PK = :PK AND #SK BETWEEN :SK AND :SK_2", PK=OF_FAMILY, SK="CLEARED#", SK_2="STORE$"),
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
    ),
]


def test_every_access_pattern_is_asked_here():
    assert {case.pattern for case in CASES} == {pattern.name for pattern in inventory.patterns}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.pattern)
def test_each_question_is_one_exact_request(case):
    assert case.asked.request() == case.request


@pytest.mark.parametrize("engine", BOTH)
async def test_each_question_is_answered_by_one_call_at_its_cost(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, recording):
        for row in ROWS:
            await store.put(row, when=absent)
        for case in CASES:
            ask = {Ref: store.get, Query: store.all, Gather: store.gather}[type(case.asked)]
            with recording.scope() as calls:
                found = await ask(case.asked)
            assert found == case.found, case.pattern
            assert (calls.operations, calls.read_units) == ([case.request.operation], case.units), case.pattern


# --- what the write decides ------------------------------------------------------------------------------------------

# A transaction costs double; DynamoDB Local does not count it so.
UNITS_OF_TWO_ROWS = {EMBEDDED: 4.0, LOCAL: 2.0}


@pytest.mark.parametrize("engine", BOTH)
async def test_names_of_stores_and_locations_are_unique_in_a_family_whatever_their_case_and_space(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, recording):
        with recording.scope() as calls:
            await store.put(grocer, when=absent)
        assert (calls.operations, calls.write_units) == (["TransactWriteItems"], UNITS_OF_TWO_ROWS[engine])
        same_name = msgspec.structs.replace(baker, name="  gROCER ")
        with pytest.raises(NotUnique) as refused:
            await store.put(same_name, when=absent)
        assert (refused.value.field, refused.value.value) == ("name", "  gROCER ")
        assert await store.all(Store.all_of_family(FAMILY)) == [grocer]
        await store.put(msgspec.structs.replace(same_name, family_id=OTHER_FAMILY), when=absent)
        await store.put(msgspec.structs.replace(cellar, name="Grocer"), when=absent)
        # Its name is free again when the store is called otherwise, or gone.
        await store.update(grocer, the(Store.name).becomes("Market"))
        await store.put(same_name, when=absent)
        await store.delete(same_name)
        await store.put(same_name, when=absent)


@pytest.mark.parametrize("engine", BOTH)
async def test_a_second_pending_item_of_the_same_thing_is_refused_with_the_first(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, _):
        await store.transact(put(paper_towels, when=absent), put(pending_towels, when=absent))
        again = msgspec.structs.replace(paper_towels, shopping_item_id=TOM)
        guard = msgspec.structs.replace(pending_towels, shopping_item_ids=frozenset({TOM}))
        with pytest.raises(AlreadyExists) as refused:
            await store.transact(put(again, when=absent), put(guard, when=absent))
        assert refused.value.current == pending_towels
        assert await store.all(ShoppingListItem.all_of_family(FAMILY)) == [paper_towels]
        # Confirmed, it joins the set; the guard goes with the last of them.
        ids = the(PendingGuard.shopping_item_ids)
        by_item = PendingGuard.by_item(FAMILY, PAPER_TOWELS)
        await store.transact(put(again, when=absent), update(by_item, ids.include(TOM)))
        assert (await store.one(by_item)).shopping_item_ids == {paper_towels.shopping_item_id, TOM}
        with pytest.raises(ConditionFailed):
            await store.delete(by_item, when=ids == frozenset({TOM}))
        await store.update(by_item, ids.exclude(paper_towels.shopping_item_id))
        await store.delete(by_item, when=ids == frozenset({TOM}))
        assert await store.get(by_item) is None


@pytest.mark.parametrize("engine", BOTH)
async def test_an_item_is_checked_off_and_unchecked_as_the_design_has_it(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, recording):
        await store.put(paper_towels, when=absent)
        status, ttl = the(ShoppingListItem.status), the(ShoppingListItem.ttl)
        designed = wire(json.loads(PENDING_LINKED) | LINK[PENDING_LINKED])

        async def stored() -> dict[str, Any]:
            key = {name: designed[name] for name in ("PK", "SK")}
            return (await recording.call("GetItem", {"TableName": "InventoryManagement", "Key": key}))["Item"]

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


@pytest.mark.parametrize("engine", BOTH)
async def test_what_pointed_to_something_deleted_points_to_nothing(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, _):
        for row in (paper_towels, bought_milk, birthday_cake, towels_at_home, grocer):
            await store.put(row, when=absent)
        orphans = await store.all(ShoppingListItem.orphaned_by(FAMILY, PAPER_TOWELS))
        item_id, store_id = the(ShoppingListItem.item_id), the(ShoppingListItem.store_id)
        await store.transact(delete(towels_at_home), *(update(each, item_id.becomes(None)) for each in orphans))
        free_text = msgspec.structs.replace(paper_towels, item_id=None, version=2)
        assert await store.get(ShoppingListItem.by_id(FAMILY, paper_towels.shopping_item_id)) == free_text
        assert await store.all(ShoppingListItem.linked_to(FAMILY, PAPER_TOWELS)) == []
        assert await store.all(InventoryItem.low(FAMILY, "active")) == []

        unassigned = await store.all(ShoppingListItem.unassigned_by(FAMILY, GROCER))
        await store.transact(delete(grocer), *(update(each, store_id.becomes(None)) for each in unassigned))
        assert await store.all(ShoppingListItem.by_store(FAMILY, GROCER)) == []
        names = [each.name for each in await store.all(ShoppingListItem.by_store_and_status(FAMILY, None, "pending"))]
        assert sorted(names) == ["Birthday cake", "Paper Towels"]
        # The name went with the store.
        await store.put(msgspec.structs.replace(baker, name="Grocer"), when=absent)


@pytest.mark.parametrize("engine", BOTH)
async def test_the_last_admin_of_a_family_cannot_be_lost(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, _):
        await store.put(family, when=absent)
        admins = the(Family.admin_count)
        by_id = Family.by_id(FAMILY)
        assert (await store.update(by_id, admins.add(1))).admin_count == 2
        lost_one = await store.update(by_id, admins.add(-1), when=admins > 1)
        assert (lost_one.admin_count, lost_one.version) == (1, 1)
        with pytest.raises(ConditionFailed):
            await store.update(by_id, admins.add(-1), when=admins > 1)


@pytest.mark.parametrize("engine", BOTH)
async def test_a_purchase_is_added_to_the_inventory_once(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, _):
        await store.put(bought_milk, when=absent)
        await store.put(milk_at_home, when=absent)
        restocked_at = the(ShoppingListItem.restocked_at)

        def restock(item: InventoryItem) -> list[Any]:
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


@pytest.mark.parametrize("engine", BOTH)
async def test_only_what_is_low_is_in_the_index_of_low_items(engine, tmp_path):
    async with recorded_store(engine, tmp_path, inventory) as (store, recording):
        await store.put(milk_at_home, when=absent)
        by_id, low = InventoryItem.by_id(FAMILY, MILK), InventoryItem.low(FAMILY, "active")

        async def found(quantity: int) -> list[str]:
            await store.modify(by_id, lambda item: [the(InventoryItem.quantity).becomes(quantity)])
            with recording.scope() as calls:
                names = [item.name for item in await store.all(low)]
            # Nothing is read that is not returned.
            assert sum(call.items for call in calls) == len(names)
            return names

        assert await found(3) == ["Milk"]
        assert await found(4) == []
        assert await found(0) == ["Milk"]
        await store.modify(by_id, lambda item: [the(InventoryItem.threshold).becomes(0)])
        assert await found(1) == []


def test_cleared_items_at_their_longest_fit_into_one_row():
    longest = msgspec.structs.replace(
        bought_milk, name="\U0001f9c0" * 100, notes="\U0001f9c0" * 500, unit="\U0001f9c0" * 50, restocked_at=NOW
    )
    full = msgspec.structs.replace(cleared, items=[msgspec.to_builtins(longest)] * 99)
    assert len(json.dumps(plan_of(full).coding.encode(full), ensure_ascii=False).encode()) < 400_000


def test_a_cleared_item_comes_back_as_it_was():
    stored = plan_of(cleared).coding.encode(cleared)
    (again,) = plan_of(cleared).coding.decode(stored).items
    assert msgspec.convert(again, ShoppingListItem) == bought_milk
