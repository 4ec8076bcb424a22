"""Recording: calls are counted with their bytes, units and pattern, and the caller's answer stays as it was."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from potluck.engines import DynamoError, Engine
from potluck.engines.recording import Recording, access_pattern
from tests.engine_targets import BOTH, opened, table

KEY = {"PK": {"S": "a"}, "SK": {"S": "b"}}


@pytest.fixture(params=BOTH)
async def recording(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Recording]:
    async with opened(request.param, tmp_path) as engine:
        await engine.call("CreateTable", table("Things", index=True))
        yield Recording(engine)


async def test_calls_are_recorded_with_their_cost(recording: Recording) -> None:
    item = {**KEY, "GSI1PK": {"S": "x"}, "GSI1SK": {"S": "y"}, "text": {"S": "a" * 1500}}
    put = {"TableName": "Things", "Item": item}
    with recording.scope() as calls:
        assert await recording.call("PutItem", put) == {}
        read = await recording.call("GetItem", {"TableName": "Things", "Key": KEY, "ConsistentRead": True})
        assert read == {"Item": item}
        query = {
            "TableName": "Things",
            "IndexName": "GSI1",
            "KeyConditionExpression": "GSI1PK = :x",
            "ExpressionAttributeValues": {":x": {"S": "x"}},
        }
        page = await recording.call("Query", query)
        assert "ConsumedCapacity" not in page
    assert calls.operations == ["PutItem", "GetItem", "Query"]
    assert [call.write_units for call in calls] == [4.0, 0.0, 0.0]  # two for the item, two for its copy in the index
    assert [call.read_units for call in calls] == [0.0, 1.0, 0.5]
    assert [call.items for call in calls] == [1, 1, 1]
    assert calls[0].bytes_sent == len(msgspec.json.encode(put))
    assert calls[1].bytes_received == len(msgspec.json.encode(read))
    assert calls[2].index == "GSI1"
    assert all(call.tables == ("Things",) for call in calls)


async def test_capacity_that_was_asked_for_is_given(recording: Recording) -> None:
    answer = await recording.call("PutItem", {"TableName": "Things", "Item": KEY, "ReturnConsumedCapacity": "TOTAL"})
    assert answer == {"ConsumedCapacity": {"TableName": "Things", "CapacityUnits": 1.0}}
    answer = await recording.call("PutItem", {"TableName": "Things", "Item": KEY, "ReturnConsumedCapacity": "NONE"})
    assert answer == {}
    assert [call.write_units for call in recording.calls] == [1.0, 1.0]


async def test_batches_and_transactions_add_up(recording: Recording) -> None:
    keys = [{"PK": {"S": "a"}, "SK": {"S": str(n)}} for n in range(3)]
    puts = [{"PutRequest": {"Item": key}} for key in keys]
    assert await recording.call("BatchWriteItem", {"RequestItems": {"Things": puts}}) == {"UnprocessedItems": {}}
    # One action: of several in one table, DynamoDB Local counts only one.
    actions = [{"Put": {"TableName": "Things", "Item": keys[0]}}]
    assert await recording.call("TransactWriteItems", {"TransactItems": actions}) == {}
    await recording.call("BatchGetItem", {"RequestItems": {"Things": {"Keys": keys}}})
    assert [call.items for call in recording.calls] == [3, 1, 3]
    assert [call.write_units for call in recording.calls] == [3.0, 2.0, 0.0]
    assert [call.read_units for call in recording.calls] == [0.0, 0.0, 1.5]


async def test_failures_are_recorded_and_passed_on(recording: Recording) -> None:
    with pytest.raises(DynamoError):
        await recording.call("GetItem", {"TableName": "Absent", "Key": KEY})
    (call,) = recording.calls
    assert call.error == "ResourceNotFoundException"
    assert recording.totals[None, "GetItem"].errors == 1


async def test_calls_are_told_apart_by_access_pattern(recording: Recording) -> None:
    for _ in range(2):
        with access_pattern("Thing.get"):
            await recording.call("GetItem", {"TableName": "Things", "Key": KEY})
    await recording.call("GetItem", {"TableName": "Things", "Key": KEY})
    assert recording.totals["Thing.get", "GetItem"].calls == 2
    assert recording.totals["Thing.get", "GetItem"].read_units == 1.0
    assert recording.totals[None, "GetItem"].calls == 1


async def test_a_scope_holds_only_its_own_calls(recording: Recording) -> None:
    await recording.call("GetItem", {"TableName": "Things", "Key": KEY})
    with recording.scope() as outer:
        with recording.scope() as inner:
            await recording.call("GetItem", {"TableName": "Things", "Key": KEY})
        await recording.call("ListTables", {})
    await recording.call("ListTables", {})
    assert inner.operations == ["GetItem"]
    assert outer.operations == ["GetItem", "ListTables"]


async def test_only_the_last_calls_are_kept() -> None:
    class Empty:
        async def call(self, operation: str, request: dict[str, object]) -> dict[str, object]:
            return {}

        async def changed(self, table: str, timeout: float) -> bool:
            return False

        async def close(self) -> None: ...

    recording = Recording(Empty(), keep=2)
    for operation in ("GetItem", "Query", "Scan"):
        await recording.call(operation, {"TableName": "T"})
    assert [call.operation for call in recording.calls] == ["Query", "Scan"]
    assert sum(total.calls for total in recording.totals.values()) == 3
    assert isinstance(recording, Engine)
