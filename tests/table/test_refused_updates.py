"""Updates that would leave something stale, wrong or unreadable are refused before anything is sent."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from potluck.table import ComponentsNeeded, InvalidValue, absent, check, delete, present, put, the, update
from tests.table.pantry import Book, InventoryItem, Noted, Shop, ShoppingListItem, Tally
from tests.table.sending import NOW

FAMILY = UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")
SHOPPING = UUID("8f14e45f-ceea-467a-9b36-34f6c3b3e7d1")
LINKED = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
STORE = UUID("123e4567-e89b-12d3-a456-426614174000")
NOON = datetime(2025, 12, 10, 12, tzinfo=UTC)


def shopping() -> ShoppingListItem:
    return ShoppingListItem(family_id=FAMILY, shopping_item_id=SHOPPING, name="Paper Towels", updated_at=NOON)


def book() -> Book:
    return Book(book_id=LINKED, owner_id="ada", title="Emma")


def tally() -> Tally:
    return Tally(place="here", lots=set())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([], "nothing is changed"),
        ([the(Tally.name).still("x")], "nothing is changed"),
        ([the(Tally.name).becomes("x"), the(Tally.name).becomes("y")], "name is changed twice"),
        ([the(Tally.version).becomes(3)], "incremented by the update itself"),
        ([the(Tally.version).add(1)], "incremented by the update itself"),
        ([the(Tally.place).becomes("there")], "stored in the key only"),
        ([the(Book.title).becomes("x")], r"the\(Book.title\) is not a field of Tally"),
        ([the(Noted.note).becomes("x")], r"the\(Noted.note\) is not a field of Tally"),
        ([the(Tally.name).becomes("x"), the(Book.title).still("x")], "is not a field of Tally"),
    ],
)
def test_a_change_that_cannot_be_is_refused(changes, why):
    with pytest.raises(ValueError, match=why):
        update(tally(), *changes)


@pytest.mark.parametrize(
    "change",
    [
        the(Tally.name).becomes(""),
        the(Tally.name).becomes(None),
        the(Tally.stock).becomes(101),
        the(Tally.name).add("x"),
        the(Tally.name).include("x"),
        the(Tally.votes).add(1.5),
        the(Tally.weight).add(float("nan")),
        the(Tally.tags).include(7),
        the(Tally.tags).becomes({7}),
    ],
)
def test_a_change_to_what_the_field_does_not_allow_is_refused(change):
    with pytest.raises(InvalidValue):
        update(tally(), change)


def test_nothing_is_added_to_what_may_be_none():
    with pytest.raises(InvalidValue, match="numbers that are never None"):
        update(shopping(), the(ShoppingListItem.quantity).add(1))


def test_a_condition_on_a_field_of_another_entity_is_refused():
    for make in (put, delete, check, lambda target, when: update(target, the(Book.order).becomes(1), when=when)):
        with pytest.raises(ValueError, match=r"the\(Shop.name\) is not a field of Book"):
            make(book(), when=the(Shop.name) == "x")
        with pytest.raises(InvalidValue):
            make(book(), when=the(Book.order) == -1)


def test_a_field_of_a_class_that_the_entity_is_made_of_can_be_changed():
    shop = Shop(family_id=FAMILY, shop_id=STORE, name="Aldi", version=2)
    _, body = update(shop, the(Noted.note).becomes("cheap"), when=the(Noted.note) == "").request()
    assert body["UpdateExpression"] == "SET #note = :note, #version = #version + :one"


def test_the_key_of_an_item_is_not_changed():
    with pytest.raises(ValueError, match=r"the\(Book.book_id\) is a part of Book's key, which never changes"):
        update(book(), the(Book.book_id).becomes(STORE))


def test_a_part_of_an_index_key_is_not_added_to():
    item = InventoryItem(family_id=FAMILY, item_id=LINKED, name="Milk", quantity=3)
    with pytest.raises(ValueError, match=r"the\(InventoryItem.quantity\) is a part of the key in GSI1: use becomes"):
        update(item, the(InventoryItem.quantity).add(1))
    # Not a part of the key's text, but of the condition that the item is in the index.
    with pytest.raises(ValueError, match=r"the\(InventoryItem.threshold\) is a part of the key in GSI1"):
        update(item, the(InventoryItem.threshold).add(1))


def test_an_update_that_would_leave_an_index_key_stale_says_what_is_missing():
    ref = ShoppingListItem.one(FAMILY, SHOPPING)
    with pytest.raises(ComponentsNeeded) as refused:
        update(ref, the(ShoppingListItem.status).becomes("purchased"), keep_version=True)
    assert refused.value.index == "GSI3"
    assert refused.value.missing == ("store_id",)
    assert "the(ShoppingListItem.store_id).still(...)" in str(refused.value)

    _, body = update(
        ref,
        the(ShoppingListItem.status).becomes("purchased"),
        the(ShoppingListItem.store_id).still(None),
        keep_version=True,
    ).request(NOW)
    assert body["ExpressionAttributeValues"][":GSI3SK"] == {"S": "STORE#UNASSIGNED#STATUS#purchased"}
    assert body["ConditionExpression"].endswith("(attribute_not_exists(#storeId) OR #storeId = :null)")


def test_a_none_that_keeps_an_item_out_of_an_index_is_all_that_need_be_known():
    _, body = update(Book.one(LINKED), the(Book.library_id).becomes(None)).request()
    assert body["UpdateExpression"] == "REMOVE #libraryId, #GSI1PK, #GSI1SK"
    assert body["ConditionExpression"] == "attribute_exists(#PK)"
    _, body = update(Book.one(LINKED), the(Book.order).becomes(3), the(Book.library_id).still(None)).request()
    assert body["UpdateExpression"] == "SET #order = :order REMOVE #GSI1PK, #GSI1SK"
    with pytest.raises(ComponentsNeeded) as refused:
        update(Book.one(LINKED), the(Book.order).becomes(None))
    assert refused.value.missing == ("owner_id", "library_id", "title", "collection_name")


def test_what_might_be_so_is_not_known_to_be_so():
    ref, store = ShoppingListItem.one(FAMILY, SHOPPING), the(ShoppingListItem.store_id)
    change = the(ShoppingListItem.status).becomes("purchased")
    for when in (store.still(None) | store.still(STORE), ~store.still(None), store != STORE):
        with pytest.raises(ComponentsNeeded):
            update(ref, change, when=when, keep_version=True)
    assert update(ref, change, when=(store == STORE) & the(ShoppingListItem.notes).is_none(), keep_version=True)


def test_an_update_does_not_want_the_item_to_be_absent():
    for when in (absent, absent | (the(Book.order) == 1), ~present):
        with pytest.raises(ValueError, match="an update requires an existing item"):
            update(book(), the(Book.order).becomes(1), when=when)
