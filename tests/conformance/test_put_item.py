"""PutItem: a whole item written, under a condition or not."""

import pytest

from tests.conformance.wire import BS, FALSE, NS, NULL, SS, TRUE, B, L, M, N, S

EVERY_TYPE = {
    "string": S("text"),
    "number": N("-1.5"),
    "binary": B(b"\x00\xff"),
    "true": TRUE,
    "false": FALSE,
    "null": NULL,
    "strings": SS("a", "b"),
    "numbers": NS(1, 2),
    "binaries": BS(b"a", b"b"),
    "list": L(S("x"), N(1), L()),
    "map": M(inner=M(deep=S("y")), empty=M()),
}


def sorted_sets(item):
    """The same item with its sets in order, because sets have none."""
    return {
        name: {kind: sorted(value) if kind in ("SS", "NS", "BS") else value for kind, value in attribute.items()}
        for name, attribute in item.items()
    }


async def test_put_answers_nothing_by_default(dynamo, plain, fresh):
    assert await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}}) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (SS("b", "a", "é", "Z"), SS("Z", "a", "b", "é")),
        (NS(2, "-1.5", 10, 1), NS(10, 2, 1, "-1.5")),
        (BS(b"b", b"\xff", b"a"), BS(b"a", b"b", b"\xff")),
    ],
    ids=["texts", "numbers", "binaries"],
)
async def test_a_set_is_answered_in_one_order(dynamo, plain, fresh, given, told):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": given, "l": L(given)}})
    answer = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert answer["Item"] == {"p": S(fresh), "a": told, "l": L(told)}
    (kind,) = given
    # The members come one by one, the last first.
    for member in reversed(given[kind]):
        answer = await dynamo.call(
            "UpdateItem",
            {
                "TableName": plain,
                "Key": {"p": S(fresh)},
                "UpdateExpression": "ADD b :m",
                "ExpressionAttributeValues": {":m": {kind: [member]}},
                "ReturnValues": "UPDATED_NEW",
            },
        )
    assert answer["Attributes"] == {"b": told}


async def test_every_type_comes_back_as_it_was_put(dynamo, plain, fresh):
    item = {"p": S(fresh), **EVERY_TYPE}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert sorted_sets(got["Item"]) == sorted_sets(item)
    assert got.keys() == {"Item"}


async def test_put_replaces_the_whole_item(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "old": S("1")}})
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "new": S("2")}})
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert got == {"Item": {"p": S(fresh), "new": S("2")}}


@pytest.mark.parametrize(
    "value",
    [S(""), B(b""), L(), {"M": {}}, L(S("")), M(inner=B(b""))],
    ids=["string", "binary", "list", "map", "string in a list", "binary in a map"],
)
async def test_empty_values_are_kept_outside_of_keys(dynamo, plain, fresh, value):
    item = {"p": S(fresh), "empty": value}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": item}


async def test_all_old_answers_what_was_replaced(dynamo, plain, fresh):
    old = {"p": S(fresh), "a": S("1"), "n": N(5)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": old})
    answer = await dynamo.call(
        "PutItem", {"TableName": plain, "Item": {"p": S(fresh), "b": S("2")}, "ReturnValues": "ALL_OLD"}
    )
    assert answer == {"Attributes": old}


async def test_all_old_answers_nothing_when_there_was_nothing(dynamo, plain, fresh):
    assert await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}, "ReturnValues": "ALL_OLD"}) == {}


async def test_none_answers_nothing_when_there_was_an_item(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    assert await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}, "ReturnValues": "NONE"}) == {}


@pytest.mark.parametrize("kind", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
async def test_return_values_of_an_update_are_refused(dynamo, plain, fresh, kind):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": S(fresh)}, "ReturnValues": kind},
        "ReturnValues can only be ALL_OLD or NONE",
    )


