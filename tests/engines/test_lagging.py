"""Lagging: index reads answer from a state that really was, a few writes or seconds ago."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import ANSWER_LOST, DynamoError, Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.lagging import Lagging
from tests.engine_targets import BOTH, opened, table


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path) as engine:
        await engine.call("CreateTable", table("Things", index=True))
        yield engine


def item(name: str, group: str = "g", **more: Any) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": name}, "GSI1PK": {"S": group}, "GSI1SK": {"S": name}, **more}


def key(name: str) -> dict[str, Any]:
    return {"PK": {"S": name}, "SK": {"S": name}}


async def put(engine: Engine, name: str, group: str = "g") -> None:
    await engine.call("PutItem", {"TableName": "Things", "Item": item(name, group)})


async def in_index(engine: Engine, group: str = "g", **more: Any) -> list[str]:
    query = {
        "TableName": "Things",
        "IndexName": "GSI1",
        "KeyConditionExpression": "GSI1PK = :g",
        "ExpressionAttributeValues": {":g": {"S": group}},
        **more,
    }
    return [found["PK"]["S"] for found in (await engine.call("Query", query))["Items"]]


async def in_table(engine: Engine, name: str, consistent: bool = False) -> bool:
    return "Item" in await engine.call(
        "GetItem", {"TableName": "Things", "Key": key(name), "ConsistentRead": consistent}
    )


async def test_an_index_is_behind_by_a_number_of_writes(engine: Engine) -> None:
    lagging = Lagging(engine, writes=2)
    seen = []
    for name in "abcd":
        await put(lagging, name)
        seen.append(await in_index(lagging))
    assert seen == [[], [], ["a"], ["a", "b"]]
    assert await in_table(lagging, "d")
    await lagging.settle()
    assert await in_index(lagging) == ["a", "b", "c", "d"]


async def test_an_index_is_behind_by_seconds(engine: Engine) -> None:
    now = 0.0
    lagging = Lagging(engine, seconds=5, clock=lambda: now)
    await put(lagging, "a")
    now = 4.0
    await put(lagging, "b")
    assert await in_index(lagging) == []
    now = 5.0
    assert await in_index(lagging) == ["a"]
    now = 9.0
    assert await in_index(lagging) == ["a", "b"]


async def test_what_was_there_before_is_in_the_index(engine: Engine) -> None:
    await put(engine, "a")
    lagging = Lagging(engine, writes=1)
    assert await in_index(lagging) == ["a"]
    await put(lagging, "b")
    assert await in_index(lagging) == ["a"]


async def test_updates_deletions_batches_and_transactions_lag_too(engine: Engine) -> None:
    lagging = Lagging(engine, writes=1)
    for name in "abc":
        await put(lagging, name)
    await lagging.settle()
    update = {
        "TableName": "Things",
        "Key": key("a"),
        "UpdateExpression": "SET GSI1PK = :h",
        "ExpressionAttributeValues": {":h": {"S": "h"}},
    }
    await lagging.call("UpdateItem", update)
    assert await in_index(lagging) == ["a", "b", "c"]
    await lagging.call("DeleteItem", {"TableName": "Things", "Key": key("b")})
    assert (await in_index(lagging), await in_index(lagging, "h")) == (["b", "c"], ["a"])
    actions = [
        {"Delete": {"TableName": "Things", "Key": key("c")}},
        {"Put": {"TableName": "Things", "Item": item("d")}},
    ]
    await lagging.call("TransactWriteItems", {"TransactItems": actions})
    assert await in_index(lagging) == ["c"]
    writes = [{"PutRequest": {"Item": item("e")}}, {"DeleteRequest": {"Key": key("a")}}]
    await lagging.call("BatchWriteItem", {"RequestItems": {"Things": writes}})
    assert (await in_index(lagging), await in_index(lagging, "h")) == (["d"], ["a"])
    await lagging.settle()
    assert (await in_index(lagging), await in_index(lagging, "h")) == (["d", "e"], [])


async def test_pages_and_order_are_those_of_the_earlier_state(engine: Engine) -> None:
    lagging = Lagging(engine, writes=1)
    for name in "abcde":
        await put(lagging, name)
    assert await in_index(lagging, Limit=2, ScanIndexForward=False) == ["d", "c"]


async def test_base_table_reads_lag_only_when_chosen_and_never_when_consistent(engine: Engine) -> None:
    await put(engine, "old")
    prompt, eventual = Lagging(engine, writes=1), Lagging(engine, writes=1, eventual=True)
    await put(prompt, "a")
    assert await in_table(prompt, "a")
    assert await in_table(eventual, "old")
    await put(eventual, "b")
    assert not await in_table(eventual, "b")
    assert await in_table(eventual, "b", consistent=True)
    keys = {"Things": {"Keys": [key("b")]}}
    assert (await eventual.call("BatchGetItem", {"RequestItems": keys}))["Responses"] == {"Things": []}


async def test_with_a_seed_reads_are_now_from_behind_and_now_not(engine: Engine) -> None:
    async def what_is_seen(seed: int) -> list[bool]:
        lagging = Lagging(engine, writes=1, seed=seed)
        await put(lagging, "b", "other")
        await put(lagging, f"s{seed}", f"g{seed}")
        return [bool(await in_index(lagging, f"g{seed}")) for _ in range(12)]

    first = await what_is_seen(1)
    assert first not in (sorted(first), sorted(first, reverse=True))  # back and forth in time
    await engine.call("DeleteItem", {"TableName": "Things", "Key": key("s1")})
    assert await what_is_seen(1) == first


async def test_a_write_whose_answer_was_lost_arrives_all_the_same(engine: Engine) -> None:
    lagging = Lagging(Conflicting(engine, 1, conflicts=0, lost_answers=1.0), writes=0)
    with pytest.raises(DynamoError) as lost:
        await put(lagging, "a")
    assert lost.value.code == ANSWER_LOST
    assert await in_index(lagging) == ["a"]


async def test_refused_writes_and_missing_tables_get_the_engines_own_error(engine: Engine) -> None:
    lagging = Lagging(engine, writes=1)
    with pytest.raises(DynamoError, match="ValidationException"):
        await lagging.call("PutItem", {"TableName": "Things", "Item": {"PK": {"S": "a"}}})
    with pytest.raises(DynamoError, match="ResourceNotFoundException"):
        await lagging.call("PutItem", {"TableName": "Absent", "Item": item("a")})
    assert await in_index(lagging) == []


async def test_a_changed_or_deleted_table_is_copied_anew(engine: Engine) -> None:
    lagging = Lagging(engine, writes=3)
    await put(lagging, "a")
    await lagging.call("DeleteTable", {"TableName": "Things"})
    await lagging.call("CreateTable", table("Things", index=True))
    assert await in_index(lagging) == []
    await put(lagging, "b")
    await lagging.settle()
    assert await in_index(lagging) == ["b"]
