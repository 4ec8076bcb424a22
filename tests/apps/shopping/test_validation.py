"""The design's validation table: each bad value gets exactly its message, all at once, and nothing is even read."""

from uuid import uuid4

import pytest

from potluck.people.invitations import Invitations
from potluck.store import Store
from potluck.validation.errors import ValidationError
from tests.apps.shopping.services import open_shopping
from tests.stores import NOW

BAD_IDS = ["", "123e4567", "123E4567-E89B-12D3-A456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}", 7]
BAD_NAMES = ["", "   ", "x" * 101, None]
BAD_QUANTITIES = [0, -1, 1.5, "1", True]
ID = uuid4()


class NoEngine:
    """What is wrong in itself is refused before anything is asked of an engine."""

    async def call(self, operation, request):
        raise AssertionError(f"{operation} was sent")


rows = Store(NoEngine(), lambda: NOW)
shopping = open_shopping(rows, rows.clock, Invitations(rows, rows.clock))


async def wrong(attempt):
    with pytest.raises(ValidationError) as refused:
        await attempt
    return [(each.field, each.message) for each in refused.value.errors]


def each(field, message, values):
    return [pytest.param(field, value, message, id=f"{field}={value!r:.20}") for value in values]


ADDING = [
    *each("shopping_item_id", ("shoppingItemId", "Invalid shopping item ID format"), BAD_IDS),
    *each("family_id", ("familyId", "Invalid family ID format"), [*BAD_IDS, None]),
    *each("item_id", ("itemId", "Invalid inventory item ID format"), BAD_IDS),
    *each("name", ("name", "Name must be 1-100 characters"), BAD_NAMES),
    *each("name", ("name", "Name must be text"), [5, True, ["Milk"]]),
    *each("store_id", ("storeId", "Invalid store ID format"), BAD_IDS),
    *each("quantity", ("quantity", "Quantity must be a positive integer"), BAD_QUANTITIES),
    *each("quantity", ("quantity", "Quantity must be at most 100,000"), [100_001, 10**30]),
    *each("notes", ("notes", "Notes must be 500 characters or less"), ["x" * 501]),
    *each("notes", ("notes", "Notes must be text"), [5, ["x"]]),
    *each("unit", ("unit", "Unit must be 50 characters or less"), ["x" * 51]),
]


@pytest.mark.parametrize(("field", "value", "message"), ADDING)
async def test_adding(field, value, message):
    said = {"family_id": ID, "name": "Milk"} | {field: value}
    assert await wrong(shopping.shopping_list.add(None, **said)) == [message]


async def test_what_the_design_allows_is_taken(embedded_shop):
    ada, family = await embedded_shop.family()
    add = embedded_shop.shopping.shopping_list.add
    await add(ada, str(family), name="x", quantity=None, notes=None, store_id=None, item_id=None)
    await add(ada, family, name="x" * 100, quantity=1, notes="", unit="x" * 50)
    # Any UUID will do, as in the design's own records.
    chosen = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    added = await add(ada, family, name="x", quantity=100_000, notes="x" * 500, shopping_item_id=chosen)
    assert str(added.shopping_item_id) == chosen


async def test_free_text_needs_a_name_and_an_inventory_item_brings_one(embedded_shop):
    ada, family = await embedded_shop.family()
    add = embedded_shop.shopping.shopping_list.add
    assert await wrong(add(ada, family)) == [("name", "Name must be 1-100 characters")]
    milk = await embedded_shop.shopping.inventory.add(ada, family, "Milk")
    assert (await add(ada, family, item_id=milk.item_id, name=None)).name == "Milk"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [case for case in ADDING if case.values[0] not in ("item_id", "family_id", "shopping_item_id")],
)
async def test_editing(field, value, message):
    assert await wrong(shopping.shopping_list.edit(None, ID, ID, 1, **{field: value})) == [message]


