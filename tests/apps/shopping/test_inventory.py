"""The inventory, stores and locations: names that no two share, steps that are never lost, what is low."""

import asyncio
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from potluck.apps.shopping.conflicts import IdTaken, NameTaken
from potluck.apps.shopping.entities import InventoryItem
from potluck.apps.shopping.inventory import (
    add_inventory_item,
    adjust,
    change_inventory_item,
    delete_inventory_item,
    inventory_item,
    inventory_items,
)
from potluck.apps.shopping.locations import add_location, all_locations, change_location, delete_location, one_location
from potluck.apps.shopping.stores import add_store, all_stores, change_store, delete_store, one_store
from potluck.validation.errors import ValidationError
from potluck.web.errors import Conflict, Forbidden, NotFound
from tests.apps.shopping.assembly import outcomes


async def test_an_item_has_names_for_what_it_points_to(shop):
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer", address="Main St")
    other = await shop.do(add_store, ada, family, name="Baker")
    cellar = await shop.do(add_location, ada, family, name="Cellar", description="down")
    added = await shop.do(
        add_inventory_item,
        ada,
        family,
        name=" Flour ",
        quantity=3,
        threshold=3,
        unit="kg",
        location_id=cellar.location_id,
        preferred_store_id=str(store.store_id),
        alternate_store_ids=(other.store_id, other.store_id),
    )
    assert (added.name, added.quantity, added.low, added.unit) == ("Flour", 3, True, "kg")
    assert (added.location_name, added.preferred_store_name) == ("Cellar", "Grocer")
    assert added.alternate_store_ids == (other.store_id,)
    assert await shop.do(inventory_item, ada, family, added.item_id) == added
    assert await shop.do(inventory_items, ada, family) == [added]


