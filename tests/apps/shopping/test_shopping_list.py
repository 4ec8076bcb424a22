"""The shopping list: adding, its order, editing, checking off; what the write decides."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from potluck.apps.shopping.clearing import clear_purchased
from potluck.apps.shopping.conflicts import IdTaken
from potluck.apps.shopping.duplicates import DuplicateItem
from potluck.apps.shopping.entities import PendingGuard, ShoppingListItem
from potluck.apps.shopping.families import families
from potluck.apps.shopping.inventory import add_inventory_item
from potluck.apps.shopping.ordering import by_store
from potluck.apps.shopping.pages.shopping_list import add_from_box
from potluck.apps.shopping.restocking import restock
from potluck.apps.shopping.shopping_list import (
    TypedItem,
    add_lines,
    add_to_list,
    change_shopping_item,
    check_off,
    delete_shopping_item,
    groups_of,
    items_on_list,
    shopping_item,
    shopping_list,
)
from potluck.apps.shopping.stores import add_store, delete_store
from potluck.people.idempotency import IdempotencyKey, StoredAnswers
from potluck.validation.encoding import encode
from potluck.validation.errors import ValidationError
from potluck.web.access import Visitor
from potluck.web.errors import Conflict, NotFound
from potluck.web.pagination import PageRequest
from potluck.web.runner import Sent
from tests.apps.shopping.assembly import NOW, outcomes

SECOND = int(NOW.timestamp())
WEEK = 7 * 24 * 3600


async def stocked(shop, **values):
    """A family with a store and something at home that is bought there."""
    ada, family = await shop.family()
    store = await shop.do(add_store, ada, family, name="Grocer")
    milk = await shop.do(
        add_inventory_item, ada, family, name="Milk", unit="l", preferred_store_id=store.store_id, **values
    )
    return ada, family, store, milk


# --- adding ----------------------------------------------------------------------------------------------------------


async def test_free_text_is_pending_at_version_1_and_never_expires_by_itself(shop):
    ada, family = await shop.family()
    with shop.recording.scope() as calls:
        added = await shop.do(add_to_list, ada, family, name="  Birthday cake ", quantity=1, notes="Sarah's")
    # The first since a while counts how many there are.
    assert calls.operations == ["GetItem", "Query", "TransactWriteItems"]
    assert (added.name, added.status, added.version, added.ttl) == ("Birthday cake", "pending", 1, None)
    assert (added.item_id, added.store_id, added.store_name) == (None, None, None)
    assert (added.added_by, added.added_by_name) == (ada.user_id, "Ada")
    assert (added.created_at, added.updated_at) == (NOW, NOW)
    assert await shop.do(shopping_item, ada, family, added.shopping_item_id) == added


async def test_what_comes_from_the_inventory_has_its_name_store_and_unit_unless_others_are_said(embedded_shop):
    shop = embedded_shop
    ada, family, store, milk = await stocked(shop)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    assert (added.name, added.store_id, added.store_name, added.unit) == ("Milk", store.store_id, "Grocer", "l")
    said = await shop.do(
        add_to_list,
        ada,
        family,
        item_id=milk.item_id,
        name="Oat milk",
        store_id=None,
        unit="carton",
        allow_duplicate=True,
    )
    assert (said.name, said.store_id, said.unit) == ("Oat milk", None, "carton")


async def test_a_preferred_store_that_is_gone_is_no_default(embedded_shop):
    shop = embedded_shop
    ada, family, store, milk = await stocked(shop)
    await shop.do(delete_store, ada, family, store.store_id)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    assert (added.store_id, added.store_name) == (None, None)


async def test_an_item_or_store_that_is_not_there_is_refused_and_nothing_is_written(shop):
    ada, family, store, _ = await stocked(shop)
    before = await shop.dump()
    for wrong in ({"item_id": uuid4()}, {"name": "x", "store_id": uuid4()}, {"item_id": store.store_id}):
        with pytest.raises(NotFound):
            await shop.do(add_to_list, ada, family, **wrong)
    assert await shop.dump() == before


async def test_the_same_id_again_is_told_what_is_there(shop):
    ada, family = await shop.family()
    chosen = uuid4()
    added = await shop.do(add_to_list, ada, family, name="Bread", shopping_item_id=chosen)
    for name in ("Bread", "Cake"):
        with pytest.raises(IdTaken) as refused:
            await shop.do(add_to_list, ada, family, name=name, shopping_item_id=str(chosen))
        assert refused.value.members["existing"] == added


async def test_a_form_that_is_sent_twice_at_once_adds_one_item_and_both_answers_have_it(interrupted_shop):
    shop = interrupted_shop
    ada, family = await shop.family()
    typed = Sent(TypedItem(lines="Cake", shopping_item_id=uuid4()))

    async def sent():
        visitor, form = Visitor(principal=ada, limited=False, by_page=True), shopping_list.declared_by(add_from_box)
        return await shop.rules.direct.runner.perform(form, visitor, {"family_id": family}, lambda: typed)

    shop.meanwhile(sent)
    assert (await sent()).answer.names == ["Cake"]
    assert [item.name for item in await shop.do(items_on_list, ada, family)] == ["Cake"]


async def test_of_twenty_identical_adds_at_once_one_is_done_and_nineteen_are_told_of_it(busy_shop):
    shop = busy_shop
    ada, family, _, milk = await stocked(shop)
    done, refused = await outcomes(*(shop.do(add_to_list, ada, family, item_id=milk.item_id) for _ in range(20)))
    (added,) = done
    assert [type(each) for each in refused] == [DuplicateItem] * 19
    assert {each.members["existing"] for each in refused} == {added}
    again = await shop.do(add_to_list, ada, family, item_id=milk.item_id, allow_duplicate=True)
    assert again.version == 1
    listed = await shop.do(items_on_list, ada, family)
    assert {each.shopping_item_id for each in listed} == {added.shopping_item_id, again.shopping_item_id}


async def test_what_was_bought_is_no_duplicate_and_neither_is_what_was_deleted(shop):
    ada, family, _, milk = await stocked(shop)
    first = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    await shop.do(check_off, ada, family, first.shopping_item_id, version=1, status="purchased")
    second = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    with pytest.raises(DuplicateItem) as refused:
        await shop.do(check_off, ada, family, first.shopping_item_id, version=2, status="pending")
    assert refused.value.members["existing"] == second
    await shop.do(delete_shopping_item, ada, family, second.shopping_item_id)
    unchecked = await shop.do(check_off, ada, family, first.shopping_item_id, version=2, status="pending")
    assert unchecked.version == 3
    third = await shop.do(add_to_list, ada, family, item_id=milk.item_id, allow_duplicate=True)
    await shop.do(check_off, ada, family, third.shopping_item_id, version=1, status="purchased")
    await shop.do(check_off, ada, family, third.shopping_item_id, version=2, status="pending", allow_duplicate=True)
    guard = await shop.store.one(PendingGuard.by_item(family, milk.item_id))
    assert guard.shopping_item_ids == {first.shopping_item_id, third.shopping_item_id}


async def test_lines_are_added_together_in_one_transaction(shop):
    ada, family = await shop.family()
    with shop.recording.scope() as calls:
        added = (await shop.do(add_lines, ada, family, lines="2 milk\n\nbread\n500 g flour"))["items"]
    assert calls.operations == ["GetItem", "Query", "Query", "TransactWriteItems"]
    assert [(each.name, each.quantity, each.unit) for each in added] == [
        ("milk", 2, None),
        ("bread", None, None),
        ("flour", 500, "g"),
    ]
    assert len(await shop.do(items_on_list, ada, family)) == 3


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
        await embedded_shop.do(add_lines, ada, family, lines=lines)
    assert [each.message for each in refused.value.errors] == messages
    assert (await embedded_shop.do(items_on_list, ada, family)) == []


# --- looking ---------------------------------------------------------------------------------------------------------


async def test_the_list_is_by_store_name_pending_first_newest_first_with_its_groups(shop):
    ada, family = await shop.family()
    stores = {name: await shop.do(add_store, ada, family, name=name) for name in ("Émile", "baker", "Zoo")}
    for number, (name, store) in enumerate(
        [("a", "Zoo"), ("b", None), ("c", "Émile"), ("d", "baker"), ("e", "Émile"), ("f", "Émile"), ("g", "Émile")]
    ):
        shop.clock.forward(seconds=1)
        added = await shop.do(add_to_list, ada, family, name=name, store_id=stores[store].store_id if store else None)
        if number in (2, 6):
            await shop.do(check_off, ada, family, added.shopping_item_id, version=1, status="purchased")
    with shop.recording.scope() as calls:
        listed = await shop.do(items_on_list, ada, family)
    # Who asks, the list, and the three stores by their ids.
    assert calls.operations == ["GetItem", "Query", "BatchGetItem"]
    assert calls.read_units == 5.0
    assert [each.name for each in listed] == ["d", "f", "e", "g", "c", "a", "b"]
    assert [(each.store_name, each.pending, each.purchased) for each in groups_of(listed).groups] == [
        ("baker", 1, 0),
        ("Émile", 2, 2),
        ("Zoo", 1, 0),
        (None, 1, 0),
    ]
    parts, after = [], None
    while True:
        part, after = PageRequest(3, after, "", cursors=None).part_of(listed, by_store)
        parts.append("".join(each.name for each in part))
        if after is None:
            break
    assert parts == ["dfe", "gca", "b"]
    emile = stores["Émile"].store_id

    async def names(**part):
        return [each.name for each in (await shop.do(items_on_list, ada, family, **part))]

    assert await names(store_id=emile) == ["f", "e", "g", "c"]
    assert await names(store_id=str(emile), status="purchased") == ["g", "c"]
    assert await names(status="pending") == ["d", "f", "e", "a", "b"]
    assert await names(store_id="unassigned") == ["b"]
    assert await names(store_id="unassigned", status="purchased") == []
    pending = await shop.do(items_on_list, ada, family, store_id=emile, status="pending")
    assert [(group.store_name, group.pending, group.purchased) for group in groups_of(pending).groups] == [
        ("Émile", 2, 0)
    ]
    with pytest.raises(NotFound):
        await names(store_id=uuid4())


async def test_an_item_of_someone_who_left_is_a_former_members(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    added = await shop.do(add_to_list, ben, family, name="Tea")
    assert added.added_by_name == "Ben"
    await shop.do(families.remove_member, ben, family, ben.user_id)
    seen = await shop.do(shopping_item, ada, family, added.shopping_item_id)
    assert (seen.added_by, seen.added_by_name, seen.version) == (ben.user_id, "Former member", 1)
    assert (await shop.do(items_on_list, ada, family)) == [seen]


# --- changing --------------------------------------------------------------------------------------------------------


async def test_details_change_by_version_and_a_refusal_has_the_current_item(shop):
    ada, family, store, _ = await stocked(shop)
    added = await shop.do(add_to_list, ada, family, name="Bread", quantity=1)
    shop.clock.forward(seconds=5)
    edited = await shop.do(
        change_shopping_item,
        ada,
        family,
        added.shopping_item_id,
        version=1,
        name="Rye",
        store_id=store.store_id,
        quantity=None,
        unit=" ",
        notes="!",
    )
    assert (edited.name, edited.store_name, edited.quantity, edited.unit, edited.notes) == (
        *("Rye", "Grocer", None, None),
        "!",
    )
    assert (edited.version, edited.created_at, edited.updated_at) == (2, NOW, NOW + timedelta(seconds=5))
    with pytest.raises(Conflict) as refused:
        await shop.do(change_shopping_item, ada, family, added.shopping_item_id, version=1, name="Rolls")
    assert refused.value.current == edited
    with shop.recording.scope() as calls:
        assert (
            await shop.do(change_shopping_item, ada, family, added.shopping_item_id, version=2, name="Rye ", notes="!")
            == edited
        )
    assert not [each for each in calls if each.write_units]
    with pytest.raises(NotFound):
        await shop.do(change_shopping_item, ada, family, added.shopping_item_id, version=2, store_id=uuid4())
    assert (
        await shop.do(change_shopping_item, ada, family, added.shopping_item_id, version=2, store_id=None)
    ).store_id is None
    with pytest.raises(NotFound):
        await shop.do(change_shopping_item, ada, family, uuid4(), version=1, name="x")


async def test_of_fifty_editors_each_makes_one_version_and_every_refusal_has_the_current_item(busy_shop):
    await edited_at_once(busy_shop, busy_shop.many)


async def edited_at_once(shop, editors):
    ada, family = await shop.family()
    added = await shop.do(add_to_list, ada, family, name="start")
    made = {1: added}
    refusals = []

    async def edit(number):
        seen = added
        while True:
            try:
                edited = await shop.do(
                    change_shopping_item,
                    ada,
                    family,
                    added.shopping_item_id,
                    version=seen.version,
                    name=f"name {number}",
                )
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
    added = await shop.do(add_to_list, ada, family, name="Milk")
    key = ShoppingListItem.by_id(family, added.shopping_item_id)
    shop.clock.forward(seconds=10)
    bought = await shop.do(check_off, ada, family, added.shopping_item_id, version=1, status="purchased")
    assert (bought.status, bought.version, bought.ttl) == ("purchased", 2, SECOND + 10 + WEEK)
    assert bought.ttl == int(bought.updated_at.timestamp()) + WEEK
    shop.clock.forward(seconds=10)
    # Details of what is purchased may change, and it goes when it would have gone.
    edited = await shop.do(change_shopping_item, ada, family, added.shopping_item_id, version=2, notes="the big one")
    assert (edited.version, edited.ttl) == (3, bought.ttl)
    unchecked = await shop.do(check_off, ada, family, added.shopping_item_id, version=3, status="pending")
    assert (unchecked.status, unchecked.version, unchecked.ttl) == ("pending", 4, None)
    assert await shop.do(check_off, ada, family, added.shopping_item_id, version=4, status="pending") == unchecked
    with pytest.raises(Conflict) as refused:
        await shop.do(check_off, ada, family, added.shopping_item_id, version=3, status="purchased")
    assert refused.value.current == unchecked
    await shop.do(delete_shopping_item, ada, family, added.shopping_item_id)
    assert await shop.store.get(key) is None
    with pytest.raises(NotFound):
        await shop.do(delete_shopping_item, ada, family, added.shopping_item_id)
    with pytest.raises(NotFound):
        await shop.do(check_off, ada, family, added.shopping_item_id, version=4, status="purchased")


async def test_a_purchased_item_is_gone_for_every_reader_seven_days_later_to_the_second(shop):
    ada, family, store, milk = await stocked(shop)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    bought = await shop.do(check_off, ada, family, added.shopping_item_id, version=1, status="purchased")

    async def seen():
        return [
            await shop.do(items_on_list, ada, family),
            await shop.do(items_on_list, ada, family, status="purchased"),
            await shop.do(items_on_list, ada, family, store_id=store.store_id),
            await shop.do(items_on_list, ada, family, store_id=store.store_id, status="purchased"),
        ]

    shop.clock.forward(days=7, seconds=-1)
    assert await shop.do(shopping_item, ada, family, added.shopping_item_id) == bought
    assert await seen() == [[bought]] * 4
    shop.clock.forward(seconds=1)
    assert await seen() == [[]] * 4
    for attempt in (
        shop.do(shopping_item, ada, family, added.shopping_item_id),
        shop.do(change_shopping_item, ada, family, added.shopping_item_id, version=2, name="x"),
        shop.do(check_off, ada, family, added.shopping_item_id, version=2, status="pending"),
        shop.do(delete_shopping_item, ada, family, added.shopping_item_id),
        shop.do(restock, ada, family, added.shopping_item_id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await shop.do(clear_purchased, ada, family)).cleared == 0
    assert [table async for table, _ in shop.export(ada.user_id)].count("shoppingList") == 0
    # Nobody has swept it, and its id is free.
    assert await shop.do(add_to_list, ada, family, name="Tea", shopping_item_id=added.shopping_item_id)


async def test_deleting_honours_a_version_if_one_is_named(embedded_shop):
    shop = embedded_shop
    ada, family, _, milk = await stocked(shop)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    with pytest.raises(Conflict) as refused:
        await shop.do(delete_shopping_item, ada, family, added.shopping_item_id, version=2)
    assert refused.value.current == added
    await shop.do(delete_shopping_item, ada, family, added.shopping_item_id, version=1)
    await shop.do(add_to_list, ada, family, item_id=milk.item_id)


async def test_one_tick_of_many_at_once_counts_and_a_deletion_wins_or_loses_whole(busy_shop):
    shop = busy_shop
    ada, family, _, milk = await stocked(shop)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    which = added.shopping_item_id
    done, refused = await outcomes(
        *(shop.do(check_off, ada, family, which, version=1, status="purchased") for _ in range(10)),
        shop.do(delete_shopping_item, ada, family, which),
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
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id, key=key)
    kept = await answers.find(key)
    assert (kept.made, kept.body) == (str(added.shopping_item_id), encode(added))
    # The same once more is answered as the first time, and something else is refused as a whole.
    await shop.do(add_to_list, ada, family, item_id=milk.item_id, key=key)
    other = IdempotencyKey(ada.user_id, "other", "0" * 64)
    with pytest.raises(DuplicateItem):
        await shop.do(add_to_list, ada, family, item_id=milk.item_id, key=other)
    assert await answers.find(other) is None
    assert len(await shop.do(items_on_list, ada, family)) == 1


# --- what is typed ----------------------------------------------------------------------------------------------------


async def test_a_line_is_linked_to_what_is_at_home_by_its_name_once_and_if_it_is_not_on_the_list(shop):
    ada, family, store, milk = await stocked(shop)
    first, bread, second = (await shop.do(add_lines, ada, family, lines="2 MILK\nbread\nmilk"))["items"]
    assert (first.item_id, first.name, first.quantity, first.unit) == (milk.item_id, "Milk", 2, "l")
    assert (first.store_id, first.store_name) == (store.store_id, "Grocer")
    assert (bread.item_id, bread.name, second.item_id, second.name) == (None, "bread", None, "milk")
    (third,) = (await shop.do(add_lines, ada, family, lines="3 kg milk"))["items"]
    assert (third.item_id, third.quantity, third.unit) == (None, 3, "kg")
    guard = await shop.store.one(PendingGuard.by_item(family, milk.item_id))
    assert guard.shopping_item_ids == {first.shopping_item_id}
    await shop.do(check_off, ada, family, first.shopping_item_id, version=1, status="purchased")
    (fourth,) = (await shop.do(add_lines, ada, family, lines="milk"))["items"]
    assert fourth.item_id == milk.item_id


async def test_as_many_lines_are_linked_as_one_transaction_has_room_for(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    for number in range(50):
        store = await shop.do(add_store, ada, family, name=f"Store {number}")
        await shop.do(add_inventory_item, ada, family, name=f"thing {number}", preferred_store_id=store.store_id)
    lines = "\n".join(f"thing {number}" for number in range(50))
    key = IdempotencyKey(ada.user_id, "key", "0" * 64)
    with shop.recording.scope() as calls:
        added = (await shop.do(add_lines, ada, family, lines=lines, key=key))["items"]
    assert calls.operations.count("TransactWriteItems") == 1
    assert [each.item_id is not None for each in added] == [True] * 15 + [False] * 35
    few = (await shop.do(add_lines, ada, family, lines="\n".join(f"thing {n}" for n in range(15, 39))))["items"]
    assert all(each.item_id is not None for each in few)


async def test_an_inventory_item_that_comes_onto_the_list_while_lines_are_added_stays_there_alone(interrupted_shop):
    shop = interrupted_shop
    ada, family, _, milk = await stocked(shop)
    shop.meanwhile(lambda: shop.do(add_to_list, ada, family, item_id=milk.item_id))
    (added,) = (await shop.do(add_lines, ada, family, lines="milk"))["items"]
    assert added.item_id is None
    assert len(await shop.do(items_on_list, ada, family)) == 2
