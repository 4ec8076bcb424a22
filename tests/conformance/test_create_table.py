"""CreateTable: what it makes, what it describes, and what it refuses."""

import re
import time

import pytest

from tests.conformance.tables import definition, index
from tests.conformance.wire import S

INVALID = "One or more parameter values were invalid: "


async def describe(dynamo, table):
    return (await dynamo.call("DescribeTable", {"TableName": table}))["Table"]


async def test_the_answer_describes_the_table(dynamo, fresh):
    name = f"made.{fresh}"
    described = (await dynamo.call("CreateTable", {"TableName": name, **definition("p:S", "s:N")}))["TableDescription"]
    assert described["TableName"] == name
    assert described["TableStatus"] in ("CREATING", "ACTIVE")
    assert described["KeySchema"] == [
        {"AttributeName": "p", "KeyType": "HASH"},
        {"AttributeName": "s", "KeyType": "RANGE"},
    ]
    assert sorted(described["AttributeDefinitions"], key=lambda each: each["AttributeName"]) == [
        {"AttributeName": "p", "AttributeType": "S"},
        {"AttributeName": "s", "AttributeType": "N"},
    ]
    assert (described["ItemCount"], described["TableSizeBytes"]) == (0, 0)
    assert abs(described["CreationDateTime"] - time.time()) < 60
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert described["ProvisionedThroughput"]["WriteCapacityUnits"] == 0
    assert described["TableArn"].startswith("arn:aws:dynamodb:")
    assert described["TableArn"].endswith(f":table/{name}")
    await dynamo.call("DeleteTable", {"TableName": name})