@pytest.mark.parametrize("version", [0, -1, 1.0, "1", None, True])
async def test_versions(version):
    message = [("version", "Version must be a positive integer")]
    assert await wrong(shopping.shopping_list.edit(None, ID, ID, version, name="x")) == message
    assert await wrong(shopping.shopping_list.set_status(None, ID, ID, version, status="pending")) == message
    assert await wrong(shopping.inventory.edit(None, ID, ID, version, name="x")) == message
    assert await wrong(shopping.stores.edit(None, ID, ID, version, name="x")) == message
    assert await wrong(shopping.locations.edit(None, ID, ID, version, name="x")) == message
    assert await wrong(shopping.families.rename(None, ID, version, name="x")) == message
    assert await wrong(shopping.members.change_role(None, ID, ID, version, role="admin")) == message
    if version is not None:
        for deletion in (shopping.shopping_list, shopping.inventory, shopping.stores, shopping.locations):
            assert await wrong(deletion.delete(None, ID, ID, version)) == message
        assert await wrong(shopping.families.delete(None, ID, version)) == message


@pytest.mark.parametrize("status", ["bought", "", None, "Pending"])
async def test_statuses(status):
    change = shopping.shopping_list.set_status
    message = ("status", "Status must be 'pending' or 'purchased'")
    assert await wrong(change(None, ID, ID, 1, status=status)) == [message]


@pytest.mark.parametrize("member", BAD_IDS)
async def test_members(member):
    message = [("memberId", "Invalid member ID format")]
    assert await wrong(shopping.members.remove(None, ID, member)) == message
    assert await wrong(shopping.members.change_role(None, ID, member, 1, role="admin")) == message


async def test_everything_wrong_is_told_at_once():
    add = shopping.shopping_list.add
    told = await wrong(add(None, "x", name="", store_id="y", quantity=0, notes="x" * 501, unit="x" * 51))
    assert told == [
        ("familyId", "Invalid family ID format"),
        ("name", "Name must be 1-100 characters"),
        ("storeId", "Invalid store ID format"),
        ("quantity", "Quantity must be a positive integer"),
        ("unit", "Unit must be 50 characters or less"),
        ("notes", "Notes must be 500 characters or less"),
    ]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"name": "x" * 101}, ("name", "Name must be 1-100 characters")),
        ({"quantity": -1}, ("quantity", "Quantity must be an integer from 0 to 100,000")),
        ({"quantity": 100_001}, ("quantity", "Quantity must be an integer from 0 to 100,000")),
        ({"threshold": 1.5}, ("threshold", "Threshold must be an integer from 0 to 100,000")),
        ({"unit": "x" * 51}, ("unit", "Unit must be 50 characters or less")),
        ({"location_id": "x"}, ("locationId", "Invalid location ID format")),
        ({"preferred_store_id": "x"}, ("preferredStoreId", "Invalid store ID format")),
        ({"alternate_store_ids": (ID, "x")}, ("alternateStoreIds[1]", "Invalid store ID format")),
        (
            {"alternate_store_ids": tuple(uuid4() for _ in range(21))},
            ("alternateStoreIds", "There can be at most 20 alternate stores"),
        ),
    ],
)
async def test_the_inventory(said, message):
    inventory = shopping.inventory
    assert await wrong(inventory.add(None, ID, **{"name": "Milk"} | said)) == [message]
    assert await wrong(inventory.edit(None, ID, ID, 1, **said)) == [message]


async def test_steps_stores_locations_and_families():
    for by in (1.5, "1", None, 100_001, -100_001):
        told = await wrong(shopping.inventory.adjust(None, ID, ID, by))
        assert told == [("by", "By must be an integer from -100,000 to 100,000")]
    assert await wrong(shopping.stores.add(None, ID, "x" * 101, address="x" * 201)) == [
        ("name", "Name must be 1-100 characters"),
        ("address", "Address must be 200 characters or less"),
    ]
    assert await wrong(shopping.locations.add(None, ID, "x" * 51, description="x" * 201)) == [
        ("name", "Name must be 1-50 characters"),
        ("description", "Description must be 200 characters or less"),
    ]
    assert await wrong(shopping.families.create(None, "")) == [("name", "Name must be 1-100 characters")]
