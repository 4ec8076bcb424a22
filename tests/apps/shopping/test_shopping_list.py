"""The shopping list: adding, its order, editing, checking off; what the write decides."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from potluck.apps.shopping.conflicts import IdTaken
from potluck.apps.shopping.duplicates import DuplicateItem
from potluck.apps.shopping.entities import PendingGuard, ShoppingListItem
from potluck.apps.shopping.ordering import by_store
from potluck.people.idempotency import IdempotencyKey, StoredAnswers
from potluck.validation.encoding import encode
from potluck.validation.errors import ValidationError
from potluck.web.errors import Conflict, NotFound
from potluck.web.pagination import PageRequest
from tests.apps.shopping.assembly import NOW, outcomes

SECOND = int(NOW.timestamp())
WEEK = 7 * 24 * 3600


async def stocked(shop, **values):
    """A family with a store and something at home that is bought there."""
    ada, family = await shop.family()
    store = await shop.shopping.stores.add(ada, family, "Grocer")
    milk = await shop.shopping.inventory.add(ada, family, "Milk", unit="l", preferred_store_id=store.store_id, **values)
    return ada, family, store, milk


# --- adding ----------------------------------------------------------------------------------------------------------


async def test_free_text_is_pending_at_version_1_and_never_expires_by_itself(shop):
    ada, family = await shop.family()
    with shop.recording.scope() as calls:
        added = await shop.shopping.shopping_list.add(ada, family, name="  Birthday cake ", quantity=1, notes="Sarah's")
    # The first since a while counts how many there are.
    assert calls.operations == ["GetItem", "Query", "TransactWriteItems"]
    assert (added.name, added.status, added.version, added.ttl) == ("Birthday cake", "pending", 1, None)
    assert (added.item_id, added.store_id, added.store_name) == (None, None, None)
    assert (added.added_by, added.added_by_name) == (ada.user_id, "Ada")
    assert (added.created_at, added.updated_at) == (NOW, NOW)
    assert await shop.shopping.shopping_list.one(ada, family, added.shopping_item_id) == added


async def test_what_comes_from_the_inventory_has_its_name_store_and_unit_unless_others_are_said(embedded_shop):
    shop = embedded_shop
    ada, family, store, milk = await stocked(shop)
    added = await shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id)
    assert (added.name, added.store_id, added.store_name, added.unit) == ("Milk", store.store_id, "Grocer", "l")
    said = await shop.shopping.shopping_list.add(
        ada, family, item_id=milk.item_id, name="Oat milk", store_id=None, unit="carton", allow_duplicate=True
    )
    assert (said.name, said.store_id, said.unit) == ("Oat milk", None, "carton")


async def test_a_preferred_store_that_is_gone_is_no_default(embedded_shop):
    shop = embedded_shop
    ada, family, store, milk = await stocked(shop)
    await shop.shopping.stores.delete(ada, family, store.store_id)
    added = await shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id)
    assert (added.store_id, added.store_name) == (None, None)


async def test_an_item_or_store_that_is_not_there_is_refused_and_nothing_is_written(shop):
    ada, family, store, _ = await stocked(shop)
    before = await shop.dump()
    for wrong in ({"item_id": uuid4()}, {"name": "x", "store_id": uuid4()}, {"item_id": store.store_id}):
        with pytest.raises(NotFound):
            await shop.shopping.shopping_list.add(ada, family, **wrong)
    assert await shop.dump() == before


async def test_the_same_id_again_is_told_what_is_there(shop):
    ada, family = await shop.family()
    chosen = uuid4()
    added = await shop.shopping.shopping_list.add(ada, family, name="Bread", shopping_item_id=chosen)
    for name in ("Bread", "Cake"):
        with pytest.raises(IdTaken) as refused:
            await shop.shopping.shopping_list.add(ada, family, name=name, shopping_item_id=str(chosen))
        assert refused.value.members["existing"] == added


async def test_of_twenty_identical_adds_at_once_one_is_done_and_nineteen_are_told_of_it(busy_shop):
    shop = busy_shop
    ada, family, _, milk = await stocked(shop)
    done, refused = await outcomes(
        *(shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id) for _ in range(20))
    )
    (added,) = done
    assert [type(each) for each in refused] == [DuplicateItem] * 19
    assert {each.members["existing"] for each in refused} == {added}
    again = await shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id, allow_duplicate=True)
    assert again.version == 1
    listed = await shop.shopping.shopping_list.all(ada, family)
    assert {each.shopping_item_id for each in listed.items} == {added.shopping_item_id, again.shopping_item_id}


async def test_what_was_bought_is_no_duplicate_and_neither_is_what_was_deleted(shop):
    ada, family, _, milk = await stocked(shop)
    todo = shop.shopping.shopping_list
    first = await todo.add(ada, family, item_id=milk.item_id)
    await todo.set_status(ada, family, first.shopping_item_id, 1, status="purchased")
    second = await todo.add(ada, family, item_id=milk.item_id)
    with pytest.raises(DuplicateItem) as refused:
        await todo.set_status(ada, family, first.shopping_item_id, 2, status="pending")
    assert refused.value.members["existing"] == second
    await todo.delete(ada, family, second.shopping_item_id)
    unchecked = await todo.set_status(ada, family, first.shopping_item_id, 2, status="pending")
    assert unchecked.version == 3
    third = await todo.add(ada, family, item_id=milk.item_id, allow_duplicate=True)
    await todo.set_status(ada, family, third.shopping_item_id, 1, status="purchased")
    await todo.set_status(ada, family, third.shopping_item_id, 2, status="pending", allow_duplicate=True)
    guard = await shop.store.one(PendingGuard.by_item(family, milk.item_id))
    assert guard.shopping_item_ids == {first.shopping_item_id, third.shopping_item_id}


async def test_lines_are_added_together_in_one_transaction(shop):
    ada, family = await shop.family()
    with shop.recording.scope() as calls:
        added = await shop.shopping.shopping_list.add_lines(ada, family, "2 milk\n\nbread\n500 g flour")
    assert calls.operations == ["GetItem", "Query", "Query", "TransactWriteItems"]
    assert [(each.name, each.quantity, each.unit) for each in added] == [
        ("milk", 2, None),
        ("bread", None, None),
        ("flour", 500, "g"),
    ]
    assert len((await shop.shopping.shopping_list.all(ada, family)).items) == 3


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        ("", ["Lines must name something to buy"]),
        (" \n\t\n", ["Lines must name something to buy"]),
        (
            f"ok\n{'x' * 101}\n2 {'y' * 101}",
            ["Line 2: Name must be 1-100 characters", "Line 3: Name must be 1-100 characters"],
        ),
        ("a\n" * 51, ["There can be at most 50 lines"]),
        ("x" * 10_001, ["Lines must be 10000 characters or less"]),
    ],
)
async def test_lines_that_cannot_be_added_are_told_and_none_is(embedded_shop, lines, messages):
    ada, family = await embedded_shop.family()
    with pytest.raises(ValidationError) as refused:
        await embedded_shop.shopping.shopping_list.add_lines(ada, family, lines)
    assert [each.message for each in refused.value.errors] == messages
    assert (await embedded_shop.shopping.shopping_list.all(ada, family)).items == []


# --- looking ---------------------------------------------------------------------------------------------------------


async def test_the_list_is_by_store_name_pending_first_newest_first_with_its_groups(shop):
    ada, family = await shop.family()
    todo = shop.shopping.shopping_list
    stores = {name: await shop.shopping.stores.add(ada, family, name) for name in ("Émile", "baker", "Zoo")}
    for number, (name, store) in enumerate(
        [("a", "Zoo"), ("b", None), ("c", "Émile"), ("d", "baker"), ("e", "Émile"), ("f", "Émile"), ("g", "Émile")]
    ):
        shop.clock.forward(seconds=1)
        added = await todo.add(ada, family, name=name, store_id=stores[store].store_id if store else None)
        if number in (2, 6):
            await todo.set_status(ada, family, added.shopping_item_id, 1, status="purchased")
    with shop.recording.scope() as calls:
        listed = await todo.all(ada, family)
    # Who asks, the list, and the three stores by their ids.
    assert calls.operations == ["GetItem", "Query", "BatchGetItem"]
    assert calls.read_units == 5.0
    assert [each.name for each in listed.items] == ["d", "f", "e", "g", "c", "a", "b"]
    assert [(each.store_name, each.pending, each.purchased) for each in listed.groups] == [
        ("baker", 1, 0),
        ("Émile", 2, 2),
        ("Zoo", 1, 0),
        (None, 1, 0),
    ]
    parts, after = [], None
    while True:
        part, after = PageRequest(3, after, "", cursors=None).part_of(listed.items, by_store)
        parts.append("".join(each.name for each in part))
        if after is None:
            break
    assert parts == ["dfe", "gca", "b"]
    emile = stores["Émile"].store_id

    async def names(**part):
        return [each.name for each in (await todo.all(ada, family, **part)).items]

    assert await names(store_id=emile) == ["f", "e", "g", "c"]
    assert await names(store_id=str(emile), status="purchased") == ["g", "c"]
    assert await names(status="pending") == ["d", "f", "e", "a", "b"]
    assert await names(store_id="unassigned") == ["b"]
    assert await names(store_id="unassigned", status="purchased") == []
    with pytest.raises(NotFound):
        await names(store_id=uuid4())


async def test_an_item_of_someone_who_left_is_a_former_members(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    added = await shop.shopping.shopping_list.add(ben, family, name="Tea")
    assert added.added_by_name == "Ben"
    await shop.shopping.members.remove(ben, family, ben.user_id)
    seen = await shop.shopping.shopping_list.one(ada, family, added.shopping_item_id)
    assert (seen.added_by, seen.added_by_name, seen.version) == (ben.user_id, "Former member", 1)
    assert (await shop.shopping.shopping_list.all(ada, family)).items == [seen]


# --- changing --------------------------------------------------------------------------------------------------------


async def test_details_change_by_version_and_a_refusal_has_the_current_item(shop):
    ada, family, store, _ = await stocked(shop)
    todo = shop.shopping.shopping_list
    added = await todo.add(ada, family, name="Bread", quantity=1)
    shop.clock.forward(seconds=5)
    edited = await todo.edit(
        ada, family, added.shopping_item_id, 1, name="Rye", store_id=store.store_id, quantity=None, unit=" ", notes="!"
    )
    assert (edited.name, edited.store_name, edited.quantity, edited.unit, edited.notes) == (
        *("Rye", "Grocer", None, None),
        "!",
    )
    assert (edited.version, edited.created_at, edited.updated_at) == (2, NOW, NOW + timedelta(seconds=5))
    with pytest.raises(Conflict) as refused:
        await todo.edit(ada, family, added.shopping_item_id, 1, name="Rolls")
    assert refused.value.current == edited
    with shop.recording.scope() as calls:
        assert await todo.edit(ada, family, added.shopping_item_id, 2, name="Rye ", notes="!") == edited
    assert not [each for each in calls if each.write_units]
    with pytest.raises(NotFound):
        await todo.edit(ada, family, added.shopping_item_id, 2, store_id=uuid4())
    assert (await todo.edit(ada, family, added.shopping_item_id, 2, store_id=None)).store_id is None
    with pytest.raises(NotFound):
        await todo.edit(ada, family, uuid4(), 1, name="x")


async def test_of_fifty_editors_each_makes_one_version_and_every_refusal_has_the_current_item(busy_shop):
    await edited_at_once(busy_shop, busy_shop.many)


async def edited_at_once(shop, editors):
    ada, family = await shop.family()
    todo = shop.shopping.shopping_list
    added = await todo.add(ada, family, name="start")
    made = {1: added}
    refusals = []

    async def edit(number):
        seen = added
        while True:
            try:
                edited = await todo.edit(ada, family, added.shopping_item_id, seen.version, name=f"name {number}")
                break
            except Conflict as stale:
                refusals.append(stale.current)
                seen = stale.current
        assert edited.version not in made
        made[edited.version] = edited

    await asyncio.gather(*(edit(number) for number in range(editors)))
    assert sorted(made) == list(range(1, editors + 2))
    assert {each.name for each in made.values()} == {"start", *(f"name {number}" for number in range(editors))}
    assert refusals
    assert all(made[each.version] == each for each in refusals)


async def test_the_state_table(shop):
    ada, family = await shop.family()
    todo = shop.shopping.shopping_list
    added = await todo.add(ada, family, name="Milk")
    key = ShoppingListItem.by_id(family, added.shopping_item_id)
    shop.clock.forward(seconds=10)
    bought = await todo.set_status(ada, family, added.shopping_item_id, 1, status="purchased")
    assert (bought.status, bought.version, bought.ttl) == ("purchased", 2, SECOND + 10 + WEEK)
    assert bought.ttl == int(bought.updated_at.timestamp()) + WEEK
    shop.clock.forward(seconds=10)
    # Details of what is purchased may change, and it goes when it would have gone.
    edited = await todo.edit(ada, family, added.shopping_item_id, 2, notes="the big one")
    assert (edited.version, edited.ttl) == (3, bought.ttl)
    unchecked = await todo.set_status(ada, family, added.shopping_item_id, 3, status="pending")
    assert (unchecked.status, unchecked.version, unchecked.ttl) == ("pending", 4, None)
    assert await todo.set_status(ada, family, added.shopping_item_id, 4, status="pending") == unchecked
    with pytest.raises(Conflict) as refused:
        await todo.set_status(ada, family, added.shopping_item_id, 3, status="purchased")
    assert refused.value.current == unchecked
    await todo.delete(ada, family, added.shopping_item_id)
    assert await shop.store.get(key) is None
    with pytest.raises(NotFound):
        await todo.delete(ada, family, added.shopping_item_id)
    with pytest.raises(NotFound):
        await todo.set_status(ada, family, added.shopping_item_id, 4, status="purchased")


async def test_a_purchased_item_is_gone_for_every_reader_seven_days_later_to_the_second(shop):
    ada, family, store, milk = await stocked(shop)
    todo = shop.shopping.shopping_list
    added = await todo.add(ada, family, item_id=milk.item_id)
    bought = await todo.set_status(ada, family, added.shopping_item_id, 1, status="purchased")

    async def seen():
        lists = [
            await todo.all(ada, family),
            await todo.all(ada, family, status="purchased"),
            await todo.all(ada, family, store_id=store.store_id),
            await todo.all(ada, family, store_id=store.store_id, status="purchased"),
        ]
        return [each.items for each in lists]

    shop.clock.forward(days=7, seconds=-1)
    assert await todo.one(ada, family, added.shopping_item_id) == bought
    assert await seen() == [[bought]] * 4
    shop.clock.forward(seconds=1)
    assert await seen() == [[]] * 4
    for attempt in (
        todo.one(ada, family, added.shopping_item_id),
        todo.edit(ada, family, added.shopping_item_id, 2, name="x"),
        todo.set_status(ada, family, added.shopping_item_id, 2, status="pending"),
        todo.delete(ada, family, added.shopping_item_id),
        shop.shopping.restocking.restock(ada, family, added.shopping_item_id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await shop.shopping.clearing.clear_purchased(ada, family)).cleared == 0
    assert [table async for table, _ in shop.shopping.export(ada.user_id)].count("shoppingList") == 0
    # Nobody has swept it, and its id is free.
    assert await todo.add(ada, family, name="Tea", shopping_item_id=added.shopping_item_id)


async def test_deleting_honours_a_version_if_one_is_named(embedded_shop):
    shop = embedded_shop
    ada, family, _, milk = await stocked(shop)
    todo = shop.shopping.shopping_list
    added = await todo.add(ada, family, item_id=milk.item_id)
    with pytest.raises(Conflict) as refused:
        await todo.delete(ada, family, added.shopping_item_id, 2)
    assert refused.value.current == added
    await todo.delete(ada, family, added.shopping_item_id, 1)
    await todo.add(ada, family, item_id=milk.item_id)


async def test_one_tick_of_many_at_once_counts_and_a_deletion_wins_or_loses_whole(busy_shop):
    shop = busy_shop
    ada, family, _, milk = await stocked(shop)
    todo = shop.shopping.shopping_list
    added = await todo.add(ada, family, item_id=milk.item_id)
    which = added.shopping_item_id
    done, refused = await outcomes(
        *(todo.set_status(ada, family, which, 1, status="purchased") for _ in range(10)),
        todo.delete(ada, family, which),
    )
    assert len([each for each in done if each is not None]) <= 1
    assert {type(each) for each in refused} <= {Conflict, NotFound}
    assert await shop.store.get(ShoppingListItem.by_id(family, which)) is None
    guard = await shop.store.one(PendingGuard.by_item(family, milk.item_id))
    assert guard.shopping_item_ids == frozenset()


async def test_an_idempotent_answer_is_kept_by_the_transaction_of_the_write(shop):
    ada, family, _, milk = await stocked(shop)
    answers = StoredAnswers(shop.store, shop.clock)
    key = IdempotencyKey(ada.user_id, "key", "0" * 64)
    added = await shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id, key=key)
    kept = await answers.find(key)
    assert (kept.made, kept.body) == (str(added.shopping_item_id), encode(added))
    # The same once more is answered as the first time, and something else is refused as a whole.
    await shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id, key=key)
    other = IdempotencyKey(ada.user_id, "other", "0" * 64)
    with pytest.raises(DuplicateItem):
        await shop.shopping.shopping_list.add(ada, family, item_id=milk.item_id, key=other)
    assert await answers.find(other) is None
    assert len((await shop.shopping.shopping_list.all(ada, family)).items) == 1


# --- what is typed ----------------------------------------------------------------------------------------------------


async def test_a_line_is_linked_to_what_is_at_home_by_its_name_once_and_if_it_is_not_on_the_list(shop):
    ada, family, store, milk = await stocked(shop)
    todo = shop.shopping.shopping_list
    first, bread, second = await todo.add_lines(ada, family, "2 MILK\nbread\nmilk")
    assert (first.item_id, first.name, first.quantity, first.unit) == (milk.item_id, "Milk", 2, "l")
    assert (first.store_id, first.store_name) == (store.store_id, "Grocer")
    assert (bread.item_id, bread.name, second.item_id, second.name) == (None, "bread", None, "milk")
    (third,) = await todo.add_lines(ada, family, "3 kg milk")
    assert (third.item_id, third.quantity, third.unit) == (None, 3, "kg")
    guard = await shop.store.one(PendingGuard.by_item(family, milk.item_id))
    assert guard.shopping_item_ids == {first.shopping_item_id}
    await todo.set_status(ada, family, first.shopping_item_id, 1, status="purchased")
    (fourth,) = await todo.add_lines(ada, family, "milk")
    assert fourth.item_id == milk.item_id


async def test_as_many_lines_are_linked_as_one_transaction_has_room_for(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    for number in range(50):
        store = await shop.shopping.stores.add(ada, family, f"Store {number}")
        await shop.shopping.inventory.add(ada, family, f"thing {number}", preferred_store_id=store.store_id)
    lines = "\n".join(f"thing {number}" for number in range(50))
    key = IdempotencyKey(ada.user_id, "key", "0" * 64)
    with shop.recording.scope() as calls:
        added = await shop.shopping.shopping_list.add_lines(ada, family, lines, key=key)
    assert calls.operations.count("TransactWriteItems") == 1
    assert [each.item_id is not None for each in added] == [True] * 15 + [False] * 35
    few = await shop.shopping.shopping_list.add_lines(ada, family, "\n".join(f"thing {n}" for n in range(15, 39)))
    assert all(each.item_id is not None for each in few)


async def test_an_inventory_item_that_comes_onto_the_list_while_lines_are_added_stays_there_alone(interrupted_shop):
    shop = interrupted_shop
    ada, family, _, milk = await stocked(shop)
    todo = shop.shopping.shopping_list
    shop.meanwhile(lambda: todo.add(ada, family, item_id=milk.item_id))
    (added,) = await todo.add_lines(ada, family, "milk")
    assert added.item_id is None
    assert len((await todo.all(ada, family)).items) == 2
