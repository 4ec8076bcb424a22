"""A purchase is added to the inventory once."""

from uuid import uuid4

import pytest

from potluck.apps.shopping.entities import InventoryItem
from potluck.apps.shopping.inventory import add_inventory_item, adjust, delete_inventory_item, inventory_item
from potluck.apps.shopping.restocking import AlreadyRestocked, NotRestockable, restock
from potluck.apps.shopping.shopping_list import add_to_list, check_off, shopping_item
from potluck.validation.errors import ValidationError
from potluck.web.errors import NotFound
from tests.apps.shopping.assembly import NOW, outcomes


async def bought(shop, **values):
    ada, family = await shop.family()
    milk = await shop.do(add_inventory_item, ada, family, name="Milk", quantity=1, threshold=2)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id, **values)
    await shop.do(check_off, ada, family, added.shopping_item_id, version=1, status="purchased")
    return ada, family, milk, added.shopping_item_id


async def test_what_was_bought_is_added_once(shop):
    ada, family, milk, which = await bought(shop, quantity=3)
    restocked = await shop.do(restock, ada, family, which)
    assert (restocked.inventory_item.quantity, restocked.inventory_item.low) == (4, False)
    assert (restocked.shopping_item.restocked_at, restocked.shopping_item.version) == (NOW, 3)
    assert restocked.inventory_item == await shop.do(inventory_item, ada, family, milk.item_id)
    assert restocked.shopping_item == await shop.do(shopping_item, ada, family, which)
    with pytest.raises(AlreadyRestocked):
        await shop.do(restock, ada, family, which)
    # Nor when it is unchecked and bought once more: it is the same purchase.
    await shop.do(check_off, ada, family, which, version=3, status="pending")
    await shop.do(check_off, ada, family, which, version=4, status="purchased")
    with pytest.raises(AlreadyRestocked):
        await shop.do(restock, ada, family, which)


@pytest.mark.parametrize(("bought_as", "said", "more"), [(3, 5, 5), (3, None, 3), (None, None, 1)])
async def test_as_many_as_are_said_or_were_to_be_bought_or_one(embedded_shop, bought_as, said, more):
    ada, family, _, which = await bought(embedded_shop, quantity=bought_as)
    restocked = await embedded_shop.do(restock, ada, family, which, quantity=said)
    assert restocked.inventory_item.quantity == 1 + more


async def test_only_what_is_purchased_and_linked_can_be_restocked(embedded_shop):
    shop = embedded_shop
    ada, family, milk, which = await bought(shop)
    await shop.do(check_off, ada, family, which, version=2, status="pending")
    with pytest.raises(NotRestockable):
        await shop.do(restock, ada, family, which)
    text = await shop.do(add_to_list, ada, family, name="Cake")
    await shop.do(check_off, ada, family, text.shopping_item_id, version=1, status="purchased")
    with pytest.raises(NotRestockable):
        await shop.do(restock, ada, family, text.shopping_item_id)
    await shop.do(check_off, ada, family, which, version=3, status="purchased")
    await shop.do(delete_inventory_item, ada, family, milk.item_id)
    with pytest.raises(NotRestockable):
        await shop.do(restock, ada, family, which)
    with pytest.raises(NotFound):
        await shop.do(restock, ada, family, uuid4())


async def test_more_than_there_can_be_is_refused(embedded_shop):
    ada, family, _, which = await bought(embedded_shop)
    for quantity, message in (
        (100_000, "There can be at most 100,000 of an item"),
        (0, "Quantity must be a positive integer"),
    ):
        with pytest.raises(ValidationError) as refused:
            await embedded_shop.do(restock, ada, family, which, quantity=quantity)
        assert [(each.field, each.message) for each in refused.value.errors] == [("quantity", message)]


async def test_of_many_who_restock_at_once_one_does_and_no_step_beside_it_is_lost(busy_shop):
    shop = busy_shop
    ada, family, milk, which = await bought(shop, quantity=3)
    processes = [shop.elsewhere() for _ in range(2)]
    done, refused = await outcomes(
        *(processes[number % 2].do(restock, ada, family, which) for number in range(8)),
        *(processes[number % 2].do(adjust, ada, family, milk.item_id, by=10) for number in range(5)),
    )
    assert len(done) == 6
    assert [type(each) for each in refused] == [AlreadyRestocked] * 7
    assert (await shop.store.one(InventoryItem.by_id(family, milk.item_id))).quantity == 1 + 3 + 50
