"""Colliding: what is in an ongoing transaction refuses every other transaction and every single write."""

import asyncio
from typing import Any

import pytest

from potluck.engines import DynamoError
from potluck.engines.colliding import Colliding

KEYS = {"things": ("PK", "SK"), "people": ("id",)}


class Answering:
    """An engine that notes what reaches it."""

    def __init__(self) -> None:
        self.operations: list[str] = []

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.operations.append(operation)
        if request.get("fails"):
            raise DynamoError("ValidationException", "no")
        return {}

    async def changed(self, table: str, timeout: float) -> bool:
        return True

    async def close(self) -> None: ...


class World:
    """The wrapper, and transactions that last until they are let go."""

    def __init__(self) -> None:
        self.below = Answering()
        self.let_go = asyncio.Event()
        self.engine = Colliding(self.below, KEYS, wait=lambda _: self.let_go.wait())

    async def ongoing(self, *actions: dict[str, Any], **more: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(self.engine.call("TransactWriteItems", {"TransactItems": list(actions), **more}))
        await asyncio.sleep(0)
        return task

    async def refusal(self, operation: str, request: dict[str, Any]) -> DynamoError:
        with pytest.raises(DynamoError) as refused:
            await self.engine.call(operation, request)
        return refused.value


def key(name: str) -> dict[str, Any]:
    return {"PK": {"S": "all"}, "SK": {"S": name}}


def put(name: str) -> dict[str, Any]:
    return {"Put": {"TableName": "things", "Item": {**key(name), "size": {"N": "1"}}}}


def check(name: str) -> dict[str, Any]:
    return {"ConditionCheck": {"TableName": "things", "Key": key(name)}}


@pytest.mark.parametrize("first", [put, check])
@pytest.mark.parametrize("second", [put, check])
async def test_a_transaction_on_an_item_of_another_one_is_cancelled_and_says_which(first, second):
    world = World()
    done = await world.ongoing(put("a"), first("b"))
    refusal = await world.refusal("TransactWriteItems", {"TransactItems": [put("c"), second("b"), put("a")]})
    assert refusal.code == "TransactionCanceledException"
    assert [reason["Code"] for reason in refusal.reasons or ()] == [
        "None",
        "TransactionConflict",
        "TransactionConflict",
    ]
    assert world.below.operations == []
    world.let_go.set()
    await done
    assert world.below.operations == ["TransactWriteItems"]


async def test_one_on_other_items_and_one_after_it_go_through():
    world = World()
    first, second = (
        await world.ongoing(put("a")),
        await world.ongoing(put("b"), {"Update": {"TableName": "people", "Key": {"id": {"N": "1"}}}}),
    )
    world.let_go.set()
    await asyncio.gather(first, second)
    await (await world.ongoing(put("a"), put("b")))
    assert (len(world.below.operations), world.engine.transactions) == (3, 3)


@pytest.mark.parametrize(
    ("operation", "request_of"),
    [
        ("PutItem", {"Item": {**key("a"), "size": {"N": "2"}}}),
        ("UpdateItem", {"Key": key("a")}),
        ("DeleteItem", {"Key": key("a")}),
    ],
)
async def test_a_single_write_meets_it_too_and_a_read_does_not(operation, request_of):
    world = World()
    done = await world.ongoing(check("a"))
    refusal = await world.refusal(operation, {"TableName": "things", **request_of})
    assert refusal.code == "TransactionConflictException"
    world.let_go.set()
    await world.engine.call("GetItem", {"TableName": "things", "Key": key("a")})
    await done
    await world.engine.call(operation, {"TableName": "things", **request_of})


async def test_a_transaction_of_reads_is_cancelled_by_one_of_writes():
    world = World()
    done = await world.ongoing(put("a"))
    refusal = await world.refusal(
        "TransactGetItems", {"TransactItems": [{"Get": {"TableName": "things", "Key": key("a")}}]}
    )
    assert [reason["Code"] for reason in refusal.reasons or ()] == ["TransactionConflict"]
    world.let_go.set()
    await done


async def test_one_that_fails_holds_its_items_no_longer():
    world = World()
    failing = await world.ongoing(put("a"), fails=True)
    world.let_go.set()
    with pytest.raises(DynamoError):
        await failing
    await world.engine.call("PutItem", {"TableName": "things", "Item": key("a")})
    assert world.engine.collisions == {}
