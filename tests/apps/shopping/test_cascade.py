"""What pointed to something deleted points to nothing: at once where it fits, and to the end where it does not."""

import asyncio
from uuid import UUID

import pytest
from msgspec.structs import replace

from potluck.apps.shopping.cascade import LINKS_AT_ONCE
from potluck.apps.shopping.conflicts import IdTaken
from potluck.apps.shopping.entities import Deletion, PendingGuard, ShoppingListItem
from potluck.apps.shopping.inventory import add_inventory_item, delete_inventory_item, inventory_item
from potluck.apps.shopping.locations import add_location, delete_location
from potluck.apps.shopping.shopping_list import (
    add_to_list,
    change_shopping_item,
    check_off,
    delete_shopping_item,
    groups_of,
    items_on_list,
    shopping_item,
)
from potluck.apps.shopping.stores import add_store, delete_store
from potluck.people.idempotency import IdempotencyKey, StoredAnswers
from potluck.table import absent, put
from potluck.web.errors import Conflict, NotFound
from tests.apps.shopping.assembly import NOW, outcomes
from tests.patience import PATIENCE_SECONDS, stopped

MANY = 2000


async def linked(shop, count):
    """A family whose list has so many items linked to one of the inventory; every third is purchased."""
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    milk = await shop.do(add_inventory_item, ada, family, name="Milk", preferred_store_id=store.store_id)
    first = await shop.do(add_to_list, ada, family, item_id=milk.item_id, quantity=2, notes="n")
    template = await shop.store.one(ShoppingListItem.by_id(family, first.shopping_item_id))
    rows = [
        replace(
            template,
            shopping_item_id=UUID(int=number),
            status="purchased" if number % 3 == 0 else "pending",
            ttl=int(NOW.timestamp()) + 1000 if number % 3 == 0 else None,
        )
        for number in range(1, count)
    ]
    for start in range(0, len(rows), 100):
        await shop.store.transact(*(put(each, when=absent) for each in rows[start : start + 100]))
    return ada, family, store, milk


async def loosened(shop, ada, family, store):
    """That every item on the list is free text, at version 2, with all else as it was."""
    rows = await shop.store.all(ShoppingListItem.all_of_family(family))
    assert {(row.item_id, row.name, row.store_id, row.version) for row in rows} == {(None, "Milk", store.store_id, 2)}
    assert {(row.quantity, row.notes) for row in rows} == {(2, "n")}
    assert all((row.ttl is not None) == (row.status == "purchased") for row in rows)
    shown = await shop.do(items_on_list, ada, family)
    assert [each.item_id for each in shown] == [None] * len(rows)
    return len(rows)


async def test_as_many_links_as_fit_are_loosened_by_the_transaction_that_deletes(embedded_shop):
    await few_links(embedded_shop, LINKS_AT_ONCE)


@pytest.mark.parametrize("count", [3, 40])
async def test_links_that_fit_are_loosened_by_the_transaction_that_deletes(shop, count):
    await few_links(shop, count)


async def few_links(shop, count):
    ada, family, store, milk = await linked(shop, count)
    answers, key = StoredAnswers(shop.store, shop.clock), IdempotencyKey(ada.user_id, "key", "0" * 64)

    with shop.recording.scope() as calls:
        await shop.do(delete_inventory_item, ada, family, milk.item_id, version=1, key=key)
    assert calls.operations[-1] == "TransactWriteItems"
    assert calls.operations.count("TransactWriteItems") == 1
    assert await loosened(shop, ada, family, store) == count
    assert await answers.find(key) is not None
    assert await shop.store.get(PendingGuard.by_item(family, milk.item_id)) is None
    with pytest.raises(NotFound):
        await shop.do(inventory_item, ada, family, milk.item_id)
    await shop.carried()
    assert await loosened(shop, ada, family, store) == count
    assert "Deletion" not in await shop.kinds()


async def test_more_links_than_fit_are_hidden_at_once_and_carried_to_the_end(embedded_shop):
    await many_links(embedded_shop, MANY)


async def test_more_links_than_fit_are_carried_to_the_end_on_any_engine(shop):
    await many_links(shop, 200)


@pytest.mark.soak
async def test_very_many_links_are_carried_to_the_end_on_any_engine(shop):
    await many_links(shop, MANY)


