"""ExecuteTransaction: statements that all succeed or all fail."""

import pytest

from potluck.dynamo.errors import DynamoError
from tests.conformance.partiql import NO_FULL_KEY, asked
from tests.conformance.wire import N, S

NO_CONDITION = (
    "Validation failed in TransactStatements[0]: EXISTS() must contain a single item read with additional condition"
)


async def run(dynamo, *statements, **more):
    return await dynamo.call("ExecuteTransaction", {"TransactStatements": list(statements), **more})


async def reasons(dynamo, *statements):
    with pytest.raises(DynamoError, match="TransactionCanceledException") as refusal:
        await run(dynamo, *statements)
    return [reason["Code"] for reason in refusal.value.reasons or []]


async def fill(dynamo, table, partition):
    items = {}
    for number in "123":
        items[number] = {"p": S(partition), "s": S(number), "n": N(number)}
        await dynamo.call("PutItem", {"TableName": table, "Item": items[number]})
    return items


async def numbers(dynamo, table, partition):
    query = {"TableName": table, "KeyConditionExpression": "p = :p", "ExpressionAttributeValues": {":p": S(partition)}}
    return {item["s"]["S"]: item["n"]["N"] for item in (await dynamo.call("Query", query))["Items"]}


async def test_reads(dynamo, ranged, fresh):
    items = await fill(dynamo, ranged, fresh)
    answer = await run(
        dynamo,
        asked(f'SELECT * FROM "{ranged}" WHERE p = ? AND s = ?', S(fresh), S("1")),
        asked(f"SELECT n FROM \"{ranged}\" WHERE s = '2' AND p = '{fresh}'"),
        asked(f"SELECT * FROM \"{ranged}\" WHERE p = '{fresh}' AND s = '9'"),
    )
    assert answer["Responses"] == [{"Item": items["1"]}, {"Item": {"n": N(2)}}, {}]


async def test_writes_are_all_made(dynamo, ranged, fresh):
    await fill(dynamo, ranged, fresh)
    where = f"WHERE p = '{fresh}' AND s ="
    answer = await run(
        dynamo,
        asked(f"INSERT INTO \"{ranged}\" VALUE {{'p': ?, 's': '4', 'n': 4}}", S(fresh)),
        asked(f"UPDATE \"{ranged}\" SET n = n + 10 {where} '1'"),
        asked(f"DELETE FROM \"{ranged}\" {where} '2'"),
        asked(f"EXISTS(SELECT * FROM \"{ranged}\" {where} '3' AND n = 3)"),
    )
    assert answer == {"Responses": []}
    assert await numbers(dynamo, ranged, fresh) == {"1": "11", "3": "3", "4": "4"}


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        ("UPDATE {} SET n = 0 WHERE p = '{}' AND s = '2' AND n = 9", "ConditionalCheckFailed"),
        ("UPDATE {} SET n = 0 WHERE p = '{}' AND s = 'absent'", "ConditionalCheckFailed"),
        ("DELETE FROM {} WHERE p = '{}' AND s = '2' AND n = 9", "ConditionalCheckFailed"),
        ("EXISTS(SELECT * FROM {} WHERE p = '{}' AND s = '2' AND n = 9)", "ConditionalCheckFailed"),
        ("EXISTS(SELECT * FROM {} WHERE p = '{}' AND s = 'absent' AND n IS MISSING)", "ConditionalCheckFailed"),
        ("INSERT INTO {} VALUE {{'p': '{}', 's': '2'}}", "DuplicateItem"),
    ],
)
async def test_one_that_fails_cancels_all(dynamo, ranged, fresh, failing, code):
    await fill(dynamo, ranged, fresh)
    found = await reasons(
        dynamo,
        asked(f"UPDATE \"{ranged}\" SET n = 7 WHERE p = '{fresh}' AND s = '1'"),
        asked(failing.format(f'"{ranged}"', fresh)),
    )
    if dynamo.name == "local" and code == "DuplicateItem":
        code = "ValidationError"
    assert found == ["None", code]
    assert await numbers(dynamo, ranged, fresh) == {"1": "1", "2": "2", "3": "3"}


async def test_a_failed_condition_returns_the_item(dynamo, ranged, fresh):
    items = await fill(dynamo, ranged, fresh)
    statement = f"UPDATE \"{ranged}\" SET n = 0 WHERE p = '{fresh}' AND s = '2' AND n = 9"
    with pytest.raises(DynamoError) as refusal:
        await run(dynamo, asked(statement, ReturnValuesOnConditionCheckFailure="ALL_OLD"))
    [reason] = refusal.value.reasons or []
    assert reason["Item"] == items["2"]


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            ["SELECT * FROM {} WHERE p = 'a'"],
            "Validation failed in TransactStatements[0]: Select statements within ExecuteTransaction must specify the "
            "primary key in the where clause.",
        ),
        (
            ["SELECT * FROM {} WHERE p = 'a' AND s = '1'", "INSERT INTO {} VALUE {{'p': 'a', 's': '2'}}"],
            "ExecuteTransaction API does not support both read and write operations in the same request.",
        ),
        (
            ["SELECT * FROM {} WHERE p = 'a' AND s = '1'"] * 2,
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            ["UPDATE {} SET n = 1 WHERE p = 'a' AND s = '1'", "DELETE FROM {} WHERE p = 'a' AND s = '1'"],
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            ["UPDATE {} SET n = 1 WHERE p = 'a' AND s = '1' RETURNING ALL NEW *"],
            "Validation failed in TransactStatements[0]: RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (["EXISTS(SELECT * FROM {} WHERE p = 'a' AND s = '1')"], NO_CONDITION),
        (["EXISTS(SELECT * FROM {} WHERE p = 'a' AND n = 1)"], NO_CONDITION),
    ],
)
async def test_transactions_that_are_refused(dynamo, ranged, statements, message):
    request = {"TransactStatements": [asked(statement.format(f'"{ranged}"')) for statement in statements]}
    await dynamo.invalid("ExecuteTransaction", request, message)


async def test_a_statement_that_does_not_fit_its_table_cancels_all(dynamo, ranged, fresh):
    statement = f"UPDATE \"{ranged}\" SET n = 1 WHERE p = '{fresh}'"
    with pytest.raises(DynamoError) as refusal:
        await run(dynamo, asked(statement))
    assert refusal.value.code == "TransactionCanceledException"
    assert NO_FULL_KEY in refusal.value.message + str(refusal.value.reasons)


async def test_a_token_is_for_one_transaction(dynamo, ranged, fresh):
    await fill(dynamo, ranged, fresh)
    add = asked(f"UPDATE \"{ranged}\" SET n = n + 10 WHERE p = '{fresh}' AND s = '1'")
    for _ in range(2):
        await run(dynamo, add, ClientRequestToken=fresh)
    assert (await numbers(dynamo, ranged, fresh))["1"] == "11"
    other = asked(f"UPDATE \"{ranged}\" SET n = n + 20 WHERE p = '{fresh}' AND s = '1'")
    with pytest.raises(DynamoError, match="IdempotentParameterMismatchException"):
        await run(dynamo, other, ClientRequestToken=fresh)


async def test_capacity(dynamo, ranged, fresh):
    await fill(dynamo, ranged, fresh)
    update = asked(f"UPDATE \"{ranged}\" SET n = 1 WHERE p = '{fresh}' AND s = '1'")
    answer = await run(dynamo, update, ReturnConsumedCapacity="TOTAL")
    [consumed] = answer["ConsumedCapacity"]
    assert consumed["CapacityUnits"] == 2.0
