"""Updates of many items that are made alike: each is the one that `update` would make of the item."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.dynamo.errors import DynamoError
from potluck.table import Changed, the, update
from potluck.table.entity import plan_of
from potluck.table.operations import alike, explain_failure
from potluck.table.operations.alike import AlikeUpdates
from tests.table.pantry import Book, InventoryItem, ShoppingListItem
from tests.table.sending import NOW
from tests.table.test_left_out import Poll
from tests.table.test_operations import NOON

HERE = UUID(int=7)
NAMES = st.text("aÉ #_", min_size=1, max_size=3)

books = st.builds(
    Book,
    book_id=st.uuids(),
    owner_id=st.just("ada"),
    library_id=st.none() | st.just(HERE),
    title=NAMES,
    collection_name=st.none() | NAMES,
    order=st.none() | st.integers(0, 3),
)
things = st.builds(
    InventoryItem,
    family_id=st.just(HERE),
    item_id=st.uuids(),
    name=NAMES,
    quantity=st.integers(0, 2),
    threshold=st.integers(0, 2),
    shelf=st.none() | st.integers(-1, 1),
)
polls = st.builds(Poll, poll_id=st.uuids(), seats=st.integers(1, 2))
wanted = st.builds(
    ShoppingListItem,
    family_id=st.just(HERE),
    shopping_item_id=st.uuids(),
    name=NAMES,
    updated_at=st.just(NOON),
    quantity=st.none() | st.integers(1, 2),
)

ASKED = {
    "renamed": lambda it: ([the(Book.collection_name).becomes("Foo")], the(Book.library_id).still(it.library_id)),
    "taken out": lambda it: (
        [the(Book.collection_name).becomes(None), the(Book.order).becomes(None)],
        the(Book.order).still(it.order),
    ),
    "titled": lambda it: ([the(Book.title).becomes("Bar")], None),
    "untitled again": lambda it: ([the(Book.title).becomes("Bar")], the(Book.title).still(it.title)),
    "moved": lambda it: ([the(InventoryItem.shelf).becomes(1)], the(InventoryItem.name).still(it.name)),
    "counted": lambda it: ([the(InventoryItem.quantity).becomes(1)], the(InventoryItem.shelf).still(it.shelf)),
    "one more": lambda it: ([the(InventoryItem.version).still(it.version), the(InventoryItem.shelf).becomes(2)], None),
    "opened": lambda it: ([the(Poll.policy).becomes("codes")], None),
    "noted": lambda it: ([the(ShoppingListItem.notes).becomes("x")], the(ShoppingListItem.quantity).still(it.quantity)),
}
OF = {Book: books, InventoryItem: things, Poll: polls, ShoppingListItem: wanted}
KINDS = dict.fromkeys(("renamed", "taken out", "titled", "untitled again"), Book)
KINDS |= {"moved": InventoryItem, "counted": InventoryItem, "one more": InventoryItem}
KINDS |= {"opened": Poll, "noted": ShoppingListItem}


@pytest.mark.parametrize("change", ASKED)
@settings(max_examples=30)
@given(data=st.data())
def test_each_is_what_update_would_make(change, data):
    asked = ASKED[change]
    updates = AlikeUpdates()
    for item in data.draw(st.lists(OF[KINDS[change]], min_size=2, max_size=8)):
        changes, when = asked(item)
        expected, made = (
            update(item, *changes, when=when, keep_version=True),
            updates.update(item, *changes, when=when),
        )
        assert made.actions(NOW) == expected.actions(NOW)
        (ours,), (theirs,) = made.writes, expected.writes
        assert (ours.clauses, ours.condition, ours.size()) == (theirs.clauses, theirs.condition, theirs.size())
        assert (made.version, made.when, made.repeatable) == (expected.version, expected.when, expected.repeatable)


def renamed(updates, book):
    changes, when = ASKED["renamed"](book)
    return updates.update(book, *changes, when=when)


def test_the_text_is_written_once_for_items_that_have_the_same_attributes(monkeypatch):
    written = []
    monkeypatch.setattr(
        alike, "update", lambda item, *said, **more: written.append(item) or update(item, *said, **more)
    )
    updates = AlikeUpdates()
    for number in range(20):
        renamed(
            updates, Book(book_id=UUID(int=number), owner_id="ada", library_id=HERE, title=f"T{number}", order=number)
        )
    assert [each.title for each in written] == ["T0"]


def test_a_refusal_tells_what_of_this_item_was_changed():
    updates = AlikeUpdates()
    one, other = [Book(book_id=UUID(int=n), owner_id="ada", library_id=HERE, title=f"T{n}", order=n) for n in (1, 2)]
    renamed(updates, one)
    stored = plan_of(Book).coding.encode(Book(book_id=UUID(int=2), owner_id="ada", library_id=HERE, title="X", order=2))
    refusal = explain_failure(
        renamed(updates, other), DynamoError("ConditionalCheckFailedException", "refused", stored)
    )
    assert isinstance(refusal, Changed)
    assert "title" in str(refusal)
    assert refusal.current.title == "X"
