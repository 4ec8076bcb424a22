"""A refused write says what it met, and gives the item as it is now."""

from typing import Any
from uuid import UUID

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.table import (
    AlreadyExists,
    Changed,
    ConditionFailed,
    NotFound,
    UnreadableItem,
    VersionConflict,
    WriteRefused,
    absent,
    check,
    delete,
    present,
    put,
    the,
    update,
)
from potluck.table.entity import plan_of
from potluck.table.operations import Operation, explain_failure
from tests.table.pantry import Book, Invitation, ShoppingListItem, Tally, inventory
from tests.table.sending import NOW, Sent, opened
from tests.table.test_operations import book, shopping, tally

ALIVE, EXPIRED = NOW + 1, NOW


@pytest.fixture
async def table():
    async with opened(inventory) as table:
        yield table


async def refused(table: Sent, operation: Operation) -> WriteRefused:
    """What is raised for an operation that must be refused and must change nothing."""
    before = await table.rows()
    with pytest.raises(WriteRefused) as raised:
        await table.write(operation)
    assert await table.rows() == before
    assert raised.value.operation is operation
    return raised.value


# --- put -------------------------------------------------------------------------------------------------------------


async def test_the_second_put_of_what_must_be_absent_finds_the_first(table):
    await table.write(put(book(order=1), when=absent))
    refusal = await refused(table, put(book(order=2), when=absent))
    assert type(refusal) is AlreadyExists
    assert refusal.current == book(order=1)
    assert "put Book (BOOK#" in str(refusal)


async def test_a_put_with_a_condition_finds_nothing_or_something_else(table):
    wanted = put(book(order=2), when=the(Book.order) == 1)
    assert type(await refused(table, wanted)) is NotFound
    await table.write(put(book(order=7)))
    refusal = await refused(table, wanted)
    assert type(refusal) is ConditionFailed
    assert refusal.current == book(order=7)


async def test_a_row_of_another_kind_under_the_same_key_exists_but_is_not_told(table):
    await table.put_row({**plan_of(Book).coding.encode(book()), "entityType": {"S": "Film"}})
    refusal = await refused(table, put(book(), when=absent))
    assert type(refusal) is AlreadyExists
    assert refusal.current is None


async def test_a_row_that_cannot_be_read_exists_but_is_not_told(table):
    await table.put_row({**plan_of(Book).coding.encode(book()), "order": {"S": "first"}})
    with pytest.raises(UnreadableItem):
        await table.read(book())
    assert (await refused(table, put(book(), when=absent))).current is None


# --- update ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [tally(), Tally.one("here")])
async def test_an_update_of_what_is_not_there_makes_nothing(table, target):
    assert type(await refused(table, update(target, the(Tally.votes).add(1)))) is NotFound
    assert type(await refused(table, update(target, the(Tally.name).becomes("x"), keep_version=True))) is NotFound


async def test_an_update_of_what_someone_else_updated_is_a_conflict(table):
    seen = tally()
    await table.write(put(seen, when=absent))
    await table.write(update(seen, the(Tally.name).becomes("x")))
    for operation in (
        update(seen, the(Tally.name).becomes("y")),
        update(Tally.one("here"), the(Tally.name).becomes("y"), the(Tally.version).still(1)),
        update(Tally.one("here"), the(Tally.name).becomes("y"), when=the(Tally.version) == 1),
        delete(seen),
        delete(seen, when=present),
    ):
        refusal = await refused(table, operation)
        assert type(refusal) is VersionConflict
        assert refusal.current == tally(name="x", version=2)
    await table.write(update(refusal.current, the(Tally.name).becomes("y")))


async def test_two_updates_of_the_same_version_are_one_update_and_one_conflict(table):
    seen = tally(version=4)
    await table.write(put(seen, when=absent))
    await table.write(update(seen, the(Tally.stock).add(1), the(Tally.name).becomes("x")))
    with pytest.raises(VersionConflict):
        await table.write(update(seen, the(Tally.stock).add(1), the(Tally.name).becomes("x")))
    assert await table.read(seen) == tally(version=5, stock=11, name="x")


async def test_counting_is_not_in_anyones_way(table):
    seen = tally()
    await table.write(put(seen, when=absent))
    for _ in range(3):
        await table.write(update(seen, the(Tally.votes).add(2)))
    assert await table.write(update(seen, the(Tally.name).becomes("x"))) == tally(votes=6, name="x", version=2)


async def test_what_is_no_longer_so_is_a_change_and_what_never_held_a_failed_condition(table):
    await table.write(put(tally(stock=5), when=absent))
    change = the(Tally.name).becomes("x")
    refusal = await refused(table, update(Tally.one("here"), change, the(Tally.stock).still(4), keep_version=True))
    assert type(refusal) is Changed
    assert refusal.current == tally(stock=5)
    assert "stock is no longer 4" in str(refusal)
    assert type(await refused(table, update(tally(), change, when=the(Tally.stock) < 5))) is ConditionFailed


@pytest.mark.parametrize(
    ("stock", "amount", "left"),
    [(5, -5, 0), (5, -6, None), (5, 95, 100), (5, 96, None), (None, -10, 0), (None, -11, None), (None, 90, 100)],
)
async def test_a_sum_stays_within_the_bounds_of_its_field(table, stock, amount, left):
    row = plan_of(Tally).coding.encode(tally(stock=stock or 10))
    if stock is None:
        del row["stock"]
    await table.put_row(row)
    operation = update(Tally.one("here"), the(Tally.stock).add(amount), keep_version=True)
    if left is None:
        assert type(await refused(table, operation)) is ConditionFailed
    else:
        assert (await table.write(operation)).stock == left


