"""Attribute values: what the service accepts, how it writes numbers, and how big it counts things."""

from typing import Any

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.values import (
    add_numbers,
    canonical_number,
    checked_item,
    checked_value,
    equal,
    item_size,
    value_size,
)

NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
PREFIX = "One or more parameter values were invalid: "


def refusal(value: Any) -> tuple[str, str]:
    with pytest.raises(DynamoError) as caught:
        checked_item({"a": value})
    with pytest.raises(DynamoError) as alone:
        checked_value(value)
    assert (alone.value.code, alone.value.message) == (caught.value.code, caught.value.message)
    return caught.value.code, caught.value.message


def nested(levels: int, inner: dict[str, Any] | None = None) -> dict[str, Any]:
    value = inner or {"S": "x"}
    for level in range(levels):
        value = {"L": [value]} if level % 2 else {"M": {"k": value}}
    return value


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("5", "5"),
        ("+1", "1"),
        ("-0", "0"),
        ("0", "0"),
        ("000", "0"),
        ("0e999", "0"),
        (".5", "0.5"),
        ("5.", "5"),
        ("0001.500", "1.5"),
        ("-12.50", "-12.5"),
        ("1e5", "100000"),
        ("1E+5", "100000"),
        ("1e-3", "0.001"),
        ("1e125", "1" + "0" * 125),
        ("1e-130", "0." + "0" * 129 + "1"),
        ("1" * 38 + "0", "1" * 38 + "0"),
        ("0.1e126", "1" + "0" * 125),
    ],
)
def test_numbers_are_written_as_the_service_writes_them(text, canonical):
    assert canonical_number(text) == canonical
    assert canonical_number(canonical) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", NOT_A_NUMBER),
        ("b", NOT_A_NUMBER + ": b"),
        (" 1", NOT_A_NUMBER + ":  1"),
        ("1 ", NOT_A_NUMBER + ": 1 "),
        ("1_0", NOT_A_NUMBER + ": 1_0"),
        ("0x1", NOT_A_NUMBER + ": 0x1"),
        ("1e", NOT_A_NUMBER + ": 1e"),
        ("NaN", NOT_A_NUMBER + ": NaN"),
        ("Infinity", NOT_A_NUMBER + ": Infinity"),
        ("١", NOT_A_NUMBER + ": ١"),
        ("123456789012345678901234567890123456789", TOO_PRECISE),
        ("-1.23456789012345678901234567890123456789", TOO_PRECISE),
        ("1e126", OVERFLOW),
        ("-1e126", OVERFLOW),
        ("1.0e100000000", OVERFLOW),
        ("1" + "0" * 130, OVERFLOW),
        ("1e-131", UNDERFLOW),
        ("0.9e-130", UNDERFLOW),
    ],
)
def test_bad_numbers_are_refused_alone_and_in_sets(text, message):
    assert refusal({"N": text}) == ("ValidationException", message)
    assert refusal({"NS": ["3", text]}) == ("ValidationException", message)
    assert refusal({"L": [{"M": {"k": {"N": text}}}]}) == ("ValidationException", message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"X": "1"}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"S": None}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"L": [{}]}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        (
            {"S": "a", "N": "1"},
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes",
        ),
        ({"S": "a", "N": "b"}, NOT_A_NUMBER + ": b"),
        ({"NULL": False}, PREFIX + "Null attribute value types must have the value of true"),
        ({"SS": []}, PREFIX + "An string set  may not be empty"),
        ({"NS": []}, PREFIX + "An number set  may not be empty"),
        ({"BS": []}, PREFIX + "Binary sets should not be empty"),
        ({"SS": ["a", "a"]}, PREFIX + "Input collection [a, a] contains duplicates."),
        ({"BS": ["Yg==", "Yg=="]}, PREFIX + "Input collection [Yg==, Yg==]of type BS contains duplicates."),
        ({"NS": ["1", "1"]}, "Input collection contains duplicates"),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        ({"M": {"": {"S": "a"}}}, "Empty attribute name"),
        (
            nested(32),
            "Nesting Levels have exceeded supported limits: "
            "Attributes in the item have nested levels beyond supported limit",
        ),
        (
            nested(31, {"L": []}),
            "Nesting Levels have exceeded supported limits: "
            "Attributes in the item have nested levels beyond supported limit",
        ),
    ],
)
def test_bad_values_are_refused_in_the_services_words(value, message):
    assert refusal(value) == ("ValidationException", message)


@pytest.mark.parametrize(
    "value",
    [
        {"S": 1},
        {"S": b"x"},
        {"S": "\ud800"},
        {"N": 1},
        {"BOOL": "true"},
        {"B": "a"},
        {"B": "YR=="},
        {"B": "@@@@"},
        {"B": 5},
        {"L": {}},
        {"M": []},
        {"SS": "a"},
        {"SS": [1]},
        {"SS": [["a"]]},
        "text",
        None,
        {"L": ["x"]},
        {"M": {"k": 1}},
    ],
)
def test_values_that_are_not_wire_form_are_serialization_errors(value):
    assert refusal(value)[0] == "SerializationException"