async def many_links(shop, count):
    ada, family, store, milk = await linked(shop, count)
    await shop.do(delete_inventory_item, ada, family, milk.item_id)
    rows = await shop.store.all(ShoppingListItem.all_of_family(family))
    assert {row.item_id for row in rows} == {milk.item_id}
    # Nothing is loosened yet, and nobody sees where it leads.
    shown = await shop.do(items_on_list, ada, family)
    assert len(shown) == count
    assert {each.item_id for each in shown} == {None}
    for status in ("pending", "purchased"):
        assert {each.item_id for each in await shop.do(items_on_list, ada, family, status=status)} == {None}
    assert (await shop.do(shopping_item, ada, family, rows[0].shopping_item_id)).item_id is None
    exported = [row async for table, row in shop.export(ada.user_id) if table == "shoppingList"]
    assert {each.item_id for each in exported} == {None}
    with pytest.raises(NotFound):
        await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    with pytest.raises(IdTaken):
        await shop.do(add_inventory_item, ada, family, name="Milk", item_id=milk.item_id)
    await shop.carried()
    assert await loosened(shop, ada, family, store) == count
    assert "Deletion" not in await shop.kinds()
    await shop.do(add_inventory_item, ada, family, name="Milk", item_id=milk.item_id)


async def test_a_link_that_is_not_loosened_yet_is_loosened_by_whoever_changes_the_status(embedded_shop):
    shop = embedded_shop
    ada, family, _, milk = await linked(shop, LINKS_AT_ONCE + 1)
    await shop.do(delete_inventory_item, ada, family, milk.item_id)
    rows = await shop.store.all(ShoppingListItem.all_of_family(family))
    pending = next(row.shopping_item_id for row in rows if row.status == "pending")
    other = next(row.shopping_item_id for row in rows if row.status == "pending" and row.shopping_item_id != pending)
    purchased = next(row.shopping_item_id for row in rows if row.status == "purchased")
    for which, status in ((pending, "purchased"), (purchased, "pending")):
        changed = await shop.do(check_off, ada, family, which, version=1, status=status)
        assert (changed.status, changed.item_id, changed.version) == (status, None, 2)
        assert (await shop.store.one(ShoppingListItem.by_id(family, which))).item_id is None
    await shop.do(delete_shopping_item, ada, family, other)
    assert await shop.store.get(PendingGuard.by_item(family, milk.item_id)) is None
    await shop.carried()
    assert {row.item_id for row in await shop.store.all(ShoppingListItem.all_of_family(family))} == {None}


async def test_a_link_made_while_the_others_were_looked_for_is_found(interrupted_shop):
    shop = interrupted_shop
    ada, family, _, milk = await linked(shop, 3)
    shop.meanwhile(lambda: shop.do(add_to_list, ada, family, item_id=milk.item_id, name="late", allow_duplicate=True))
    await shop.do(delete_inventory_item, ada, family, milk.item_id)
    shown = await shop.do(items_on_list, ada, family)
    assert [each.item_id for each in shown] == [None] * 4
    await shop.carried()
    assert {row.item_id for row in await shop.store.all(ShoppingListItem.all_of_family(family))} == {None}


async def test_an_inventory_item_that_goes_while_it_is_added_is_not_linked_to(interrupted_shop):
    shop = interrupted_shop
    ada, family, _, milk = await linked(shop, 1)

    async def gone():
        await shop.do(delete_inventory_item, ada, family, milk.item_id)
        await shop.carried()

    shop.meanwhile(gone)
    with pytest.raises(NotFound):
        await shop.do(add_to_list, ada, family, item_id=milk.item_id, allow_duplicate=True)
    assert "PendingGuard" not in await shop.kinds()


async def test_an_inventory_item_that_goes_while_a_link_to_it_is_checked_off_or_deleted(interrupted_shop):
    shop = interrupted_shop
    for change in ("check off", "delete"):
        ada, family, _, milk = await linked(shop, 1)
        (seen,) = await shop.do(items_on_list, ada, family)

        def gone(ada=ada, family=family, milk=milk):
            return shop.do(delete_inventory_item, ada, family, milk.item_id)

        shop.meanwhile(gone)
        if change == "check off":
            with pytest.raises(Conflict) as refused:
                await shop.do(check_off, ada, family, seen.shopping_item_id, version=1, status="purchased")
            assert (refused.value.current.item_id, refused.value.current.version) == (None, 2)
        else:
            await shop.do(delete_shopping_item, ada, family, seen.shopping_item_id)
            assert (await shop.do(items_on_list, ada, family)) == []
    assert "PendingGuard" not in await shop.kinds()


