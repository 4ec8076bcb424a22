"""BatchGetItem: up to a hundred items of several tables, in no order."""

import re

import pytest

from tests.conformance.tables import definition
from tests.conformance.wire import N, S

# The service shows all hundred and one keys in its message.
TOO_MANY = re.compile(
    r"1 validation error detected: Value at 'RequestItems\.shared\.plain\.member\.Keys' failed to satisfy "
    r"constraint: Member must have length less than or equal to 100"
    r"|Too many items requested for the BatchGetItem call"
)


def by_sort(items):
    return sorted(items, key=lambda item: item["s"]["S"])


async def fill(dynamo, table, partition, count):
    items = [{"p": S(partition), "s": S(f"{number:03}"), "n": N(number)} for number in range(count)]
    for start in range(0, count, 25):
        batch = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        await dynamo.call("BatchWriteItem", {"RequestItems": {table: batch}})
    return items


def keys(items):
    return [{"p": item["p"], "s": item["s"]} for item in items]


async def test_items_of_several_tables(dynamo, ranged, plain, fresh):
    items = await fill(dynamo, ranged, fresh, 2)
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    answer = await dynamo.call(
        "BatchGetItem",
        {"RequestItems": {ranged: {"Keys": keys(items)}, plain: {"Keys": [{"p": S(fresh)}]}}},
    )
    answer["Responses"][ranged] = by_sort(answer["Responses"][ranged])
    assert answer == {"Responses": {ranged: items, plain: [{"p": S(fresh)}]}, "UnprocessedKeys": {}}


async def test_absent_items_are_left_out(dynamo, ranged, fresh):
    answer = await dynamo.call(
        "BatchGetItem", {"RequestItems": {ranged: {"Keys": [{"p": S(fresh), "s": S("absent")}]}}}
    )
    assert answer == {"Responses": {ranged: []}, "UnprocessedKeys": {}}


async def test_a_hundred_items(dynamo, ranged, fresh):
    items = await fill(dynamo, ranged, fresh, 100)
    answer = await dynamo.call("BatchGetItem", {"RequestItems": {ranged: {"Keys": keys(items)}}})
    assert by_sort(answer["Responses"][ranged]) == items


async def test_a_projection_with_names(dynamo, ranged, fresh):
    items = await fill(dynamo, ranged, fresh, 3)
    answer = await dynamo.call(
        "BatchGetItem",
        {
            "RequestItems": {
                ranged: {
                    "Keys": keys(items),
                    "ProjectionExpression": "#n",
                    "ExpressionAttributeNames": {"#n": "n"},
                    "ConsistentRead": True,
                }
            }
        },
    )
    assert sorted(item["n"]["N"] for item in answer["Responses"][ranged]) == ["0", "1", "2"]
    assert all(item.keys() == {"n"} for item in answer["Responses"][ranged])


async def test_more_than_16_megabytes_leaves_keys_unprocessed(dynamo, create, fresh):
    ranged = await create(**definition("p:S", "s:S"))
    big = S("x" * 399_000)
    wanted = [{"p": S(fresh), "s": S(f"{number:03}")} for number in range(43)]
    for key in wanted:
        await dynamo.call("PutItem", {"TableName": ranged, "Item": {**key, "big": big}})
    answer = await dynamo.call(
        "BatchGetItem", {"RequestItems": {ranged: {"Keys": wanted, "ProjectionExpression": "p, s"}}}
    )
    got = answer["Responses"][ranged]
    left = answer["UnprocessedKeys"][ranged]
    assert left["ProjectionExpression"] == "p, s"
    assert by_sort([*got, *left["Keys"]]) == wanted
    assert 16 * 1024 * 1024 // 399_100 - 1 <= len(got) <= 42


REFUSED = {
    "no tables": (
        {"RequestItems": {}},
        "The requestItems parameter is required for BatchGetItem",
    ),
    "no keys": (
        {"RequestItems": {"shared.plain": {"Keys": []}}},
        "1 validation error detected: Value at 'RequestItems.shared.plain.member.Keys' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    ),
    "one table asked by expression and another by names": (
        {
            "RequestItems": {
                "shared.plain": {"Keys": [{"p": S("x")}], "ProjectionExpression": "p"},
                "shared.ranged": {"Keys": [{"p": S("x"), "s": S("1")}], "AttributesToGet": ["p"]},
            }
        },
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}",
    ),
    "a key twice": (
        {"RequestItems": {"shared.plain": {"Keys": [{"p": S("x")}, {"p": S("y")}, {"p": S("x")}]}}},
        "Provided list of item keys contains duplicates",
    ),
    "a key that is a set": (
        {"RequestItems": {"shared.plain": {"Keys": [{"p": {"SS": ["x", "y"]}}]}}},
        "The provided key element does not match the schema",
    ),
    "a key that is not the schema": (
        {"RequestItems": {"shared.plain": {"Keys": [{"other": S("x")}]}}},
        "The provided key element does not match the schema",
    ),
    "an empty key value": (
        {"RequestItems": {"shared.plain": {"Keys": [{"p": S("")}]}}},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: p",
    ),
    "a reserved word in a projection": (
        {"RequestItems": {"shared.plain": {"Keys": [{"p": S("x")}], "ProjectionExpression": "name"}}},
        "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: name",
    ),
    "names without a projection": (
        {"RequestItems": {"shared.plain": {"Keys": [{"p": S("x")}], "ExpressionAttributeNames": {"#a": "a"}}}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_batch_is_refused(dynamo, plain, case):
    request, message = REFUSED[case]
    await dynamo.invalid("BatchGetItem", request, message)


async def test_more_than_a_hundred_keys_of_a_table_are_refused(dynamo, plain):
    wanted = [{"p": S(str(number))} for number in range(101)]
    await dynamo.invalid("BatchGetItem", {"RequestItems": {plain: {"Keys": wanted}}}, TOO_MANY)


async def test_more_than_a_hundred_keys_of_two_tables_are_refused(dynamo, plain, ranged):
    some = [{"p": S(str(number))} for number in range(60)]
    others = [{"p": S(str(number)), "s": S("1")} for number in range(41)]
    await dynamo.invalid(
        "BatchGetItem",
        {"RequestItems": {plain: {"Keys": some}, ranged: {"Keys": others}}},
        "Too many items requested for the BatchGetItem call",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses(
        "BatchGetItem",
        {"RequestItems": {"absent": {"Keys": [{"p": S("x")}]}}},
        "ResourceNotFoundException",
        "Requested resource not found",
    )
