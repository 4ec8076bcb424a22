"""Secondary indexes: order, projections, sparseness, paging, and what Select may ask of them."""

import pytest

from tests.conformance.wire import N, S

PROJECTED = {
    "all": {"p", "s", "g", "h", "l", "x", "y", "z"},
    "keys": {"p", "s", "g", "h"},
    "some": {"p", "s", "g", "x", "y"},
    "local_all": {"p", "s", "g", "h", "l", "x", "y", "z"},
    "local_keys": {"p", "s", "l"},
    "local_some": {"p", "s", "l", "x"},
}
KEY_OF = {"all": "g", "keys": "g", "some": "g", "local_all": "p", "local_keys": "p", "local_some": "p"}


def item(partition, number):
    return {
        "p": S(partition),
        "s": S(f"{number:02}"),
        "g": S(partition),
        "h": N(number % 5),
        "l": S(f"l{9 - number}"),
        "x": N(number),
        "y": S("y"),
        "z": S("z"),
    }


@pytest.fixture
async def ten(dynamo, indexed, fresh):
    requests = [{"PutRequest": {"Item": item(fresh, number)}} for number in range(10)]
    await dynamo.call("BatchWriteItem", {"RequestItems": {indexed: requests}})
    return fresh


def query(table, name, value, **more):
    return {
        "TableName": table,
        "IndexName": name,
        "KeyConditionExpression": f"{KEY_OF[name]} = :v",
        "ExpressionAttributeValues": {":v": S(value)},
        **more,
    }


@pytest.mark.parametrize("name", PROJECTED)
async def test_an_index_has_what_it_projects(dynamo, indexed, ten, name):
    answer = await dynamo.call("Query", query(indexed, name, ten))
    assert answer["Count"] == 10
    for found in answer["Items"]:
        whole = item(ten, int(found["s"]["S"]))
        assert found == {attribute: whole[attribute] for attribute in PROJECTED[name]}


async def test_a_global_index_sorts_by_its_own_key(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "all", ten))
    assert [found["h"]["N"] for found in answer["Items"]] == [str(number) for number in range(5) for _ in range(2)]


async def test_a_local_index_sorts_by_its_own_key(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "local_all", ten))
    assert [found["l"]["S"] for found in answer["Items"]] == [f"l{number}" for number in range(10)]
    backwards = await dynamo.call("Query", query(indexed, "local_all", ten, ScanIndexForward=False))
    assert backwards["Items"] == answer["Items"][::-1]


async def test_a_range_on_the_sort_key_of_an_index(dynamo, indexed, ten):
    answer = await dynamo.call(
        "Query",
        {
            "TableName": indexed,
            "IndexName": "all",
            "KeyConditionExpression": "g = :v AND h BETWEEN :a AND :b",
            "ExpressionAttributeValues": {":v": S(ten), ":a": N(1), ":b": N(2)},
        },
    )
    assert sorted(found["x"]["N"] for found in answer["Items"]) == ["1", "2", "6", "7"]


@pytest.mark.parametrize("name", ["all", "keys", "some", "local_keys"])
async def test_pages_of_an_index_together_are_the_index(dynamo, indexed, ten, name):
    request = query(indexed, name, ten, Limit=3)
    found, counts = [], []
    while True:
        answer = await dynamo.call("Query", request)
        counts.append(answer["Count"])
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert counts == [3, 3, 3, 1]
    assert found == (await dynamo.call("Query", query(indexed, name, ten)))["Items"]


async def test_the_last_key_of_an_index_page_has_the_keys_of_index_and_table(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "all", ten, Limit=1))
    assert answer["LastEvaluatedKey"].keys() == {"p", "s", "g", "h"}
    answer = await dynamo.call("Query", query(indexed, "local_all", ten, Limit=1))
    assert answer["LastEvaluatedKey"] == {"p": S(ten), "s": S("09"), "l": S("l0")}


async def test_items_without_the_key_are_not_in_the_index(dynamo, indexed, fresh):
    for number, attributes in enumerate([{}, {"g": S(fresh)}, {"h": N(1)}, {"g": S(fresh), "h": N(1)}]):
        await dynamo.call("PutItem", {"TableName": indexed, "Item": {"p": S(fresh), "s": S(str(number)), **attributes}})
    counts = {
        name: (await dynamo.call("Query", query(indexed, name, fresh, Select="COUNT")))["Count"]
        for name in ("all", "keys", "some", "local_all")
    }
    assert counts == {"all": 1, "keys": 1, "some": 2, "local_all": 0}


async def test_a_put_moves_an_item_in_its_indexes(dynamo, indexed, fresh):
    key = {"p": S(fresh), "s": S("1")}
    await dynamo.call("PutItem", {"TableName": indexed, "Item": {**key, "g": S(fresh + "a"), "h": N(1), "l": S("a")}})
    await dynamo.call("PutItem", {"TableName": indexed, "Item": {**key, "g": S(fresh + "b"), "h": N(2), "l": S("b")}})
    assert (await dynamo.call("Query", query(indexed, "all", fresh + "a")))["Items"] == []
    assert len((await dynamo.call("Query", query(indexed, "all", fresh + "b")))["Items"]) == 1
    locals_ = (await dynamo.call("Query", query(indexed, "local_keys", fresh)))["Items"]
    assert locals_ == [{**key, "l": S("b")}]


