"""DescribeTable: the state of a table."""

from tests.conformance.tables import definition
from tests.conformance.wire import S


async def test_a_table_that_does_not_exist_is_not_found(dynamo):
    await dynamo.refuses(
        "DescribeTable",
        {"TableName": "absent"},
        "ResourceNotFoundException",
        "Requested resource not found: Table: absent not found",
    )


async def test_items_are_counted_and_measured(dynamo, create):
    table = await create(**definition("p:S"))
    for number in range(3):
        await dynamo.call("PutItem", {"TableName": table, "Item": {"p": S(str(number)), "a": S("xyz")}})
    described = (await dynamo.call("DescribeTable", {"TableName": table}))["Table"]
    # The service brings these up to date every six hours, so zero is also true.
    assert described["ItemCount"] in (0, 3)
    assert described["TableSizeBytes"] in (0, 3 * len("p0axyz"))


async def test_a_table_without_stream_says_nothing_of_one(dynamo, plain):
    described = (await dynamo.call("DescribeTable", {"TableName": plain}))["Table"]
    assert not described.keys() & {"StreamSpecification", "LatestStreamArn", "LatestStreamLabel"}


async def test_a_table_without_indexes_says_nothing_of_them(dynamo, plain):
    described = (await dynamo.call("DescribeTable", {"TableName": plain}))["Table"]
    assert not described.keys() & {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}


async def test_a_table_has_an_id_that_stays(dynamo, plain):
    first = (await dynamo.call("DescribeTable", {"TableName": plain}))["Table"]
    second = (await dynamo.call("DescribeTable", {"TableName": plain}))["Table"]
    assert first == second
    assert len(first["TableId"]) == 36


async def test_no_name_is_refused(dynamo):
    await dynamo.invalid(
        "DescribeTable", {}, "The parameter 'TableName' is required but was not present in the request"
    )
