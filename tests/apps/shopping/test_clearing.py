"""Clearing what is purchased, and undoing it: as it was, once, for an hour."""

from uuid import uuid4

import pytest

from potluck.apps.shopping.clearing import CLEARED_AT_ONCE, NothingToUndo, clear_purchased, undo
from potluck.apps.shopping.inventory import add_inventory_item, delete_inventory_item
from potluck.apps.shopping.shopping_list import add_to_list, check_off, items_on_list, shopping_item
from potluck.apps.shopping.stores import add_store, delete_store
from potluck.people.idempotency import IdempotencyKey, StoredAnswers
from potluck.validation.encoding import encode
from tests.apps.shopping.assembly import outcomes


async def bought(shop, ada, family, count, **values):
    added = [await shop.do(add_to_list, ada, family, name=f"item {number}", **values) for number in range(count)]
    return [
        await shop.do(check_off, ada, family, each.shopping_item_id, version=1, status="purchased") for each in added
    ]


async def undone(shop, ada, family, cleared):
    return (await shop.do(undo, ada, family, undo_token=cleared.undo_token)).items


async def listed(shop, ada, family):
    return await shop.do(items_on_list, ada, family)


async def test_what_is_purchased_is_cleared_by_one_transaction_and_comes_back_as_it_was(shop):
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    done = await bought(shop, ada, family, 2, store_id=store.store_id, quantity=2, unit="kg", notes="n")
    kept = await shop.do(add_to_list, ada, family, name="pending")
    before = await listed(shop, ada, family)
    with shop.recording.scope() as calls:
        cleared = await shop.do(clear_purchased, ada, family)
    assert calls.operations == ["GetItem", "Query", "TransactWriteItems"]
    assert cleared.cleared == 2
    assert await listed(shop, ada, family) == [kept]
    back = await undone(shop, ada, family, cleared)
    assert {each.shopping_item_id for each in back} == {each.shopping_item_id for each in done}
    assert await listed(shop, ada, family) == before
    with pytest.raises(NothingToUndo):
        await undone(shop, ada, family, cleared)
    with pytest.raises(NothingToUndo):
        await shop.do(undo, ada, family, undo_token=uuid4())


async def test_clearing_nothing_writes_nothing_and_gives_no_token(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    with shop.recording.scope() as calls:
        cleared = await shop.do(clear_purchased, ada, family)
    assert (cleared.cleared, cleared.undo_token) == (0, None)
    assert not [call for call in calls if call.write_units]


async def test_more_than_a_transaction_takes_is_cleared_and_undone_in_parts(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    for number in range(CLEARED_AT_ONCE * 2 + 5):
        milk = await shop.do(add_inventory_item, ada, family, name=f"thing {number}", preferred_store_id=store.store_id)
        added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
        await shop.do(check_off, ada, family, added.shopping_item_id, version=1, status="purchased")
    before = await listed(shop, ada, family)
    answers = StoredAnswers(shop.store, shop.clock)
    clear_key, undo_key = (IdempotencyKey(ada.user_id, key, "0" * 64) for key in ("clear", "undo"))
    cleared = await shop.do(clear_purchased, ada, family, key=clear_key)
    assert cleared.cleared == len(before)
    assert (await answers.find(clear_key)).body == encode(cleared)
    assert await listed(shop, ada, family) == []
    back = (await shop.do(undo, ada, family, undo_token=cleared.undo_token, key=undo_key)).items
    assert (await answers.find(undo_key)).body == encode({"items": back})
    assert len(back) == len(before)
    assert await listed(shop, ada, family) == before


async def test_an_undo_is_over_after_an_hour_to_the_second(shop):
    ada, family = await shop.family()
    await bought(shop, ada, family, 1)
    cleared = await shop.do(clear_purchased, ada, family)
    shop.clock.forward(hours=1)
    with pytest.raises(NothingToUndo):
        await undone(shop, ada, family, cleared)
    shop.clock.forward(seconds=-1)
    assert len(await undone(shop, ada, family, cleared)) == 1


async def test_what_would_be_expired_by_now_does_not_come_back(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    await bought(shop, ada, family, 1)
    shop.clock.forward(days=7, minutes=-30)
    (later,) = await bought(shop, ada, family, 1)
    cleared = await shop.do(clear_purchased, ada, family)
    assert cleared.cleared == 2
    shop.clock.forward(minutes=30)
    assert await undone(shop, ada, family, cleared) == [later]


async def test_what_comes_back_points_to_nothing_that_is_gone(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    milk = await shop.do(add_inventory_item, ada, family, name="Milk", preferred_store_id=store.store_id)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    await shop.do(check_off, ada, family, added.shopping_item_id, version=1, status="purchased")
    cleared = await shop.do(clear_purchased, ada, family)
    await shop.do(delete_store, ada, family, store.store_id)
    await shop.do(delete_inventory_item, ada, family, milk.item_id)
    await shop.carried()
    (back,) = await undone(shop, ada, family, cleared)
    assert (back.name, back.item_id, back.store_id, back.status) == ("Milk", None, None, "purchased")
    assert await listed(shop, ada, family) == [back]


async def test_a_store_that_goes_while_undoing_is_not_pointed_to(interrupted_shop):
    shop = interrupted_shop
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    await bought(shop, ada, family, 1, store_id=store.store_id)
    cleared = await shop.do(clear_purchased, ada, family)

    async def gone():
        await shop.do(delete_store, ada, family, store.store_id)
        await shop.carried()

    shop.meanwhile(gone)
    (back,) = await undone(shop, ada, family, cleared)
    assert back.store_id is None
    assert [row["storeId"] for key, row in (await shop.dump()).items() if key[1].startswith("SHOPPING#")] == [
        {"NULL": True}
    ]


async def test_what_is_unchecked_while_the_list_is_cleared_stays(interrupted_shop):
    shop = interrupted_shop
    ada, family = await shop.family()
    first, second = await bought(shop, ada, family, 2)
    shop.meanwhile(lambda: shop.do(check_off, ada, family, first.shopping_item_id, version=2, status="pending"))
    cleared = await shop.do(clear_purchased, ada, family)
    assert cleared.cleared == 1
    assert [each.shopping_item_id for each in await listed(shop, ada, family)] == [first.shopping_item_id]
    (back,) = await undone(shop, ada, family, cleared)
    assert back == second


async def test_an_id_that_was_used_again_keeps_what_it_is_now(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    first, second = await bought(shop, ada, family, 2)
    cleared = await shop.do(clear_purchased, ada, family)
    new = await shop.do(add_to_list, ada, family, name="New", shopping_item_id=first.shopping_item_id)
    assert await undone(shop, ada, family, cleared) == [second]
    assert await shop.do(shopping_item, ada, family, first.shopping_item_id) == new


async def test_of_many_who_clear_or_undo_at_once_each_item_is_cleared_and_back_once(busy_shop):
    shop = busy_shop
    ada, family = await shop.family()
    done = await bought(shop, ada, family, 3)
    answers, refused = await outcomes(*(shop.do(clear_purchased, ada, family) for _ in range(6)))
    assert refused == []
    assert sum(each.cleared for each in answers) == 3
    tokens = [each.undo_token for each in answers if each.undo_token is not None]
    back, refused = await outcomes(
        *(shop.do(undo, ada, family, undo_token=token) for token in tokens for _ in range(4))
    )
    assert {type(each) for each in refused} == {NothingToUndo}
    assert sorted(item.name for part in back for item in part.items) == sorted(each.name for each in done)
    assert len(await listed(shop, ada, family)) == 3
