"""What every engine promises: the protocol, one error, values in wire form, and its end."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import DynamoError, Engine, open_engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.lagging import Lagging
from potluck.engines.recording import Recording
from potluck.engines.throttling import Throttling
from tests.engine_targets import BOTH, opened, table
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path) as engine:
        await engine.call("CreateTable", table("Things", stream=True, index=True))
        yield engine


KEY = {"PK": {"S": "a"}, "SK": {"S": "b"}}
EVERY_TYPE: dict[str, Any] = {
    **KEY,
    "binary": {"B": "AAEC/w=="},
    "binaries": {"BS": ["AAE=", "/w=="]},
    "number": {"N": "12345678901234567890.12345678"},
    "numbers": {"NS": ["1", "2"]},
    "texts": {"SS": ["x", "y"]},
    "list": {"L": [{"NULL": True}, {"BOOL": False}, {"M": {"deep": {"B": "AA=="}}}]},
}


def same(item: dict[str, Any]) -> dict[str, Any]:
    """Sets have no order."""
    return {k: {t: sorted(v) if t in {"SS", "NS", "BS"} else v for t, v in a.items()} for k, a in item.items()}


def test_importing_the_engines_imports_no_aws_sdk() -> None:
    program = (
        "import sys, potluck.engines, potluck.engines.embedded, potluck.engines.recording, potluck.engines.lagging;"
        "import potluck.engines.conflicting, potluck.engines.throttling, potluck.streams;"
        "print([name for name in sys.modules if name.split('.')[0] in ('botocore', 'aiobotocore', 'aiohttp')])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


async def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="'embedded' or 'aws'"):
        await open_engine("postgres")  # type: ignore[arg-type]


async def test_each_is_an_engine(engine: Engine) -> None:
    wrapped = Recording(Conflicting(Throttling(Lagging(engine, writes=1), 1, 0, 0), 1, 0))
    for each in (engine, wrapped, wrapped.engine):
        assert isinstance(each, Engine)


async def test_values_come_back_in_wire_form(engine: Engine) -> None:
    await engine.call("PutItem", {"TableName": "Things", "Item": EVERY_TYPE})
    answer = await engine.call("GetItem", {"TableName": "Things", "Key": KEY})
    assert same(answer["Item"]) == same(EVERY_TYPE)


async def test_times_are_numbers(engine: Engine) -> None:
    described = (await engine.call("DescribeTable", {"TableName": "Things"}))["Table"]
    assert isinstance(described["CreationDateTime"], int | float)
    await engine.call("PutItem", {"TableName": "Things", "Item": EVERY_TYPE})
    arn = described["LatestStreamArn"]
    shard = (await engine.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]["Shards"][0]["ShardId"]
    start = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = (await engine.call("GetShardIterator", start))["ShardIterator"]
    (record,) = (await engine.call("GetRecords", {"ShardIterator": iterator}))["Records"]
    assert isinstance(record["dynamodb"]["ApproximateCreationDateTime"], int | float)
    assert same(record["dynamodb"]["NewImage"]) == same(EVERY_TYPE)


async def test_a_failed_condition_carries_the_item(engine: Engine) -> None:
    await engine.call("PutItem", {"TableName": "Things", "Item": EVERY_TYPE})
    absent = {
        "TableName": "Things",
        "Item": KEY,
        "ConditionExpression": "attribute_not_exists(PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    with pytest.raises(DynamoError) as refused:
        await engine.call("PutItem", absent)
    assert refused.value.code == "ConditionalCheckFailedException"
    assert same(refused.value.item or {}) == same(EVERY_TYPE)


async def test_a_cancelled_transaction_carries_the_reasons(engine: Engine) -> None:
    put = {"TableName": "Things", "Item": {"PK": {"S": "a"}, "SK": {"S": "c"}}}
    check = {
        "TableName": "Things",
        "Key": KEY,
        "ConditionExpression": "attribute_exists(PK)",
    }
    with pytest.raises(DynamoError) as refused:
        await engine.call("TransactWriteItems", {"TransactItems": [{"Put": put}, {"ConditionCheck": check}]})
    assert refused.value.code == "TransactionCanceledException"
    assert [reason["Code"] for reason in refused.value.reasons or ()] == ["None", "ConditionalCheckFailed"]


async def test_a_missing_table_and_an_unknown_operation_are_errors(engine: Engine) -> None:
    with pytest.raises(DynamoError) as refused:
        await engine.call("GetItem", {"TableName": "Absent", "Key": KEY})
    assert refused.value.code == "ResourceNotFoundException"
    with pytest.raises(DynamoError) as refused:
        await engine.call("MakeCoffee", {})
    assert refused.value.code == "UnknownOperationException"


async def test_changed_sees_a_write_and_gives_up_without_one(engine: Engine) -> None:
    while await engine.changed("Things", 0.1):
        pass
    waiting = asyncio.create_task(engine.changed("Things", PATIENCE_SECONDS))
    await asyncio.sleep(0.1)
    await engine.call("PutItem", {"TableName": "Things", "Item": KEY})
    assert await asyncio.wait_for(waiting, PATIENCE_SECONDS) is True
    while await engine.changed("Things", 0.1):
        pass
    assert await engine.changed("Things", 0.3) is False


async def test_closing_twice_is_fine_and_using_after_it_an_error(engine: Engine) -> None:
    calls = [engine.call("PutItem", {"TableName": "Things", "Item": KEY | {"SK": {"S": str(n)}}}) for n in range(8)]
    pending = [asyncio.ensure_future(call) for call in calls]
    await asyncio.sleep(0)
    await asyncio.gather(engine.close(), engine.close())
    outcomes = await asyncio.gather(*pending, return_exceptions=True)
    assert all(outcome == {} or isinstance(outcome, DynamoError) for outcome in outcomes)
    await engine.close()
    with pytest.raises(DynamoError, match="closed"):
        await engine.call("GetItem", {"TableName": "Things", "Key": KEY})
