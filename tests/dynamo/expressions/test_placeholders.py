"""ExpressionAttributeNames and ExpressionAttributeValues."""

import pytest

from potluck.dynamo.errors import DynamoError
from potluck.dynamo.expressions import Placeholders, condition, projection, refuse_mixed_parameters, update


def message_of(call, *arguments):
    with pytest.raises(DynamoError) as caught:
        call(*arguments)
    assert caught.value.code == "ValidationException"
    return caught.value.message


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"ExpressionAttributeNames": {}}, "ExpressionAttributeNames must not be empty"),
        ({"ExpressionAttributeValues": {}}, "ExpressionAttributeValues must not be empty"),
        (
            {"ExpressionAttributeNames": {"a": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"ExpressionAttributeNames": {"#": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "#"',
        ),
        (
            {"ExpressionAttributeNames": {"#a-b": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"',
        ),
        (
            {"ExpressionAttributeNames": {":a": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: ":a"',
        ),
        (
            {"ExpressionAttributeNames": {"#a": ""}},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            {"ExpressionAttributeValues": {":b": {"a": ""}, "b": {"S": "a"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "b"',
        ),
        (
            {"ExpressionAttributeValues": {":b": {"L": [{}]}}},
            "ExpressionAttributeValues contains invalid value: "
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :b",
        ),
        (
            {"ExpressionAttributeValues": {":b": {"SS": []}}},
            "ExpressionAttributeValues contains invalid value: "
            "One or more parameter values were invalid: An string set  may not be empty for key :b",
        ),
        (
            {"ExpressionAttributeValues": {":b": {"S": "a", "N": "b"}}},
            "ExpressionAttributeValues contains invalid value: "
            "The parameter cannot be converted to a numeric value: b for key :b",
        ),
    ],
)
def test_malformed_placeholders(request_, message):
    assert message_of(Placeholders, request_) == message
    # Well-formed placeholders are remembered, and must not let malformed ones through.
    Placeholders({"ExpressionAttributeValues": {":a": {"S": "x"}}})
    assert message_of(Placeholders, request_) == message


def test_undefined_placeholders():
    nothing = Placeholders({})
    assert message_of(condition, "FilterExpression", "#p = :v", nothing) == (
        "Invalid FilterExpression: An expression attribute name used in the document path is not defined; "
        "attribute name: #p"
    )
    assert message_of(condition, "ConditionExpression", "p = :v", nothing) == (
        "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
        "attribute value: :v"
    )
    assert message_of(update, "SET a = :v", nothing) == (
        "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :v"
    )
    assert message_of(projection, "a.:v", nothing) == (
        "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
        "attribute name: :v"
    )


def test_a_cached_text_still_misses_its_placeholders():
    text = "#cached = :cached"
    full = Placeholders(
        {"ExpressionAttributeNames": {"#cached": "a"}, "ExpressionAttributeValues": {":cached": {"S": "x"}}}
    )
    assert condition("ConditionExpression", text, full).matches({"a": {"S": "x"}})
    half = Placeholders({"ExpressionAttributeNames": {"#cached": "a"}})
    assert message_of(condition, "ConditionExpression", text, half).endswith("attribute value: :cached")


def test_one_text_serves_different_names_and_types():
    text = "#n = :v"
    for name, value in [("a", {"S": "x"}), ("b", {"N": "1"}), ("c", {"SS": ["p", "q"]}), ("d.e", {"BOOL": True})]:
        placeholders = Placeholders(
            {"ExpressionAttributeNames": {"#n": name}, "ExpressionAttributeValues": {":v": value}}
        )
        assert condition("ConditionExpression", text, placeholders).matches({name: value})
        assert not condition("ConditionExpression", text, placeholders).matches({"other": value})


def test_unused_placeholders_are_named():
    placeholders = Placeholders(
        {"ExpressionAttributeNames": {"#a": "a", "#b": "b"}, "ExpressionAttributeValues": {":a": {"S": "x"}}}
    )
    condition("ConditionExpression", "#a = :a", placeholders)
    assert message_of(placeholders.check_all_used) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
    )
    projection("#b", placeholders)
    placeholders.check_all_used()


def test_unused_values_are_named_after_names():
    placeholders = Placeholders({"ExpressionAttributeValues": {":a": {"S": "x"}, ":c": {"S": "x"}, ":b": {"N": "1"}}})
    update("SET a = :b", placeholders)
    assert message_of(placeholders.check_all_used) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :c}"
    )


def test_a_name_with_dots_is_one_name():
    placeholders = Placeholders(
        {"ExpressionAttributeNames": {"#d": "m.x"}, "ExpressionAttributeValues": {":v": {"N": "1"}}}
    )
    check = condition("ConditionExpression", "#d = :v", placeholders)
    assert check.matches({"m.x": {"N": "1"}})
    assert not check.matches({"m": {"M": {"x": {"N": "1"}}}})


QUERY = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")
QUERY_LEGACY = ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions")


@pytest.mark.parametrize(
    ("request_", "expressions", "legacy", "message"),
    [
        (
            {"Expected": {}, "ConditionExpression": ""},
            ("ConditionExpression",),
            ("Expected",),
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
        ),
        (
            {"AttributesToGet": ["a"], "KeyConditions": {}, "FilterExpression": "", "ProjectionExpression": ""},
            QUERY,
            QUERY_LEGACY,
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression, FilterExpression}",
        ),
        (
            {"ExpressionAttributeNames": {}, "QueryFilter": {}},
            QUERY,
            QUERY_LEGACY,
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeValues": {}, "ProjectionExpression": "a"},
            QUERY,
            QUERY_LEGACY,
            "ExpressionAttributeValues can only be specified when using expressions: "
            "FilterExpression and KeyConditionExpression are null",
        ),
        (
            {"ExpressionAttributeValues": {}},
            ("ConditionExpression",),
            ("Expected",),
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null",
        ),
    ],
)
def test_expressions_and_legacy_parameters_do_not_mix(request_, expressions, legacy, message):
    assert message_of(refuse_mixed_parameters, request_, expressions, legacy) == message


def test_key_conditions_may_stand_beside_a_filter_expression():
    refuse_mixed_parameters({"KeyConditions": {}, "FilterExpression": "a = :a"}, QUERY, QUERY_LEGACY)
