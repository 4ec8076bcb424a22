"""DeleteTable: the table and all that is in it."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.tables import definition
from tests.conformance.wire import S


async def test_the_answer_describes_the_table_that_goes(dynamo, create):
    name = await create(**definition("p:S"))
    described = (await dynamo.call("DeleteTable", {"TableName": name}))["TableDescription"]
    assert described["TableName"] == name
    assert described["TableStatus"] == "DELETING"


async def test_a_deleted_table_is_gone(dynamo, create):
    name = await create(**definition("p:S"))
    await dynamo.call("DeleteTable", {"TableName": name})
    with pytest.raises(DynamoError, match="ResourceNotFoundException"):
        await dynamo.call("DescribeTable", {"TableName": name})
    assert name not in (await dynamo.call("ListTables", {}))["TableNames"]


async def test_a_table_made_again_is_empty(dynamo, create):
    name = await create(**definition("p:S"))
    await dynamo.call("PutItem", {"TableName": name, "Item": {"p": S("x")}})
    await dynamo.call("DeleteTable", {"TableName": name})
    await create(TableName=name, **definition("p:S"))
    assert await dynamo.call("GetItem", {"TableName": name, "Key": {"p": S("x")}}) == {}
    assert (await dynamo.call("Scan", {"TableName": name}))["Count"] == 0


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses(
        "DeleteTable",
        {"TableName": "absent"},
        "ResourceNotFoundException",
        "Requested resource not found: Table: absent not found",
    )


async def test_a_protected_table_is_kept(dynamo, create):
    name = await create(**definition("p:S", DeletionProtectionEnabled=True))
    with pytest.raises(DynamoError, match="ValidationException") as caught:
        await dynamo.call("DeleteTable", {"TableName": name})
    assert "protected" in caught.value.message.lower()
    await dynamo.call("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
    await dynamo.call("DeleteTable", {"TableName": name})
