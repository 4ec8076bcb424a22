"""The parameters from before expressions: Expected, AttributeUpdates, KeyConditions, filters, AttributesToGet."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.wire import NS, NULL, SS, B, L, M, N, S

INVALID = "One or more parameter values were invalid: "
ITEM = {
    "a": S("apple"),
    "n": N(5),
    "b": B(b"\x01\x02"),
    "strings": SS("x", "y"),
    "numbers": NS(1, 2),
    "l": L(S("x"), N(1)),
    "nil": NULL,
}


def comparison(operator, *values):
    condition = {"ComparisonOperator": operator}
    if values:
        condition["AttributeValueList"] = list(values)
    return condition


HOLDS = {
    "a value": {"a": {"Value": S("apple")}},
    "a value that exists": {"a": {"Value": S("apple"), "Exists": True}},
    "absence": {"absent": {"Exists": False}},
    "EQ": {"n": comparison("EQ", N("5.0"))},
    "EQ of sets": {"strings": comparison("EQ", SS("y", "x"))},
    "EQ of lists": {"l": comparison("EQ", L(S("x"), N(1)))},
    "NE": {"a": comparison("NE", S("pear"))},
    "LE": {"n": comparison("LE", N(5))},
    "LT": {"a": comparison("LT", S("b"))},
    "GE": {"n": comparison("GE", N(5))},
    "GT": {"b": comparison("GT", B(b"\x01"))},
    "NOT_NULL": {"a": comparison("NOT_NULL")},
    "NOT_NULL of a null": {"nil": comparison("NOT_NULL")},
    "NULL": {"absent": comparison("NULL")},
    "CONTAINS in a string": {"a": comparison("CONTAINS", S("ppl"))},
    "CONTAINS in a set": {"numbers": comparison("CONTAINS", N(2))},
    "CONTAINS in a list": {"l": comparison("CONTAINS", S("x"))},
    "NOT_CONTAINS": {"strings": comparison("NOT_CONTAINS", S("z"))},
    "BEGINS_WITH": {"a": comparison("BEGINS_WITH", S("app"))},
    "IN": {"a": comparison("IN", S("pear"), S("apple"))},
    "BETWEEN": {"n": comparison("BETWEEN", N(1), N(5))},
    "several": {"a": {"Value": S("apple")}, "n": comparison("LT", N(6))},
}
FAILS = {
    "a value": {"a": {"Value": S("pear")}},
    "absence": {"a": {"Exists": False}},
    "EQ": {"n": comparison("EQ", N(6))},
    "EQ of what is absent": {"absent": comparison("EQ", N(6))},
    "NE": {"a": comparison("NE", S("apple"))},
    "LT of another type": {"a": comparison("LT", N(6))},
    "NULL": {"a": comparison("NULL")},
    "NOT_NULL": {"absent": comparison("NOT_NULL")},
    "CONTAINS": {"a": comparison("CONTAINS", S("z"))},
    "BEGINS_WITH": {"a": comparison("BEGINS_WITH", S("pp"))},
    "IN": {"a": comparison("IN", S("pear"))},
    "BETWEEN": {"n": comparison("BETWEEN", N(6), N(9))},
    "one of several": {"a": {"Value": S("apple")}, "n": comparison("LT", N(5))},
}


@pytest.fixture
async def item(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), **ITEM}})
    return {"p": S(fresh), **ITEM}


@pytest.mark.parametrize("case", HOLDS)
async def test_an_expectation_holds(dynamo, plain, item, case):
    request = {"TableName": plain, "Key": {"p": item["p"]}, "Expected": HOLDS[case]}
    assert await dynamo.call("DeleteItem", request) == {}


@pytest.mark.parametrize("case", FAILS)
async def test_an_expectation_fails(dynamo, plain, item, case):
    await dynamo.refuses(
        "DeleteItem",
        {"TableName": plain, "Key": {"p": item["p"]}, "Expected": FAILS[case]},
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )


async def test_or_needs_only_one(dynamo, plain, item):
    request = {
        "TableName": plain,
        "Key": {"p": item["p"]},
        "Expected": {"a": comparison("EQ", S("pear")), "n": comparison("EQ", N(5))},
        "ConditionalOperator": "OR",
    }
    assert await dynamo.call("DeleteItem", request) == {}


EXPECTED_REFUSED = {
    "no value": (
        {"a": {}},
        INVALID + "Value must be provided when Exists is null for Attribute: a",
    ),
    "a value of what must not exist": (
        {"a": {"Exists": False, "Value": S("x")}},
        INVALID + "Value cannot be used when Exists is false for Attribute: a",
    ),
    "EQ of two values": (
        {"a": comparison("EQ", S("x"), S("y"))},
        INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator",
    ),
    "BETWEEN of one value": (
        {"a": comparison("BETWEEN", S("x"))},
        INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
    ),
    "NULL of a value": (
        {"a": comparison("NULL", S("x"))},
        INVALID + "Invalid number of argument(s) for the NULL ComparisonOperator",
    ),
    "Exists beside an operator": (
        {"a": {**comparison("EQ", S("x")), "Exists": True}},
        INVALID + "Exists and ComparisonOperator cannot be used together for Attribute: a",
    ),
    "Value beside a list": (
        {"a": {**comparison("EQ", S("x")), "Value": S("x")}},
        INVALID + "Value and AttributeValueList cannot be used together for Attribute: a",
    ),
    "a list without operator": (
        {"a": {"AttributeValueList": [S("x")]}},
        INVALID + "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
    ),
}


@pytest.mark.parametrize("case", EXPECTED_REFUSED)
async def test_a_bad_expectation_is_refused(dynamo, plain, fresh, case):
    expected, message = EXPECTED_REFUSED[case]
    await dynamo.invalid("DeleteItem", {"TableName": plain, "Key": {"p": S(fresh)}, "Expected": expected}, message)


async def test_expressions_and_their_predecessors_do_not_mix(dynamo, plain, fresh):
    await dynamo.invalid(
        "DeleteItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConditionExpression": "attribute_exists(p)",
            "Expected": {"a": {"Exists": False}},
        },
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
    )


def change(action, value=None):
    made = {"Action": action}
    if value is not None:
        made["Value"] = value
    return made


CHANGES = {
    "PUT": ({"n": change("PUT", S("x"))}, {"n": S("x")}),
    "PUT by default": ({"n": {"Value": S("x")}}, {"n": S("x")}),
    "PUT of what is absent": ({"new": change("PUT", M(a=N(1)))}, {"new": M(a=N(1))}),
    "DELETE": ({"n": change("DELETE")}, {"n": None}),
    "DELETE of what is absent": ({"absent": change("DELETE")}, {}),
    "DELETE from a set": ({"strings": change("DELETE", SS("x", "z"))}, {"strings": SS("y")}),
    "DELETE of a whole set": ({"strings": change("DELETE", SS("x", "y"))}, {"strings": None}),
    "ADD to a number": ({"n": change("ADD", N("-1.5"))}, {"n": N("3.5")}),
    "ADD of what is absent": ({"new": change("ADD", N(1))}, {"new": N(1)}),
    "ADD to a set": ({"strings": change("ADD", SS("y", "z"))}, {"strings": SS("x", "y", "z")}),
    "ADD to a list": ({"l": change("ADD", L(S("end")))}, {"l": L(S("x"), N(1), S("end"))}),
    "several": ({"n": change("ADD", N(1)), "a": change("DELETE")}, {"n": N(6), "a": None}),
}


def in_order(attributes):
    return {
        name: {kind: sorted(part) if kind in ("SS", "NS", "BS") else part for kind, part in value.items()}
        for name, value in attributes.items()
    }


@pytest.mark.parametrize("case", CHANGES)
async def test_attribute_updates_change_exactly_this(dynamo, plain, item, case):
    updates, changed = CHANGES[case]
    answer = await dynamo.call(
        "UpdateItem",
        {
            "TableName": plain,
            "Key": {"p": item["p"]},
            "AttributeUpdates": updates,
            "ReturnValues": "ALL_NEW",
        },
    )
    expected = {name: value for name, value in {**item, **changed}.items() if value is not None}
    assert in_order(answer["Attributes"]) == in_order(expected)


UPDATES_REFUSED = {
    "PUT without value": (
        {"a": change("PUT")},
        INVALID + "Only DELETE action is allowed when no attribute value is specified",
    ),
    "DELETE of a string": (
        {"a": change("DELETE", S("x"))},
        INVALID + "DELETE action with value is not supported for the type S",
    ),
    "ADD of a string": ({"a": change("ADD", S("x"))}, INVALID + "ADD action is not supported for the type S"),
    "the key": (
        {"p": change("PUT", S("x"))},
        INVALID + "Cannot update attribute p. This attribute is part of the key",
    ),
}


@pytest.mark.parametrize("case", UPDATES_REFUSED)
async def test_bad_attribute_updates_are_refused(dynamo, plain, fresh, case):
    updates, message = UPDATES_REFUSED[case]
    await dynamo.invalid(
        "UpdateItem", {"TableName": plain, "Key": {"p": S(fresh)}, "AttributeUpdates": updates}, message
    )


async def test_an_unknown_action_is_refused(dynamo, plain, fresh):
    with pytest.raises(DynamoError, match="ValidationException"):
        await dynamo.call(
            "UpdateItem",
            {"TableName": plain, "Key": {"p": S(fresh)}, "AttributeUpdates": {"a": change("REPLACE", S("x"))}},
        )
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_adding_a_number_to_a_string_is_refused(dynamo, plain, item):
    await dynamo.invalid(
        "UpdateItem",
        {"TableName": plain, "Key": {"p": item["p"]}, "AttributeUpdates": {"a": change("ADD", N(1))}},
        "Type mismatch for attribute to update",
    )


async def test_attributes_to_get(dynamo, plain, item):
    answer = await dynamo.call(
        "GetItem", {"TableName": plain, "Key": {"p": item["p"]}, "AttributesToGet": ["n", "absent"]}
    )
    assert answer == {"Item": {"n": N(5)}}


async def test_attributes_to_get_name_each_attribute_once(dynamo, plain, fresh):
    await dynamo.invalid(
        "GetItem",
        {"TableName": plain, "Key": {"p": S(fresh)}, "AttributesToGet": ["a", "a"]},
        INVALID + "Duplicate value in attribute name: a",
    )


async def test_attributes_to_get_take_names_as_they_are(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a.b": N(1), "a": M(b=N(2))}})
    answer = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}, "AttributesToGet": ["a.b"]})
    assert answer == {"Item": {"a.b": N(1)}}


@pytest.fixture
async def five(dynamo, ranged, fresh):
    requests = [
        {"PutRequest": {"Item": {"p": S(fresh), "s": S(f"{letter}1"), "n": N(number)}}}
        for number, letter in enumerate("abcde")
    ]
    await dynamo.call("BatchWriteItem", {"RequestItems": {ranged: requests}})
    return fresh


SELECTED = {
    "EQ": (comparison("EQ", S("c1")), "c"),
    "LT": (comparison("LT", S("c1")), "ab"),
    "LE": (comparison("LE", S("c1")), "abc"),
    "GT": (comparison("GT", S("c1")), "de"),
    "GE": (comparison("GE", S("c1")), "cde"),
    "BEGINS_WITH": (comparison("BEGINS_WITH", S("d")), "d"),
    "BETWEEN": (comparison("BETWEEN", S("b"), S("d")), "bc"),
}


@pytest.mark.parametrize("case", SELECTED)
async def test_key_conditions_select(dynamo, ranged, five, case):
    condition, letters = SELECTED[case]
    answer = await dynamo.call(
        "Query", {"TableName": ranged, "KeyConditions": {"p": comparison("EQ", S(five)), "s": condition}}
    )
    assert [found["s"]["S"][0] for found in answer["Items"]] == list(letters)


async def test_a_query_filter_leaves_out_items(dynamo, ranged, five):
    answer = await dynamo.call(
        "Query",
        {
            "TableName": ranged,
            "KeyConditions": {"p": comparison("EQ", S(five))},
            "QueryFilter": {"n": comparison("GE", N(3))},
            "AttributesToGet": ["s"],
        },
    )
    assert answer == {"Items": [{"s": S("d1")}, {"s": S("e1")}], "Count": 2, "ScannedCount": 5}


async def test_a_scan_filter_leaves_out_items(dynamo, ranged, five):
    answer = await dynamo.call(
        "Scan",
        {
            "TableName": ranged,
            "ScanFilter": {"p": comparison("EQ", S(five)), "n": comparison("IN", N(1), N(4))},
        },
    )
    assert sorted(found["n"]["N"] for found in answer["Items"]) == ["1", "4"]


async def test_a_scan_filter_with_or(dynamo, ranged, five):
    answer = await dynamo.call(
        "Query",
        {
            "TableName": ranged,
            "KeyConditions": {"p": comparison("EQ", S(five))},
            "QueryFilter": {"n": comparison("EQ", N(0)), "absent": comparison("NOT_NULL")},
            "ConditionalOperator": "OR",
        },
    )
    assert answer["Count"] == 1


KEY_CONDITIONS_REFUSED = {
    "without the partition key": (
        {"s": comparison("EQ", S("x"))},
        "Query condition missed key schema element: p",
    ),
    "a range on the partition key": (
        {"p": comparison("GT", S("x"))},
        "Query key condition not supported",
    ),
    "an operator that no key has": (
        {"p": comparison("EQ", S("x")), "s": comparison("CONTAINS", S("x"))},
        "Attempted conditional constraint is not an indexable operation",
    ),
    "another type": (
        {"p": comparison("EQ", N(1))},
        INVALID + "Condition parameter type does not match schema type",
    ),
    "too few values": (
        {"p": comparison("EQ", S("x")), "s": comparison("BETWEEN", S("x"))},
        INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
    ),
}


@pytest.mark.parametrize("case", KEY_CONDITIONS_REFUSED)
async def test_bad_key_conditions_are_refused(dynamo, ranged, case):
    conditions, message = KEY_CONDITIONS_REFUSED[case]
    await dynamo.invalid("Query", {"TableName": ranged, "KeyConditions": conditions}, message)


async def test_a_query_filter_on_a_key_is_refused(dynamo, ranged, fresh):
    await dynamo.invalid(
        "Query",
        {
            "TableName": ranged,
            "KeyConditions": {"p": comparison("EQ", S(fresh))},
            "QueryFilter": {"s": comparison("EQ", S("x"))},
        },
        "QueryFilter can only contain non-primary key attributes: Primary key attribute: s",
    )
