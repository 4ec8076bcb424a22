"""Sizes and depths: the last that fits, and the first that does not."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.wire import B, L, N, S

ITEM_BYTES = 400 * 1024
TOO_LARGE = "Item size has exceeded the maximum allowed size"


def text_item(key, size):
    """An item of exactly this many bytes."""
    return {"p": S(key), "a": S("x" * (size - len("p") - len(key) - len("a")))}


async def test_an_item_of_400_kb_is_kept(dynamo, plain, fresh):
    item = text_item(fresh, ITEM_BYTES)
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": item}


async def test_one_byte_more_is_refused(dynamo, plain, fresh):
    await dynamo.invalid("PutItem", {"TableName": plain, "Item": text_item(fresh, ITEM_BYTES + 1)}, TOO_LARGE)


async def test_names_count_towards_the_size(dynamo, plain, fresh):
    item = {"p": S(fresh), "a" * 1_000: S("x" * (ITEM_BYTES - 1_000 - len("p") - len(fresh) + 1))}
    await dynamo.invalid("PutItem", {"TableName": plain, "Item": item}, TOO_LARGE)


async def test_text_is_measured_in_utf_8(dynamo, plain, fresh):
    item = {"p": S(fresh), "a": S("é" * (ITEM_BYTES // 2))}
    await dynamo.invalid("PutItem", {"TableName": plain, "Item": item}, TOO_LARGE)


async def test_binaries_are_measured_without_base64(dynamo, plain, fresh):
    item = {"p": S(fresh), "a": B(b"x" * (ITEM_BYTES - len("p") - len(fresh) - len("a")))}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": item}


async def test_an_update_past_400_kb_is_refused_and_changes_nothing(dynamo, plain, fresh):
    item = text_item(fresh, 300_000)
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    await dynamo.invalid(
        "UpdateItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "UpdateExpression": "SET b = a",
        },
        "Item size to update has exceeded the maximum allowed size",
    )
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": item}


async def test_a_partition_key_of_2048_bytes_is_kept(dynamo, plain, fresh):
    key = {"p": S(fresh.ljust(2048, "k"))}
    await dynamo.call("PutItem", {"TableName": plain, "Item": key})
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": key}) == {"Item": key}


HASH_TOO_LONG = (
    "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
)
RANGE_TOO_LONG = (
    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of "
    "1024 bytes"
)


@pytest.mark.parametrize("operation", ["PutItem", "GetItem", "DeleteItem", "UpdateItem"])
async def test_a_partition_key_of_2049_bytes_is_refused(dynamo, plain, operation):
    key = {"p": S("k" * 2049)}
    await dynamo.invalid(
        operation, {"TableName": plain, ("Item" if operation == "PutItem" else "Key"): key}, HASH_TOO_LONG
    )


async def test_a_sort_key_of_1024_bytes_is_kept(dynamo, ranged, fresh):
    key = {"p": S(fresh), "s": S("k" * 1024)}
    await dynamo.call("PutItem", {"TableName": ranged, "Item": key})
    assert await dynamo.call("GetItem", {"TableName": ranged, "Key": key}) == {"Item": key}


@pytest.mark.parametrize("operation", ["PutItem", "GetItem", "DeleteItem", "UpdateItem"])
async def test_a_sort_key_of_1025_bytes_is_refused(dynamo, ranged, fresh, operation):
    key = {"p": S(fresh), "s": S("k" * 1025)}
    await dynamo.invalid(
        operation, {"TableName": ranged, ("Item" if operation == "PutItem" else "Key"): key}, RANGE_TOO_LONG
    )


async def test_a_sort_key_is_measured_in_utf_8(dynamo, ranged, fresh):
    key = {"p": S(fresh), "s": S("é" * 513)}
    await dynamo.invalid("PutItem", {"TableName": ranged, "Item": key}, RANGE_TOO_LONG)


async def test_an_index_key_longer_than_a_key_may_be_is_refused(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "l": S("k" * 1025)}
    with pytest.raises(
        Exception, match=r"ValidationException: One or more parameter values were invalid: .*(1024|exceeded)"
    ):
        await dynamo.call("PutItem", {"TableName": indexed, "Item": item})


def nested(levels):
    """A list in a list, so many lists deep."""
    value = N(1)
    for _ in range(levels):
        value = L(value)
    return value


async def test_32_levels_are_kept(dynamo, plain, fresh):
    item = {"p": S(fresh), "a": nested(31)}
    await dynamo.call("PutItem", {"TableName": plain, "Item": item})
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {"Item": item}


DEEP = "Nesting Levels have exceeded supported limits"


@pytest.mark.parametrize("levels", [33, 100])
async def test_more_levels_are_refused(dynamo, plain, fresh, levels):
    with pytest.raises(DynamoError, match=f"ValidationException.*{DEEP}"):
        await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "a": nested(levels)}})


async def test_a_value_of_an_expression_may_not_be_deeper(dynamo, plain, fresh):
    with pytest.raises(DynamoError, match=f"ValidationException.*{DEEP}"):
        await dynamo.call(
            "UpdateItem",
            {
                "TableName": plain,
                "Key": {"p": S(fresh)},
                "UpdateExpression": "SET a = :v",
                "ExpressionAttributeValues": {":v": nested(40)},
            },
        )


async def test_a_transaction_that_sends_more_than_four_megabytes_is_refused(dynamo, plain, fresh):
    keys = [f"{fresh}.{number}" for number in range(11)]
    puts = [{"Put": {"TableName": plain, "Item": {"p": S(key), "a": S("x" * 390_000)}}} for key in keys]
    sent = sum(len(key) + len("p") + len("a") + 390_000 for key in keys)
    limit = "Transaction payload size cannot exceed 4MB. Payload Size: "
    await dynamo.invalid("TransactWriteItems", {"TransactItems": puts}, f"{limit}: {limit}{sent}")
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(keys[0])}}) == {}


async def test_a_transaction_may_touch_more_than_four_megabytes(dynamo, plain, fresh):
    keys = [{"p": S(f"{fresh}.{number}")} for number in range(11)]
    for key in keys:
        await dynamo.call("PutItem", {"TableName": plain, "Item": {**key, "a": S("x" * 390_000)}})
    update = {"TableName": plain, "UpdateExpression": "SET b = :v", "ExpressionAttributeValues": {":v": S("x")}}
    await dynamo.call("TransactWriteItems", {"TransactItems": [{"Update": {"Key": key, **update}} for key in keys]})
    deletes = [{"Delete": {"TableName": plain, "Key": key}} for key in keys]
    assert await dynamo.call("TransactWriteItems", {"TransactItems": deletes}) == {}


NAMES = {
    "PutItem": lambda name: {"Item": {name: S("x")}},
    "UpdateItem": lambda name: {
        "UpdateExpression": "SET #n = :v",
        "ExpressionAttributeNames": {"#n": name},
        "ExpressionAttributeValues": {":v": S("x")},
    },
    "GetItem": lambda name: {"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": name}},
}


@pytest.mark.parametrize("length", [0, 65_536])
@pytest.mark.parametrize("operation", NAMES)
async def test_an_attribute_name_has_1_to_65535_bytes(dynamo, plain, fresh, operation, length):
    request = {"TableName": plain, **NAMES[operation]("n" * length)}
    if operation == "PutItem":
        request["Item"]["p"] = S(fresh)
    else:
        request["Key"] = {"p": S(fresh)}
    with pytest.raises(DynamoError, match="ValidationException"):
        await dynamo.call(operation, request)


@pytest.mark.parametrize("count", [1, 50])
async def test_a_long_expression_with_many_placeholders(dynamo, plain, fresh, count):
    values = {f":v{number}": N(number) for number in range(count)}
    request = {
        "TableName": plain,
        "Key": {"p": S(fresh)},
        "UpdateExpression": "SET " + ", ".join(f"a{number} = :v{number}" for number in range(count)),
        "ExpressionAttributeValues": values,
        "ReturnValues": "UPDATED_NEW",
    }
    answer = await dynamo.call("UpdateItem", request)
    assert answer == {"Attributes": {f"a{number}": N(number) for number in range(count)}}
