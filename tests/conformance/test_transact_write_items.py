"""TransactWriteItems: all of its actions or none, and why none."""

import asyncio
import re
import uuid

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.wire import L, N, S

FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
NONE = {"Code": "None"}


def put(table, key, **more):
    attributes = more.pop("item", {})
    return {"Put": {"TableName": table, "Item": {"p": S(key), **attributes}, **more}}


def update(table, key, expression, values=None, **more):
    action = {"TableName": table, "Key": {"p": S(key)}, "UpdateExpression": expression, **more}
    if values:
        action["ExpressionAttributeValues"] = values
    return {"Update": action}


def delete(table, key, **more):
    return {"Delete": {"TableName": table, "Key": {"p": S(key)}, **more}}


def check(table, key, condition, **more):
    return {"ConditionCheck": {"TableName": table, "Key": {"p": S(key)}, "ConditionExpression": condition, **more}}


async def get(dynamo, table, key):
    return (await dynamo.call("GetItem", {"TableName": table, "Key": {"p": S(key)}, "ConsistentRead": True})).get(
        "Item"
    )


async def canceled(dynamo, actions, reasons, **more):
    """The refusal of a transaction for exactly these reasons."""
    codes = ", ".join(reason["Code"] for reason in reasons)
    refusal = await dynamo.refuses(
        "TransactWriteItems",
        {"TransactItems": actions, **more},
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
    )
    assert len(refusal.reasons) == len(reasons)
    for told, reason in zip(refusal.reasons, reasons, strict=True):
        assert dynamo.says(reason.get("Message", ""), told.get("Message", ""))
        assert {**told, "Message": ""} == {**reason, "Message": ""}


async def test_all_four_actions_at_once(dynamo, plain, fresh):
    a, b, c, d = (f"{fresh}{letter}" for letter in "abcd")
    for key in (b, c, d):
        await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(key), "n": N(1)}})
    answer = await dynamo.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                put(plain, a, item={"n": N(0)}, ConditionExpression="attribute_not_exists(p)"),
                update(plain, b, "ADD n :one", {":one": N(1)}),
                delete(plain, c, ConditionExpression="attribute_exists(p)"),
                check(plain, d, "n = :one", ExpressionAttributeValues={":one": N(1)}),
            ]
        },
    )
    assert answer == {}
    assert [await get(dynamo, plain, key) for key in (a, b, c, d)] == [
        {"p": S(a), "n": N(0)},
        {"p": S(b), "n": N(2)},
        None,
        {"p": S(d), "n": N(1)},
    ]


async def test_several_tables(dynamo, plain, ranged, fresh):
    await dynamo.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                put(plain, fresh),
                {"Put": {"TableName": ranged, "Item": {"p": S(fresh), "s": S("1")}}},
            ]
        },
    )
    assert await get(dynamo, plain, fresh) == {"p": S(fresh)}
    assert "Item" in await dynamo.call("GetItem", {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}})


async def test_one_failed_condition_of_ten_writes_nothing(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(f"{fresh}7"), "n": N(1)}})
    actions = [
        put(plain, f"{fresh}{number}", ConditionExpression="attribute_not_exists(p)", item={"n": N(number)})
        for number in range(10)
    ]
    await canceled(dynamo, actions, [NONE] * 7 + [FAILED] + [NONE] * 2)
    found = [await get(dynamo, plain, f"{fresh}{number}") for number in range(10)]
    assert found == [None] * 7 + [{"p": S(f"{fresh}7"), "n": N(1)}] + [None] * 2


async def test_every_failed_condition_is_told_in_its_place(dynamo, plain, fresh):
    await canceled(
        dynamo,
        [
            check(plain, f"{fresh}a", "attribute_exists(p)"),
            put(plain, f"{fresh}b"),
            delete(plain, f"{fresh}c", ConditionExpression="attribute_exists(p)"),
            update(plain, f"{fresh}d", "SET a = :v", {":v": N(1)}, ConditionExpression="attribute_exists(p)"),
        ],
        [FAILED, NONE, FAILED, FAILED],
    )
    assert await get(dynamo, plain, f"{fresh}b") is None


