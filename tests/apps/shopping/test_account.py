"""What an account means to Shopping: its share of export and deletion, of names that follow, and of the home page."""

import asyncio

import msgspec
import pytest

from potluck.apps.shopping.entities import Family, Member
from potluck.apps.shopping.families import families
from potluck.apps.shopping.inventory import add_inventory_item
from potluck.apps.shopping.locations import add_location
from potluck.apps.shopping.shopping_list import add_lines, add_to_list, check_off, items_on_list, shopping_item
from potluck.apps.shopping.stores import add_store
from potluck.people.entities import Account
from potluck.people.errors import StillNeeded
from potluck.streams import Record
from potluck.table import the
from potluck.table.entity import plan_of
from tests.patience import PATIENCE_SECONDS, stopped


async def test_an_export_has_what_its_owner_sees_table_after_table(shop):
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    eve, elsewhere = await shop.family("Byron", "Eve")
    await shop.do(add_to_list, eve, elsewhere, name="secret")
    store = await shop.do(add_store, ada, family, name="Grocer")
    cellar = await shop.do(add_location, ada, family, name="Cellar")
    milk = await shop.do(add_inventory_item, ada, family, name="Milk", location_id=cellar.location_id)
    added = await shop.do(add_to_list, ada, family, item_id=milk.item_id, store_id=store.store_id)
    left = (await shop.do(families.create, eve, name="Left")).family_id
    made = await shop.do(families.invite, eve, left, role="member")
    await shop.accept(ben, made.token)
    await shop.do(families.remove_member, ben, left, ben.user_id)
    exported = [row async for row in shop.export(ben.user_id)]
    tables = [table for table, _ in exported]
    assert tables == ["memberships", "memberships", "families", "stores", "locations", "inventory", "shoppingList"]
    memberships = {row.family_id: (row.name, row.email, row.status) for _, row in exported[:2]}
    assert memberships == {
        family: ("Ben", "ben@example.org", "active"),
        left: ("Ben", "ben@example.org", "removed"),
    }
    assert [row for _, row in exported[3:]] == [store, cellar, milk, added]
    text = msgspec.json.encode([row for _, row in exported])
    assert b"secret" not in text
    assert b"ada@example.org" not in text


async def test_families_whose_last_admin_they_are_need_them(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family("Lovelace")
    await shop.do(families.create, ada, name="Byron")
    ben = await shop.joined(ada, family)
    assert await shop.places.still_needed(ada.user_id) == ["Byron", "Lovelace"]
    assert await shop.places.still_needed(ben.user_id) == []
    await shop.do(families.change_role, ada, family, ben.user_id, version=1, role="admin")
    assert await shop.places.still_needed(ada.user_id) == ["Byron"]


async def test_who_is_forgotten_is_nowhere_and_what_they_added_stays(shop):
    ada, family = await shop.family()
    ben = await shop.joined(ada, family, role="admin")
    alone = (await shop.do(families.create, ben, name="Alone")).family_id
    await shop.do(add_to_list, ben, alone, name="mine")
    eve, left = await shop.family("Left", "Eve")
    made = await shop.do(families.invite, eve, left, role="member")
    await shop.accept(ben, made.token)
    await shop.do(families.remove_member, eve, left, ben.user_id)
    added = await shop.do(add_to_list, ben, family, name="Tea")
    await shop.places.forget(ben.user_id)
    await shop.carried()
    assert "ben@example.org" not in repr(await shop.dump())
    assert {key[0] for key in await shop.dump()} == {f"FAMILY#{family}", f"FAMILY#{left}"}
    assert await shop.do(families.all, ben) == []
    seen = await shop.do(shopping_item, ada, family, added.shopping_item_id)
    assert (seen.name, seen.added_by_name) == ("Tea", "Former member")
    counts = await shop.store.one(Family.by_id(family))
    assert (counts.member_count, counts.manager_count) == (1, 1)
    # It may be asked again after an interruption.
    await shop.places.forget(ben.user_id)


async def test_who_has_become_the_last_admin_is_not_forgotten(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    await shop.joined(ada, family)
    with pytest.raises(StillNeeded) as refused:
        await shop.places.forget(ada.user_id)
    assert refused.value.places == ["Lovelace"]
    assert await shop.do(families.one, ada, family)


async def test_of_two_admins_who_are_forgotten_at_once_one_is_still_needed(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family, role="admin")
    await shop.joined(ada, family, "Cat")
    ended = await asyncio.gather(*(shop.places.forget(each.user_id) for each in (ada, ben)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["NoneType", "StillNeeded"]
    assert (await shop.store.one(Family.by_id(family))).manager_count == 1


async def test_a_new_name_and_address_follow_into_every_family_and_leave_the_version(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    other = (await shop.do(families.create, ada, name="Byron")).family_id

    names = shop.consumer("shopping-names")

    async def changed(**values):
        before = await shop.store.one(Account.by_id(ada.user_id))
        after = await shop.store.modify(
            Account.by_id(ada.user_id), lambda _: [the(getattr(Account, k)).becomes(v) for k, v in values.items()]
        )
        encode = plan_of(Account).coding.encode
        record = {"eventName": "MODIFY", "dynamodb": {"OldImage": encode(before), "NewImage": encode(after)}}
        with shop.recording.scope() as calls:
            await names.handle(Record("Accounts", record))
        return calls.operations

    assert await changed(name="Countess") == ["Query", "UpdateItem", "UpdateItem"]
    assert await changed(email="new@example.org") == ["Query", "UpdateItem", "UpdateItem"]
    assert await changed(session_epoch=2) == []
    for each in (family, other):
        member = await shop.store.one(Member.by_id(each, ada.user_id))
        assert (member.name, member.email, member.version) == ("Countess", "new@example.org", 1)


async def test_the_consumer_of_accounts_carries_names_over(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    names = shop.consumer("shopping-names")
    running = asyncio.create_task(names.run())
    try:
        await shop.store.modify(Account.by_id(ada.user_id), lambda _: [the(Account.name).becomes("Countess")])
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await shop.do(families.all_members, ada, family))[0].name != "Countess":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    finally:
        await stopped(running)


async def test_the_home_page_is_told_how_much_is_to_buy_and_what_is_low(shop):
    ada, family = await shop.family()
    other = (await shop.do(families.create, ada, name="Byron")).family_id
    assert (await shop.home_card(await shop.person("Eve"))).next_step is not None
    assert (await shop.home_card(ada)).fact == "Nothing to buy"
    await shop.do(add_lines, ada, family, lines="milk\nbread\ntea")
    await shop.do(add_lines, ada, other, lines="salt")
    done = (await shop.do(items_on_list, ada, family))[0]
    await shop.do(check_off, ada, family, done.shopping_item_id, version=1, status="purchased")
    await shop.do(add_inventory_item, ada, other, name="Rice", quantity=1, threshold=2, unit="kg")
    await shop.do(add_inventory_item, ada, family, name="Oats", quantity=3, threshold=2)
    card = await shop.home_card(ada)
    assert card.fact == "3 to buy"
    assert [(each.address, each.name, each.note) for each in card.waiting] == [
        (f"/shopping/{other}/inventory", "Rice", "Running low: 1 kg left")
    ]
    # On the list, it waits for nobody.
    await shop.do(add_lines, ada, other, lines="rice")
    assert (await shop.home_card(ada)).waiting == []