async def test_provisioned_throughput_is_kept(dynamo, create):
    throughput = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    name = await create(**{**definition("p:S"), "BillingMode": "PROVISIONED", "ProvisionedThroughput": throughput})
    described = await describe(dynamo, name)
    assert {each: described["ProvisionedThroughput"][each] for each in throughput} == throughput
    assert described["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


async def test_indexes_are_described(dynamo, indexed):
    described = await describe(dynamo, indexed)
    globals_ = {each["IndexName"]: each for each in described["GlobalSecondaryIndexes"]}
    assert globals_.keys() == {"all", "keys", "some"}
    assert globals_["all"]["KeySchema"] == [
        {"AttributeName": "g", "KeyType": "HASH"},
        {"AttributeName": "h", "KeyType": "RANGE"},
    ]
    assert globals_["all"]["Projection"] == {"ProjectionType": "ALL"}
    assert globals_["all"]["IndexStatus"] == "ACTIVE"
    assert globals_["all"]["IndexArn"] == described["TableArn"] + "/index/all"
    assert globals_["keys"]["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert globals_["some"]["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]}
    locals_ = {each["IndexName"]: each for each in described["LocalSecondaryIndexes"]}
    assert locals_.keys() == {"local_all", "local_keys", "local_some"}
    assert "IndexStatus" not in locals_["local_all"]
    assert locals_["local_some"]["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}


async def test_the_table_can_be_used_at_once_when_active(dynamo, create):
    name = await create(**definition("p:S"))
    assert await dynamo.call("PutItem", {"TableName": name, "Item": {"p": S("x")}}) == {}


async def test_deletion_protection_is_off_by_default(dynamo, plain):
    assert (await describe(dynamo, plain))["DeletionProtectionEnabled"] is False


async def test_a_table_that_exists_is_in_use(dynamo, plain):
    await dynamo.refuses(
        "CreateTable",
        {"TableName": plain, **definition("p:S")},
        "ResourceInUseException",
        f"Table already exists: {plain}",
    )


def without(table, *names):
    return {name: value for name, value in table.items() if name not in names}


ATTRIBUTES = [{"AttributeName": name, "AttributeType": "S"} for name in "ps"]
HASH = {"AttributeName": "p", "KeyType": "HASH"}
RANGE = {"AttributeName": "s", "KeyType": "RANGE"}
REFUSED = {
    "a short name": (
        {"TableName": "ab", **definition("p:S")},
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3",
    ),
    "a definition twice": (
        {**definition("p:S"), "AttributeDefinitions": [ATTRIBUTES[0], ATTRIBUTES[0]]},
        "Attribute Name is duplicated: p",
    ),
    "a projected attribute twice": (
        definition("p:S", also=("g:S",), GlobalSecondaryIndexes=[index("gsi", "g", project=["a", "b", "a"])]),
        INVALID + "Duplicate attribute name in NonKeyAttributes: a",
    ),
    "a view of a stream that is off": (
        {**definition("p:S"), "StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
        INVALID + "Table is being created with a stream disabled, UpdateViewType should not be specified",
    ),
    "a policy": (
        {**definition("p:S"), "ResourcePolicy": "{}"},
        INVALID + "ResourcePolicy is not supported by this engine",
    ),
    "a copy of a table elsewhere": (
        {**definition("p:S"), "GlobalTableSourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/elsewhere"},
        INVALID + "GlobalTableSourceArn is not supported by this engine",
    ),
    "a name with a slash": (
        {"TableName": "abc/d", **definition("p:S")},
        "1 validation error detected: Value 'abc/d' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
    ),
    "no key": (
        {"AttributeDefinitions": ATTRIBUTES, "BillingMode": "PAY_PER_REQUEST"},
        "1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: Member must not be null",
    ),
    "a key without definition": (
        {**definition("p:S"), "KeySchema": [{"AttributeName": "q", "KeyType": "HASH"}]},
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
        "Keys: [q], AttributeDefinitions: [p]",
    ),
    "a definition without key": (
        {**definition("p:S", also=("unused:S",))},
        INVALID + "Number of attributes in KeySchema does not exactly match number of attributes "
        "defined in AttributeDefinitions",
    ),
    "the sort key first": (
        {**definition("p:S", "s:S"), "KeySchema": [RANGE, HASH]},
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
    ),
    "two partition keys": (
        {
            **definition("p:S", "s:S"),
            "KeySchema": [HASH, {"AttributeName": "s", "KeyType": "HASH"}],
        },
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
    ),
    "one attribute as both keys": (
        {
            **definition("p:S", "s:S"),
            "KeySchema": [HASH, {"AttributeName": "p", "KeyType": "RANGE"}],
        },
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    "a key of type boolean": (
        {**definition("p:BOOL")},
        "1 validation error detected: Value 'BOOL' at 'attributeDefinitions.1.member.attributeType' failed to "
        "satisfy constraint: Member must satisfy enum value set: [B, N, S]",
    ),
    "throughput on demand": (
        {
            **definition("p:S"),
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        },
        INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST",
    ),
    "no throughput when provisioned": (
        {**without(definition("p:S"), "BillingMode")},
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
    ),
    "an index key without definition": (
        {**definition("p:S"), "GlobalSecondaryIndexes": [index("other", "g")]},
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
        "Keys: [g], AttributeDefinitions: [p]",
    ),
    "no global indexes": (
        {**definition("p:S"), "GlobalSecondaryIndexes": []},
        INVALID + "List of GlobalSecondaryIndexes is empty",
    ),
    "no local indexes": (
        {**definition("p:S", "s:S"), "LocalSecondaryIndexes": []},
        INVALID + "List of LocalSecondaryIndexes is empty",
    ),
    "two indexes of one name": (
        {
            **definition("p:S", also=("g:S",)),
            "GlobalSecondaryIndexes": [index("same", "g"), index("same", "g")],
        },
        INVALID + "Duplicate index name: same",
    ),
    "a local index without a sort key in the table": (
        {
            **definition("p:S", also=("l:S",)),
            "LocalSecondaryIndexes": [index("local", "p", "l")],
        },
        INVALID + "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
    ),
    "a local index with another partition key": (
        {
            **definition("p:S", "s:S", also=("l:S",)),
            "LocalSecondaryIndexes": [index("local", "l", "s")],
        },
        INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema for index: local. "
        "index hash key: l, table hash key: p",
    ),
    "a local index without sort key": (
        {**definition("p:S", "s:S"), "LocalSecondaryIndexes": [index("local", "p")]},
        INVALID + "Index KeySchema does not have a range key for index: local",
    ),
    "an index without projection type": (
        {
            **definition("p:S"),
            "GlobalSecondaryIndexes": [{**index("other", "p"), "Projection": {}}],
        },
        INVALID + "Unknown ProjectionType: null",
    ),
    "attributes in a projection of all": (
        {
            **definition("p:S"),
            "GlobalSecondaryIndexes": [
                {**index("other", "p"), "Projection": {"ProjectionType": "ALL", "NonKeyAttributes": ["a"]}}
            ],
        },
        INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
    ),
    "six local indexes": (
        {
            **definition("p:S", "s:S", also=tuple(f"l{number}:S" for number in range(6))),
            "LocalSecondaryIndexes": [index(f"local{number}", "p", f"l{number}") for number in range(6)],
        },
        INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
    ),
    "twenty-one global indexes": (
        {
            **definition("p:S", also=tuple(f"g{number}:S" for number in range(21))),
            "GlobalSecondaryIndexes": [index(f"index{number}", f"g{number}") for number in range(21)],
        },
        INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
    ),
    "a stream without view": (
        {**definition("p:S"), "StreamSpecification": {"StreamEnabled": True}},
        re.compile(r".*(StreamViewType|Stream ViewType).*"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_bad_table_is_refused(dynamo, fresh, case):
    request, message = REFUSED[case]
    await dynamo.invalid("CreateTable", {"TableName": f"refused.{fresh}", **request}, message)


async def test_twenty_global_and_five_local_indexes(dynamo, create):
    attributes = [*(f"g{number}:S" for number in range(20)), *(f"l{number}:S" for number in range(5))]
    name = await create(
        **definition(
            "p:S",
            "s:S",
            also=attributes,
            GlobalSecondaryIndexes=[index(f"global{number}", f"g{number}") for number in range(20)],
            LocalSecondaryIndexes=[index(f"local{number}", "p", f"l{number}") for number in range(5)],
        )
    )
    described = await describe(dynamo, name)
    assert len(described["GlobalSecondaryIndexes"]) == 20
    assert len(described["LocalSecondaryIndexes"]) == 5


@pytest.mark.parametrize("kind", ["S", "N", "B"])
async def test_a_partition_key_of_each_type(dynamo, create, kind):
    name = await create(**definition(f"p:{kind}"))
    value = {kind: {"S": "text", "N": "-12.5", "B": "AP8="}[kind]}
    await dynamo.call("PutItem", {"TableName": name, "Item": {"p": value, "a": S("x")}})
    got = await dynamo.call("GetItem", {"TableName": name, "Key": {"p": value}})
    assert got == {"Item": {"p": value, "a": S("x")}}
