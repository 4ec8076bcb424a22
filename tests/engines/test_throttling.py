"""Throttling: calls are refused whole, batches are done in part, and nothing is lost if one asks again."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import DynamoError, Engine
from potluck.engines.throttling import Throttling
from tests.engine_targets import BOTH, opened, table


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path) as engine:
        for name in ("Things", "Words"):
            await engine.call("CreateTable", table(name))
        yield engine


def key(number: int) -> dict[str, Any]:
    return {"PK": {"S": "a"}, "SK": {"S": str(number)}}


async def test_refused_calls_do_nothing(engine: Engine) -> None:
    throttling = Throttling(engine, seed=1, refused=1.0)
    for operation, request in (
        ("PutItem", {"TableName": "Things", "Item": key(1)}),
        ("GetItem", {"TableName": "Things", "Key": key(1)}),
        ("BatchWriteItem", {"RequestItems": {"Things": [{"PutRequest": {"Item": key(1)}}]}}),
    ):
        with pytest.raises(DynamoError) as refused:
            await throttling.call(operation, request)
        assert refused.value.code == "ProvisionedThroughputExceededException"
    actions = [{"Put": {"TableName": "Things", "Item": key(n)}} for n in range(2)]
    with pytest.raises(DynamoError) as refused:
        await throttling.call("TransactWriteItems", {"TransactItems": actions})
    assert sorted(reason["Code"] for reason in refused.value.reasons or ()) == ["None", "ProvisionedThroughputExceeded"]
    assert throttling.calls_refused == 4
    assert (await engine.call("Scan", {"TableName": "Things"}))["Count"] == 0
    await throttling.call("DescribeTable", {"TableName": "Things"})


async def test_batch_writes_come_to_their_end_by_sending_what_was_not_done(engine: Engine) -> None:
    throttling = Throttling(engine, seed=3, refused=0.0, partial=0.8)
    rest: dict[str, Any] = {name: [{"PutRequest": {"Item": key(n)}} for n in range(10)] for name in ("Things", "Words")}
    rounds = 0
    while rest:
        before = sum(map(len, rest.values()))
        rest = (await throttling.call("BatchWriteItem", {"RequestItems": rest}))["UnprocessedItems"]
        assert sum(map(len, rest.values())) < before
        rounds += 1
    assert rounds > 1
    assert throttling.batches_cut == rounds - 1 or throttling.batches_cut == rounds
    for name in ("Things", "Words"):
        assert (await engine.call("Scan", {"TableName": name}))["Count"] == 10


async def test_batch_reads_keep_their_projection_in_what_was_not_done(engine: Engine) -> None:
    for number in range(10):
        await engine.call("PutItem", {"TableName": "Things", "Item": {**key(number), "x": {"N": "1"}}})
    throttling = Throttling(engine, seed=3, refused=0.0, partial=0.8)
    wanted = {"ProjectionExpression": "#sk", "ExpressionAttributeNames": {"#sk": "SK"}, "ConsistentRead": True}
    rest: dict[str, Any] = {"Things": {"Keys": [key(n) for n in range(10)], **wanted}}
    found: list[dict[str, Any]] = []
    while rest:
        answer = await throttling.call("BatchGetItem", {"RequestItems": rest})
        found += answer["Responses"].get("Things", [])
        rest = answer["UnprocessedKeys"]
        assert not rest or {name: rest["Things"][name] for name in wanted} == wanted
    assert throttling.batches_cut > 0
    assert sorted(item["SK"]["S"] for item in found) == [str(n) for n in range(10)]
    assert all(list(item) == ["SK"] for item in found)


async def test_the_same_seed_makes_the_same_choices(engine: Engine) -> None:
    async def refusals(seed: int) -> list[bool]:
        throttling, refused = Throttling(engine, seed, refused=0.5), []
        for _ in range(20):
            try:
                await throttling.call("GetItem", {"TableName": "Things", "Key": key(1)})
                refused.append(False)
            except DynamoError:
                refused.append(True)
        return refused

    assert await refusals(1) == await refusals(1) != await refusals(2)