async def test_edits_and_adds_beside_a_deletion_lose_nothing_and_leave_no_link(busy_shop):
    shop = busy_shop
    ada, family, _, milk = await linked(shop, 8)
    seen = await shop.do(items_on_list, ada, family)
    done, _ = await outcomes(
        *(
            shop.do(change_shopping_item, ada, family, each.shopping_item_id, version=1, notes="edited")
            for each in seen
        ),
        *(shop.do(add_to_list, ada, family, item_id=milk.item_id, allow_duplicate=True) for _ in range(5)),
        shop.do(delete_inventory_item, ada, family, milk.item_id),
    )
    await shop.carried()
    rows = await shop.store.all(ShoppingListItem.all_of_family(family))
    assert {row.item_id for row in rows} == {None}
    edited = {each.shopping_item_id for each in done if each is not None and each.notes == "edited"}
    assert {row.shopping_item_id for row in rows if row.notes == "edited"} == edited
    assert await shop.store.get(PendingGuard.by_item(family, milk.item_id)) is None


# --- stores and locations --------------------------------------------------------------------------------------------


async def test_what_pointed_to_a_deleted_store_or_location_points_to_none(shop):
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    other = await shop.do(add_store, ada, family, name="Baker")
    cellar = await shop.do(add_location, ada, family, name="Cellar")
    first = await shop.do(
        add_inventory_item, ada, family, name="Milk", preferred_store_id=store.store_id, location_id=cellar.location_id
    )
    second = await shop.do(
        add_inventory_item,
        ada,
        family,
        name="Bread",
        preferred_store_id=other.store_id,
        alternate_store_ids=(store.store_id, other.store_id),
    )
    added = await shop.do(add_to_list, ada, family, item_id=first.item_id)
    await shop.do(delete_store, ada, family, store.store_id)
    loose = await shop.do(shopping_item, ada, family, added.shopping_item_id)
    assert (loose.item_id, loose.name, loose.store_id, loose.store_name, loose.version) == (
        *(first.item_id, "Milk", None, None),
        2,
    )
    milk, bread = [await shop.do(inventory_item, ada, family, each.item_id) for each in (first, second)]
    assert (milk.preferred_store_id, milk.location_id, milk.version) == (None, cellar.location_id, 2)
    assert (bread.preferred_store_id, bread.alternate_store_ids, bread.version) == (
        *(other.store_id, (other.store_id,)),
        2,
    )
    await shop.do(delete_location, ada, family, cellar.location_id)
    assert (await shop.do(inventory_item, ada, family, first.item_id)).location_id is None
    assert [each.name for each in (await shop.do(items_on_list, ada, family, store_id="unassigned"))] == ["Milk"]
    with pytest.raises(NotFound):
        await shop.do(items_on_list, ada, family, store_id=store.store_id)
    # Its name is free.
    await shop.do(add_store, ada, family, name="grocer")
    await shop.carried()
    assert "Deletion" not in await shop.kinds()


async def test_a_store_with_more_links_than_fit_is_hidden_and_carried(embedded_shop):
    shop = embedded_shop
    ada, family, store, milk = await linked(shop, LINKS_AT_ONCE + 10)
    await shop.do(delete_store, ada, family, store.store_id)
    listed = await shop.do(items_on_list, ada, family)
    assert [(each.store_id, each.store_name) for each in groups_of(listed).groups] == [(None, None)]
    assert {each.store_id for each in listed} == {None}
    assert (await shop.do(inventory_item, ada, family, milk.item_id)).preferred_store_id is None
    with pytest.raises(IdTaken):
        await shop.do(add_store, ada, family, name="Another", store_id=store.store_id)
    await shop.carried()
    assert {row.store_id for row in await shop.store.all(ShoppingListItem.all_of_family(family))} == {None}


# --- the consumer ----------------------------------------------------------------------------------------------------


async def test_the_consumer_carries_a_deletion_that_it_reads_of(shop):
    ada, family, store, milk = await linked(shop, LINKS_AT_ONCE + 1)
    deletions = shop.consumer("shopping-deletions")
    running = asyncio.create_task(deletions.run())
    try:
        await shop.do(delete_inventory_item, ada, family, milk.item_id)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await shop.store.get(Deletion.by_id(family, "item", milk.item_id)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await loosened(shop, ada, family, store) == LINKS_AT_ONCE + 1
        assert await deletions.parked() == []
    finally:
        await stopped(running)


async def test_a_consumer_that_missed_changes_finds_every_deletion(embedded_shop):
    shop = embedded_shop
    made = [await linked(shop, LINKS_AT_ONCE + 1) for _ in range(2)]
    for ada, family, _, milk in made:
        await shop.do(delete_inventory_item, ada, family, milk.item_id)
    await shop.cascade.resuming().completed(shop.store)
    for ada, family, store, _ in made:
        assert await loosened(shop, ada, family, store) == LINKS_AT_ONCE + 1
    assert "Deletion" not in await shop.kinds()
