"""ConditionExpression and FilterExpression: what they refuse, and what they mean."""

import re

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import (
    Placeholders,
    condition,
    refuse_key_attributes,
    refuse_nested_keys,
    repeated_condition,
)

ITEM = {
    "a": {"N": "5"},
    "b": {"S": "hello"},
    "u": {"S": "é€😀"},
    "bb": {"B": "gGI="},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["YQ==", "Yg=="]},
    "t": {"BOOL": True},
    "nul": {"NULL": True},
    "l": {"L": [{"N": "1"}, {"S": "x"}, {"M": {"k": {"N": "2"}}}]},
    "m": {"M": {"x": {"N": "7"}, "y": {"L": [{"SS": ["q", "r"]}]}}},
}
VALUES = {
    ":5": {"N": "5.0"},
    ":7": {"N": "7"},
    ":10": {"N": "10"},
    ":s5": {"S": "5"},
    ":hello": {"S": "hello"},
    ":he": {"S": "he"},
    ":low": {"B": "f2I="},
    ":high": {"B": "gGI="},
    ":b1": {"B": "YQ=="},
    ":ss": {"SS": ["b", "a"]},
    ":a": {"S": "a"},
    ":1": {"N": "1"},
    ":2": {"N": "2"},
    ":4": {"N": "4"},
    ":t": {"BOOL": True},
    ":nul": {"NULL": True},
    ":map": {"M": {"k": {"N": "2.00"}}},
    ":doc": {"M": {"y": {"L": [{"SS": ["r", "q"]}]}, "x": {"N": "7"}}},
    ":list": {"L": []},
    ":type": {"S": "N"},
    ":SS": {"S": "SS"},
}


def placeholders_for(text, values=VALUES):
    used = {key: value for key, value in values.items() if re.search(re.escape(key) + r"\b", text)}
    return Placeholders({"ExpressionAttributeValues": used} if used else {})


def holds(text, item=ITEM):
    return condition("ConditionExpression", text, placeholders_for(text)).matches(item)


def refusal(text, values=VALUES):
    with pytest.raises(DynamoError) as caught:
        condition("ConditionExpression", text, placeholders_for(text, values))
    assert caught.value.code == "ValidationException"
    return caught.value.message.removeprefix("Invalid ConditionExpression: ")


@pytest.mark.parametrize(
    "text",
    [
        "a = :5",
        ":5 = a",
        "a <> :s5",
        "a <> :7",
        "a < :10",
        "a <= :5",
        "a >= :5",
        "a > :4",
        "b > :he",
        "b = :hello",
        "bb = :high",
        "bb > :low",
        "ss = :ss",
        "m = :doc",
        "l[2] = :map",
        "m.x = :7",
        "l[0] = :1",
        "t = :t",
        "nul = :nul",
        "a BETWEEN :4 AND :5",
        "bb between :low and :high",
        "a IN (:7, :s5, :5)",
        ":5 in (l[0], a)",
        "attribute_exists(a)",
        "attribute_exists(m.y[0])",
        "attribute_exists(nul)",
        "attribute_not_exists(q)",
        "attribute_not_exists(m.q)",
        "attribute_not_exists(a.b.c)",
        "attribute_not_exists(l[3])",
        "attribute_type(a, :type)",
        "attribute_type(ss, :SS)",
        "begins_with(b, :he)",
        "begins_with(bb, :high)",
        "contains(b, :he)",
        "contains(ss, :a)",
        "contains(ns, :1)",
        "contains(bs, :b1)",
        "contains(l, :map)",
        "contains(l, :1)",
        "contains(bb, :high)",
        "size(b) = :5",
        "size(u) = :4",
        "size(bb) = :2",
        "size(ss) = :2",
        "size(m) = :2",
        "size(l) < :4",
        "size(:hello) = a",
        # What is not there differs from everything, also from what is not there either.
        "q <> :5",
        "q <> r",
        "size(a) <> :1",
        "NOT q = :5",
        "not not a = :5",
        # NOT binds closer than AND, and AND closer than OR.
        "a = :5 OR a = :7 AND b = :he",
        "NOT a = :7 AND b = :hello",
        "(a = :7 OR a = :5) AND b = :hello",
        "NOT (a = :7 OR b = :he)",
    ],
)
def test_holds(text):
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = :s5",
        "a = :7",
        "a < :5",
        "b < :10",
        "q = :5",
        "q < :5",
        "q >= :5",
        "q = r",
        "q BETWEEN :4 AND :5",
        "a BETWEEN :he AND :hello",
        "q IN (:5)",
        "a IN (:s5)",
        "a IN (q)",
        "attribute_exists(q)",
        "attribute_exists(l[3])",
        "attribute_exists(a[0])",
        "attribute_exists(m[0])",
        "attribute_exists(l.k)",
        "attribute_type(q, :type)",
        "attribute_type(b, :type)",
        "begins_with(a, :he)",
        "begins_with(q, :he)",
        "begins_with(b, :high)",
        "contains(b, :5)",
        "contains(a, :5)",
        "contains(t, :t)",
        "contains(ss, :1)",
        "contains(m, :7)",
        "contains(q, :5)",
        "size(a) = :1",
        "size(t) = :1",
        "size(q) = :1",
        "t < a",
        "l < m",
        "a = :5 AND b = :he",
        "NOT attribute_exists(a)",
    ],
)
def test_does_not_hold(text):
    assert not holds(text)


