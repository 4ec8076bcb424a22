"""ReturnConsumedCapacity: the units of every operation, for the table and each of its indexes."""

import pytest

from tests.conformance.wire import N, S

KIB = 1024


def sized(key, size, **more):
    """An item with key p of exactly this many bytes, not counting `more`."""
    return {"p": S(key), "a": S("x" * (size - len("p") - len(key) - len("a"))), **more}


def total(table, units):
    return {"TableName": table, "CapacityUnits": units}


async def put(dynamo, table, item, kind="TOTAL", **more):
    answer = await dynamo.call("PutItem", {"TableName": table, "Item": item, "ReturnConsumedCapacity": kind, **more})
    return answer["ConsumedCapacity"]


async def test_capacity_is_not_answered_when_not_asked(dynamo, plain, fresh):
    assert await dynamo.call("PutItem", {"TableName": plain, "Item": {"p": S(fresh)}}) == {}
    none = {"TableName": plain, "Key": {"p": S(fresh)}, "ReturnConsumedCapacity": "NONE"}
    assert await dynamo.call("GetItem", none) == {"Item": {"p": S(fresh)}}


@pytest.mark.parametrize(("size", "units"), [(100, 1), (KIB, 1), (KIB + 1, 2), (10 * KIB, 10), (10 * KIB + 1, 11)])
async def test_a_put_costs_a_unit_per_kilobyte(dynamo, plain, fresh, size, units):
    assert await put(dynamo, plain, sized(fresh, size)) == total(plain, units)


async def test_a_put_over_a_larger_item_costs_the_larger(dynamo, plain, fresh):
    await put(dynamo, plain, sized(fresh, 5 * KIB))
    assert await put(dynamo, plain, sized(fresh, 100)) == total(plain, 5)


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [
        (100, False, 0.5),
        (100, True, 1),
        (4 * KIB, False, 0.5),
        (4 * KIB, True, 1),
        (4 * KIB + 1, False, 1),
        (4 * KIB + 1, True, 2),
        (20 * KIB, False, 2.5),
    ],
)
async def test_a_get_costs_a_unit_per_four_kilobytes_or_half(dynamo, plain, fresh, size, consistent, units):
    await put(dynamo, plain, sized(fresh, size))
    answer = await dynamo.call(
        "GetItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConsistentRead": consistent,
            "ReturnConsumedCapacity": "TOTAL",
            "ProjectionExpression": "p",
        },
    )
    assert answer == {"Item": {"p": S(fresh)}, "ConsumedCapacity": total(plain, units)}


@pytest.mark.parametrize(("consistent", "units"), [(False, 0.5), (True, 1)])
async def test_getting_what_is_absent_costs_the_least(dynamo, plain, fresh, consistent, units):
    answer = await dynamo.call(
        "GetItem",
        {
            "TableName": plain,
            "Key": {"p": S(fresh)},
            "ConsistentRead": consistent,
            "ReturnConsumedCapacity": "TOTAL",
        },
    )
    assert answer == {"ConsumedCapacity": total(plain, units)}


async def test_a_delete_costs_what_it_removes(dynamo, plain, fresh):
    await put(dynamo, plain, sized(fresh, 3 * KIB))
    request = {"TableName": plain, "Key": {"p": S(fresh)}, "ReturnConsumedCapacity": "TOTAL"}
    assert await dynamo.call("DeleteItem", request) == {"ConsumedCapacity": total(plain, 3)}
    assert await dynamo.call("DeleteItem", request) == {"ConsumedCapacity": total(plain, 1)}


async def test_an_update_costs_the_larger_of_before_and_after(dynamo, plain, fresh):
    await put(dynamo, plain, sized(fresh, 3 * KIB))
    request = {
        "TableName": plain,
        "Key": {"p": S(fresh)},
        "UpdateExpression": "SET a = :v",
        "ExpressionAttributeValues": {":v": S("small")},
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert await dynamo.call("UpdateItem", request) == {"ConsumedCapacity": total(plain, 3)}
    assert await dynamo.call("UpdateItem", request) == {"ConsumedCapacity": total(plain, 1)}


async def test_indexes_besides_the_total(dynamo, plain, fresh):
    assert await put(dynamo, plain, sized(fresh, 2 * KIB), "INDEXES") == {
        **total(plain, 2),
        "Table": {"CapacityUnits": 2},
    }


async def test_a_put_pays_for_each_index_it_enters(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh), "h": N(1), "l": S("x")}
    assert await put(dynamo, indexed, item, "INDEXES") == {
        **total(indexed, 7),
        "Table": {"CapacityUnits": 1},
        "GlobalSecondaryIndexes": {name: {"CapacityUnits": 1} for name in ("all", "keys", "some")},
        "LocalSecondaryIndexes": {name: {"CapacityUnits": 1} for name in ("local_all", "local_keys", "local_some")},
    }


