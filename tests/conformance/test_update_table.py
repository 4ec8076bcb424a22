"""UpdateTable: indexes added with what is already there, indexes dropped, the stream switched, throughput changed."""

import re

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.conftest import active
from tests.conformance.tables import definition, index
from tests.conformance.wire import N, S

DEFINED = [{"AttributeName": "g", "AttributeType": "S"}, {"AttributeName": "p", "AttributeType": "S"}]


@pytest.fixture
async def filled(dynamo, create):
    """A table of thirty items of which twenty can be indexed by g."""
    table = await create(**definition("p:S"))
    items = [
        {"p": S(f"{number:02}"), "n": N(number), **({"g": S(f"g{number % 2}")} if number < 20 else {})}
        for number in range(30)
    ]
    for start in (0, 15):
        batch = [{"PutRequest": {"Item": item}} for item in items[start : start + 15]]
        await dynamo.call("BatchWriteItem", {"RequestItems": {table: batch}})
    return table


def adding(table, made, definitions=DEFINED):
    return {
        "TableName": table,
        "AttributeDefinitions": definitions,
        "GlobalSecondaryIndexUpdates": [{"Create": made}],
    }


def dropping(table, name):
    return {"TableName": table, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}


async def until(dynamo, table, done):
    """The description of the table once it is as wanted."""
    for _ in range(200):
        described = await active(dynamo, table)
        if done(described):
            return described
    raise AssertionError(described)


async def test_an_added_index_has_what_was_there_before(dynamo, filled):
    await dynamo.call("UpdateTable", adding(filled, index("by_g", "g")))
    described = await active(dynamo, filled)
    assert [each["IndexName"] for each in described["GlobalSecondaryIndexes"]] == ["by_g"]
    answer = await dynamo.call(
        "Query",
        {
            "TableName": filled,
            "IndexName": "by_g",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": S("g1")},
        },
    )
    assert sorted(int(item["n"]["N"]) for item in answer["Items"]) == list(range(1, 20, 2))
    assert (await dynamo.call("Scan", {"TableName": filled, "IndexName": "by_g"}))["Count"] == 20


async def test_an_added_index_follows_later_writes(dynamo, filled):
    await dynamo.call("UpdateTable", adding(filled, index("by_g", "g", project="KEYS_ONLY")))
    await active(dynamo, filled)
    await dynamo.call("PutItem", {"TableName": filled, "Item": {"p": S("new"), "g": S("g9"), "a": S("x")}})
    answer = await dynamo.call(
        "Query",
        {
            "TableName": filled,
            "IndexName": "by_g",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": S("g9")},
        },
    )
    assert answer["Items"] == [{"p": S("new"), "g": S("g9")}]


async def test_items_of_the_wrong_type_are_left_out_of_an_added_index(dynamo, create):
    table = await create(**definition("p:S"))
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("1"), "g": N(1)}})
    await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S("2"), "g": S("x")}})
    await dynamo.call("UpdateTable", adding(table, index("by_g", "g")))
    await active(dynamo, table)
    answer = await dynamo.call("Scan", {"TableName": table, "IndexName": "by_g"})
    assert [item["p"] for item in answer["Items"]] == [S("2")]


async def test_a_dropped_index_is_gone(dynamo, filled):
    await dynamo.call("UpdateTable", adding(filled, index("by_g", "g")))
    await active(dynamo, filled)
    await dynamo.call("UpdateTable", dropping(filled, "by_g"))
    described = await until(dynamo, filled, lambda each: not each.get("GlobalSecondaryIndexes"))
    assert "GlobalSecondaryIndexes" not in described
    await dynamo.invalid(
        "Query",
        {
            "TableName": filled,
            "IndexName": "by_g",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": S("g1")},
        },
        "The table does not have the specified index: by_g",
    )
    # What was the key of an index is an attribute like any other again.
    assert await dynamo.call("PutItem", {"TableName": filled, "Item": {"p": S("free"), "g": N(1)}}) == {}


async def test_a_dropped_index_can_be_added_again(dynamo, filled):
    for _ in range(2):
        await dynamo.call("UpdateTable", adding(filled, index("by_g", "g")))
        await active(dynamo, filled)
        assert (await dynamo.call("Scan", {"TableName": filled, "IndexName": "by_g"}))["Count"] == 20
        await dynamo.call("UpdateTable", dropping(filled, "by_g"))
        await until(dynamo, filled, lambda each: not each.get("GlobalSecondaryIndexes"))


async def test_an_index_that_exists_cannot_be_added(dynamo, filled):
    await dynamo.call("UpdateTable", adding(filled, index("by_g", "g")))
    await active(dynamo, filled)
    await dynamo.invalid(
        "UpdateTable",
        adding(filled, index("by_g", "g")),
        re.compile(r".*([Ii]ndex.*already exists|Duplicate index).*"),
    )