def test_on_no_item_at_all():
    assert holds("attribute_not_exists(a)", {})
    assert not holds("a = :5", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a < :list", "{}operator or function: <, operand type: L"),
        (":t >= a", "{}operator or function: >=, operand type: BOOL"),
        ("a BETWEEN :ss AND :ss", "{}operator or function: BETWEEN, operand type: SS"),
        ("begins_with(a, :1)", "{}operator or function: begins_with, operand type: N"),
        ("begins_with(a, size(b))", "{}operator or function: begins_with, operand type: N"),
        ("size(:1) = a", "{}operator or function: size, operand type: N"),
        ("size(size(a)) = b", "{}operator or function: size, operand type: N"),
        ("attribute_type(a, :1)", "{}operator or function: attribute_type, operand type: N"),
        (
            "attribute_type(a, b)",
            "{}operator or function: attribute_type, operand type: {{NS,SS,L,BS,N,M,B,BOOL,NULL,S}}",
        ),
    ],
)
def test_operand_types_known_beforehand(text, message):
    assert refusal(text) == message.format("Incorrect operand type for operator or function; ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "attribute_exists(a, b)",
            "Incorrect number of operands for operator or function; "
            "operator or function: attribute_exists, number of operands: 2",
        ),
        (
            "contains(a)",
            "Incorrect number of operands for operator or function; "
            "operator or function: contains, number of operands: 1",
        ),
        (
            "attribute_exists(:1)",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "attribute_not_exists(size(b))",
            "Operator or function requires a document path; operator or function: attribute_not_exists",
        ),
        (
            "attribute_type(a, :he)",
            "Invalid attribute type name found; type: he, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        ),
        (
            "a = a",
            "The first operand must be distinct from the remaining operands for this operator or function; "
            "operator: =, first operand: [a]",
        ),
        (
            "contains(ab.bc[1].a, ab.bc[1].a)",
            "The first operand must be distinct from the remaining operands for this operator or function; "
            "operator: contains, first operand: [ab, bc, [1], a]",
        ),
        (
            "a IN (b, a)",
            "The first operand must be distinct from the remaining operands for this operator or function; "
            "operator: IN, first operand: [a]",
        ),
        (
            "a BETWEEN :10 AND :4",
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:4}",
        ),
        (
            "a BETWEEN :4 AND :he",
            "The BETWEEN operator requires same data type for lower and upper bounds; "
            "lower bound operand: AttributeValue: {N:4}, upper bound operand: AttributeValue: {S:he}",
        ),
    ],
)
def test_operands_that_make_no_sense(text, message):
    assert refusal(text) == message


