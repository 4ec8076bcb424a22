"""Conditions as text: exact, readable, and with the meaning they have in the program."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.dynamo.expressions import Placeholders, condition
from potluck.dynamo.limits import EXPRESSION_BYTES
from potluck.table import Entity, InvalidValue, Table, absent, present, the
from potluck.table.entity import plan_of
from potluck.table.expressions import Expressions, equals
from potluck.table.expressions.conditions import (
    All,
    Among,
    Between,
    Compared,
    Condition,
    Either,
    FieldName,
    IsNone,
    IsThere,
    Not,
)
from tests.table.pantry import Book, InventoryItem, Invitation, Label, Noted, Shop, ShoppingListItem, Tally

NOW = 1_765_000_000
SOME_ID = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")


def written(asked: Condition, entity: type[Entity] | None = None) -> tuple[str, dict[str, str], dict[str, Any]]:
    """The text of a condition, its names and its values."""
    expressions = Expressions(plan_of(entity) if entity else None, NOW)
    text = expressions.condition(asked)
    members = expressions.attributes()
    return text, members.get("ExpressionAttributeNames", {}), members.get("ExpressionAttributeValues", {})


def text_of(asked: Condition, entity: type[Entity] | None = None) -> str:
    return written(asked, entity)[0]


# --- one test --------------------------------------------------------------------------------------------------------


def test_a_comparison_names_its_placeholders_after_the_attribute():
    assert written(the(ShoppingListItem.item_id) == SOME_ID) == (
        "#itemId = :itemId",
        {"#itemId": "itemId"},
        {":itemId": {"S": str(SOME_ID)}},
    )


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (the(InventoryItem.quantity) != 3, "#quantity <> :quantity"),
        (the(InventoryItem.quantity) < 3, "#quantity < :quantity"),
        (the(InventoryItem.quantity) <= 3, "#quantity <= :quantity"),
        (the(InventoryItem.quantity) > 3, "#quantity > :quantity"),
        (the(InventoryItem.quantity) >= 3, "#quantity >= :quantity"),
        (3 > the(InventoryItem.quantity), "#quantity < :quantity"),  # noqa: SIM300
        (the(InventoryItem.quantity) <= the(InventoryItem.threshold), "#quantity <= #threshold"),
        (the(InventoryItem.quantity).between(1, 9), "#quantity BETWEEN :quantity AND :quantity_2"),
        (the(InventoryItem.quantity).among(1, 2, 1), "#quantity IN (:quantity, :quantity_2)"),
        (the(ShoppingListItem.name).begins_with("Mil"), "begins_with(#name, :name)"),
        (the(ShoppingListItem.updated_at).begins_with("2025-12"), "begins_with(#updatedAt, :updatedAt)"),
        (the(ShoppingListItem.name).contains("il"), "contains(#name, :name)"),
        (the(Tally.tags).contains("red"), "contains(#tags, :tags)"),
        (the(Tally.tags) == {"red"}, "#tags = :tags"),
        (the(Tally.tags) == frozenset(), "attribute_not_exists(#tags)"),
        (the(Tally.tags) != frozenset(), "attribute_exists(#tags)"),
        (the(Book.order).is_none(), "attribute_not_exists(#order) OR #order = :null"),
        (the(Book.order).is_there(), "attribute_exists(#order) AND #order <> :null"),
    ],
)
def test_every_test_has_its_text(asked, text):
    assert text_of(asked) == text


def test_what_is_not_a_whole_value_need_not_be_a_valid_one():
    # The name has at least one character; a beginning of it need not.
    assert text_of(the(ShoppingListItem.name).begins_with("")) == "begins_with(#name, :name)"
    assert text_of(the(ShoppingListItem.name).contains("")) == "contains(#name, :name)"


@pytest.mark.parametrize(
    "compare",
    [
        lambda field: field == None,  # noqa: E711
        lambda field: field != None,  # noqa: E711
        lambda field: field < None,
        lambda field: field.among(None),
        lambda field: field.between(1, None),
    ],
)
def test_none_is_not_compared_with(compare):
    with pytest.raises(ValueError, match=r"None: use is_(none|there)\(\)"):
        compare(the(Book.order))


def test_equal_to_none_says_which_word_to_use():
    with pytest.raises(ValueError, match=r"the\(Book.order\) == None: use is_none\(\)"):
        the(Book.order) == None  # noqa: B015, E711


@pytest.mark.parametrize("stored", [{}, {"order": {"NULL": True}}])
def test_none_is_null_as_well_as_missing(stored):
    assert holds(the(Book.order).is_none(), stored)
    assert not holds(the(Book.order).is_there(), stored)


def test_a_value_is_there():
    assert holds(the(Book.order).is_there(), {"order": {"N": "0"}})
    assert not holds(the(Book.order).is_none(), {"order": {"N": "0"}})


@pytest.mark.parametrize(
    ("value", "matches", "does_not"),
    [
        # Rows from before there was a status read as pending.
        (the(ShoppingListItem.status).still("pending"), [{}, {"status": {"S": "pending"}}], [{"status": {"S": "p"}}]),
        (the(ShoppingListItem.status).still("purchased"), [{"status": {"S": "purchased"}}], [{}]),
        (the(ShoppingListItem.name).still("Milk"), [{"name": {"S": "Milk"}}], [{}, {"name": {"S": "milk"}}]),
        (the(Book.order).still(None), [{}, {"order": {"NULL": True}}], [{"order": {"N": "0"}}]),
        (the(Book.library_id).still(None), [{}, {"libraryId": {"NULL": True}}], [{"libraryId": {"S": "x"}}]),
        (the(Tally.tags).still(frozenset()), [{}], [{"tags": {"SS": ["a"]}}]),
        (the(Tally.lots).still({2, 1}), [{"lots": {"NS": ["2", "1"]}}], [{}, {"lots": {"NS": ["1"]}}]),
    ],
)
def test_still_is_what_a_reader_finds(value, matches, does_not):
    assert all(holds(value, item) for item in matches)
    assert not any(holds(value, item) for item in does_not)


# --- several tests ---------------------------------------------------------------------------------------------------


def test_parts_are_wrapped_only_where_they_must_be():
    low, named = the(InventoryItem.quantity) < 3, the(InventoryItem.name) == "Milk"
    active = the(InventoryItem.status) == "active"
    assert text_of(low & named & active) == "#quantity < :quantity AND #name = :name AND #status = :status"
    assert text_of((low | named) & active) == "(#quantity < :quantity OR #name = :name) AND #status = :status"
    assert text_of(low | named & active) == "#quantity < :quantity OR #name = :name AND #status = :status"
    assert text_of(~low) == "NOT #quantity < :quantity"
    assert text_of(~(low & named)) == "NOT (#quantity < :quantity AND #name = :name)"
    assert text_of(~low & ~named) == "NOT #quantity < :quantity AND NOT #name = :name"
    assert text_of(~~low) == "NOT (NOT #quantity < :quantity)"
    assert (
        text_of(the(InventoryItem.shelf).is_none() & low)
        == "(attribute_not_exists(#shelf) OR #shelf = :null) AND #quantity < :quantity"
    )


def test_a_condition_is_not_true_or_false_in_the_program():
    with pytest.raises(TypeError, match="combine conditions with &"):
        bool(the(InventoryItem.quantity) == 1)
    with pytest.raises(TypeError, match="combine conditions with"):
        1 < the(InventoryItem.quantity) < 5  # noqa: B015


def test_the_same_value_gets_the_same_placeholder_and_another_gets_another():
    quantity = the(InventoryItem.quantity)
    text, _, values = written((quantity == 1) | (quantity == 2) | (quantity != 1))
    assert text == "#quantity = :quantity OR #quantity = :quantity_2 OR #quantity <> :quantity"
    assert values == {":quantity": {"N": "1"}, ":quantity_2": {"N": "2"}}


def test_placeholders_that_would_be_alike_are_told_apart():
    # :name_2 is the second value of name, and the first of name_2.
    text, names, values = written(the(Label.name).among("a", "b") & (the(Label.second) == "c"))
    assert text == "#name IN (:name, :name_2) AND #name_2 = :name_2_2"
    assert names == {"#name": "name", "#name_2": "name_2"}
    assert values == {":name": {"S": "a"}, ":name_2": {"S": "b"}, ":name_2_2": {"S": "c"}}

    expressions = Expressions()
    assert [expressions.name("a.b"), expressions.name("a-b"), expressions.name("a.b")] == ["#a_b", "#a_b_2", "#a_b"]


def test_reserved_words_and_our_own_words_are_attributes_like_any_other():
    asked = (the(Label.size) == 2) & the(Label.status).is_none() & (the(Label.null) == "") & (the(Label.now) == NOW)
    assert holds(
        asked & (the(Label.one) == 3),
        {"size": {"N": "2"}, "null": {"S": ""}, "now": {"N": str(NOW)}, "one": {"N": "3"}},
    )


def test_the_item_itself_is_there_unless_it_has_expired():
    assert written(absent, Book) == ("attribute_not_exists(#PK)", {"#PK": "PK"}, {})
    assert written(present, Book) == ("attribute_exists(#PK)", {"#PK": "PK"}, {})
    assert text_of(absent, Invitation) == "attribute_not_exists(#PK) OR #ttl <= :now"
    assert text_of(present, Invitation) == "attribute_exists(#PK) AND NOT #ttl <= :now"
    assert text_of(present & (the(Invitation.code) == "x"), Invitation) == (
        "attribute_exists(#PK) AND NOT #ttl <= :now AND #code = :code"
    )


def test_whether_an_item_is_there_is_not_asked_by_queries():
    with pytest.raises(ValueError, match="items that a query finds exist"):
        text_of(absent)


def test_an_entity_that_expires_needs_the_time():
    with pytest.raises(ValueError, match="Invitation expires, so it needs now="):
        Expressions(plan_of(Invitation)).condition(present)


def test_an_expression_too_long_for_the_service_is_not_sent():
    asked = [the(Label.name).begins_with("x" * size) for size in range(150)]
    longest = Either(tuple(asked[:120]))
    assert EXPRESSION_BYTES * 0.8 < len(text_of(longest)) <= EXPRESSION_BYTES
    with pytest.raises(ValueError, match="at most 4096"):
        text_of(Either(tuple(asked)))


def test_at_most_a_hundred_values_are_compared_with_at_once():
    assert text_of(the(Label.size).among(*range(100)))
    with pytest.raises(ValueError, match="at most 100"):
        text_of(the(Label.size).among(*range(101)))
    with pytest.raises(ValueError, match="needs at least one value"):
        the(Label.size).among()


# --- refused ---------------------------------------------------------------------------------------------------------


def test_a_field_of_another_entity_is_refused():
    with pytest.raises(ValueError, match=r"the\(Book.title\) is not a field of Shop"):
        text_of(the(Book.title) == "x", Shop)


def test_a_field_of_a_class_that_the_entity_is_made_of_is_its_own():
    assert text_of(the(Noted.note) == "x", Shop) == "#note = :note"
    assert text_of(the(Shop.note) == "x", Shop) == "#note = :note"
    with pytest.raises(ValueError, match=r"the\(Noted.note\) is not a field of Book"):
        text_of(the(Noted.note) == "x", Book)


def test_only_a_field_of_a_class_can_be_meant():
    book = Book(book_id=SOME_ID, owner_id="me", title="Emma")
    with pytest.raises(TypeError, match="takes a field of a class"):
        the(book.title)


def test_a_value_in_the_key_only_cannot_be_compared():
    with pytest.raises(ValueError, match=r"the\(Tally.place\) is stored in the key only"):
        text_of(the(Tally.place) == "here")


@pytest.mark.parametrize(
    "asked",
    [
        the(InventoryItem.quantity) == "3",
        the(InventoryItem.quantity) == -1,
        the(InventoryItem.quantity) == Decimal(3),
        the(ShoppingListItem.status) == "lost",
        the(ShoppingListItem.item_id) == str(SOME_ID),
        the(InventoryItem.quantity).among(1, "2"),
        the(InventoryItem.quantity).between(5, 1),
        the(InventoryItem.quantity).begins_with("1"),
        the(InventoryItem.quantity).contains(1),
        the(Tally.tags).contains(7),
        the(Tally.tags) < frozenset("a"),
        the(ShoppingListItem.status).still("lost"),
        the(ShoppingListItem.status).still(None),
    ],
)
def test_a_value_that_the_field_cannot_have_is_refused(asked):
    with pytest.raises(InvalidValue):
        text_of(asked)


def test_fields_that_never_compare_are_refused():
    with pytest.raises(ValueError, match="different types"):
        text_of(the(InventoryItem.quantity) == the(InventoryItem.name))
    with pytest.raises(ValueError, match="with itself"):
        the(InventoryItem.quantity) == the(InventoryItem.quantity)  # noqa: B015


def test_equals_takes_none_as_a_value():
    assert equals(plan_of(Book), "order", None) == IsNone(FieldName(Book, "order"))
    assert equals(plan_of(Book), "order", 3) == Compared(FieldName(Book, "order"), "=", 3)


# --- meaning ---------------------------------------------------------------------------------------------------------


def holds(asked: Condition, item: dict[str, Any], entity: type[Entity] | None = None) -> bool:
    """What the engine makes of the text of a condition; every placeholder must be used."""
    text, names, values = written(asked, entity)
    request: dict[str, Any] = {"ExpressionAttributeNames": names}
    if values:
        request["ExpressionAttributeValues"] = values
    placeholders = Placeholders(request)
    program = condition("ConditionExpression", text, placeholders)
    placeholders.check_all_used()
    return program.matches(item)


numbers = Table("Numbers", "PK")


class Triple(Entity, table=numbers, key="TRIPLE#{triple_id}"):
    """Three numbers that may be missing."""

    triple_id: UUID
    a: int | None = None
    b: int | None = None
    c: int | None = None


FIELDS = [FieldName(Triple, name) for name in "abc"]
SMALL = st.integers(0, 3)
TESTS = st.one_of(
    st.builds(Compared, st.sampled_from(FIELDS), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), SMALL),
    st.builds(Among, st.sampled_from(FIELDS), st.lists(SMALL, min_size=1, max_size=3).map(tuple)),
    st.builds(
        lambda field, ends: Between(field, min(ends), max(ends)), st.sampled_from(FIELDS), st.tuples(SMALL, SMALL)
    ),
    st.builds(IsNone, st.sampled_from(FIELDS)),
    st.builds(IsThere, st.sampled_from(FIELDS)),
)
CONDITIONS = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        st.builds(lambda one, other: one & other, inner, inner),
        st.builds(lambda one, other: one | other, inner, inner),
        st.builds(Not, inner),
    ),
    max_leaves=12,
)


def means(asked: Condition, values: dict[str, int | None]) -> bool:
    """What a condition means, told without DynamoDB's language."""
    match asked:
        case All(parts):
            return all(means(part, values) for part in parts)
        case Either(parts):
            return any(means(part, values) for part in parts)
        case Not(part):
            return not means(part, values)
    value = values[asked.field.name]
    match asked:
        case IsNone():
            return value is None
        case IsThere():
            return value is not None
        case Compared(_, "<>", operand):
            return value != operand
        case Compared(_, operator, operand):
            compare = {"=": int.__eq__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}[operator]
            return value is not None and compare(value, operand)
        case Among(_, candidates):
            return value in candidates
        case Between(_, low, high):
            return value is not None and low <= value <= high
    raise AssertionError(asked)


@settings(max_examples=200)
@given(CONDITIONS, st.tuples(*[st.none() | SMALL] * 3))
def test_the_text_means_what_was_asked(asked, numbers):
    values = dict(zip("abc", numbers, strict=True))
    item = {name: {"N": str(value)} for name, value in values.items() if value is not None}
    assert holds(asked, item) == means(asked, values)