async def test_a_failed_condition_shows_the_old_item_when_asked(dynamo, plain, fresh):
    item = {"p": S(fresh), "n": N(1)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    await canceled(
        dynamo,
        [
            put(
                plain,
                fresh,
                ConditionExpression="attribute_not_exists(p)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            check(
                plain,
                fresh + "absent",
                "attribute_exists(p)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
        ],
        [{**FAILED, "Item": item}, FAILED],
    )


async def test_an_update_that_does_not_fit_the_item_is_a_validation_error_in_its_place(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": S("text")}})
    await canceled(
        dynamo,
        [put(plain, fresh + "b"), update(plain, fresh, "SET a = a + :v", {":v": N(1)})],
        [
            NONE,
            {
                "Code": "ValidationError",
                "Message": "An operand in the update expression has an incorrect data type",
            },
        ],
    )
    assert await get(dynamo, plain, fresh + "b") is None


async def test_an_update_that_makes_an_item_too_large_is_a_validation_error_in_its_place(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": S("x" * 300_000)}})
    await canceled(
        dynamo,
        [update(plain, fresh, "SET b = :v", {":v": S("x" * 200_000)})],
        [{"Code": "ValidationError", "Message": "Item size to update has exceeded the maximum allowed size"}],
    )


async def test_the_same_item_twice_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [put(plain, fresh), check(plain, fresh, "attribute_exists(p)")]},
        "Transaction request cannot include multiple operations on one item",
    )
    assert await get(dynamo, plain, fresh) is None


async def test_a_hundred_actions(dynamo, plain, fresh):
    actions = [put(plain, f"{fresh}.{number}") for number in range(100)]
    assert await dynamo.call("TransactWriteItems", {"TransactItems": actions}) == {}
    assert await get(dynamo, plain, f"{fresh}.99") == {"p": S(f"{fresh}.99")}


async def test_more_than_a_hundred_actions_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [put(plain, f"{fresh}.{number}") for number in range(101)]},
        re.compile(
            r"(1 validation error detected: Value '.*' at 'transactItems' failed to satisfy constraint: )?"
            r"Member must have length less than or equal to 100"
        ),
    )


async def test_no_actions_are_refused(dynamo):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": []},
        "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    )


async def test_an_action_without_kind_is_refused(dynamo):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [{}]},
        "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
    )


async def test_an_action_of_two_kinds_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [{**put(plain, fresh), **delete(plain, fresh)}]},
        "TransactItems can only contain one of Check, Put, Update or Delete",
    )


async def test_a_check_without_condition_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [{"ConditionCheck": {"TableName": plain, "Key": {"p": S(fresh)}}}]},
        "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' "
        "failed to satisfy constraint: Member must not be null",
    )


async def test_an_update_without_expression_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [{"Update": {"TableName": plain, "Key": {"p": S(fresh)}}}]},
        "1 validation error detected: Value null at 'transactItems.1.member.update.updateExpression' "
        "failed to satisfy constraint: Member must not be null",
    )


async def test_a_bad_expression_is_refused_before_anything_is_written(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [put(plain, fresh), update(plain, fresh + "b", "SET a = :v")]},
        "Invalid UpdateExpression: An expression attribute value used in expression is not defined; "
        "attribute value: :v",
    )
    assert await get(dynamo, plain, fresh) is None


async def test_a_key_attribute_cannot_be_updated(dynamo, plain, fresh):
    with pytest.raises(DynamoError) as caught:
        await dynamo.call("TransactWriteItems", {"TransactItems": [update(plain, fresh, "SET p = :v", {":v": S("x")})]})
    refusal = caught.value
    told = refusal.message if refusal.code == "ValidationException" else refusal.reasons[0]["Message"]
    assert told == (
        "One or more parameter values were invalid: Cannot update attribute p. This attribute is part of the key"
    )


KEY_MISMATCH = "The provided key element does not match the schema"
WRONG = "One or more parameter values were invalid: "
CONDITION = {"ConditionExpression": "attribute_not_exists(p)"}


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("Put", {"Item": {"a": N(1)}}, f"{WRONG}Missing the key p in the item"),
        ("Put", {"Item": {"p": N(1)}}, f"{WRONG}Type mismatch for key p expected: S actual: N"),
        ("Update", {"Key": {"p": N(1)}, "UpdateExpression": "REMOVE a"}, KEY_MISMATCH),
        ("Delete", {"Key": {"q": S("x")}}, KEY_MISMATCH),
        ("ConditionCheck", {"Key": {"p": S("x"), "q": S("x")}, **CONDITION}, KEY_MISMATCH),
    ],
    ids=["a put without key", "a put of another type", "an update", "a delete", "a check"],
)
async def test_a_key_that_is_not_the_schema_is_a_validation_error_in_its_place(
    dynamo, plain, fresh, kind, given, message
):
    misfit = {kind: {"TableName": plain, **given}}
    # The first that does not fit ends it: no condition is looked at, and no later misfit.
    await canceled(
        dynamo,
        [put(plain, fresh, ConditionExpression="attribute_exists(p)"), misfit, misfit],
        [NONE, {"Code": "ValidationError", "Message": message}, NONE],
    )