def test_bounds_are_checked_again_when_only_the_values_differ():
    text = "a BETWEEN :lo AND :hi"
    in_order = Placeholders({"ExpressionAttributeValues": {":lo": {"N": "1"}, ":hi": {"N": "9"}}})
    assert condition("FilterExpression", text, in_order).matches(ITEM)
    reversed_ = Placeholders({"ExpressionAttributeValues": {":lo": {"N": "9"}, ":hi": {"N": "1"}}})
    with pytest.raises(DynamoError, match="requires upper bound"):
        condition("FilterExpression", text, reversed_)


def test_type_names_are_checked_again_when_only_the_values_differ():
    text = "attribute_type(a, :type_name)"
    good = Placeholders({"ExpressionAttributeValues": {":type_name": {"S": "N"}}})
    assert condition("FilterExpression", text, good).matches(ITEM)
    bad = Placeholders({"ExpressionAttributeValues": {":type_name": {"S": "Number"}}})
    with pytest.raises(DynamoError, match="Invalid attribute type name"):
        condition("FilterExpression", text, bad)


def test_operands_are_checked_from_left_to_right():
    assert refusal("contains(a) AND b = b").startswith("Incorrect number of operands")
    assert refusal("b = b AND contains(a)").startswith("The first operand")
    assert refusal("contains(#p) AND b = b").endswith("attribute name: #p")


def test_the_parameter_is_named():
    with pytest.raises(DynamoError, match=r"^ValidationException: Invalid FilterExpression: Syntax error"):
        condition("FilterExpression", "a", Placeholders({}))
    with pytest.raises(DynamoError, match=r"^ValidationException: Invalid ConditionExpression: Syntax error"):
        condition("ConditionExpression", "a", Placeholders({}))


def test_it_tells_which_attributes_it_reads_and_which_it_looks_into():
    found = condition("FilterExpression", "a = b AND size(m.x) > l[0]", Placeholders({}))
    assert found.attributes == {"a", "b", "m", "l"}
    assert found.nested == {"m", "l"}


def test_filters_may_not_look_at_the_key():
    found = condition("FilterExpression", "attribute_exists(pk.b) AND a = b", Placeholders({}))
    with pytest.raises(DynamoError) as caught:
        refuse_key_attributes(found.attributes, ["pk", "sk"])
    assert caught.value.message == (
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk"
    )
    refuse_key_attributes(found.attributes, ["sk"])


def test_nothing_looks_inside_a_key():
    with pytest.raises(DynamoError) as caught:
        refuse_nested_keys(frozenset({"d"}), ["pk"], ["d"])
    assert caught.value.message == (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: d"
    )


# --- the same again ---------------------------------------------------------------------------------------------------


def test_a_condition_that_comes_again_is_the_same():
    first, again = (repeated_condition("#n = :v", {"#n": "b"}, {":v": {"S": "hello"}}) for _ in range(2))
    assert again is first
    assert first.matches(ITEM)


def test_who_changes_what_they_asked_with_asks_something_else():
    # A text that nobody else asks with.
    names, values = {"#n": "b"}, {":changed": {"S": "hello"}}
    first = repeated_condition("#n = :changed", names, values)
    values[":changed"]["S"] = "bye"
    assert not repeated_condition("#n = :changed", names, values).matches(ITEM)
    assert first.matches(ITEM)
    values[":changed"]["S"], names["#n"] = "hello", "u"
    assert not repeated_condition("#n = :changed", names, values).matches(ITEM)
    assert first.matches(ITEM)


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ({"#n": "b", "#m": "a"}, {":v": {"S": "hello"}}),
        ({"#n": "b"}, {":v": {"S": "hello"}, ":w": {"S": "hello"}}),
        ({"#n": "b"}, {}),
        ({"#n": "b"}, None),
        (None, {":v": {"S": "hello"}}),
        ({"#n": "b"}, {":v": {"S": "hello", "N": "1"}}),
    ],
)
def test_what_is_refused_is_refused_after_the_same_text_too(names, values):
    repeated_condition("#n = :v", {"#n": "b"}, {":v": {"S": "hello"}})
    with pytest.raises(DynamoError):
        repeated_condition("#n = :v", names, values)


def test_what_python_takes_for_the_same_is_not():
    repeated_condition("t = :v", None, {":v": {"BOOL": True}})
    with pytest.raises(DynamoError):
        repeated_condition("t = :v", None, {":v": {"BOOL": 1}})
