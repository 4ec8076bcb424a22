"""TransactGetItems: up to a hundred items as of one moment, in the order asked."""

import re

import pytest

from tests.conformance.wire import M, N, S


def get(table, key, **more):
    return {"Get": {"TableName": table, "Key": {"p": S(key)}, **more}}


async def test_items_come_in_the_order_asked_and_absent_ones_are_empty(dynamo, plain, ranged, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "n": N(1)}})
    await dynamo.call("PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S("1")}})
    answer = await dynamo.call(
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}}},
                get(plain, fresh + "absent"),
                get(plain, fresh),
            ]
        },
    )
    assert answer == {
        "Responses": [
            {"Item": {"p": S(fresh), "s": S("1")}},
            {},
            {"Item": {"p": S(fresh), "n": N(1)}},
        ]
    }


async def test_a_projection_with_names(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "m": M(a=N(1), b=N(2))}})
    answer = await dynamo.call(
        "TransactGetItems",
        {"TransactItems": [get(plain, fresh, ProjectionExpression="#m.b", ExpressionAttributeNames={"#m": "m"})]},
    )
    assert answer == {"Responses": [{"Item": {"m": M(b=N(2))}}]}


async def test_a_hundred_items(dynamo, plain, fresh):
    actions = [get(plain, f"{fresh}.{number}") for number in range(100)]
    answer = await dynamo.call("TransactGetItems", {"TransactItems": actions})
    assert answer == {"Responses": [{}] * 100}


async def test_more_than_a_hundred_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactGetItems",
        {"TransactItems": [get(plain, f"{fresh}.{number}") for number in range(101)]},
        re.compile(
            r"(1 validation error detected: Value '.*' at 'transactItems' failed to satisfy constraint: )?"
            r"Member must have length less than or equal to 100"
        ),
    )


async def test_none_are_refused(dynamo):
    await dynamo.invalid(
        "TransactGetItems",
        {"TransactItems": []},
        "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    )


async def test_the_same_item_twice_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactGetItems",
        {"TransactItems": [get(plain, fresh), get(plain, fresh)]},
        "Transaction request cannot include multiple operations on one item",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo, fresh):
    await dynamo.refuses(
        "TransactGetItems",
        {"TransactItems": [get("absent", fresh)]},
        "ResourceNotFoundException",
        "Requested resource not found",
    )


@pytest.mark.parametrize("key", [{"q": S("x")}, {"p": N(1)}], ids=["another name", "another type"])
async def test_a_key_that_is_not_the_schema_is_a_validation_error_in_its_place(dynamo, plain, fresh, key):
    refusal = await dynamo.refuses(
        "TransactGetItems",
        {"TransactItems": [get(plain, fresh), {"Get": {"TableName": plain, "Key": key}}]},
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]",
    )
    mismatch = "The provided key element does not match the schema"
    assert refusal.reasons == [{"Code": "None"}, {"Code": "ValidationError", "Message": mismatch}]


async def test_a_bad_projection_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactGetItems",
        {"TransactItems": [get(plain, fresh, ProjectionExpression="name")]},
        "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: name",
    )