async def test_an_empty_key_fails_the_whole_call(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [put(plain, fresh), delete(plain, "")]},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: p",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo, plain, fresh):
    await dynamo.refuses(
        "TransactWriteItems",
        {"TransactItems": [put(plain, fresh), put("absent", fresh)]},
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert await get(dynamo, plain, fresh) is None


async def test_the_same_token_and_request_is_done_once(dynamo, plain, fresh):
    request = {
        "TransactItems": [update(plain, fresh, "ADD n :one", {":one": N(1)})],
        "ClientRequestToken": str(uuid.uuid4()),
    }
    assert await dynamo.call("TransactWriteItems", request) == {}
    assert await dynamo.call("TransactWriteItems", request) == {}
    assert await get(dynamo, plain, fresh) == {"p": S(fresh), "n": N(1)}


async def test_another_token_is_done_again(dynamo, plain, fresh):
    for _ in range(2):
        await dynamo.call(
            "TransactWriteItems",
            {
                "TransactItems": [update(plain, fresh, "ADD n :one", {":one": N(1)})],
                "ClientRequestToken": str(uuid.uuid4()),
            },
        )
    assert await get(dynamo, plain, fresh) == {"p": S(fresh), "n": N(2)}


async def test_without_a_token_each_is_done(dynamo, plain, fresh):
    for _ in range(2):
        await dynamo.call("TransactWriteItems", {"TransactItems": [update(plain, fresh, "ADD n :one", {":one": N(1)})]})
    assert await get(dynamo, plain, fresh) == {"p": S(fresh), "n": N(2)}


async def test_the_same_token_with_another_request_is_refused(dynamo, plain, fresh):
    token = str(uuid.uuid4())
    await dynamo.call("TransactWriteItems", {"TransactItems": [put(plain, fresh)], "ClientRequestToken": token})
    with pytest.raises(DynamoError) as caught:
        await dynamo.call(
            "TransactWriteItems", {"TransactItems": [put(plain, fresh + "b")], "ClientRequestToken": token}
        )
    assert caught.value.code == "IdempotentParameterMismatchException"
    assert await get(dynamo, plain, fresh + "b") is None


async def test_a_token_of_a_canceled_transaction_may_be_used_again(dynamo, plain, fresh):
    token = str(uuid.uuid4())
    request = {
        "TransactItems": [put(plain, fresh + "b"), check(plain, fresh, "attribute_exists(p)")],
        "ClientRequestToken": token,
    }
    await canceled(dynamo, request["TransactItems"], [NONE, FAILED], ClientRequestToken=token)
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    assert await dynamo.call("TransactWriteItems", request) == {}
    assert await get(dynamo, plain, fresh + "b") == {"p": S(fresh + "b")}


async def test_a_token_longer_than_36_characters_is_refused(dynamo, plain, fresh):
    token = "x" * 37
    await dynamo.invalid(
        "TransactWriteItems",
        {"TransactItems": [put(plain, fresh)], "ClientRequestToken": token},
        f"1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy constraint: "
        "Member must have length less than or equal to 36",
    )


async def test_each_action_has_its_own_placeholders(dynamo, plain, fresh):
    await dynamo.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                update(plain, fresh + "a", "SET #x = :v", {":v": N(1)}, ExpressionAttributeNames={"#x": "one"}),
                update(plain, fresh + "b", "SET #x = :v", {":v": L()}, ExpressionAttributeNames={"#x": "two"}),
            ]
        },
    )
    assert await get(dynamo, plain, fresh + "a") == {"p": S(fresh + "a"), "one": N(1)}
    assert await get(dynamo, plain, fresh + "b") == {"p": S(fresh + "b"), "two": L()}


async def test_unused_values_of_an_action_are_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "TransactWriteItems",
        {
            "TransactItems": [
                put(
                    plain,
                    fresh,
                    ConditionExpression="attribute_not_exists(p)",
                    ExpressionAttributeValues={":v": N(1)},
                )
            ]
        },
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
    )


async def test_indexes_follow_a_transaction(dynamo, indexed, fresh):
    await dynamo.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "Put": {
                        "TableName": indexed,
                        "Item": {"p": S(fresh), "s": S(str(number)), "g": S(fresh), "h": N(number)},
                    }
                }
                for number in range(3)
            ]
        },
    )
    answer = await dynamo.call(
        "Query",
        {
            "TableName": indexed,
            "IndexName": "all",
            "KeyConditionExpression": "g = :g AND h >= :h",
            "ExpressionAttributeValues": {":g": S(fresh), ":h": N(1)},
        },
    )
    assert [item["s"]["S"] for item in answer["Items"]] == ["1", "2"]


async def test_of_many_writers_of_one_item_exactly_one_wins(dynamo, plain, fresh):
    async def attempt(number):
        actions = [
            put(plain, fresh, item={"n": N(number)}, ConditionExpression="attribute_not_exists(p)"),
            put(plain, f"{fresh}.{number}"),
        ]
        try:
            await dynamo.call("TransactWriteItems", {"TransactItems": actions})
        except DynamoError as refusal:
            if refusal.code != "TransactionCanceledException":
                raise
            return None
        return number

    winners = [number for number in await asyncio.gather(*map(attempt, range(8))) if number is not None]
    assert len(winners) == 1
    assert await get(dynamo, plain, fresh) == {"p": S(fresh), "n": N(winners[0])}
    present = [number for number in range(8) if await get(dynamo, plain, f"{fresh}.{number}")]
    assert present == winners
