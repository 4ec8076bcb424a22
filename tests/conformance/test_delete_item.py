"""DeleteItem: one item removed, under a condition or not."""

import pytest

from tests.conformance.wire import N, S


async def test_delete_removes_the_item(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    assert await dynamo.call("DeleteItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_deleting_what_is_absent_succeeds(dynamo, plain, fresh):
    assert await dynamo.call("DeleteItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_all_old_answers_what_was_removed(dynamo, plain, fresh):
    item = {"p": S(fresh), "n": N(1)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    answer = await dynamo.call("DeleteItem", {"TableName": plain, "Key": {"p": S(fresh)}, "ReturnValues": "ALL_OLD"})
    assert answer == {"Attributes": item}


async def test_all_old_of_what_is_absent_answers_nothing(dynamo, plain, fresh):
    request = {"TableName": plain, "Key": {"p": S(fresh)}, "ReturnValues": "ALL_OLD"}
    assert await dynamo.call("DeleteItem", request) == {}


@pytest.mark.parametrize("kind", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
async def test_return_values_of_an_update_are_refused(dynamo, plain, fresh, kind):
    await dynamo.invalid(
        "DeleteItem",
        {"TableName": plain, "Key": {"p": S(fresh)}, "ReturnValues": kind},
        "ReturnValues can only be ALL_OLD or NONE",
    )


async def test_a_condition_that_holds_lets_the_delete_through(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": N(1)}})
    request = {
        "TableName": plain,
        "Key": {"p": S(fresh)},
        "ConditionExpression": "n = :one",
        "ExpressionAttributeValues": {":one": N(1)},
    }
    assert await dynamo.call("DeleteItem", request) == {}
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_a_failed_condition_keeps_the_item_and_shows_it_when_asked(dynamo, plain, fresh):
    item = {"p": S(fresh), "n": N(1)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    refusal = await dynamo.refuses(
        "DeleteItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConditionExpression": "n = :two",
            "ExpressionAttributeValues": {":two": N(2)},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert refusal.item == item
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": item}


async def test_a_failed_condition_on_an_absent_item_is_refused(dynamo, plain, fresh):
    refusal = await dynamo.refuses(
        "DeleteItem",
        {"TableName": plain, "Key": {"p": S(fresh)}, "ConditionExpression": "attribute_exists(p)"},
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    assert refusal.item is None


async def test_a_key_that_is_not_the_schema_is_refused(dynamo, ranged, fresh):
    await dynamo.invalid(
        "DeleteItem",
        {"TableName": ranged, "Key": {"p": S(fresh)}},
        "The provided key element does not match the schema",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo, fresh):
    await dynamo.refuses(
        "DeleteItem",
        {"TableName": "absent", "Key": {"p": S(fresh)}},
        "ResourceNotFoundException",
        "Requested resource not found",
    )


async def test_a_delete_without_key_is_refused(dynamo, plain):
    await dynamo.invalid(
        "DeleteItem",
        {"TableName": plain},
        "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null",
    )


async def test_the_item_leaves_its_indexes(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh), "h": N(1), "l": S("x")}
    await dynamo.call("PutItem", {"TableName": indexed, "Item": item})
    await dynamo.call("DeleteItem", {"TableName": indexed, "Key": {"p": S(fresh), "s": S("1")}})
    for name, attribute in (("all", "g"), ("keys", "g"), ("some", "g"), ("local_all", "p"), ("local_keys", "p")):
        answer = await dynamo.call(
            "Query",
            {
                "TableName": indexed,
                "IndexName": name,
                "KeyConditionExpression": f"{attribute} = :v",
                "ExpressionAttributeValues": {":v": S(fresh)},
            },
        )
        assert answer["Items"] == []
