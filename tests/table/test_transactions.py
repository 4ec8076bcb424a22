"""Transactions: what they are sent as, what they refuse before that, and which operation was in the way."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import pytest
from msgspec import Meta

from potluck.dynamo.errors import DynamoError
from potluck.table import (
    AlreadyExists,
    Changed,
    ConditionFailed,
    Entity,
    NotFound,
    Table,
    Transaction,
    TransactionRefused,
    VersionConflict,
    absent,
    check,
    delete,
    get,
    present,
    put,
    the,
    update,
)
from tests.table.pantry import Book, Shop, ShoppingListItem, Tally, inventory
from tests.table.sending import NOW, opened
from tests.table.test_operations import NOON

FAMILY = UUID(int=1)


@pytest.fixture
async def table():
    async with opened(inventory) as table:
        yield table


def book(number: int = 1, **values: Any) -> Book:
    return Book(**{"book_id": UUID(int=number), "owner_id": "ada", "title": "Emma", **values})


def shop(number: int = 1, name: str = "Aldi", **values: Any) -> Shop:
    return Shop(**{"family_id": FAMILY, "shop_id": UUID(int=number), "name": name, **values})


def shopping(number: int, **values: Any) -> ShoppingListItem:
    known = {"family_id": FAMILY, "shopping_item_id": UUID(int=number), "name": "Milk", "updated_at": NOON}
    return ShoppingListItem(**{**known, **values})


# --- how it is sent --------------------------------------------------------------------------------------------------


def test_a_transaction_is_its_operations_in_order():
    operations = [
        put(book(1), when=absent),
        update(book(2), the(Book.order).becomes(1), the(Book.library_id).still(None)),
        delete(Book.one(UUID(int=3))),
        check(book(4), when=present),
    ]
    operation, body = Transaction(*operations).request(token="once")
    assert operation == "TransactWriteItems"
    assert body == {
        "TransactItems": [{each.kind: each.body} for one in operations for each in one.actions()],
        "ClientRequestToken": "once",
    }
    assert [next(iter(each)) for each in body["TransactItems"]] == ["Put", "Update", "Delete", "ConditionCheck"]
    # Only a request of its own can say what to return.
    assert not any("ReturnValues" in action for each in body["TransactItems"] for action in each.values())


def test_without_a_token_none_is_sent():
    assert Transaction(put(book())).request().body.keys() == {"TransactItems"}


def test_the_time_is_told_to_all():
    transaction = Transaction(put(shopping(1), when=absent), put(shopping(2), when=absent))
    for action in transaction.actions(NOW):
        assert action.body["ExpressionAttributeValues"] == {":now": {"N": str(NOW)}}
    with pytest.raises(ValueError, match="it needs now="):
        transaction.request()


def test_a_transaction_has_the_names_of_its_operations():
    assert Transaction(put(book(1)), put(book(2)), delete(shop())).name == "put Book + delete Shop"


async def test_all_is_done_together(table):
    await table.transact(put(book(1), when=absent), put(shop(), when=absent))
    await table.transact(delete(book(1)), update(shop(), the(Shop.note).becomes("x")), put(book(2)))
    assert await table.read(book(1)) is None
    assert await table.read(book(2)) == book(2)
    assert await table.read(shop()) == shop(note="x", version=2)


async def test_the_same_token_does_it_once(table):
    await table.write(put(Tally(place="here", lots=set()), when=absent))
    request = Transaction(update(Tally.one("here"), the(Tally.votes).add(1))).request(token="once")
    for _ in range(3):
        await table.engine.call(*request)
    assert (await table.read(Tally.one("here"))).votes == 1


# --- what is refused before it is sent -------------------------------------------------------------------------------


def test_a_transaction_of_nothing_is_refused():
    with pytest.raises(TransactionRefused, match="does nothing"):
        Transaction()


async def test_a_hundred_actions_are_possible_and_one_more_is_not(table):
    books = [put(book(number), when=absent) for number in range(1, 102)]
    await table.transact(*books[:100])
    assert len(await table.rows()) == 100
    with pytest.raises(TransactionRefused, match="101 actions, 0 of them for guard rows"):
        Transaction(*books)


def test_guard_rows_count():
    shops = [put(shop(number, f"shop {number}"), when=absent) for number in range(1, 52)]
    assert len(Transaction(*shops[:50]).actions()) == 100
    with pytest.raises(TransactionRefused, match="102 actions, 51 of them for guard rows"):
        Transaction(*shops)
    with pytest.raises(TransactionRefused, match="101 actions"):
        Transaction(*shops[:49], update(shop(60), the(Shop.name).becomes("x")))


EACH_TWICE: list[tuple[Callable[[], Any], Callable[[], Any], str]] = [
    (lambda: put(book()), lambda: delete(book()), r"put Book \(BOOK#.*, BOOK\) at 0 and delete Book \(.*\) at 1"),
    (lambda: put(book()), lambda: put(book(order=2)), "put Book .* at 0 and put Book .* at 1"),
    (lambda: check(book(), when=present), lambda: delete(book()), "check Book .* at 0 and delete Book .* at 1"),
    (
        lambda: check(book(), when=present),
        lambda: check(book(), when=the(Book.order) == 1),
        "check Book .* at 0 and check Book .* at 1",
    ),
    (
        lambda: put(shop(1, "Aldi"), when=absent),
        lambda: put(shop(2, "ALDI"), when=absent),
        "the guard of name 'Aldi' of put Shop .* at 0 and the guard of name 'ALDI' of put Shop .* at 1",
    ),
    (
        lambda: update(shop(1, "Aldi"), the(Shop.name).becomes("Lidl")),
        lambda: put(shop(2, "Aldi"), when=absent),
        "the guard of name 'Aldi' of update Shop .* at 0 and the guard of name 'Aldi' of put Shop .* at 1",
    ),
    (
        lambda: delete(shop(1, "Aldi")),
        lambda: update(shop(2, "Lidl"), the(Shop.name).becomes("aldi")),
        "the guard of name 'Aldi' of delete Shop .* at 0 and the guard of name 'aldi' of update Shop .* at 1",
    ),
]


@pytest.mark.parametrize(("first", "second", "both"), EACH_TWICE)
def test_one_item_is_not_touched_twice(first, second, both):
    with pytest.raises(TransactionRefused, match=f"{both} touch the same item"):
        Transaction(first(), second())


def test_nor_by_the_same_operation_given_twice():
    once = check(book(), when=the(Book.order) == 1)
    with pytest.raises(TransactionRefused, match="touch the same item"):
        Transaction(once, once)


rooms = Table("Rooms", "PK", "SK")
Code = Annotated[str, Meta(min_length=1, max_length=20)]


def test_an_item_that_is_another_ones_guard_is_not_touched_twice():
    guard = put(shop(1, "Aldi"), when=absent).writes[1]
    # On the same table it would not be allowed.
    again = Table(inventory.name, "PK", "SK", type_attribute="entityType")

    class Found(Entity, table=again, type="Found", key=("FAMILY#{family_id}", "UNIQUE#SHOP#{word}")):
        """A row that lies where the guard of a shop's name would."""

        family_id: UUID
        word: Code

        @get
        def one(family_id: UUID, word: str) -> None:
            """Which one is this?"""

    found = delete(Found.one(FAMILY, "aldi"))
    assert found.key == guard.key
    with pytest.raises(
        TransactionRefused, match=r"delete Found .* at 0 and the guard of name 'Aldi' of put Shop .* at 1"
    ):
        Transaction(found, put(shop(1, "Aldi"), when=absent))


