"""What put, update, delete and check are sent as, and what they refuse before anything is sent."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from potluck.dynamo.limits import EXPRESSION_BYTES
from potluck.table import InvalidValue, absent, check, delete, present, put, the, update
from tests.table.pantry import Book, Invitation, Label, ShoppingListItem, Tally, inventory
from tests.table.sending import NOW, opened

FAMILY = UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")
SHOPPING = UUID("8f14e45f-ceea-467a-9b36-34f6c3b3e7d1")
LINKED = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
STORE = UUID("123e4567-e89b-12d3-a456-426614174000")
NOON = datetime(2025, 12, 10, 12, tzinfo=UTC)

KEY = {"PK": {"S": f"FAMILY#{FAMILY}"}, "SK": {"S": f"SHOPPING#{SHOPPING}"}}
ITEM_NAMES = {"#PK": "PK", "#ttl": "ttl", "#version": "version"}


def shopping(**values: Any) -> ShoppingListItem:
    known = {"family_id": FAMILY, "shopping_item_id": SHOPPING, "name": "Paper Towels", "updated_at": NOON}
    return ShoppingListItem(**{**known, **values})


def book(**values: Any) -> Book:
    return Book(**{"book_id": LINKED, "owner_id": "ada", "title": "Emma", **values})


def tally(**values: Any) -> Tally:
    return Tally(**{"place": "here", "lots": set(), **values})


@pytest.fixture
async def table():
    async with opened(inventory) as table:
        yield table


# --- put -------------------------------------------------------------------------------------------------------------


def test_a_put_is_the_whole_row():
    operation, body = put(book(order=3)).request()
    assert operation == "PutItem"
    assert body == {
        "TableName": "InventoryManagement",
        "Item": {
            "PK": {"S": f"BOOK#{LINKED}"},
            "SK": {"S": "BOOK"},
            "entityType": {"S": "Book"},
            "bookId": {"S": str(LINKED)},
            "ownerId": {"S": "ada"},
            "title": {"S": "Emma"},
            "order": {"N": "3"},
        },
    }


def test_a_put_of_what_must_not_be_there_yet():
    _, body = put(book(), when=absent).request()
    del body["Item"]
    assert body == {
        "TableName": "InventoryManagement",
        "ConditionExpression": "attribute_not_exists(#PK)",
        "ExpressionAttributeNames": {"#PK": "PK"},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def test_a_put_over_what_has_expired_but_is_still_stored():
    _, body = put(shopping(), when=absent).request(NOW)
    assert body["ConditionExpression"] == "attribute_not_exists(#PK) OR #ttl <= :now"
    assert body["ExpressionAttributeNames"] == {"#PK": "PK", "#ttl": "ttl"}
    assert body["ExpressionAttributeValues"] == {":now": {"N": str(NOW)}}


def test_a_condition_of_a_put_wants_the_item_to_be_there():
    _, body = put(book(), when=the(Book.title) == "Ema").request()
    assert body["ConditionExpression"] == "attribute_exists(#PK) AND #title = :title"
    _, body = put(book(), when=absent | (the(Book.title) == "Ema")).request()
    assert body["ConditionExpression"] == "attribute_not_exists(#PK) OR #title = :title"


@pytest.mark.parametrize("when", [None, present, the(ShoppingListItem.name) == "x"])
def test_what_has_a_version_is_not_put_over_another(when):
    with pytest.raises(ValueError, match=r"ShoppingListItem has a version.*use when=absent, or update"):
        put(shopping(), when=when)


@pytest.mark.parametrize("when", [None, present])
def test_what_is_unique_is_not_put_over_another(when):
    with pytest.raises(ValueError, match=r"Invitation has a unique field.*use when=absent"):
        put(Invitation(invitation_id=LINKED, code="abc"), when=when)


def test_an_entity_with_a_wrong_value_is_not_put():
    with pytest.raises(InvalidValue, match=r"Book.order"):
        put(book(order="third"))


# --- update ----------------------------------------------------------------------------------------------------------


def test_the_update_of_an_item_whose_inventory_item_was_deleted():
    seen = shopping(item_id=LINKED, version=2)
    operation, body = update(
        seen, the(ShoppingListItem.item_id).becomes(None), the(ShoppingListItem.updated_at).becomes(NOON)
    ).request(NOW)
    assert operation == "UpdateItem"
    assert body == {
        "TableName": "InventoryManagement",
        "Key": KEY,
        "UpdateExpression": "SET #itemId = :itemId, #updatedAt = :updatedAt, #version = #version + :one "
        "REMOVE #GSI1PK, #GSI1SK",
        "ConditionExpression": "attribute_exists(#PK) AND NOT #ttl <= :now AND #version = :version",
        "ExpressionAttributeNames": {
            "#itemId": "itemId",
            "#updatedAt": "updatedAt",
            "#GSI1PK": "GSI1PK",
            "#GSI1SK": "GSI1SK",
            **ITEM_NAMES,
        },
        "ExpressionAttributeValues": {
            ":itemId": {"NULL": True},
            ":updatedAt": {"S": "2025-12-10T12:00:00Z"},
            ":one": {"N": "1"},
            ":now": {"N": str(NOW)},
            ":version": {"N": "2"},
        },
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ReturnValues": "ALL_NEW",
    }


def test_an_update_of_one_part_of_an_index_key_writes_the_key_and_holds_on_to_the_other_part():
    seen = shopping(store_id=STORE, version=2)
    _, body = update(seen, the(ShoppingListItem.status).becomes("purchased")).request(NOW)
    assert body["UpdateExpression"] == (
        "SET #status = :status, #GSI3PK = :GSI3PK, #GSI3SK = :GSI3SK, #version = #version + :one"
    )
    assert body["ConditionExpression"] == (
        "attribute_exists(#PK) AND NOT #ttl <= :now AND #version = :version AND #storeId = :storeId"
    )
    assert body["ExpressionAttributeValues"] == {
        ":status": {"S": "purchased"},
        ":GSI3PK": {"S": f"FAMILY#{FAMILY}#SHOPPING"},
        ":GSI3SK": {"S": f"STORE#{STORE}#STATUS#purchased"},
        ":one": {"N": "1"},
        ":now": {"N": str(NOW)},
        ":version": {"N": "2"},
        ":storeId": {"S": str(STORE)},
    }


def test_an_item_at_its_first_version_may_be_one_from_before_there_were_versions():
    _, body = update(shopping(), the(ShoppingListItem.name).becomes("Milk")).request(NOW)
    assert body["UpdateExpression"] == "SET #name = :name, #version = if_not_exists(#version, :version) + :one"
    assert body["ConditionExpression"] == (
        "attribute_exists(#PK) AND NOT #ttl <= :now AND (attribute_not_exists(#version) OR #version = :version)"
    )


def test_an_update_without_a_version_only_wants_the_item_to_be_there():
    changes = the(Book.owner_id).becomes("bob"), the(Book.library_id).becomes(None)
    _, body = update(Book.one(LINKED), *changes).request()
    assert body == {
        "TableName": "InventoryManagement",
        "Key": {"PK": {"S": f"BOOK#{LINKED}"}, "SK": {"S": "BOOK"}},
        # Without a library the book is in no index, whatever its title is.
        "UpdateExpression": "SET #ownerId = :ownerId REMOVE #libraryId, #GSI1PK, #GSI1SK",
        "ConditionExpression": "attribute_exists(#PK)",
        "ExpressionAttributeNames": {
            "#ownerId": "ownerId",
            "#libraryId": "libraryId",
            "#GSI1PK": "GSI1PK",
            "#GSI1SK": "GSI1SK",
            "#PK": "PK",
        },
        "ExpressionAttributeValues": {":ownerId": {"S": "bob"}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ReturnValues": "ALL_NEW",
    }


def test_all_kinds_of_changes_in_one_update():
    _, body = update(
        tally(version=7),
        the(Tally.votes).add(2),
        the(Tally.stock).add(-3),
        the(Tally.weight).add(0.5),
        the(Tally.name).becomes("count"),
        the(Tally.tags).include("red", "blue", "red"),
        the(Tally.lots).exclude(7),
    ).request()
    assert body["UpdateExpression"] == (
        "SET #stock = if_not_exists(#stock, :stock) + :stock_2, #name = :name, #version = #version + :one "
        "ADD #votes :votes, #weight :weight, #tags :tags DELETE #lots :lots"
    )
    assert body["ExpressionAttributeValues"] == {
        ":votes": {"N": "2"},
        ":stock": {"N": "10"},
        ":stock_2": {"N": "-3"},
        ":weight": {"N": "0.5"},
        ":name": {"S": "count"},
        ":tags": {"SS": ["blue", "red"]},
        ":lots": {"NS": ["7"]},
        ":one": {"N": "1"},
        ":version": {"N": "7"},
        ":stock_limit": {"N": "3"},
    }
    assert body["ConditionExpression"] == (
        "attribute_exists(#PK) AND #version = :version AND (attribute_not_exists(#stock) OR #stock >= :stock_limit)"
    )


def test_an_empty_set_is_taken_out():
    _, body = update(tally(version=2), the(Tally.tags).becomes(frozenset()), the(Tally.lots).becomes({1})).request()
    assert body["UpdateExpression"] == "SET #lots = :lots, #version = #version + :one REMOVE #tags"


@pytest.mark.parametrize("target", [tally(), Tally.one("here")])
def test_counting_neither_checks_nor_raises_the_version(target):
    _, body = update(target, the(Tally.votes).add(1)).request()
    assert body["UpdateExpression"] == "ADD #votes :votes"
    assert body["ConditionExpression"] == "attribute_exists(#PK)"


def test_counting_together_with_another_change_raises_the_version():
    _, body = update(tally(version=3), the(Tally.votes).add(1), the(Tally.name).becomes("x")).request()
    assert body["UpdateExpression"] == "SET #name = :name, #version = #version + :one ADD #votes :votes"
    with pytest.raises(ValueError, match="has a version"):
        update(Tally.one("here"), the(Tally.votes).add(1), the(Tally.name).becomes("x"))


def test_the_version_is_kept_when_that_is_said():
    _, body = update(tally(), the(Tally.name).becomes("x"), keep_version=True).request()
    assert body["UpdateExpression"] == "SET #name = :name"
    assert body["ConditionExpression"] == "attribute_exists(#PK)"


@pytest.mark.parametrize("how", [the(Tally.version).still(4), the(Tally.version) == 4])
def test_an_item_that_was_not_read_is_updated_at_a_version_that_is_told(how):
    _, body = update(Tally.one("here"), the(Tally.name).becomes("x"), when=how).request()
    assert body["UpdateExpression"] == "SET #name = :name, #version = #version + :one"
    assert body["ConditionExpression"] == "attribute_exists(#PK) AND #version = :version"


def test_an_item_that_was_not_read_is_not_updated_at_just_any_version():
    with pytest.raises(
        ValueError,
        match=r"update the item that was read, or use the\(Tally.version\).still\(...\), or keep_version=True",
    ):
        update(Tally.one("here"), the(Tally.name).becomes("x"))
    # Either of two versions is not one that is known.
    with pytest.raises(ValueError, match="update the item that was read"):
        update(
            Tally.one("here"),
            the(Tally.name).becomes("x"),
            when=(the(Tally.version) == 1) | (the(Tally.version) == 2),
        )


def test_conditions_come_after_what_the_library_wants():
    stock, name = the(Tally.stock), the(Tally.name)
    _, body = update(tally(version=3), name.becomes("x"), when=(stock > 5) & (name != "y")).request()
    assert body["ConditionExpression"] == (
        "attribute_exists(#PK) AND #version = :version AND #stock > :stock AND #name <> :name_2"
    )
    _, body = update(tally(version=3), name.becomes("x"), when=(stock > 5) | (name != "y")).request()
    assert body["ConditionExpression"] == (
        "attribute_exists(#PK) AND #version = :version AND (#stock > :stock OR #name <> :name_2)"
    )


def test_that_the_item_is_there_need_not_be_said_twice():
    stays, change = the(Book.library_id).still(None), the(Book.owner_id).becomes("bob")
    _, body = update(Book.one(LINKED), change, stays, when=present).request()
    assert body["ConditionExpression"].count("attribute_exists") == 1


def test_an_update_of_what_expires_needs_the_time():
    change = update(shopping(), the(ShoppingListItem.name).becomes("Milk"))
    with pytest.raises(ValueError, match="ShoppingListItem expires, so it needs now="):
        change.request()
    assert change.request(NOW) == change.request(NOW)


def test_words_of_the_language_and_of_this_library_are_names_like_any_other():
    _, body = update(
        Label.read(LINKED),
        the(Label.size).becomes(3),
        the(Label.one).becomes(4),
        the(Label.null).becomes("x"),
        when=(the(Label.one) == 1) & the(Label.status).is_none(),
    ).request()
    assert body["ExpressionAttributeValues"] == {
        ":size": {"N": "3"},
        ":one": {"N": "4"},
        ":null": {"S": "x"},
        ":one_2": {"N": "1"},
        ":null_2": {"NULL": True},
    }


def test_the_biggest_update_of_a_sane_entity_fits():
    seen = shopping(store_id=STORE, item_id=LINKED, version=5)
    _, body = update(
        seen,
        the(ShoppingListItem.item_id).becomes(STORE),
        the(ShoppingListItem.name).becomes("x" * 100),
        the(ShoppingListItem.store_id).becomes(None),
        the(ShoppingListItem.status).becomes("purchased"),
        the(ShoppingListItem.quantity).becomes(3),
        the(ShoppingListItem.notes).becomes("n" * 500),
        the(ShoppingListItem.ttl).becomes(NOW),
        the(ShoppingListItem.updated_at).becomes(NOON),
        when=the(ShoppingListItem.name).still("Paper Towels") & the(ShoppingListItem.notes).is_none(),
    ).request(NOW)
    assert len(body["UpdateExpression"]) + len(body["ConditionExpression"]) < EXPRESSION_BYTES / 4


# --- delete and check ------------------------------------------------------------------------------------------------


def test_a_delete_by_key_asks_nothing():
    operation, body = delete(Book.one(LINKED)).request()
    assert operation == "DeleteItem"
    assert body == {
        "TableName": "InventoryManagement",
        "Key": {"PK": {"S": f"BOOK#{LINKED}"}, "SK": {"S": "BOOK"}},
    }
    assert delete(book()).request() == delete(Book.one(LINKED)).request()


def test_a_delete_of_what_was_read_asks_for_its_version_or_nothing_at_all():
    _, body = delete(tally(version=3)).request()
    assert body["ConditionExpression"] == "attribute_not_exists(#PK) OR #version = :version"
    _, body = delete(shopping(version=3)).request(NOW)
    assert body["ConditionExpression"] == "attribute_not_exists(#PK) OR #ttl <= :now OR #version = :version"


def test_a_delete_by_key_does_not_ask_for_a_version():
    _, body = delete(Tally.one("here")).request()
    assert "ConditionExpression" not in body


def test_a_delete_with_a_condition_wants_the_item_to_be_there():
    _, body = delete(Book.one(LINKED), when=present).request()
    assert body["ConditionExpression"] == "attribute_exists(#PK)"
    _, body = delete(Book.one(LINKED), when=the(Book.order).is_none()).request()
    assert body["ConditionExpression"] == "attribute_exists(#PK) AND (attribute_not_exists(#order) OR #order = :null)"
    _, body = delete(tally(version=3), when=the(Tally.stock) == 0).request()
    assert body["ConditionExpression"] == "attribute_exists(#PK) AND #stock = :stock AND #version = :version"


def test_a_check_alone_is_a_transaction():
    assert check(Book.one(LINKED), when=the(Book.order) == 1).request() == (
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "ConditionCheck": {
                        "TableName": "InventoryManagement",
                        "Key": {"PK": {"S": f"BOOK#{LINKED}"}, "SK": {"S": "BOOK"}},
                        "ConditionExpression": "attribute_exists(#PK) AND #order = :order",
                        "ExpressionAttributeNames": {"#PK": "PK", "#order": "order"},
                        "ExpressionAttributeValues": {":order": {"N": "1"}},
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                }
            ]
        },
    )


def test_a_check_asks_what_it_is_told_and_nothing_else():
    (action,) = check(tally(version=3), when=present).actions()
    assert action.body["ConditionExpression"] == "attribute_exists(#PK)"
    (action,) = check(tally(version=3), when=absent).actions()
    assert action.body["ConditionExpression"] == "attribute_not_exists(#PK)"


# --- what a store asks of an operation -------------------------------------------------------------------------------


def test_what_has_no_condition_can_go_into_a_batch():
    assert put(book()).batchable
    assert delete(Book.one(LINKED)).batchable
    assert not put(book(), when=absent).batchable
    assert not delete(tally()).batchable
    assert not update(book(), the(Book.order).becomes(1)).batchable
    assert not check(book(), when=present).batchable
    (action,) = put(book()).actions()
    assert action.batch() == {"PutRequest": {"Item": action.body["Item"]}}
    (action,) = delete(book()).actions()
    assert action.batch() == {"DeleteRequest": {"Key": action.key}}
    (action,) = update(book(), the(Book.order).becomes(1)).actions()
    with pytest.raises(ValueError, match="Update cannot be in a batch"):
        action.batch()


def test_what_would_count_twice_is_not_repeated():
    counting = the(Tally.votes).add(1)
    assert not update(tally(), counting).repeatable
    assert not update(tally(), the(Tally.stock).add(1), keep_version=True).repeatable
    assert update(tally(), counting, the(Tally.name).becomes("x")).repeatable
    assert update(tally(), the(Tally.tags).include("x"), keep_version=True).repeatable
    assert put(book(), when=absent).repeatable
    assert delete(book()).repeatable
    assert not delete(book(), when=present).repeatable


async def test_an_update_recognises_what_it_left_behind(table):
    before = tally(lots={1, 2}, tags=frozenset({"a"}))
    await table.write(put(before, when=absent))
    change = update(
        before,
        the(Tally.name).becomes("x"),
        the(Tally.votes).add(1),
        the(Tally.tags).becomes(frozenset()),
        the(Tally.lots).exclude(1),
    )
    assert not change.settled_by(await table.row(before))
    after = await table.write(change)
    assert change.settled_by(await table.row(before))
    await table.write(update(after, the(Tally.votes).add(1), the(Tally.name).becomes("x")))
    assert not change.settled_by(await table.row(before))


async def test_an_update_of_sets_recognises_what_it_left_behind(table):
    await table.write(put(tally(lots={1}), when=absent))
    for change in (the(Tally.lots).include(2), the(Tally.tags).include("a"), the(Tally.lots).exclude(1)):
        operation = update(Tally.one("here"), change, keep_version=True)
        assert not operation.settled_by(await table.row(tally()))
        await table.write(operation)
        assert operation.settled_by(await table.row(tally()))


async def test_a_put_recognises_what_it_left_behind(table):
    ours = put(tally(lots={3, 1}), when=absent)
    await table.write(ours)
    assert ours.settled_by(await table.row(tally()))
    assert not put(tally(lots={3}), when=absent).settled_by(await table.row(tally()))


def test_operations_have_a_name_and_say_which_item_they_are_about():
    assert put(book()).name == "put Book"
    assert str(delete(book())) == f"delete Book (BOOK#{LINKED}, BOOK)"
