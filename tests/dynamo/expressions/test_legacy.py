"""Expected, filters, AttributeUpdates, KeyConditions and AttributesToGet."""

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import (
    KeyCondition,
    attribute_updates,
    attributes_to_get,
    expected,
    filter_conditions,
    key_conditions,
)

ITEM = {
    "a": {"N": "5"},
    "s": {"S": "hello"},
    "l": {"L": [{"N": "5"}]},
    "ns": {"NS": ["5", "6"]},
    "b": {"B": "YWJj"},
}
FIVE, X = {"N": "5.0"}, {"S": "x"}
INVALID = "One or more parameter values were invalid: "


def asks(operator, *values):
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


def message_of(call, *arguments):
    with pytest.raises(DynamoError) as caught:
        call(*arguments)
    assert caught.value.code == "ValidationException"
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "test", "met"),
    [
        ("a", asks("EQ", FIVE), True),
        ("a", asks("EQ", X), False),
        ("q", asks("EQ", FIVE), False),
        ("a", asks("NE", X), True),
        ("q", asks("NE", X), True),
        ("a", asks("LT", {"N": "6"}), True),
        ("a", asks("LE", {"N": "5"}), True),
        ("a", asks("GT", {"N": "5"}), False),
        ("s", asks("GE", {"S": "hello"}), True),
        ("q", asks("GE", FIVE), False),
        ("a", asks("NULL"), False),
        ("q", asks("NULL"), True),
        ("a", {"ComparisonOperator": "NOT_NULL"}, True),
        ("q", asks("NOT_NULL"), False),
        ("s", asks("CONTAINS", {"S": "ell"}), True),
        ("ns", asks("CONTAINS", FIVE), True),
        ("l", asks("CONTAINS", FIVE), True),
        ("a", asks("CONTAINS", FIVE), False),
        ("s", asks("NOT_CONTAINS", FIVE), True),
        ("ns", asks("NOT_CONTAINS", FIVE), False),
        ("q", asks("NOT_CONTAINS", FIVE), False),
        ("s", asks("BEGINS_WITH", {"S": "he"}), True),
        ("b", asks("BEGINS_WITH", {"B": "YWI="}), True),
        ("a", asks("IN", {"N": "4"}, FIVE), True),
        ("q", asks("IN", FIVE), False),
        ("a", asks("BETWEEN", {"N": "4"}, FIVE), True),
        ("s", asks("BETWEEN", {"N": "4"}, FIVE), False),
    ],
)
def test_comparison_operators_mean_the_same_everywhere(name, test, met):
    assert filter_conditions({name: test}).matches(ITEM) is met
    assert expected({name: test}).matches(ITEM) is met


def test_expected_by_value_or_existence():
    assert expected({"a": {"Value": FIVE}}).matches(ITEM)
    assert expected({"a": {"Value": FIVE, "Exists": True}}).matches(ITEM)
    assert not expected({"a": {"Exists": False}}).matches(ITEM)
    assert expected({"q": {"Exists": False}}).matches({})
    assert expected({"a": {"Value": FIVE, "ComparisonOperator": "EQ"}}).matches(ITEM)
    assert expected({}).matches({})


def test_conditions_are_joined_by_and_or_by_or():
    conditions = {"a": asks("EQ", X), "s": asks("EQ", {"S": "hello"})}
    assert not filter_conditions(conditions).matches(ITEM)
    assert not filter_conditions(conditions, "AND").matches(ITEM)
    assert filter_conditions(conditions, "OR").matches(ITEM)
    assert filter_conditions(conditions).attributes == {"a", "s"}


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({}, "Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
        ({"Exists": False, "Value": X}, "Value cannot be used when Exists is false for Attribute: a"),
        (
            {"AttributeValueList": [X], "Value": X},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"AttributeValueList": [X]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        (
            {"ComparisonOperator": "EQ", "Exists": True, "Value": X},
            "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"ComparisonOperator": "EQ"},
            "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
        ),
        (asks("EQ"), "Invalid number of argument(s) for the EQ ComparisonOperator"),
    ],
)
def test_expectations_that_make_no_sense(condition, message):
    assert message_of(expected, {"a": condition}) == INVALID + message


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"ComparisonOperator": "EQ"}, INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator"),
        (asks("NULL", X), INVALID + "Invalid number of argument(s) for the NULL ComparisonOperator"),
        (asks("IN"), INVALID + "Invalid number of argument(s) for the IN ComparisonOperator"),
        (asks("BETWEEN", X), INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator"),
        (asks("IN", X, FIVE), INVALID + "AttributeValues inside AttributeValueList must be of same type"),
        (asks("LT", {"L": []}), INVALID + "ComparisonOperator LT is not valid for L AttributeValue type"),
        (
            asks("CONTAINS", {"SS": ["a"]}),
            INVALID + "ComparisonOperator CONTAINS is not valid for SS AttributeValue type",
        ),
        (asks("BEGINS_WITH", FIVE), INVALID + "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"),
        (
            asks("BETWEEN", FIVE, {"N": "1"}),
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
        ),
        (asks("EQ", {"N": "x"}), "The parameter cannot be converted to a numeric value: x"),
    ],
)
def test_arguments_that_do_not_fit(condition, message):
    assert message_of(filter_conditions, {"a": condition}) == message
    if "AttributeValueList" in condition:
        assert message_of(expected, {"a": condition}) == message