def test_the_same_key_in_another_table_is_another_item():
    class Room(Entity, table=rooms, key=("BOOK#{book_id}", "BOOK")):
        """A row with a book's key."""

        book_id: UUID

    room = put(Room(book_id=UUID(int=1)))
    assert room.key == put(book(1)).key
    assert Transaction(room, put(book(1))).actions()


class Crate(Entity, table=rooms, key=("CRATE#{number:03}", "CRATE")):
    """A big row."""

    number: Annotated[int, Meta(ge=0, le=999)]
    content: str

    @get
    def one(number: int) -> None:
        """Which crate is this?"""


@pytest.mark.parametrize(
    "operation",
    [
        put,
        delete,
        lambda crate: update(crate, the(Crate.content).becomes("")),
        lambda crate: update(Crate.one(crate.number), the(Crate.content).becomes(crate.content)),
    ],
)
def test_more_than_four_megabytes_are_refused(operation):
    crates = [Crate(number=number, content="x" * 380_000) for number in range(12)]
    assert Transaction(*map(operation, crates[:11])).actions()
    with pytest.raises(TransactionRefused, match="at most 4194304 are possible"):
        Transaction(*map(operation, crates))


# --- which operation was in the way ----------------------------------------------------------------------------------


async def test_the_operation_that_was_refused_is_told_with_its_item(table):
    await table.transact(put(book(1, order=5), when=absent), put(shop(1), when=absent), put(shopping(1), when=absent))
    fine = put(book(9), when=absent)
    for operation, error, current in [
        (put(book(1), when=absent), AlreadyExists, book(1, order=5)),
        (check(book(1), when=the(Book.order) == 4), ConditionFailed, book(1, order=5)),
        (update(Book.one(UUID(int=7)), the(Book.order).becomes(1), the(Book.library_id).still(None)), NotFound, None),
        (update(shop(1, version=3), the(Shop.note).becomes("x")), VersionConflict, shop(1)),
        (delete(shop(1, version=3)), VersionConflict, shop(1)),
        (
            update(shopping(1, store_id=FAMILY), the(ShoppingListItem.status).becomes("purchased")),
            Changed,
            shopping(1),
        ),
    ]:
        before = await table.rows()
        with pytest.raises(error) as refused:
            await table.transact(fine, put(shop(5, "Lidl"), when=absent), operation, check(book(99), when=absent))
        assert type(refused.value) is error
        assert refused.value.position == 2
        assert refused.value.operation is operation
        assert refused.value.current == current
        assert await table.rows() == before


async def test_of_several_the_first_is_told(table):
    await table.transact(put(book(1)), put(book(2)))
    with pytest.raises(AlreadyExists) as refused:
        await table.transact(put(book(3), when=absent), put(book(2), when=absent), put(book(1), when=absent))
    assert refused.value.position == 1
    assert refused.value.current == book(2)


async def test_an_operation_sent_on_its_own_has_a_position_only_in_its_own_transaction(table):
    await table.write(put(shop(), when=absent))
    with pytest.raises(VersionConflict) as refused:
        await table.write(update(shop(version=7), the(Shop.note).becomes("x")))
    assert refused.value.position is None


def test_a_cancellation_that_no_condition_caused_stays_what_it_is():
    error = DynamoError(
        "TransactionCanceledException", "…", reasons=[{"Code": "None"}, {"Code": "TransactionConflict"}]
    )
    assert Transaction(put(book(1)), put(book(2))).explain(error) is error


def test_a_refusal_among_conflicts_is_told():
    reasons = [{"Code": "TransactionConflict"}, {"Code": "ConditionalCheckFailed"}]
    error = DynamoError("TransactionCanceledException", "…", reasons=reasons)
    refusal = Transaction(put(book(1)), put(book(2), when=absent)).explain(error)
    assert type(refusal) is AlreadyExists
    assert refusal.position == 1
