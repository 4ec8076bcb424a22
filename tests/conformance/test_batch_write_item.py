"""BatchWriteItem: up to twenty-five puts and deletes, each for itself."""

import re

import pytest

from tests.conformance.wire import N, S

# The service shows the whole request in its message.
TOO_MANY = re.compile(
    r"1 validation error detected: Value '.*' at 'requestItems.*' failed to satisfy constraint: "
    r".*Member must have length less than or equal to 25.*"
    r"|Too many items requested for the BatchWriteItem call"
)


def put(**item):
    return {"PutRequest": {"Item": item}}


def delete(**key):
    return {"DeleteRequest": {"Key": key}}


async def test_puts_and_deletes_in_several_tables(dynamo, plain, ranged, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}})
    answer = await dynamo.call(
        "BatchWriteItem",
        {
            "RequestItems": {
                plain: [delete(p=S(fresh)), put(p=S(fresh + "b"), a=N(1))],
                ranged: [put(p=S(fresh), s=S("1"))],
            }
        },
    )
    assert answer == {"UnprocessedItems": {}}
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh + "b")}}) == {
        "Item": {"p": S(fresh + "b"), "a": N(1)}
    }
    assert "Item" in await dynamo.call("GetItem", {"TableName": ranged, "Key": {"p": S(fresh), "s": S("1")}})


async def test_twenty_five_requests(dynamo, ranged, fresh):
    requests = [put(p=S(fresh), s=S(f"{number:02}")) for number in range(25)]
    assert await dynamo.call("BatchWriteItem", {"RequestItems": {ranged: requests}}) == {"UnprocessedItems": {}}
    answer = await dynamo.call(
        "Query",
        {
            "TableName": ranged,
            "KeyConditionExpression": "p = :p",
            "ExpressionAttributeValues": {":p": S(fresh)},
            "Select": "COUNT",
        },
    )
    assert answer["Count"] == 25


async def test_deleting_what_is_absent_succeeds(dynamo, plain, fresh):
    answer = await dynamo.call("BatchWriteItem", {"RequestItems": {plain: [delete(p=S(fresh))]}})
    assert answer == {"UnprocessedItems": {}}


async def test_a_put_replaces_the_whole_item(dynamo, plain, fresh):
    await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh), "old": N(1)}})
    await dynamo.call("BatchWriteItem", {"RequestItems": {plain: [put(p=S(fresh), new=N(2))]}})
    got = await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}})
    assert got == {"Item": {"p": S(fresh), "new": N(2)}}


async def test_item_collection_metrics_by_table(dynamo, indexed, fresh):
    answer = await dynamo.call(
        "BatchWriteItem",
        {
            "RequestItems": {indexed: [put(p=S(fresh), s=S("1")), put(p=S(fresh), s=S("2"))]},
            "ReturnItemCollectionMetrics": "SIZE",
        },
    )
    collections = [metrics["ItemCollectionKey"] for metrics in answer["ItemCollectionMetrics"][indexed]]
    assert collections
    assert all(key == {"p": S(fresh)} for key in collections)


PLAIN = "shared.plain"
REFUSED = {
    "no tables": (
        {},
        "The requestItems parameter is required for BatchWriteItem",
    ),
    "the same key put twice": (
        {PLAIN: [put(p=S("x")), put(p=S("x"), a=N(1))]},
        "Provided list of item keys contains duplicates",
    ),
    "the same key put and deleted": (
        {PLAIN: [put(p=S("x")), delete(p=S("x"))]},
        "Provided list of item keys contains duplicates",
    ),
    "an item without its key": (
        {PLAIN: [put(a=S("x"))]},
        "The provided key element does not match the schema",
    ),
    "an item with a key of another type": (
        {PLAIN: [put(p=N(1))]},
        "The provided key element does not match the schema",
    ),
    "a delete with another key": (
        {PLAIN: [delete(q=S("x"))]},
        "The provided key element does not match the schema",
    ),
    "an empty key": (
        {PLAIN: [put(p=S(""))]},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: p",
    ),
    "an invalid number": (
        {PLAIN: [put(p=S("x"), n=N("x"))]},
        "The parameter cannot be converted to a numeric value: x",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_batch_is_refused(dynamo, plain, case):
    tables, message = REFUSED[case]
    await dynamo.invalid("BatchWriteItem", {"RequestItems": tables}, message)


async def test_nothing_of_a_refused_batch_is_written(dynamo, plain, fresh):
    await dynamo.invalid(
        "BatchWriteItem",
        {"RequestItems": {plain: [put(p=S(fresh)), put(a=S("no key"))]}},
        "The provided key element does not match the schema",
    )
    assert await dynamo.call("GetItem", {"TableName": plain, "Key": {"p": S(fresh)}}) == {}


async def test_more_than_twenty_five_requests_are_refused(dynamo, plain):
    requests = [put(p=S(str(number))) for number in range(26)]
    await dynamo.invalid("BatchWriteItem", {"RequestItems": {plain: requests}}, TOO_MANY)


async def test_more_than_twenty_five_requests_in_two_tables_are_refused(dynamo, plain, ranged):
    await dynamo.invalid(
        "BatchWriteItem",
        {
            "RequestItems": {
                plain: [put(p=S(str(number))) for number in range(13)],
                ranged: [put(p=S(str(number)), s=S("1")) for number in range(13)],
            }
        },
        "Too many items requested for the BatchWriteItem call",
    )


async def test_an_item_past_400_kb_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "BatchWriteItem",
        {"RequestItems": {plain: [put(p=S(fresh), a=S("x" * 409_600))]}},
        "Item size has exceeded the maximum allowed size",
    )


async def test_an_index_key_of_the_wrong_type_is_refused(dynamo, indexed, fresh):
    await dynamo.invalid(
        "BatchWriteItem",
        {"RequestItems": {indexed: [put(p=S(fresh), s=S("1"), h=S("x"))]}},
        "One or more parameter values were invalid: Type mismatch for Index Key h Expected: N Actual: S IndexName: all",
    )


async def test_a_table_that_does_not_exist_is_not_found(dynamo, fresh):
    await dynamo.refuses(
        "BatchWriteItem",
        {"RequestItems": {"absent": [put(p=S(fresh))]}},
        "ResourceNotFoundException",
        "Requested resource not found",
    )