async def test_unknown_return_values_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": S(fresh)}, "ReturnValues": "SOME"},
        "1 validation error detected: Value 'SOME' at 'returnValues' failed to satisfy constraint: "
        "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
    )


async def test_a_condition_that_holds_lets_the_put_through(dynamo, plain, fresh):
    put = {"TableName": plain, "Item": {"p": S(fresh)}, "ConditionExpression": "attribute_not_exists(p)"}
    assert await dynamo.call("PutItem", put) == {}


async def test_a_failed_condition_changes_nothing(dynamo, plain, fresh):
    old = {"p": S(fresh), "a": S("1")}
    await dynamo.call("PutItem", {"TableName": plain, "Item": old})
    refusal = await dynamo.refuses(
        "PutItem",
        {
            "TableName": plain,
            "Item": {"p": S(fresh), "a": S("2")},
            "ConditionExpression": "attribute_not_exists(p)",
        },
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert refusal.item is None
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": old}


async def test_a_failed_condition_returns_the_old_item_when_asked(dynamo, plain, fresh):
    old = {"p": S(fresh), "a": B(b"binary"), "l": L(N(1))}
    await dynamo.call("PutItem", {"TableName": plain, "Item": old})
    refusal = await dynamo.refuses(
        "PutItem",
        {
            "TableName": plain,
            "Item": {"p": S(fresh)},
            "ConditionExpression": "attribute_not_exists(p)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert refusal.item == old


async def test_a_failed_condition_on_an_absent_item_has_no_old_item(dynamo, plain, fresh):
    refusal = await dynamo.refuses(
        "PutItem",
        {
            "TableName": plain,
            "Item": {"p": S(fresh)},
            "ConditionExpression": "attribute_exists(p)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert refusal.item is None
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_a_missing_partition_key_is_refused(dynamo, plain):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"other": S("x")}},
        "One or more parameter values were invalid: Missing the key p in the item",
    )


async def test_a_missing_sort_key_is_refused(dynamo, ranged, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": ranged, "Item": {"p": S(fresh)}},
        "One or more parameter values were invalid: Missing the key s in the item",
    )


async def test_a_key_of_the_wrong_type_is_refused(dynamo, plain):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": N(1)}},
        "One or more parameter values were invalid: Type mismatch for key p expected: S actual: N",
    )


async def test_a_sort_key_of_the_wrong_type_is_refused(dynamo, numbered, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": numbered, "Item": {"p": S(fresh), "n": S("1")}},
        "One or more parameter values were invalid: Type mismatch for key n expected: N actual: S",
    )


async def test_an_empty_string_as_key_is_refused(dynamo, plain):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": S("")}},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: p",
    )


async def test_an_empty_binary_as_key_is_refused(dynamo, binary, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": binary, "Item": {"p": S(fresh), "b": B(b"")}},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty binary value. Key: b",
    )


INVALID_VALUES = {
    "no type": ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    "two types": (
        {"S": "a", "N": "1"},
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    ),
    "false null": (
        {"NULL": False},
        "One or more parameter values were invalid: Null attribute value types must have the value of true",
    ),
    "empty string set": ({"SS": []}, "One or more parameter values were invalid: An string set  may not be empty"),
    "empty number set": ({"NS": []}, "One or more parameter values were invalid: An number set  may not be empty"),
    "empty binary set": ({"BS": []}, "One or more parameter values were invalid: Binary sets should not be empty"),
    "twice the same string": (
        SS("a", "b", "a"),
        "One or more parameter values were invalid: Input collection [a, b, a] contains duplicates.",
    ),
    "twice the same number": (NS("1", "2", "1.0"), "Input collection contains duplicates"),
    "twice the same binary": (
        BS(b"a", b"b", b"a"),
        "One or more parameter values were invalid: Input collection [YQ==, Yg==, YQ==]of type BS contains duplicates.",
    ),
    "empty number": (N(""), "The parameter cannot be converted to a numeric value"),
    "text as number": (N("abc"), "The parameter cannot be converted to a numeric value: abc"),
    "text in a number set": (NS("1", "x"), "The parameter cannot be converted to a numeric value: x"),
    "no type in a list": (
        L({}),
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
    ),
    "bad number in a map": (M(a=N("b")), "The parameter cannot be converted to a numeric value: b"),
}