async def test_an_index_that_does_not_exist_cannot_be_dropped(dynamo, filled):
    with pytest.raises(DynamoError, match="ResourceNotFoundException"):
        await dynamo.call("UpdateTable", dropping(filled, "absent"))


async def test_an_index_key_must_be_defined(dynamo, filled):
    await dynamo.invalid(
        "UpdateTable",
        adding(filled, index("by_x", "x")),
        re.compile(r".*(attributes are not defined in|is not defined in) AttributeDefinitions.*"),
    )


async def test_an_index_key_must_be_defined_even_when_it_is_the_key_of_the_table(dynamo, filled):
    with pytest.raises(DynamoError, match=r"ValidationException.*(AttributeDefinitions|No Attribute Schema Defined)"):
        await dynamo.call(
            "UpdateTable",
            {"TableName": filled, "GlobalSecondaryIndexUpdates": [{"Create": index("by_p", "p")}]},
        )


async def test_nothing_to_do_is_refused(dynamo, plain):
    await dynamo.invalid(
        "UpdateTable",
        {"TableName": plain},
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
        "SSESpecification or ReplicaUpdates is required",
    )


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("ReplicaUpdates", [{"Create": {"RegionName": "eu-west-1"}}]),
        ("MultiRegionConsistency", "STRONG"),
        ("GlobalTableWitnessUpdates", [{"Create": {"RegionName": "eu-west-1"}}]),
    ],
)
async def test_what_is_not_offered_is_refused(dynamo, plain, name, asked):
    await dynamo.invalid(
        "UpdateTable",
        {"TableName": plain, name: asked},
        f"One or more parameter values were invalid: {name} is not supported by this engine",
    )


async def test_throughput_that_is_only_described_is_described(dynamo, create):
    warm = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000}
    most = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}
    settings = {"WarmThroughput": warm, "OnDemandThroughput": most}
    gsi = {**index("by_g", "g"), **settings}
    table = await create(**definition("p:S", also=("g:S",), GlobalSecondaryIndexes=[gsi]), **settings)
    described = await active(dynamo, table)
    for each in (described, described["GlobalSecondaryIndexes"][0]):
        assert each["WarmThroughput"] == {**warm, "Status": "ACTIVE"}
        assert each["OnDemandThroughput"] == most
    warmer = {**warm, "ReadUnitsPerSecond": 13000}
    update = {"Update": {"IndexName": "by_g", "WarmThroughput": warmer}}
    await dynamo.call("UpdateTable", {"TableName": table, "GlobalSecondaryIndexUpdates": [update]})
    described = await active(dynamo, table)
    assert described["GlobalSecondaryIndexes"][0]["WarmThroughput"] == {**warmer, "Status": "ACTIVE"}
    assert described["WarmThroughput"] == {**warm, "Status": "ACTIVE"}


async def test_a_stream_is_switched_on_and_off(dynamo, create):
    table = await create(**definition("p:S"))
    on = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    answer = await dynamo.call("UpdateTable", {"TableName": table, "StreamSpecification": on})
    assert answer["TableDescription"]["StreamSpecification"] == on
    described = await active(dynamo, table)
    assert described["StreamSpecification"] == on
    assert described["LatestStreamArn"] == f"{described['TableArn']}/stream/{described['LatestStreamLabel']}"
    await dynamo.call("UpdateTable", {"TableName": table, "StreamSpecification": {"StreamEnabled": False}})
    assert "StreamSpecification" not in await active(dynamo, table)


async def test_a_stream_that_is_on_cannot_be_switched_on(dynamo, create):
    on = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    table = await create(**definition("p:S", StreamSpecification=on))
    await dynamo.invalid(
        "UpdateTable",
        {"TableName": table, "StreamSpecification": on},
        re.compile(r"Table already has an enabled stream.*"),
    )


async def test_a_stream_that_is_off_cannot_be_switched_off(dynamo, create):
    table = await create(**definition("p:S"))
    await dynamo.invalid(
        "UpdateTable",
        {"TableName": table, "StreamSpecification": {"StreamEnabled": False}},
        re.compile(r"Table.* stream.*"),
    )


async def test_billing_mode_can_be_changed(dynamo, create):
    table = await create(**definition("p:S"))
    await dynamo.call(
        "UpdateTable",
        {
            "TableName": table,
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        },
    )
    described = await active(dynamo, table)
    throughput = described["ProvisionedThroughput"]
    assert (throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]) == (5, 6)


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses(
        "UpdateTable",
        {"TableName": "absent", "BillingMode": "PAY_PER_REQUEST"},
        "ResourceNotFoundException",
        "Requested resource not found: Table: absent not found",
    )
