"""DescribeTimeToLive: whether a table's items expire, and by which attribute."""

import re

from tests.conformance.tables import definition

NOT_FOUND = re.compile(
    "Requested resource not found(: Table: absent not found)?|Cannot do operations on a non-existent table"
)


async def described(dynamo, table):
    return (await dynamo.call("DescribeTimeToLive", {"TableName": table}))["TimeToLiveDescription"]


async def test_a_new_table_does_not_expire(dynamo, create):
    assert await described(dynamo, await create(**definition("p:S"))) == {"TimeToLiveStatus": "DISABLED"}


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses("DescribeTimeToLive", {"TableName": "absent"}, "ResourceNotFoundException", NOT_FOUND)