@pytest.mark.parametrize("case", INVALID_VALUES)
async def test_an_invalid_value_is_refused(dynamo, plain, fresh, case):
    value, message = INVALID_VALUES[case]
    await dynamo.invalid("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": value}}, message)
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_a_table_that_does_not_exist_is_not_found(dynamo, fresh):
    await dynamo.refuses(
        "PutItem",
        {"TableName": "absent", "Item": {"p": S(fresh)}},
        "ResourceNotFoundException",
        "Requested resource not found",
    )


async def test_a_put_without_item_is_refused(dynamo, plain):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain},
        "1 validation error detected: Value null at 'item' failed to satisfy constraint: Member must not be null",
    )


async def test_unused_names_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "PutItem",
        {
            "TableName": plain,
            "Item": {"p": S(fresh)},
            "ConditionExpression": "attribute_not_exists(p)",
            "ExpressionAttributeNames": {"#a": "a"},
        },
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
    )


async def test_unused_values_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "PutItem",
        {
            "TableName": plain,
            "Item": {"p": S(fresh)},
            "ConditionExpression": "attribute_not_exists(p)",
            "ExpressionAttributeValues": {":a": S("a")},
        },
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a}",
    )


async def test_values_without_an_expression_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": S(fresh)}, "ExpressionAttributeValues": {":a": S("a")}},
        "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null",
    )


async def test_names_without_an_expression_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": plain, "Item": {"p": S(fresh)}, "ExpressionAttributeNames": {"#a": "a"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    )


async def test_an_index_key_of_the_wrong_type_is_refused_at_the_write(dynamo, indexed, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": indexed, "Item": {"p": S(fresh), "s": S("1"), "h": S("not a number")}},
        "One or more parameter values were invalid: Type mismatch for Index Key h Expected: N Actual: S IndexName: all",
    )


async def test_an_empty_index_key_is_refused_at_the_write(dynamo, indexed, fresh):
    await dynamo.invalid(
        "PutItem",
        {"TableName": indexed, "Item": {"p": S(fresh), "s": S("1"), "g": S("")}},
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: all, IndexKey: g",
    )


async def test_item_collection_metrics_name_the_partition_of_a_table_with_local_indexes(dynamo, indexed, fresh):
    answer = await dynamo.call(
        "PutItem",
        {
            "TableName": indexed,
            "Item": {"p": S(fresh), "s": S("1"), "l": S("x")},
            "ReturnItemCollectionMetrics": "SIZE",
        },
    )
    assert answer.keys() == {"ItemCollectionMetrics"}
    assert answer["ItemCollectionMetrics"]["ItemCollectionKey"] == {"p": S(fresh)}
    low, high = answer["ItemCollectionMetrics"]["SizeEstimateRangeGB"]
    assert 0 <= low <= high <= 1


async def test_item_collection_metrics_are_left_out_without_local_indexes(dynamo, plain, fresh):
    answer = await dynamo.call(
        "PutItem", {"TableName": plain, "Item": {"p": S(fresh)}, "ReturnItemCollectionMetrics": "SIZE"}
    )
    assert answer == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "",
            "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
        ),
        (
            "ab",
            "Value 'ab' at 'tableName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 3",
        ),
        (
            "bad table!@#",
            "Value 'bad table!@#' at 'tableName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        ),
    ],
    ids=["empty", "short", "other characters"],
)
async def test_a_name_that_no_table_has_is_refused(dynamo, name, message):
    await dynamo.invalid(
        "PutItem", {"TableName": name, "Item": {"p": S("x")}}, f"1 validation error detected: {message}"
    )
