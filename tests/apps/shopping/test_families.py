"""Families and their people: roles, invitations, leaving, and the admin who stays."""

from uuid import UUID, uuid4

import pytest

from potluck.apps.shopping.entities import Family, Member
from potluck.apps.shopping.families import LastAdmin, families
from potluck.apps.shopping.inventory import add_inventory_item
from potluck.apps.shopping.locations import add_location
from potluck.apps.shopping.shopping_list import add_to_list, change_shopping_item, items_on_list, shopping_item
from potluck.apps.shopping.stores import add_store, all_stores
from potluck.people.entities import Account
from potluck.people.errors import (
    AccountGone,
    InvitationInvalid,
    NoSuchInvitation,
    TooMany,
)
from potluck.table import Unavailable, absent, the
from potluck.validation.errors import ValidationError
from potluck.web.errors import Conflict, Forbidden, NotFound
from potluck.web.places.membership import MOST_MEMBERS
from tests.apps.shopping.assembly import NOW, outcomes

# --- families --------------------------------------------------------------------------------------------------------


async def test_whoever_makes_a_family_is_its_admin(shop):
    ada = await shop.person()
    with shop.recording.scope() as calls:
        made = await shop.do(families.create, ada, name=" Lovelace ")
    # How many families they have is counted now and then.
    assert calls.operations == ["Query", "GetItem", "TransactWriteItems"]
    assert (made.name, made.role, made.version, made.member_count) == ("Lovelace", "admin", 1, 1)
    assert made.created_by == ada.user_id
    assert await shop.do(families.one, ada, made.family_id) == made
    (member,) = await shop.do(families.all_members, ada, made.family_id)
    assert (member.member_id, member.name, member.email, member.role) == (
        *(ada.user_id, "Ada", "ada@example.org"),
        "admin",
    )
    for name in ("éclair", "Zoe", "Eclair", "Adams"):
        await shop.do(families.create, ada, name=name)
    listed = [each.name for each in await shop.do(families.all, ada)]
    assert (listed[0], {*listed[1:3]}, listed[3:]) == ("Adams", {"éclair", "Eclair"}, ["Lovelace", "Zoe"])


async def test_nobody_without_an_account_makes_a_family(embedded_shop):
    shop = embedded_shop
    ada = await shop.person()
    await shop.store.delete(Account.by_id(ada.user_id))
    with pytest.raises(AccountGone):
        await shop.do(families.create, ada, name="Lovelace")
    assert await shop.kinds() == {}