async def test_it_points_only_to_what_is_the_familys(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    bea, elsewhere = await shop.family("Byron", "Bea")
    store = await shop.do(add_store, bea, elsewhere, name="Grocer")
    cellar = await shop.do(add_location, bea, elsewhere, name="Cellar")
    tea = await shop.do(add_inventory_item, ada, family, name="Tea")
    before = await shop.dump()
    for wrong in (
        {"location_id": cellar.location_id},
        {"preferred_store_id": store.store_id},
        {"alternate_store_ids": (store.store_id,)},
        {"location_id": uuid4()},
    ):
        with pytest.raises(NotFound):
            await shop.do(add_inventory_item, ada, family, name="Flour", **wrong)
        with pytest.raises(NotFound):
            await shop.do(change_inventory_item, ada, family, tea.item_id, version=1, **wrong)
    assert await shop.dump() == before


async def test_details_change_by_version(shop):
    ada, family = await shop.family()
    added = await shop.do(add_inventory_item, ada, family, name="Flour", quantity=1, unit="kg")
    edited = await shop.do(
        change_inventory_item,
        ada,
        family,
        added.item_id,
        version=1,
        name="Rye",
        quantity=5,
        unit=None,
        status="archived",
    )
    assert (edited.name, edited.quantity, edited.unit, edited.status, edited.version) == ("Rye", 5, None, "archived", 2)
    with pytest.raises(Conflict) as refused:
        await shop.do(change_inventory_item, ada, family, added.item_id, version=1, name="Oats")
    assert refused.value.current == edited
    assert await shop.do(change_inventory_item, ada, family, added.item_id, version=2, name="Rye") == edited
    assert await shop.do(inventory_items, ada, family, status="archived") == [edited]
    assert await shop.do(inventory_items, ada, family, status="active") == []


async def test_the_same_id_again_is_told_what_is_there(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    chosen = uuid4()
    item = await shop.do(add_inventory_item, ada, family, name="Flour", item_id=chosen)
    store = await shop.do(add_store, ada, family, name="Grocer", store_id=chosen)
    location = await shop.do(add_location, ada, family, name="Cellar", location_id=chosen)
    for existing, attempt in (
        (item, shop.do(add_inventory_item, ada, family, name="Flour", item_id=chosen)),
        (store, shop.do(add_store, ada, family, name="Baker", store_id=chosen)),
        (location, shop.do(add_location, ada, family, name="Attic", location_id=chosen)),
    ):
        with pytest.raises(IdTaken) as refused:
            await attempt
        assert refused.value.members["existing"] == existing


async def test_a_step_stops_at_zero_and_at_the_most_there_can_be(shop):
    ada, family = await shop.family()
    added = await shop.do(add_inventory_item, ada, family, name="Eggs", quantity=2)
    assert (await shop.do(adjust, ada, family, added.item_id, by=3)).quantity == 5
    emptied = await shop.do(adjust, ada, family, added.item_id, by=-9)
    assert (emptied.quantity, emptied.low, emptied.version) == (0, True, 3)
    assert await shop.do(adjust, ada, family, added.item_id, by=-1) == emptied
    assert await shop.do(adjust, ada, family, added.item_id, by=0) == emptied
    await shop.do(adjust, ada, family, added.item_id, by=100_000)
    with pytest.raises(ValidationError) as refused:
        await shop.do(adjust, ada, family, added.item_id, by=1)
    errors = [(error.field, error.message) for error in refused.value.errors]
    assert errors == [("by", "There can be at most 100,000 of an item")]
    with pytest.raises(NotFound):
        await shop.do(adjust, ada, family, uuid4(), by=1)


async def test_fifty_who_adjust_one_item_at_once_lose_no_step(busy_shop):
    shop = busy_shop
    adjusters = shop.many
    # As three processes would, each with turns of its own.
    processes = [shop.elsewhere() for _ in range(3)]
    ada, family = await shop.family()
    added = await shop.do(add_inventory_item, ada, family, name="Eggs", quantity=10)
    steps = [(-1 if number % 5 == 0 else 1) for number in range(adjusters)]
    seen = await asyncio.gather(
        *(processes[number % 3].do(adjust, ada, family, added.item_id, by=step) for number, step in enumerate(steps))
    )
    there = await shop.store.one(InventoryItem.by_id(family, added.item_id))
    assert (there.quantity, there.version) == (10 + sum(steps), adjusters + 1)
    assert sorted(each.version for each in seen) == list(range(2, adjusters + 2))


async def test_twenty_who_take_the_last_ten_never_go_below_zero(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    added = await shop.do(add_inventory_item, ada, family, name="Eggs", quantity=10)
    seen = await asyncio.gather(*(shop.do(adjust, ada, family, added.item_id, by=-1) for _ in range(20)))
    assert sorted(each.quantity for each in seen) == [*([0] * 10), *range(10)]


async def test_asking_for_what_is_low_reads_nothing_else(shop):
    ada, family = await shop.family()
    for name, quantity in (("Tea", 1), ("bread", 0), ("Salt", 9)):
        await shop.do(add_inventory_item, ada, family, name=name, quantity=quantity, threshold=2)
    gone = await shop.do(add_inventory_item, ada, family, name="Old", threshold=2)
    await shop.do(change_inventory_item, ada, family, gone.item_id, version=1, status="archived")
    with shop.recording.scope() as calls:
        low = await shop.do(inventory_items, ada, family, low_stock=True)
    assert [each.name for each in low] == ["bread", "Tea"]
    assert [call.items for call in calls if call.pattern == "InventoryItem.low"] == [2]
    assert [each.name for each in await shop.do(inventory_items, ada, family)] == ["bread", "Old", "Salt", "Tea"]


# --- stores and locations --------------------------------------------------------------------------------------------


class Named(NamedTuple):
    """The rules of things with unique names."""

    add: Any
    all: Any
    one: Any
    change: Any
    delete: Any
    id: str


NAMED = {
    "store": Named(add_store, all_stores, one_store, change_store, delete_store, "store_id"),
    "location": Named(add_location, all_locations, one_location, change_location, delete_location, "location_id"),
    "item": Named(
        add_inventory_item, inventory_items, inventory_item, change_inventory_item, delete_inventory_item, "item_id"
    ),
}


@pytest.mark.parametrize("kind", ["store", "location", "item"])
async def test_names_are_unique_whatever_their_case_and_space(shop, kind):
    ada, family = await shop.family()
    rules = NAMED[kind]
    first = await shop.do(rules.add, ada, family, name="Grocer")
    for name in ("grocer", "  GROCER "):
        with pytest.raises(NameTaken):
            await shop.do(rules.add, ada, family, name=name)
    second = await shop.do(rules.add, ada, family, name="Baker")
    with pytest.raises(NameTaken):
        await shop.do(rules.change, ada, family, getattr(second, rules.id), version=1, name="gRoCer")
    # Its own name in another spelling is nobody else's, and a name that was given up is free.
    respelt = await shop.do(rules.change, ada, family, getattr(first, rules.id), version=1, name="GROCER")
    assert (respelt.name, respelt.version) == ("GROCER", 2)
    await shop.do(rules.change, ada, family, getattr(first, rules.id), version=2, name="Market")
    await shop.do(rules.change, ada, family, getattr(second, rules.id), version=1, name="Grocer")
    assert [each.name for each in await shop.do(rules.all, ada, family)] == ["Grocer", "Market"]
    await shop.do(rules.delete, ada, family, getattr(second, rules.id))
    await shop.do(rules.add, ada, family, name="grocer")


@pytest.mark.parametrize("kind", ["store", "item"])
async def test_of_twenty_equal_names_at_once_one_is_given(busy_shop, kind):
    shop = busy_shop
    ada, family = await shop.family()
    rules = NAMED[kind]
    spelt = ("Grocer", "grocer", " GROCER ")
    done, refused = await outcomes(*(shop.do(rules.add, ada, family, name=spelt[number % 3]) for number in range(20)))
    assert (len(done), [type(each) for each in refused]) == (1, [NameTaken] * 19)
    assert await shop.do(rules.all, ada, family) == done


async def test_a_thing_from_before_names_were_unique_is_renamed_and_deleted_as_ever(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    pasta, tea = (
        await shop.do(add_inventory_item, ada, family, name="Pasta"),
        await shop.do(add_inventory_item, ada, family, name="Tea"),
    )
    for name in ("pasta", "tea"):
        guard = {"PK": {"S": f"FAMILY#{family}"}, "SK": {"S": f"UNIQUE#ITEM#{name}"}}
        await shop.store.engine.call("DeleteItem", {"TableName": "InventoryManagement", "Key": guard})
    renamed = await shop.do(change_inventory_item, ada, family, pasta.item_id, version=1, name="Spaghetti")
    assert renamed.name == "Spaghetti"
    await shop.do(delete_inventory_item, ada, family, tea.item_id)
    with pytest.raises(NameTaken):
        await shop.do(add_inventory_item, ada, family, name="SPAGHETTI")


@pytest.mark.parametrize("kind", ["store", "location"])
async def test_everyone_sees_them_and_admins_manage_them_by_version(embedded_shop, kind):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    rules = NAMED[kind]
    made = await shop.do(rules.add, ada, family, name="Grocer")
    which = getattr(made, rules.id)
    assert await shop.do(rules.one, ben, family, which) == made
    assert await shop.do(rules.all, ben, family) == [made]
    for attempt in (
        shop.do(rules.add, ben, family, name="Baker"),
        shop.do(rules.change, ben, family, which, version=1, name="x"),
        shop.do(rules.delete, ben, family, which),
    ):
        with pytest.raises(Forbidden):
            await attempt
    edited = await shop.do(rules.change, ada, family, which, version=1, name="Market")
    for attempt in (
        shop.do(rules.change, ada, family, which, version=1, name="x"),
        shop.do(rules.delete, ada, family, which, version=1),
    ):
        with pytest.raises(Conflict) as refused:
            await attempt
        assert refused.value.current == edited
    assert await shop.do(rules.change, ada, family, which, version=2, name="Market") == edited
    await shop.do(rules.delete, ada, family, which, version=2)
    for attempt in (shop.do(rules.one, ada, family, which), shop.do(rules.delete, ada, family, which)):
        with pytest.raises(NotFound):
            await attempt


async def test_a_store_has_an_address_and_a_location_a_description(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer", address="Main St")
    assert (await shop.do(change_store, ada, family, store.store_id, version=1, address=None)).address is None
    cellar = await shop.do(add_location, ada, family, name="Cellar")
    edited = await shop.do(change_location, ada, family, cellar.location_id, version=1, description="down")
    assert (edited.name, edited.description) == ("Cellar", "down")