async def test_a_put_pays_for_no_index_it_does_not_enter(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh)}
    assert await put(dynamo, indexed, item, "INDEXES") == {
        **total(indexed, 2),
        "Table": {"CapacityUnits": 1},
        "GlobalSecondaryIndexes": {"some": {"CapacityUnits": 1}},
    }


async def test_a_put_that_moves_an_item_in_an_index_pays_twice_there(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh)}
    await put(dynamo, indexed, item)
    assert await put(dynamo, indexed, {**item, "g": S(fresh + "b")}, "INDEXES") == {
        **total(indexed, 3),
        "Table": {"CapacityUnits": 1},
        "GlobalSecondaryIndexes": {"some": {"CapacityUnits": 2}},
    }


async def test_a_put_that_changes_nothing_of_an_index_pays_nothing_there(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh)}
    await put(dynamo, indexed, item)
    assert await put(dynamo, indexed, {**item, "z": S("not projected")}, "INDEXES") == {
        **total(indexed, 1),
        "Table": {"CapacityUnits": 1},
    }


async def test_a_put_that_changes_what_an_index_projects_pays_once_there(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh)}
    await put(dynamo, indexed, item)
    assert await put(dynamo, indexed, {**item, "x": S("projected")}, "INDEXES") == {
        **total(indexed, 2),
        "Table": {"CapacityUnits": 1},
        "GlobalSecondaryIndexes": {"some": {"CapacityUnits": 1}},
    }


async def test_an_index_is_paid_by_what_it_projects(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh), "h": N(1), "z": S("z" * 3 * KIB)}
    capacity = await put(dynamo, indexed, item, "INDEXES")
    assert capacity["Table"] == {"CapacityUnits": 4}
    assert capacity["GlobalSecondaryIndexes"] == {
        "all": {"CapacityUnits": 4},
        "keys": {"CapacityUnits": 1},
        "some": {"CapacityUnits": 1},
    }


async def test_a_delete_pays_for_each_index_it_leaves(dynamo, indexed, fresh):
    item = {"p": S(fresh), "s": S("1"), "g": S(fresh), "h": N(1)}
    await put(dynamo, indexed, item)
    answer = await dynamo.call(
        "DeleteItem",
        {"TableName": indexed, "Key": {"p": S(fresh), "s": S("1")}, "ReturnConsumedCapacity": "INDEXES"},
    )
    assert answer["ConsumedCapacity"] == {
        **total(indexed, 4),
        "Table": {"CapacityUnits": 1},
        "GlobalSecondaryIndexes": {name: {"CapacityUnits": 1} for name in ("all", "keys", "some")},
    }


def query(table, key, **more):
    return {
        "TableName": table,
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": S(key)},
        "ReturnConsumedCapacity": "TOTAL",
        **more,
    }


@pytest.mark.parametrize(("consistent", "units"), [(False, 1.5), (True, 3)])
async def test_a_query_rounds_the_sum_of_its_items(dynamo, ranged, fresh, consistent, units):
    # Ten items of about 1 KB: rounded one by one they would cost ten units.
    for number in range(10):
        await dynamo.call(
            "PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S(str(number)), "a": S("x" * 1000)}}
        )
    answer = await dynamo.call("Query", query(ranged, fresh, ConsistentRead=consistent))
    assert answer["ConsumedCapacity"] == total(ranged, units)


async def test_a_query_pays_for_what_the_filter_leaves_out(dynamo, ranged, fresh):
    for number in range(4):
        await dynamo.call(
            "PutItem", {"TableName": ranged, "Item": {"p": S(fresh), "s": S(str(number)), "a": S("x" * 3000)}}
        )
    answer = await dynamo.call("Query", query(ranged, fresh, FilterExpression="attribute_not_exists(a)"))
    assert answer["Count"] == 0
    assert answer["ConsumedCapacity"] == total(ranged, 1.5)