async def test_a_put_brings_projected_attributes_up_to_date(dynamo, indexed, fresh):
    key = {"p": S(fresh), "s": S("1"), "g": S(fresh)}
    await dynamo.call("PutItem", {"TableName": indexed, "Item": {**key, "x": N(1), "z": N(1)}})
    await dynamo.call(
        "UpdateItem",
        {
            "TableName": indexed,
            "Key": {"p": S(fresh), "s": S("1")},
            "UpdateExpression": "SET x = :v, z = :v",
            "ExpressionAttributeValues": {":v": N(2)},
        },
    )
    answer = await dynamo.call("Query", query(indexed, "some", fresh))
    assert answer["Items"] == [{**key, "x": N(2)}]


async def test_two_items_may_have_the_same_index_key(dynamo, indexed, fresh):
    for number in range(3):
        await dynamo.call(
            "PutItem",
            {"TableName": indexed, "Item": {"p": S(f"{fresh}.{number}"), "s": S("1"), "g": S(fresh), "h": N(7)}},
        )
    answer = await dynamo.call("Query", query(indexed, "all", fresh))
    assert sorted(found["p"]["S"] for found in answer["Items"]) == [f"{fresh}.{number}" for number in range(3)]


async def test_all_projected_attributes(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "some", ten, Select="ALL_PROJECTED_ATTRIBUTES", Limit=1))
    assert answer["Items"][0].keys() == PROJECTED["some"]


async def test_all_attributes_of_a_global_index_of_all(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "all", ten, Select="ALL_ATTRIBUTES", Limit=1))
    assert answer["Items"][0].keys() == PROJECTED["all"]


@pytest.mark.parametrize("name", ["keys", "some"])
async def test_all_attributes_of_a_narrower_global_index_are_refused(dynamo, indexed, fresh, name):
    await dynamo.invalid(
        "Query",
        query(indexed, name, fresh, Select="ALL_ATTRIBUTES"),
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary "
        f"index {name} because its projection type is not ALL",
    )


async def test_all_attributes_of_a_local_index_are_fetched_from_the_table(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "local_keys", ten, Select="ALL_ATTRIBUTES", Limit=1))
    assert answer["Items"] == [item(ten, 9)]


async def test_a_local_index_fetches_what_a_projection_names(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "local_keys", ten, ProjectionExpression="z", Limit=1))
    assert answer["Items"] == [{"z": S("z")}]


async def test_a_global_index_does_not_fetch_what_it_lacks(dynamo, indexed, fresh):
    await dynamo.invalid(
        "Query",
        query(indexed, "keys", fresh, ProjectionExpression="z"),
        "One or more parameter values were invalid: Global secondary index keys does not project [z]",
    )


async def test_a_filter_on_an_index_sees_projected_attributes(dynamo, indexed, ten):
    request = query(indexed, "some", ten, FilterExpression="x >= :x")
    request["ExpressionAttributeValues"][":x"] = N(8)
    answer = await dynamo.call("Query", request)
    assert (answer["Count"], answer["ScannedCount"]) == (2, 10)


async def test_consistent_reads_of_a_global_index_are_refused(dynamo, indexed, fresh):
    await dynamo.invalid(
        "Query",
        query(indexed, "all", fresh, ConsistentRead=True),
        "Consistent reads are not supported on global secondary indexes",
    )


async def test_a_consistent_scan_of_a_global_index_is_refused(dynamo, indexed):
    await dynamo.invalid(
        "Scan",
        {"TableName": indexed, "IndexName": "all", "ConsistentRead": True},
        "Consistent reads are not supported on global secondary indexes",
    )


async def test_consistent_reads_of_a_local_index(dynamo, indexed, ten):
    answer = await dynamo.call("Query", query(indexed, "local_all", ten, ConsistentRead=True))
    assert answer["Count"] == 10


async def test_a_scan_of_an_index_has_only_what_is_in_it(dynamo, indexed, ten):
    request = {
        "TableName": indexed,
        "IndexName": "keys",
        "FilterExpression": "g = :g",
        "ExpressionAttributeValues": {":g": S(ten)},
    }
    answer = await dynamo.call("Scan", request)
    assert answer["Count"] == 10
    assert all(found.keys() == PROJECTED["keys"] for found in answer["Items"])


async def test_the_condition_must_be_on_the_key_of_the_index(dynamo, indexed, fresh):
    await dynamo.invalid(
        "Query",
        {
            "TableName": indexed,
            "IndexName": "all",
            "KeyConditionExpression": "p = :v",
            "ExpressionAttributeValues": {":v": S(fresh)},
        },
        "Query condition missed key schema element: g",
    )


async def test_a_start_key_without_the_keys_of_the_table_is_refused(dynamo, indexed, fresh):
    await dynamo.invalid(
        "Query",
        query(indexed, "all", fresh, ExclusiveStartKey={"g": S(fresh), "h": N(1)}),
        "The provided starting key is invalid",
    )
