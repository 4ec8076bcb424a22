"""The inventory, stores and locations: names that no two share, steps that are never lost, what is low."""

import asyncio
from uuid import uuid4

import pytest

from potluck.apps.shopping.conflicts import IdTaken, NameTaken
from potluck.apps.shopping.entities import InventoryItem
from potluck.validation.errors import ValidationError
from potluck.web.errors import Conflict, Forbidden, NotFound
from tests.apps.shopping.assembly import outcomes


async def test_an_item_has_names_for_what_it_points_to(shop):
    ada, family = await shop.family()
    store = await shop.shopping.stores.add(ada, family, "Grocer", address="Main St")
    other = await shop.shopping.stores.add(ada, family, "Baker")
    cellar = await shop.shopping.locations.add(ada, family, "Cellar", description="down")
    added = await shop.shopping.inventory.add(
        ada,
        family,
        " Flour ",
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
    assert await shop.shopping.inventory.one(ada, family, added.item_id) == added
    assert await shop.shopping.inventory.all(ada, family) == [added]


async def test_it_points_only_to_what_is_the_familys(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    bea, elsewhere = await shop.family("Byron", "Bea")
    store = await shop.shopping.stores.add(bea, elsewhere, "Grocer")
    cellar = await shop.shopping.locations.add(bea, elsewhere, "Cellar")
    tea = await shop.shopping.inventory.add(ada, family, "Tea")
    before = await shop.dump()
    for wrong in (
        {"location_id": cellar.location_id},
        {"preferred_store_id": store.store_id},
        {"alternate_store_ids": (store.store_id,)},
        {"location_id": uuid4()},
    ):
        with pytest.raises(NotFound):
            await shop.shopping.inventory.add(ada, family, "Flour", **wrong)
        with pytest.raises(NotFound):
            await shop.shopping.inventory.edit(ada, family, tea.item_id, 1, **wrong)
    assert await shop.dump() == before


async def test_details_change_by_version(shop):
    ada, family = await shop.family()
    inventory = shop.shopping.inventory
    added = await inventory.add(ada, family, "Flour", quantity=1, unit="kg")
    edited = await inventory.edit(ada, family, added.item_id, 1, name="Rye", quantity=5, unit=None, status="archived")
    assert (edited.name, edited.quantity, edited.unit, edited.status, edited.version) == ("Rye", 5, None, "archived", 2)
    with pytest.raises(Conflict) as refused:
        await inventory.edit(ada, family, added.item_id, 1, name="Oats")
    assert refused.value.current == edited
    assert await inventory.edit(ada, family, added.item_id, 2, name="Rye") == edited
    assert await inventory.all(ada, family, status="archived") == [edited]
    assert await inventory.all(ada, family, status="active") == []


async def test_the_same_id_again_is_told_what_is_there(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    chosen = uuid4()
    item = await shop.shopping.inventory.add(ada, family, "Flour", item_id=chosen)
    store = await shop.shopping.stores.add(ada, family, "Grocer", store_id=chosen)
    location = await shop.shopping.locations.add(ada, family, "Cellar", location_id=chosen)
    for existing, attempt in (
        (item, shop.shopping.inventory.add(ada, family, "Flour", item_id=chosen)),
        (store, shop.shopping.stores.add(ada, family, "Baker", store_id=chosen)),
        (location, shop.shopping.locations.add(ada, family, "Attic", location_id=chosen)),
    ):
        with pytest.raises(IdTaken) as refused:
            await attempt
        assert refused.value.members["existing"] == existing


async def test_a_step_stops_at_zero_and_at_the_most_there_can_be(shop):
    ada, family = await shop.family()
    inventory = shop.shopping.inventory
    added = await inventory.add(ada, family, "Eggs", quantity=2)
    assert (await inventory.adjust(ada, family, added.item_id, 3)).quantity == 5
    emptied = await inventory.adjust(ada, family, added.item_id, -9)
    assert (emptied.quantity, emptied.low, emptied.version) == (0, True, 3)
    assert await inventory.adjust(ada, family, added.item_id, -1) == emptied
    assert await inventory.adjust(ada, family, added.item_id, 0) == emptied
    await inventory.adjust(ada, family, added.item_id, 100_000)
    with pytest.raises(ValidationError) as refused:
        await inventory.adjust(ada, family, added.item_id, 1)
    assert [each.field for each in refused.value.errors] == ["by"]
    with pytest.raises(NotFound):
        await inventory.adjust(ada, family, uuid4(), 1)


async def test_fifty_who_adjust_one_item_at_once_lose_no_step(busy_shop):
    shop = busy_shop
    adjusters = shop.many
    # As three processes would, each with turns of its own.
    services = [shop.elsewhere() for _ in range(3)]
    ada, family = await shop.family()
    added = await shop.shopping.inventory.add(ada, family, "Eggs", quantity=10)
    steps = [(-1 if number % 5 == 0 else 1) for number in range(adjusters)]
    seen = await asyncio.gather(
        *(services[number % 3].inventory.adjust(ada, family, added.item_id, step) for number, step in enumerate(steps))
    )
    there = await shop.store.one(InventoryItem.by_id(family, added.item_id))
    assert (there.quantity, there.version) == (10 + sum(steps), adjusters + 1)
    assert sorted(each.version for each in seen) == list(range(2, adjusters + 2))


async def test_twenty_who_take_the_last_ten_never_go_below_zero(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    added = await shop.shopping.inventory.add(ada, family, "Eggs", quantity=10)
    seen = await asyncio.gather(*(shop.shopping.inventory.adjust(ada, family, added.item_id, -1) for _ in range(20)))
    assert sorted(each.quantity for each in seen) == [*([0] * 10), *range(10)]


async def test_asking_for_what_is_low_reads_nothing_else(shop):
    ada, family = await shop.family()
    inventory = shop.shopping.inventory
    for name, quantity in (("Tea", 1), ("bread", 0), ("Salt", 9)):
        await inventory.add(ada, family, name, quantity=quantity, threshold=2)
    gone = await inventory.add(ada, family, "Old", threshold=2)
    await inventory.edit(ada, family, gone.item_id, 1, status="archived")
    with shop.recording.scope() as calls:
        low = await inventory.all(ada, family, low_stock=True)
    assert [each.name for each in low] == ["bread", "Tea"]
    assert [call.items for call in calls if call.pattern == "InventoryItem.low"] == [2]
    assert [each.name for each in await inventory.all(ada, family)] == ["bread", "Old", "Salt", "Tea"]


# --- stores and locations --------------------------------------------------------------------------------------------


def named(shop, kind):
    """The service of stores, of locations or of the inventory, and what the id of one is called."""
    services = shop.shopping
    return {
        "store": (services.stores, "store_id"),
        "location": (services.locations, "location_id"),
        "item": (services.inventory, "item_id"),
    }[kind]


@pytest.mark.parametrize("kind", ["store", "location", "item"])
async def test_names_are_unique_whatever_their_case_and_space(shop, kind):
    ada, family = await shop.family()
    places, id_of = named(shop, kind)
    first = await places.add(ada, family, "Grocer")
    for name in ("grocer", "  GROCER "):
        with pytest.raises(NameTaken):
            await places.add(ada, family, name)
    second = await places.add(ada, family, "Baker")
    with pytest.raises(NameTaken):
        await places.edit(ada, family, getattr(second, id_of), 1, name="gRoCer")
    # Its own name in another spelling is nobody else's, and a name that was given up is free.
    respelt = await places.edit(ada, family, getattr(first, id_of), 1, name="GROCER")
    assert (respelt.name, respelt.version) == ("GROCER", 2)
    await places.edit(ada, family, getattr(first, id_of), 2, name="Market")
    await places.edit(ada, family, getattr(second, id_of), 1, name="Grocer")
    assert [each.name for each in await places.all(ada, family)] == ["Grocer", "Market"]
    await places.delete(ada, family, getattr(second, id_of))
    await places.add(ada, family, "grocer")


@pytest.mark.parametrize("kind", ["store", "item"])
async def test_of_twenty_equal_names_at_once_one_is_given(busy_shop, kind):
    ada, family = await busy_shop.family()
    places, _ = named(busy_shop, kind)
    spelt = ("Grocer", "grocer", " GROCER ")
    done, refused = await outcomes(*(places.add(ada, family, spelt[number % 3]) for number in range(20)))
    assert (len(done), [type(each) for each in refused]) == (1, [NameTaken] * 19)
    assert await places.all(ada, family) == done


async def test_a_thing_from_before_names_were_unique_is_renamed_and_deleted_as_ever(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    inventory = shop.shopping.inventory
    pasta, tea = await inventory.add(ada, family, "Pasta"), await inventory.add(ada, family, "Tea")
    for name in ("pasta", "tea"):
        guard = {"PK": {"S": f"FAMILY#{family}"}, "SK": {"S": f"UNIQUE#ITEM#{name}"}}
        await shop.store.engine.call("DeleteItem", {"TableName": "InventoryManagement", "Key": guard})
    renamed = await inventory.edit(ada, family, pasta.item_id, 1, name="Spaghetti")
    assert renamed.name == "Spaghetti"
    await inventory.delete(ada, family, tea.item_id)
    with pytest.raises(NameTaken):
        await inventory.add(ada, family, "SPAGHETTI")


@pytest.mark.parametrize("kind", ["store", "location"])
async def test_everyone_sees_them_and_admins_manage_them_by_version(embedded_shop, kind):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    places, id_of = named(shop, kind)
    made = await places.add(ada, family, "Grocer")
    which = getattr(made, id_of)
    assert await places.one(ben, family, which) == made
    assert await places.all(ben, family) == [made]
    for attempt in (
        places.add(ben, family, "Baker"),
        places.edit(ben, family, which, 1, name="x"),
        places.delete(ben, family, which),
    ):
        with pytest.raises(Forbidden):
            await attempt
    edited = await places.edit(ada, family, which, 1, name="Market")
    for attempt in (places.edit(ada, family, which, 1, name="x"), places.delete(ada, family, which, 1)):
        with pytest.raises(Conflict) as refused:
            await attempt
        assert refused.value.current == edited
    assert await places.edit(ada, family, which, 2, name="Market") == edited
    await places.delete(ada, family, which, 2)
    for attempt in (places.one(ada, family, which), places.delete(ada, family, which)):
        with pytest.raises(NotFound):
            await attempt


async def test_a_store_has_an_address_and_a_location_a_description(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    store = await shop.shopping.stores.add(ada, family, "Grocer", address="Main St")
    assert (await shop.shopping.stores.edit(ada, family, store.store_id, 1, address=None)).address is None
    cellar = await shop.shopping.locations.add(ada, family, "Cellar")
    edited = await shop.shopping.locations.edit(ada, family, cellar.location_id, 1, description="down")
    assert (edited.name, edited.description) == ("Cellar", "down")