async def test_an_empty_query_costs_the_least(dynamo, ranged, fresh):
    assert (await dynamo.call("Query", query(ranged, fresh)))["ConsumedCapacity"] == total(ranged, 0.5)


async def test_a_query_of_a_global_index_is_paid_there(dynamo, indexed, fresh):
    await put(dynamo, indexed, {"p": S(fresh), "s": S("1"), "g": S(fresh)})
    answer = await dynamo.call(
        "Query",
        {
            "TableName": indexed,
            "IndexName": "some",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": S(fresh)},
            "ReturnConsumedCapacity": "INDEXES",
        },
    )
    assert answer["ConsumedCapacity"] == {
        **total(indexed, 0.5),
        "Table": {"CapacityUnits": 0},
        "GlobalSecondaryIndexes": {"some": {"CapacityUnits": 0.5}},
    }


async def test_a_local_index_that_fetches_pays_for_table_and_index(dynamo, indexed, fresh):
    for number in range(3):
        await put(dynamo, indexed, {"p": S(fresh), "s": S(str(number)), "l": S("x"), "z": S("z")})
    answer = await dynamo.call(
        "Query",
        query(indexed, fresh, IndexName="local_keys", Select="ALL_ATTRIBUTES", ReturnConsumedCapacity="INDEXES"),
    )
    assert answer["ConsumedCapacity"] == {
        **total(indexed, 2),
        "Table": {"CapacityUnits": 1.5},
        "LocalSecondaryIndexes": {"local_keys": {"CapacityUnits": 0.5}},
    }


async def test_a_batch_get_costs_each_item_by_itself(dynamo, plain, ranged, fresh):
    await put(dynamo, plain, sized(fresh, 5 * KIB))
    answer = await dynamo.call(
        "BatchGetItem",
        {
            "RequestItems": {
                plain: {"Keys": [{"p": S(fresh)}, {"p": S(fresh + "absent")}], "ConsistentRead": True},
                ranged: {"Keys": [{"p": S(fresh), "s": S("absent")}]},
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
    )
    by_table = {each["TableName"]: each for each in answer["ConsumedCapacity"]}
    assert by_table == {plain: total(plain, 3), ranged: total(ranged, 0.5)}


async def test_a_batch_write_costs_each_item_by_itself(dynamo, plain, fresh):
    answer = await dynamo.call(
        "BatchWriteItem",
        {
            "RequestItems": {
                plain: [
                    {"PutRequest": {"Item": sized(fresh, 2 * KIB + 1)}},
                    {"PutRequest": {"Item": {"p": S(fresh + "b")}}},
                    {"DeleteRequest": {"Key": {"p": S(fresh + "c")}}},
                ]
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
    )
    assert answer["ConsumedCapacity"] == [total(plain, 5)]


async def test_a_transaction_of_writes_costs_double(dynamo, plain, fresh):
    answer = await dynamo.call(
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": plain, "Item": sized(fresh, 2 * KIB)}},
                {"Put": {"TableName": plain, "Item": {"p": S(fresh + "b")}}},
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
    )
    (capacity,) = answer["ConsumedCapacity"]
    assert (capacity["TableName"], capacity["CapacityUnits"]) == (plain, 6)
    assert capacity["WriteCapacityUnits"] == 6


async def test_a_transaction_of_gets_costs_double(dynamo, plain, fresh):
    await put(dynamo, plain, sized(fresh, 5 * KIB))
    answer = await dynamo.call(
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": plain, "Key": {"p": S(fresh)}}},
                {"Get": {"TableName": plain, "Key": {"p": S(fresh + "absent")}}},
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
    )
    (capacity,) = answer["ConsumedCapacity"]
    assert (capacity["TableName"], capacity["CapacityUnits"]) == (plain, 6)
    assert capacity["ReadCapacityUnits"] == 6


async def test_an_unknown_kind_is_refused(dynamo, plain, fresh):
    await dynamo.invalid(
        "GetItem",
        {"TableName": plain, "Key": {"p": S(fresh)}, "ReturnConsumedCapacity": "ALL"},
        "1 validation error detected: Value 'ALL' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
    )