async def test_an_admin_renames_it_by_version(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    renamed = await shop.do(families.rename, ada, family, version=1, name="Byron")
    assert (renamed.name, renamed.version) == ("Byron", 2)
    with pytest.raises(Conflict) as refused:
        await shop.do(families.rename, ada, family, version=1, name="King")
    assert refused.value.current == renamed
    assert await shop.do(families.rename, ada, family, version=2, name="Byron") == renamed
    with pytest.raises(Forbidden):
        await shop.do(families.rename, ben, family, version=2, name="King")
    seen = await shop.do(families.one, ben, family)
    assert (seen.name, seen.role, seen.member_count) == ("Byron", "member", 2)


async def test_a_deleted_family_is_gone_for_all_of_them_at_once_and_then_from_the_table(shop):
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    _, other = await shop.family("Byron", "Bea")
    store = await shop.do(add_store, ada, family, name="Grocer")
    milk = await shop.do(add_inventory_item, ada, family, name="Milk", preferred_store_id=store.store_id)
    await shop.do(add_to_list, ada, family, item_id=milk.item_id)
    await shop.do(add_location, ada, family, name="Cellar")
    invited = await shop.do(families.invite, ada, family, role="member")
    with pytest.raises(Forbidden):
        await shop.do(families.delete, ben, family)
    with pytest.raises(Conflict):
        await shop.do(families.delete, ada, family, version=2)
    await shop.do(families.delete, ada, family, version=1)
    for person in (ada, ben):
        assert await shop.do(families.all, person) == []
        for attempt in (
            shop.do(families.one, person, family),
            shop.do(items_on_list, person, family),
            shop.do(add_to_list, person, family, name="Tea"),
        ):
            with pytest.raises(NotFound):
                await attempt
    with pytest.raises(InvitationInvalid):
        await shop.accept(await shop.person("Eve"), invited.token)
    await shop.carried()
    assert {key[0] for key in await shop.dump()} == {f"FAMILY#{other}"}
    # Carried once more, there is nothing to do.
    await shop.carried()


async def test_whoever_comes_while_a_family_is_deleted_is_in_none(busy_shop):
    shop = busy_shop
    ada, family = await shop.family()
    made = [await shop.do(families.invite, ada, family, role="member") for _ in range(5)]
    people = [await shop.person(name) for name in ("Ben", "Cat", "Dan", "Eve", "Fay")]
    await outcomes(
        *(shop.accept(each, one.token) for each, one in zip(people, made, strict=True)),
        shop.do(families.delete, ada, family),
    )
    await shop.carried()
    assert await shop.kinds() == {}


# --- members ---------------------------------------------------------------------------------------------------------


async def test_whoever_accepts_is_in_and_an_invitation_is_good_once(shop):
    ada, family = await shop.family()
    ben, cat = await shop.person("Ben"), await shop.person("Cat")
    made = await shop.do(families.invite, ada, family, role="member", email=" ben@example.org ")
    (open_one,) = await shop.do(families.open_invitations, ada, family)
    assert (open_one.id, open_one.role, open_one.email) == (made.id, "member", "ben@example.org")
    assert open_one.expires_at == made.expires_at
    assert (await shop.accept(ben, made.token)).family_id == family
    with pytest.raises(InvitationInvalid):
        await shop.accept(cat, made.token)
    assert [each.name for each in await shop.do(families.all_members, ben, family)] == ["Ada", "Ben"]
    assert await shop.do(families.open_invitations, ada, family) == []
    assert (await shop.store.one(Family.by_id(family))).member_count == 2


async def test_who_is_in_already_uses_nothing_up(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    made = await shop.do(families.invite, ada, family, role="admin")
    assert (await shop.accept(ben, made.token)).family_id == family
    assert [each.role for each in await shop.do(families.all_members, ada, family)] == ["admin", "member"]
    cat = await shop.person("Cat")
    await shop.accept(cat, made.token)
    assert [each.role for each in await shop.do(families.all_members, ada, family)] == ["admin", "member", "admin"]


async def test_one_who_left_can_come_again_and_is_no_second_member(shop):
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    added = await shop.do(add_to_list, ben, family, name="Tea")
    await shop.do(families.remove_member, ben, family, ben.user_id)
    made = await shop.do(families.invite, ada, family, role="admin")
    await shop.accept(ben, made.token)
    assert [(each.name, each.role) for each in await shop.do(families.all_members, ada, family)] == [
        ("Ada", "admin"),
        ("Ben", "admin"),
    ]
    counts = await shop.store.one(Family.by_id(family))
    assert (counts.member_count, counts.manager_count) == (2, 2)
    assert (await shop.do(shopping_item, ada, family, added.shopping_item_id)).added_by_name == "Ben"


async def test_only_admins_manage_people(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    made = await shop.do(families.invite, ada, family, role="member")
    for attempt in (
        shop.do(families.invite, ben, family, role="member"),
        shop.do(families.open_invitations, ben, family),
        shop.do(families.withdraw_invitation, ben, family, made.id),
        shop.do(families.remove_member, ben, family, ada.user_id),
        shop.do(families.change_role, ben, family, ben.user_id, version=1, role="admin"),
    ):
        with pytest.raises(Forbidden):
            await attempt
    await shop.do(families.withdraw_invitation, ada, family, made.id)
    with pytest.raises(NoSuchInvitation):
        await shop.do(families.withdraw_invitation, ada, family, made.id)
    with pytest.raises(ValidationError) as refused:
        await shop.do(families.invite, ada, family, role="owner")
    assert [each.message for each in refused.value.errors] == ["Role must be 'admin' or 'member'"]


async def test_roles_change_by_version_and_count(shop):
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    made = await shop.do(families.change_role, ada, family, ben.user_id, version=1, role="admin")
    assert (made.role, made.version) == ("admin", 2)
    assert await shop.do(families.change_role, ada, family, ben.user_id, version=2, role="admin") == made
    with pytest.raises(Conflict) as refused:
        await shop.do(families.change_role, ada, family, ben.user_id, version=1, role="member")
    assert refused.value.current == made
    # An admin steps back, the last one cannot.
    await shop.do(families.change_role, ada, family, ada.user_id, version=1, role="member")
    with pytest.raises(LastAdmin):
        await shop.do(families.change_role, ben, family, ben.user_id, version=2, role="member")
    with pytest.raises(LastAdmin):
        await shop.do(families.remove_member, ben, family, ben.user_id)
    with pytest.raises(Forbidden):
        await shop.do(families.change_role, ada, family, ben.user_id, version=2, role="member")
    assert (await shop.store.one(Family.by_id(family))).manager_count == 1
    for made_up in (uuid4(), family):
        with pytest.raises(NotFound):
            await shop.do(families.change_role, ben, family, made_up, version=1, role="member")
        with pytest.raises(NotFound):
            await shop.do(families.remove_member, ben, family, made_up)


async def test_one_who_was_removed_is_out_on_the_next_call(shop):
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    await shop.do(families.remove_member, ada, family, ben.user_id)
    with pytest.raises(NotFound):
        await shop.do(items_on_list, ben, family)
    assert await shop.do(families.all, ben) == []
    assert [each.name for each in await shop.do(families.all_members, ada, family)] == ["Ada"]
    with pytest.raises(NotFound):
        await shop.do(families.remove_member, ada, family, ben.user_id)


async def test_one_who_is_removed_between_reading_and_writing_has_written_nothing(interrupted_shop):
    shop = interrupted_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    added = await shop.do(add_to_list, ada, family, name="Tea")
    shop.meanwhile(lambda: shop.do(families.remove_member, ada, family, ben.user_id))
    with pytest.raises(NotFound):
        await shop.do(change_shopping_item, ben, family, added.shopping_item_id, version=1, name="Coffee")
    assert await shop.do(shopping_item, ada, family, added.shopping_item_id) == added


async def test_an_admin_who_is_made_a_member_between_reading_and_writing_has_written_nothing(interrupted_shop):
    shop = interrupted_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family, role="admin")

    def demote(version):
        return lambda: shop.do(families.change_role, ada, family, ben.user_id, version=version, role="member")

    shop.meanwhile(demote(1))
    with pytest.raises(Forbidden):
        await shop.do(add_store, ben, family, name="Grocer")
    await shop.do(families.change_role, ada, family, ben.user_id, version=2, role="admin")
    shop.meanwhile(demote(3))
    with pytest.raises(Forbidden):
        await shop.do(families.invite, ben, family, role="admin")
    assert await shop.do(families.open_invitations, ada, family) == []
    assert await shop.do(all_stores, ada, family) == []


async def test_who_is_renamed_while_coming_in_has_the_new_name(interrupted_shop):
    shop = interrupted_shop
    ada, family = await shop.family()
    ben = await shop.person("Ben")
    made = await shop.do(families.invite, ada, family, role="member")
    shop.meanwhile(
        lambda: shop.store.modify(Account.by_id(ben.user_id), lambda _: [the(Account.name).becomes("Benjamin")])
    )
    await shop.accept(ben, made.token)
    assert [each.name for each in await shop.do(families.all_members, ada, family)] == ["Ada", "Benjamin"]


async def test_two_admins_who_remove_each_other_at_once_leave_one(busy_shop):
    shop = busy_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family, role="admin")
    done, refused = await outcomes(
        shop.do(families.remove_member, ada, family, ben.user_id),
        shop.do(families.remove_member, ben, family, ada.user_id),
    )
    assert (len(done), [type(each) for each in refused]) in ((1, [NotFound]), (1, [LastAdmin]))
    members = await shop.store.all(Member.all_of_family(family))
    (left,) = [each for each in members if each.status == "active"]
    counts = await shop.store.one(Family.by_id(family))
    assert (left.role, counts.manager_count, counts.member_count) == ("admin", 1, 1)


async def test_of_admins_who_all_leave_or_step_back_at_once_one_stays(busy_shop):
    shop = busy_shop
    ada, family = await shop.family()
    admins = [ada, *[await shop.joined(ada, family, name, "admin") for name in ("Ben", "Cat", "Dan")]]
    done, refused = await outcomes(
        *(shop.do(families.remove_member, each, family, each.user_id) for each in admins[:2]),
        *(shop.do(families.change_role, each, family, each.user_id, version=1, role="member") for each in admins[2:]),
    )
    assert (len(done), [type(each) for each in refused]) == (3, [LastAdmin])
    members = await shop.store.all(Member.all_of_family(family))
    left = [each for each in members if each.status == "active"]
    counts = await shop.store.one(Family.by_id(family))
    assert [each.role for each in left].count("admin") == counts.manager_count == 1
    assert counts.member_count == len(left)


async def test_who_is_promoted_while_being_removed_leaves_the_count_right(busy_shop):
    shop = busy_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    await outcomes(
        shop.do(families.change_role, ada, family, ben.user_id, version=1, role="admin"),
        shop.do(families.remove_member, ben, family, ben.user_id),
    )
    assert (await shop.store.one(Family.by_id(family))).manager_count == 1
    assert [each.name for each in await shop.do(families.all_members, ada, family)] == ["Ada"]


async def test_an_admin_who_was_removed_cannot_let_themselves_in_again(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family, role="admin")
    kept = await shop.do(families.invite, ben, family, role="admin")
    await shop.do(families.remove_member, ada, family, ben.user_id)
    for person in (ben, await shop.person("Mallory")):
        with pytest.raises(InvitationInvalid):
            await shop.accept(person, kept.token)
    assert [each.name for each in await shop.do(families.all_members, ada, family)] == ["Ada"]


async def test_invitations_of_whoever_is_no_admin_any_more_are_withdrawn(busy_shop):
    shop = busy_shop
    ada, family = await shop.family()
    ben, cat = [await shop.joined(ada, family, name, "admin") for name in ("Ben", "Cat")]
    made = {each.name: await shop.do(families.invite, each, family, role="member") for each in (ada, ben, cat)}
    await shop.do(families.change_role, ada, family, ben.user_id, version=1, role="member")
    await shop.do(families.remove_member, cat, family, cat.user_id)
    assert [each.id for each in await shop.do(families.open_invitations, ada, family)] == [made["Ada"].id]
    # Nor do they come to life with their makers: gone is gone, also for who only looks.
    await shop.do(families.change_role, ada, family, ben.user_id, version=2, role="admin")
    for name in ("Ben", "Cat"):
        with pytest.raises(InvitationInvalid):
            await shop.invitations.look(made[name].token)
    assert await shop.invitations.look(made["Ada"].token)


async def test_an_invitation_that_opens_nothing_is_not_listed_even_if_it_could_not_be_withdrawn(
    embedded_shop, monkeypatch
):
    shop = embedded_shop
    ada, family = await shop.family()
    ben = await shop.joined(ada, family, role="admin")
    kept = await shop.do(families.invite, ben, family, role="member")

    async def busy(*_):
        raise Unavailable("too busy")

    with monkeypatch.context() as patched:
        patched.setattr(shop.invitations, "withdraw_those_by", busy)
        await shop.do(families.remove_member, ada, family, ben.user_id)
    assert await shop.invitations.look(kept.token)
    assert await shop.do(families.open_invitations, ada, family) == []


async def test_a_family_has_not_too_many_members(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    await shop.store.update(Family.by_id(family), the(Family.member_count).add(MOST_MEMBERS - 2))
    await shop.joined(ada, family)
    with pytest.raises(TooMany):
        await shop.joined(ada, family, "Cat")


async def test_a_full_family_is_deleted_by_one_transaction(embedded_shop):
    shop = embedded_shop
    ada, family = await shop.family()
    for number in range(MOST_MEMBERS - 1):
        member = Member(
            member_id=UUID(int=number),
            family_id=family,
            name=f"m{number}",
            email="m@example.org",
            created_at=NOW,
            updated_at=NOW,
        )
        await shop.store.put(member, when=absent)
    await shop.store.update(Family.by_id(family), the(Family.member_count).add(MOST_MEMBERS - 1))
    with shop.recording.scope() as calls:
        await shop.do(families.delete, ada, family)
    assert calls.operations.count("TransactWriteItems") == 1
    assert await shop.kinds() == {"Deletion": 1}