@pytest.mark.parametrize("value", [nested(31), nested(30, {"M": {}}), {"SS": [""]}, {"S": ""}, {"B": ""}, {"L": []}])
def test_values_at_the_edge_are_accepted(value):
    assert checked_item({"a": value})[0] == {"a": value}


def test_a_document_nested_thousands_deep_is_refused_without_a_crash():
    with pytest.raises(DynamoError, match="Nesting Levels"):
        checked_item({"a": nested(5000)})


def test_a_valid_item_comes_back_as_the_same_object():
    item = {"a": {"S": "x"}, "n": {"N": "5"}, "m": {"M": {"k": {"NS": ["2", "1"]}}}, "l": {"L": [{"N": "1"}]}}
    assert checked_item(item)[0] is item


def test_numbers_become_canonical_without_touching_the_given_item():
    item = {"n": {"N": "1.0"}, "m": {"M": {"k": {"N": "1e2"}}}, "l": {"L": [{"NS": ["2", "01"]}]}, "s": {"S": "x"}}
    checked, _ = checked_item(item)
    assert checked == {
        "n": {"N": "1"},
        "m": {"M": {"k": {"N": "100"}}},
        "l": {"L": [{"NS": ["2", "1"]}]},
        "s": {"S": "x"},
    }
    assert item["n"] == {"N": "1.0"}
    assert item["m"] == {"M": {"k": {"N": "1e2"}}}
    assert checked["s"] is item["s"]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "hello"}, 5),
        ({"S": "é€"}, 5),
        ({"B": "YWJj"}, 3),
        ({"B": "YQ=="}, 1),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"N": "0"}, 1),
        ({"N": "1"}, 2),
        ({"N": "11"}, 2),
        ({"N": "111"}, 3),
        ({"N": "1" + "0" * 125}, 2),
        ({"N": "11" + "0" * 124}, 2),
        ({"N": "11111" + "0" * 121}, 4),
        ({"N": "1111111" + "0" * 119}, 5),
        ({"N": "1" * 38 + "0" * 88}, 20),
        ({"N": "-5"}, 3),
        ({"SS": ["a", "bc"]}, 3),
        ({"NS": ["22", "1"]}, 4),
        ({"BS": ["YQ==", "YWI="]}, 3),
        ({"L": []}, 3),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": True}]}, 3 + 1 + 2 + 1 + 1),
        ({"M": {"key": {"S": "ab"}}}, 3 + 1 + 3 + 2),
    ],
)
def test_sizes_are_counted_as_the_service_counts_them(value, size):
    assert checked_value(value) == (value, size)
    assert value_size(value) == size
    assert item_size({"é": value}) == checked_item({"é": value})[1] == size + 2


def test_attribute_names_may_have_65535_bytes():
    assert checked_item({"n" * 65535: {"S": ""}})[1] == 65535
    with pytest.raises(DynamoError, match="Attribute name is too large"):
        checked_item({"n" * 65536: {"S": ""}})


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("1", "10000000000000000000000", "10000000000000000000001"),
        ("0.1", "0.2", "0.3"),
        ("1.5", "-0.5", "1"),
        ("5", "-5", "0"),
        ("99999999999999999999999999999999999999", "1", "1" + "0" * 38),
        ("9" + "0" * 125, "9" + "0" * 124, "99" + "0" * 124),
    ],
)
def test_sums_are_exact(left, right, total):
    assert add_numbers(left, right) == total
    negated = right[1:] if right[0] == "-" else "-" + right
    assert add_numbers(left, negated, subtract=True) == total


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("9" + "0" * 125, "9" + "0" * 125, OVERFLOW),
        ("1" + "0" * 50, "1", OVERFLOW),
        ("12345678901234567890123456789012345678", "0.1", OVERFLOW),
    ],
)
def test_sums_that_do_not_fit_are_refused(left, right, message):
    with pytest.raises(DynamoError) as caught:
        add_numbers(left, right)
    assert caught.value.message == message


def test_a_difference_too_small_is_refused():
    with pytest.raises(DynamoError) as caught:
        add_numbers(canonical_number("1.1e-130"), canonical_number("1e-130"), subtract=True)
    assert caught.value.message == UNDERFLOW


def test_equality_ignores_the_order_of_sets_at_any_depth():
    assert equal({"SS": ["a", "b"]}, {"SS": ["b", "a"]})
    assert equal({"M": {"k": {"L": [{"NS": ["1", "2"]}]}}}, {"M": {"k": {"L": [{"NS": ["2", "1"]}]}}})
    assert not equal({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]})
    assert not equal({"SS": ["1"]}, {"NS": ["1"]})
    assert not equal({"S": "1"}, {"N": "1"})
    assert not equal({"M": {"a": {"S": "1"}}}, {"M": {"b": {"S": "1"}}})
    assert not equal({"SS": ["a"]}, {"SS": ["a", "b"]})