def test_conditional_operator_needs_something_to_join():
    assert message_of(expected, {}, "OR") == "ConditionalOperator cannot be used without Filter or Expected"
    assert message_of(expected, {"a": {"Value": X}}, "AND") == (
        "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    )


@pytest.mark.parametrize(
    ("updates", "changes"),
    [
        ({"a": {"Value": X}}, {"a": X}),
        ({"q": {"Action": "PUT", "Value": FIVE}}, {"q": {"N": "5"}}),
        ({"a": {"Action": "DELETE"}}, {"a": None}),
        ({"q": {"Action": "DELETE"}}, {}),
        ({"ns": {"Action": "DELETE", "Value": {"NS": ["5"]}}}, {"ns": {"NS": ["6"]}}),
        ({"ns": {"Action": "DELETE", "Value": {"NS": ["5", "6"]}}}, {"ns": None}),
        ({"q": {"Action": "DELETE", "Value": {"NS": ["5"]}}}, {}),
        ({"a": {"Action": "ADD", "Value": {"N": "1"}}}, {"a": {"N": "6"}}),
        ({"q": {"Action": "ADD", "Value": {"N": "1"}}}, {"q": {"N": "1"}}),
        ({"ns": {"Action": "ADD", "Value": {"NS": ["7"]}}}, {"ns": {"NS": ["7", "6", "5"]}}),
        ({"l": {"Action": "ADD", "Value": {"L": [X]}}}, {"l": {"L": [{"N": "5"}, X]}}),
        ({}, {}),
    ],
)
def test_attribute_updates(updates, changes):
    wanted = {name: value for name, value in {**ITEM, **changes}.items() if value is not None}
    found = attribute_updates(updates)
    assert found.apply(ITEM) == wanted
    assert found.attributes == tuple(updates)


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({}, INVALID + "Only DELETE action is allowed when no attribute value is specified"),
        ({"Action": "ADD"}, INVALID + "Only DELETE action is allowed when no attribute value is specified"),
        (
            {"Action": "DELETE", "Value": FIVE},
            INVALID + "DELETE action with value is not supported for the type N",
        ),
        ({"Action": "ADD", "Value": X}, INVALID + "ADD action is not supported for the type S"),
    ],
)
def test_attribute_updates_that_make_no_sense(update, message):
    assert message_of(attribute_updates, {"a": update}) == message


@pytest.mark.parametrize(
    "update",
    [
        {"Action": "ADD", "Value": {"NS": ["1"]}},
        {"Action": "ADD", "Value": {"L": []}},
        {"Action": "DELETE", "Value": {"SS": ["1"]}},
    ],
)
def test_attribute_updates_that_do_not_fit_the_item(update):
    assert message_of(attribute_updates({"a": update}).apply, ITEM) == "Type mismatch for attribute to update"


def test_key_conditions():
    conditions = {"p": asks("EQ", X), "c": asks("BETWEEN", {"S": "a"}, X)}
    assert key_conditions(conditions, ["p"], ["c"]) == KeyCondition([X], [], ("BETWEEN", [{"S": "a"}, X]))
    assert key_conditions({"p": asks("EQ", X), "c": asks("EQ", X)}, ["p"], ["c"]) == KeyCondition([X], [X], None)
    assert message_of(key_conditions, {"p": asks("EQ", X), "c": asks("NE", X)}, ["p"], ["c"]) == (
        "Attempted conditional constraint is not an indexable operation"
    )
    assert message_of(key_conditions, {"p": asks("GT", X)}, ["p"], ["c"]) == "Query key condition not supported"


def test_attributes_to_get():
    found = attributes_to_get(["a", "m.x", "q"])
    assert found.apply({"a": FIVE, "b": X, "m.x": X}) == {"a": FIVE, "m.x": X}
    assert message_of(attributes_to_get, ["a", "a"]) == INVALID + "Duplicate value in attribute name: a"
