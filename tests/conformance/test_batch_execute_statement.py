"""BatchExecuteStatement: up to 25 statements, each of which succeeds or fails by itself."""

import re

import pytest

from tests.conformance.partiql import NO_FULL_KEY, asked
from tests.conformance.wire import N, S

CONDITION_FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
DUPLICATE = {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}


async def batch(dynamo, *statements, **more):
    answer = await dynamo.call("BatchExecuteStatement", {"Statements": list(statements), **more})
    return answer["Responses"]


def select(table, partition, sort="1", columns="*"):
    return asked(f'SELECT {columns} FROM "{table}" WHERE p = ? AND s = ?', S(partition), S(sort))


async def put(dynamo, table, partition, sort="1"):
    item = {"p": S(partition), "s": S(sort), "n": N(1)}
    await dynamo.call("PutItem", {"TableName": table, "Item": item})
    return item


async def test_reads(dynamo, ranged, fresh):
    item = await put(dynamo, ranged, fresh)
    responses = await batch(
        dynamo, select(ranged, fresh), select(ranged, fresh, "9"), select(ranged, fresh + "x", columns="n")
    )
    assert responses == [{"TableName": ranged, "Item": item}, {"TableName": ranged}, {"TableName": ranged}]


async def test_writes_succeed_and_fail_one_by_one(dynamo, ranged, fresh):
    for sort in "123":
        await put(dynamo, ranged, fresh, sort)
    where = f"WHERE p = '{fresh}' AND s = "
    responses = await batch(
        dynamo,
        asked(f"INSERT INTO \"{ranged}\" VALUE {{'p': ?, 's': ?}}", S(fresh), S("new")),
        asked(f"INSERT INTO \"{ranged}\" VALUE {{'p': ?, 's': ?}}", S(fresh), S("1")),
        asked(f"UPDATE \"{ranged}\" SET n = 5 {where} '2' RETURNING MODIFIED NEW *"),
        asked(f"UPDATE \"{ranged}\" SET n = 5 {where} 'absent'"),
        asked(f"DELETE FROM \"{ranged}\" {where} '3'"),
    )
    assert responses == [
        {"TableName": ranged},
        {"TableName": ranged, "Error": DUPLICATE},
        {"TableName": ranged, "Item": {"n": N(5)}},
        {"TableName": ranged, "Error": CONDITION_FAILED},
        {"TableName": ranged},
    ]
    query = {"TableName": ranged, "KeyConditionExpression": "p = :p", "ExpressionAttributeValues": {":p": S(fresh)}}
    found = (await dynamo.call("Query", query))["Items"]
    assert [(item["s"]["S"], item.get("n")) for item in found] == [("1", N(1)), ("2", N(5)), ("new", None)]


async def test_a_failed_condition_returns_the_item(dynamo, ranged, fresh):
    item = await put(dynamo, ranged, fresh)
    statement = f"UPDATE \"{ranged}\" SET n = 5 WHERE p = '{fresh}' AND s = '1' AND n = 9"
    responses = await batch(dynamo, asked(statement, ReturnValuesOnConditionCheckFailure="ALL_OLD"))
    assert responses == [{"TableName": ranged, "Error": {**CONDITION_FAILED, "Item": item}}]


@pytest.mark.parametrize(
    ("statement", "code", "message"),
    [
        ("SELECT * FROM \"{}\" WHERE p = 'a'", "ValidationError", "Only single item select is supported"),
        ("SELECT * FROM \"{}\" WHERE p = 'a' AND s > '1'", "ValidationError", "Only single item select is supported"),
        (
            "SELECT * FROM \"{}\" WHERE p = 'a' AND s = '1' AND n = 1",
            "ValidationError",
            "Only single item select is supported",
        ),
        ("UPDATE \"{}\" SET n = 1 WHERE p = 'a'", "ValidationError", NO_FULL_KEY),
        ("SELECT * FROM nosuch WHERE p = 'a'", "ResourceNotFound", "Requested resource not found"),
    ],
)
async def test_a_statement_that_is_refused_is_refused_alone(dynamo, ranged, statement, code, message):
    [response] = await batch(dynamo, asked(statement.format(ranged)))
    assert response["Error"]["Code"] == code
    assert dynamo.says(message, response["Error"]["Message"])


async def test_reads_and_writes_do_not_mix(dynamo, ranged, fresh):
    statements = [select(ranged, fresh), asked(f"INSERT INTO \"{ranged}\" VALUE {{'p': '{fresh}', 's': '2'}}")]
    await dynamo.invalid(
        "BatchExecuteStatement",
        {"Statements": statements},
        "Read and write requests together in the same batch is not supported.",
    )
    assert await batch(dynamo, select(ranged, fresh, "2")) == [{"TableName": ranged}]


async def test_an_item_comes_once(dynamo, ranged, fresh):
    message = "Provided list of item keys contains duplicates"
    await dynamo.invalid("BatchExecuteStatement", {"Statements": [select(ranged, fresh)] * 2}, message)
    insert = asked(f"INSERT INTO \"{ranged}\" VALUE {{'p': '{fresh}', 's': '2'}}")
    delete = asked(f"DELETE FROM \"{ranged}\" WHERE p = '{fresh}' AND s = '2'")
    await dynamo.invalid("BatchExecuteStatement", {"Statements": [insert, delete]}, message)


async def test_twenty_five_statements_at_most(dynamo, ranged, fresh):
    statements = [select(ranged, fresh, str(number)) for number in range(26)]
    assert len(await batch(dynamo, *statements[:25])) == 25
    too_many = re.compile(r".*'statements' .* less than or equal to 25|BatchGetItem cannot fetch more than 25 items")
    await dynamo.invalid("BatchExecuteStatement", {"Statements": statements}, too_many)


async def test_capacity(dynamo, ranged, fresh):
    await put(dynamo, ranged, fresh)
    request = {"Statements": [select(ranged, fresh), select(ranged, fresh, "2")], "ReturnConsumedCapacity": "TOTAL"}
    answer = await dynamo.call("BatchExecuteStatement", request)
    assert answer["ConsumedCapacity"] == [{"TableName": ranged, "CapacityUnits": 1.0}]