async def test_a_set_that_loses_its_last_element_is_empty(table):
    await table.write(put(tally(lots={1, 2}), when=absent))
    now = await table.write(update(Tally.one("here"), the(Tally.lots).exclude(1, 2, 3), keep_version=True))
    assert now == tally(lots=set())
    now = await table.write(update(Tally.one("here"), the(Tally.lots).include(4), keep_version=True))
    assert now == tally(lots={4})


# --- delete and check ------------------------------------------------------------------------------------------------


async def test_what_is_not_there_can_be_deleted_again_and_again(table):
    await table.write(put(tally(), when=absent))
    for _ in range(2):
        await table.write(delete(tally()))
        assert await table.rows() == []
    await table.write(delete(Tally.one("here")))


async def test_a_delete_that_wants_the_item_to_be_there_finds_that_it_is_not(table):
    for when in (present, the(Tally.stock) > 5, the(Tally.tags).is_none()):
        refusal = await refused(table, delete(Tally.one("here"), when=when))
        assert type(refusal) is NotFound
        assert refusal.current is None


async def test_a_delete_with_a_condition_tells_what_it_found(table):
    await table.write(put(book(order=3)))
    refusal = await refused(table, delete(Book.one(book().book_id), when=the(Book.order) == 4))
    assert type(refusal) is ConditionFailed
    assert refusal.current == book(order=3)
    await table.write(delete(Book.one(book().book_id), when=the(Book.order) == 3))
    assert await table.rows() == []


async def test_a_check_says_what_it_met(table):
    assert type(await refused(table, check(book(), when=present))) is NotFound
    assert type(await refused(table, check(book(), when=the(Book.order).is_none()))) is NotFound
    await table.write(check(book(), when=absent))
    await table.write(put(book(order=3)))
    assert type(await refused(table, check(book(), when=absent))) is AlreadyExists
    refusal = await refused(table, check(book(), when=the(Book.order) == 4))
    assert type(refusal) is ConditionFailed
    assert refusal.current == book(order=3)
    await table.write(check(book(), when=the(Book.order) == 3))


# --- what has expired is gone ----------------------------------------------------------------------------------------


async def test_a_put_over_what_has_expired_is_the_first(table):
    await table.write(put(shopping(name="old", ttl=EXPIRED, version=9), when=absent))
    await table.write(put(shopping(name="new"), when=absent))
    assert await table.read(shopping()) == shopping(name="new")
    assert type(await refused(table, put(shopping(name="newer"), when=absent))) is AlreadyExists


@pytest.mark.parametrize(
    "make",
    [
        lambda seen: update(seen, the(ShoppingListItem.name).becomes("x")),
        lambda seen: update(seen, the(ShoppingListItem.ttl).becomes(None)),
        lambda seen: update(seen, the(ShoppingListItem.name).becomes("x"), keep_version=True),
        lambda seen: delete(seen, when=present),
        lambda seen: delete(seen, when=the(ShoppingListItem.name) == seen.name),
        lambda seen: check(seen, when=present),
        lambda seen: check(seen, when=the(ShoppingListItem.name) == seen.name),
    ],
)
async def test_what_has_expired_is_not_there(table, make):
    seen = shopping(ttl=EXPIRED)
    await table.write(put(seen, when=absent))
    refusal = await refused(table, make(seen))
    assert type(refusal) is NotFound
    assert refusal.current is None
    await table.write(make(seen), now=EXPIRED - 1)


async def test_what_has_expired_is_not_there_rather_than_at_another_version(table):
    await table.write(put(shopping(ttl=EXPIRED, version=3), when=absent))
    assert type(await refused(table, update(shopping(version=2), the(ShoppingListItem.name).becomes("x")))) is NotFound


async def test_what_has_expired_can_be_deleted_whatever_its_version_and_checked_to_be_absent(table):
    await table.write(put(shopping(ttl=EXPIRED, version=5), when=absent))
    await table.write(check(shopping(), when=absent))
    await table.write(delete(shopping(version=2)))
    assert await table.rows() == []


@pytest.mark.parametrize("ttl", [None, ALIVE])
async def test_what_has_not_expired_is_there(table, ttl):
    await table.write(put(shopping(ttl=ttl), when=absent))
    assert (await table.write(update(shopping(ttl=ttl), the(ShoppingListItem.name).becomes("x")))).name == "x"


# --- other failures --------------------------------------------------------------------------------------------------


def test_a_failure_that_no_condition_caused_stays_what_it_is():
    operation = put(book(), when=absent)
    for code in ("ThrottlingException", "ValidationException", "TransactionCanceledException"):
        error = DynamoError(code, "…", reasons=[{"Code": "TransactionConflict"}])
        assert explain_failure(operation, error) is error


def test_a_failure_whose_item_was_not_told_is_still_explained():
    error: Any = DynamoError("ConditionalCheckFailedException", "The conditional request failed")
    assert type(explain_failure(put(book(), when=absent), error)) is AlreadyExists
    assert (
        type(explain_failure(put(Invitation(invitation_id=UUID(int=1), code="x"), when=absent), error)) is AlreadyExists
    )
    assert type(explain_failure(update(tally(), the(Tally.votes).add(1)), error)) is NotFound
