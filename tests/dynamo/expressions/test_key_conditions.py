"""KeyConditionExpression, on classic keys and on keys of several attributes."""

import re

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import KeyCondition, Placeholders, key_condition

X, Y, ONE = {"S": "x"}, {"S": "y"}, {"N": "1"}
VALUES = {":x": X, ":y": Y, ":1": ONE}
TYPES = dict.fromkeys(("p", "c", "h1", "h2", "r1", "r2"), "S")


def asked(text, partition=("p",), sort=("c",)):
    used = {key: value for key, value in VALUES.items() if re.search(re.escape(key) + r"\b", text)}
    placeholders = Placeholders({"ExpressionAttributeValues": used} if used else {})
    return key_condition(text, placeholders, list(partition), list(sort), TYPES)


def refusal(text, partition=("p",), sort=("c",)):
    with pytest.raises(DynamoError) as caught:
        asked(text, partition, sort)
    assert caught.value.code == "ValidationException"
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("p = :x", KeyCondition([X], [], None)),
        (":x = p", KeyCondition([X], [], None)),
        ("(p = :x) AND (c = :y)", KeyCondition([X], [Y], None)),
        ("c > :x and p = :y", KeyCondition([Y], [], (">", [X]))),
        ("p = :x AND :y < c", KeyCondition([X], [], (">", [Y]))),
        ("p = :x AND :y >= c", KeyCondition([X], [], ("<=", [Y]))),
        ("p = :x AND c BETWEEN :x AND :y", KeyCondition([X], [], ("BETWEEN", [X, Y]))),
        ("p = :x AND begins_with(c, :y)", KeyCondition([X], [], ("begins_with", [Y]))),
    ],
)
def test_classic_keys(text, wanted):
    assert asked(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Invalid KeyConditionExpression: The expression can not be empty;"),
        ("p = :x OR c = :y", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT p = :x", "Invalid operator used in KeyConditionExpression: NOT"),
        ("NOT NOT p = :x", "Invalid operator used in KeyConditionExpression: NOT"),
        ("p <> :x", "Invalid operator used in KeyConditionExpression: <>"),
        ("p IN (:x)", "Invalid operator used in KeyConditionExpression: IN"),
        ("attribute_exists(p)", "Invalid operator used in KeyConditionExpression: attribute_exists"),
        ("contains(p, :x)", "Invalid operator used in KeyConditionExpression: contains"),
        ("size(p) = :1", "KeyConditionExpressions cannot contain nested operations"),
        ("p = :x AND c > size(z)", "KeyConditionExpressions cannot contain nested operations"),
        (
            "p = :x AND begins_with(:y, c)",
            "Invalid condition in KeyConditionExpression: "
            "begins_with operator must have the key attribute as its first operand",
        ),
        (
            "p = :x AND :y BETWEEN c AND c",
            "Invalid condition in KeyConditionExpression: "
            "BETWEEN operator must have the key attribute as its first operand",
        ),
        ("p = c", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"),
        (":x = :x", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        ("p = :x AND z.q = :y", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("p = :x AND p = :y", "KeyConditionExpressions must only contain one condition per key"),
        ("p = :x AND c > :x AND c < :y", "KeyConditionExpressions must only contain one condition per key"),
        ("c = :x", "Query condition missed key schema element: p"),
        ("p = :x AND z = :y", "Query condition missed key schema element: c"),
        ("p = :x AND c = :y AND z = :x", "Conditions can be of length 1 or 2 only"),
        ("p > :x", "Query key condition not supported"),
        ("begins_with(p, :x)", "Query key condition not supported"),
        (
            "p = :1",
            "One or more parameter values were invalid: Condition parameter type does not match schema type",
        ),
        (
            "p = :x AND c BETWEEN :y AND :x",
            "Invalid KeyConditionExpression: "
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {S:y}, upper bound operand: AttributeValue: {S:x}",
        ),
    ],
)
def test_classic_keys_refused(text, message):
    assert refusal(text) == message


def test_a_table_without_a_sort_key_takes_one_condition():
    assert asked("p = :x", sort=()) == KeyCondition([X], [], None)
    assert refusal("p = :x AND c = :y", sort=()) == "Query key condition not supported"


SEVERAL = {"partition": ("h1", "h2"), "sort": ("r1", "r2")}
HASH = "h2 = :x AND h1 = :y"


@pytest.mark.parametrize(
    ("text", "sort_equal", "sort"),
    [
        ("", [], None),
        (" AND r1 = :x", [X], None),
        (" AND r2 = :y AND r1 = :x", [X, Y], None),
        (" AND r1 >= :x", [], (">=", [X])),
        (" AND r1 = :x AND r2 BETWEEN :x AND :y", [X], ("BETWEEN", [X, Y])),
        (" AND begins_with(r2, :y) AND r1 = :x", [X], ("begins_with", [Y])),
    ],
)
def test_keys_of_several_attributes(text, sort_equal, sort):
    assert asked(HASH + text, **SEVERAL) == KeyCondition([Y, X], sort_equal, sort)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h1 = :x", "HASH key attributes h2 must have equality conditions specified in the query"),
        ("r1 = :x", "HASH key attributes h1, h2 must have equality conditions specified in the query"),
        ("h1 = :x AND h2 > :y", "HASH key attributes h2 must have equality conditions specified in the query"),
        (
            HASH + " AND r2 = :x",
            "RANGE key attributes r1 must have equality conditions specified in the query "
            "because a condition is present on key attribute r2",
        ),
        (
            HASH + " AND r1 > :x AND r2 = :y",
            "RANGE key attributes r1 must have equality conditions specified in the query "
            "because a condition is present on key attribute r2",
        ),
        (
            HASH + " AND r1 = :1",
            "One or more parameter values were invalid: Condition parameter type does not match schema type",
        ),
    ],
)
def test_keys_of_several_attributes_refused(text, message):
    assert refusal(text, **SEVERAL) == message
