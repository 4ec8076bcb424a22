"""No two items have the same unique value, and its guard row is there exactly as long as an item has it."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.store import Store
from potluck.table import (
    AlreadyExists,
    Changed,
    ComponentsNeeded,
    NotFound,
    NotUnique,
    WriteRefused,
    absent,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.operations import Operation
from tests.table.pantry import Invitation, Shop, inventory
from tests.table.sending import NOW, Sent, opened

FAMILY, OTHER_FAMILY = UUID(int=1), UUID(int=2)
FIRST, SECOND, THIRD = (UUID(int=number) for number in (11, 12, 13))


@pytest.fixture
async def table():
    async with opened(inventory) as table:
        yield table


def shop(shop_id: UUID = FIRST, name: str = "Aldi", **values: Any) -> Shop:
    return Shop(**{"family_id": FAMILY, "shop_id": shop_id, "name": name, **values})


def invitation(invitation_id: UUID = FIRST, code: str = "abc", **values: Any) -> Invitation:
    return Invitation(invitation_id=invitation_id, code=code, **values)


async def guards(table: Sent) -> set[tuple[str, str]]:
    """The guard rows by what they guard, and the last part of whose they are."""
    found = set()
    for row in await table.rows():
        if row["entityType"] == {"S": "Unique"}:
            value = row["SK"]["S"].rpartition("#")[2] if "FAMILY" in row["PK"]["S"] else row["PK"]["S"]
            found.add((value, row["of"]["M"]["PK"]["S"] + "/" + row["of"]["M"]["SK"]["S"]))
    return found


def of(shop_id: UUID) -> str:
    return f"FAMILY#{FAMILY}/SHOP#{shop_id}"


# --- how it is sent --------------------------------------------------------------------------------------------------


def test_a_put_brings_its_guards():
    operation, body = put(shop(name="Café Á"), when=absent).request()
    assert operation == "TransactWriteItems"
    item, guard = body["TransactItems"]
    assert item["Put"]["ConditionExpression"] == "attribute_not_exists(#PK)"
    owner = {"PK": {"S": f"FAMILY#{FAMILY}"}, "SK": {"S": f"SHOP#{FIRST}"}}
    assert guard == {
        "Put": {
            "TableName": "InventoryManagement",
            "Item": {
                "PK": {"S": f"FAMILY#{FAMILY}"},
                "SK": {"S": "UNIQUE#SHOP#cafe_a"},
                "entityType": {"S": "Unique"},
                "of": {"M": owner},
            },
            "ConditionExpression": "attribute_not_exists(#PK) OR #of = :of",
            "ExpressionAttributeNames": {"#PK": "PK", "#of": "of"},
            "ExpressionAttributeValues": {":of": {"M": owner}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def test_a_value_that_is_none_needs_no_guard():
    assert len(put(shop(), when=absent).actions()) == 2
    assert len(put(shop(web="aldi.example"), when=absent).actions()) == 3


def test_an_update_of_the_value_moves_its_guard():
    actions = update(shop(version=2), the(Shop.name).becomes("Lidl")).actions()
    assert [(each.kind, each.key["SK"]["S"]) for each in actions] == [
        ("Update", f"SHOP#{FIRST}"),
        ("Delete", "UNIQUE#SHOP#aldi"),
        ("Put", "UNIQUE#SHOP#lidl"),
    ]
    assert actions[0].body["ConditionExpression"] == "attribute_exists(#PK) AND #version = :version AND #name = :name_2"


def test_an_update_of_anything_else_is_a_plain_update():
    assert update(shop(), the(Shop.note).becomes("cheap")).request().operation == "UpdateItem"
    assert update(Shop.one(FAMILY, FIRST), the(Shop.note).becomes("x"), keep_version=True).request()


def test_an_update_to_another_spelling_is_a_plain_update_of_a_value_that_is_still_the_same():
    operation, body = update(shop(version=2), the(Shop.name).becomes("ALDI")).request()
    assert operation == "UpdateItem"
    assert body["ConditionExpression"] == "attribute_exists(#PK) AND #version = :version AND #name = :name_2"


def test_an_update_of_a_value_that_was_not_read_says_what_it_must_know():
    ref = Shop.one(FAMILY, FIRST)
    with pytest.raises(ComponentsNeeded, match=r"the guard of name.*the\(Shop.name\).still") as refused:
        update(ref, the(Shop.name).becomes("Lidl"), keep_version=True)
    assert refused.value.missing == ("name",)
    actions = update(ref, the(Shop.name).becomes("Lidl"), the(Shop.name).still("Aldi"), keep_version=True).actions()
    assert [each.kind for each in actions] == ["Update", "Delete", "Put"]


def test_a_delete_of_what_was_not_read_says_what_it_must_know():
    with pytest.raises(ValueError, match=r"name is unique.*when=the\(Shop.name\).still"):
        delete(Shop.one(FAMILY, FIRST))
    with pytest.raises(ValueError, match=r"web is unique.*when=the\(Shop.web\).still"):
        delete(Shop.one(FAMILY, FIRST), when=the(Shop.name).still("Aldi"))
    known = the(Shop.name).still("Aldi") & the(Shop.web).still(None)
    assert [each.kind for each in delete(Shop.one(FAMILY, FIRST), when=known).actions()] == ["Delete", "Delete"]


def test_the_guard_of_an_item_that_expires_says_when():
    _, guard = put(invitation(ttl=NOW + 60), when=absent).actions(NOW)
    assert guard.body["Item"]["ttl"] == {"N": str(NOW + 60)}
    assert guard.body["ConditionExpression"] == "attribute_not_exists(#PK) OR #ttl <= :now OR #of = :of"


# --- what is stored --------------------------------------------------------------------------------------------------


async def test_the_same_value_is_refused_however_it_is_spelt(table):
    await table.write(put(shop(), when=absent))
    for name in ("Aldi", "aldi", "ÁLDI"):
        with pytest.raises(NotUnique) as refused:
            await table.write(put(shop(SECOND, name), when=absent))
        assert (refused.value.field, refused.value.value) == ("name", name)
    assert await guards(table) == {("aldi", of(FIRST))}
    await table.write(put(Shop(family_id=OTHER_FAMILY, shop_id=SECOND, name="Aldi"), when=absent))


async def test_the_second_of_two_unique_values_is_named_when_it_is_the_one_that_is_taken(table):
    await table.write(put(shop(web="a.example"), when=absent))
    with pytest.raises(NotUnique) as refused:
        await table.write(put(shop(SECOND, "Lidl", web="a.example"), when=absent))
    assert (refused.value.field, refused.value.value) == ("web", "a.example")
    assert len(await table.rows()) == 3


async def test_an_item_that_exists_is_told_before_its_own_value_is(table):
    await table.write(put(shop(), when=absent))
    with pytest.raises(AlreadyExists) as refused:
        await table.write(put(shop(note="again"), when=absent))
    assert refused.value.current == shop()


async def test_a_value_that_was_changed_is_free_and_the_new_one_is_taken(table):
    await table.write(put(shop(), when=absent))
    await table.write(update(shop(), the(Shop.name).becomes("Lidl")))
    assert await guards(table) == {("lidl", of(FIRST))}
    await table.write(put(shop(SECOND), when=absent))
    with pytest.raises(NotUnique) as refused:
        await table.write(update(shop(SECOND), the(Shop.name).becomes("LIDL")))
    assert refused.value.value == "LIDL"
    assert await guards(table) == {("lidl", of(FIRST)), ("aldi", of(SECOND))}
    assert (await table.read(shop(SECOND))).name == "Aldi"


async def test_another_spelling_keeps_the_guard(table):
    await table.write(put(shop(), when=absent))
    assert await table.write(update(shop(), the(Shop.name).becomes("ALDI"))) == shop(name="ALDI", version=2)
    assert await guards(table) == {("aldi", of(FIRST))}


async def test_a_value_comes_and_goes(table):
    await table.write(put(shop(), when=absent))
    await table.write(update(shop(), the(Shop.web).becomes("a.example")))
    assert ("WEB#a.example", of(FIRST)) in await guards(table)
    now = await table.read(shop())
    await table.write(update(now, the(Shop.web).becomes(None)))
    assert await guards(table) == {("aldi", of(FIRST))}


@pytest.mark.parametrize("change", [[], ["Lidl"], ["ALDI"], ["Lidl", "Aldi"]])
async def test_a_delete_takes_the_guard_along(table, change):
    await table.write(put(shop(web="a.example"), when=absent))
    for name in change:
        await table.write(update(await table.read(shop()), the(Shop.name).becomes(name)))
    now = await table.read(shop())
    await table.write(delete(now))
    assert await table.rows() == []
    await table.write(delete(now))
    await table.write(put(shop(SECOND), when=absent))


async def test_a_delete_by_key_takes_the_guard_that_is_told(table):
    await table.write(put(shop(), when=absent))
    ref = Shop.one(FAMILY, FIRST)
    with pytest.raises(Changed):
        await table.write(delete(ref, when=the(Shop.name).still("Lidl") & the(Shop.web).still(None)))
    await table.write(delete(ref, when=the(Shop.name).still("Aldi") & the(Shop.web).still(None)))
    assert await table.rows() == []
    with pytest.raises(NotFound):
        await table.write(delete(shop(), when=present))


async def test_a_value_that_changed_since_it_was_seen_is_not_given_away(table):
    seen = shop()
    await table.write(put(seen, when=absent))
    await table.write(update(seen, the(Shop.name).becomes("Lidl"), keep_version=True))
    # The version did not move, but the guard did.
    for operation in (
        update(seen, the(Shop.name).becomes("Penny")),
        update(seen, the(Shop.name).becomes("ALDI")),
        delete(seen),
    ):
        with pytest.raises(Changed, match="name is no longer 'Aldi'") as refused:
            await table.write(operation)
        assert refused.value.current == shop(name="Lidl")
    assert await guards(table) == {("lidl", of(FIRST))}


async def test_a_guard_that_belongs_to_another_item_is_not_taken_away(table):
    # A row from before the name was unique, whose name someone else has claimed since.
    row = put(shop(SECOND), when=absent).writes[0].item
    await table.write(put(shop(), when=absent))
    await table.put_row(row)
    with pytest.raises(Changed, match="guard of name 'Aldi' belongs to another item"):
        await table.write(delete(shop(SECOND)))
    with pytest.raises(Changed):
        await table.write(update(shop(SECOND), the(Shop.name).becomes("Lidl")))
    assert await guards(table) == {("aldi", of(FIRST))}


async def test_a_row_without_a_guard_can_be_renamed_and_deleted(table):
    await table.put_row(put(shop(), when=absent).writes[0].item)
    await table.write(update(shop(), the(Shop.name).becomes("Lidl")))
    assert await guards(table) == {("lidl", of(FIRST))}
    await table.put_row(put(shop(SECOND), when=absent).writes[0].item)
    await table.write(delete(shop(SECOND)))


async def test_what_is_gone_can_be_deleted_though_another_has_its_value_by_now(table):
    store = Store(table.engine, lambda: datetime.fromtimestamp(NOW + 60, UTC))
    await table.write(put(shop(), when=absent))
    await store.delete(shop())
    await table.write(put(shop(SECOND), when=absent))
    await store.delete(shop())
    ending = invitation(ttl=NOW + 60)
    await table.write(put(ending, when=absent))
    await store.put(invitation(SECOND), when=absent)
    await store.delete(ending)
    assert await guards(table) == {("aldi", of(SECOND)), ("CODE#abc", f"INVITATION#{SECOND}/INVITATION")}
    with pytest.raises(NotFound):
        await store.delete(shop(), when=present)


# --- items that expire -----------------------------------------------------------------------------------------------


async def test_the_value_of_what_has_expired_is_free(table):
    await table.write(put(invitation(ttl=NOW + 60), when=absent))
    with pytest.raises(NotUnique):
        await table.write(put(invitation(SECOND), when=absent))
    await table.write(put(invitation(SECOND), when=absent), now=NOW + 60)
    with pytest.raises(NotUnique):
        await table.write(put(invitation(THIRD), when=absent), now=NOW + 60)


async def test_the_guard_lives_as_long_as_its_item(table):
    await table.write(put(invitation(ttl=NOW + 60), when=absent))
    await table.write(update(invitation(ttl=NOW + 60), the(Invitation.ttl).becomes(None)))
    with pytest.raises(NotUnique):
        await table.write(put(invitation(SECOND), when=absent), now=NOW + 60)
    await table.write(update(invitation(), the(Invitation.ttl).becomes(NOW + 90)))
    await table.write(put(invitation(SECOND), when=absent), now=NOW + 90)


async def test_an_item_can_be_ended_now(table):
    store = Store(table.engine, lambda: datetime.fromtimestamp(NOW, UTC))
    seen = await store.put(invitation(ttl=NOW + 60), when=absent)
    assert await store.update(seen, the(Invitation.ttl).becomes(NOW)) == invitation(ttl=NOW)
    assert await store.get(Invitation.one(FIRST)) is None


def test_a_new_value_of_what_was_not_read_needs_the_old_one_and_when_it_ends():
    with pytest.raises(ComponentsNeeded) as refused:
        update(Invitation.one(FIRST), the(Invitation.code).becomes("xyz"))
    assert refused.value.missing == ("code", "ttl")


def test_a_new_end_of_what_was_not_read_needs_the_value_that_ends_with_it():
    with pytest.raises(ComponentsNeeded) as refused:
        update(Invitation.one(FIRST), the(Invitation.ttl).becomes(NOW))
    assert refused.value.missing == ("code",)
    assert update(Invitation.one(FIRST), the(Invitation.ttl).becomes(NOW), the(Invitation.code).still("abc"))


def test_the_end_that_a_guard_shares_is_not_moved_unseen():
    with pytest.raises(ValueError, match=r"the\(Invitation.ttl\) is a part of the guard of code: use becomes"):
        update(invitation(ttl=NOW), the(Invitation.ttl).add(60))


async def test_a_new_value_keeps_the_end(table):
    seen = invitation(ttl=NOW + 60)
    await table.write(put(seen, when=absent))
    await table.write(update(seen, the(Invitation.code).becomes("xyz")))
    (guard,) = [row for row in await table.rows() if row["entityType"] == {"S": "Unique"}]
    assert (guard["PK"], guard["ttl"]) == ({"S": "CODE#xyz"}, {"N": str(NOW + 60)})


# --- in transactions -------------------------------------------------------------------------------------------------


async def test_a_taken_value_fails_the_whole_transaction_and_says_where(table):
    await table.write(put(shop(), when=absent))
    with pytest.raises(NotUnique) as refused:
        await table.transact(
            put(shop(SECOND, "Lidl"), when=absent),
            put(invitation(), when=absent),
            put(shop(THIRD, "ALDI"), when=absent),
        )
    assert (refused.value.position, refused.value.field, refused.value.value) == (2, "name", "ALDI")
    assert refused.value.operation.key["SK"] == {"S": f"SHOP#{THIRD}"}
    assert len(await table.rows()) == 2


async def test_values_move_in_a_transaction(table):
    await table.transact(put(shop(), when=absent), put(shop(SECOND, "Lidl"), when=absent))
    await table.transact(
        update(shop(), the(Shop.name).becomes("Penny")),
        delete(shop(SECOND, "Lidl")),
        put(shop(THIRD, "Netto"), when=absent),
    )
    assert await guards(table) == {("penny", of(FIRST)), ("netto", of(THIRD))}


async def test_a_value_that_changed_since_it_was_seen_fails_the_transaction(table):
    await table.write(put(shop(), when=absent))
    await table.write(update(shop(), the(Shop.name).becomes("Lidl"), keep_version=True))
    with pytest.raises(Changed) as refused:
        await table.transact(put(invitation(), when=absent), delete(shop()))
    assert refused.value.position == 1
    assert refused.value.current == shop(name="Lidl")
    assert await guards(table) == {("lidl", of(FIRST))}


# --- whatever happens in whatever order ------------------------------------------------------------------------------

NAMES = st.sampled_from(["Aldi", "ALDI", "Lidl", "Penny"])
WEBS = st.none() | st.sampled_from(["a.example", "b.example"])


def put_another(seen: Shop, name: str, web: str | None, keep_version: bool) -> Operation:
    return put(shop(seen.shop_id, name, web=web), when=absent)


def rename(seen: Shop, name: str, web: str | None, keep_version: bool) -> Operation:
    return update(seen, the(Shop.name).becomes(name), keep_version=keep_version)


def move(seen: Shop, name: str, web: str | None, keep_version: bool) -> Operation:
    return update(seen, the(Shop.name).becomes(name), the(Shop.web).becomes(web), keep_version=keep_version)


def close(seen: Shop, name: str, web: str | None, keep_version: bool) -> Operation:
    return delete(seen)


STEPS = st.tuples(
    st.sampled_from([put_another, rename, move, close]),
    st.sampled_from([FIRST, SECOND]),
    st.integers(0, 2),
    st.tuples(NAMES, WEBS, st.booleans()),
)


@settings(max_examples=50)
@given(st.lists(STEPS, max_size=12))
async def test_guards_and_values_always_agree(steps):
    async with opened(inventory) as table:
        history: dict[UUID, list[Shop]] = {each: [shop(each, "never seen")] for each in (FIRST, SECOND)}
        for step, shop_id, steps_ago, arguments in steps:
            seen = history[shop_id][-1 - steps_ago :][0]
            with suppress(WriteRefused):
                await table.write(step(seen, *arguments))
            there = [each for each in [await table.read(shop(each)) for each in history] if each is not None]
            for each in there:
                history[each.shop_id].append(each)
            wanted = {(each.name.lower(), of(each.shop_id)) for each in there}
            wanted |= {(f"WEB#{each.web}", of(each.shop_id)) for each in there if each.web is not None}
            assert await guards(table) == wanted
