"""What is moved of background work, and what a consumer does in the store that it was moved to."""

import asyncio
from typing import Any

import msgspec
import pytest

from potluck.streams import PositionLost, RecordConsumer, WorkTable
from potluck.streams.moved_rows import moved_mark, moved_row
from potluck.streams.steps import StepDone, Steps
from tests.engine_targets import EMBEDDED, opened, table
from tests.patience import stopped, until
from tests.stores import rows_in

WORK = WorkTable()
ARN = "arn:aws:dynamodb:us-east-1:0:table/Source/stream/2020-01-01T00:00:00.000"
STREAM = {**WORK.key("CONSUMER#c", "STREAM"), "StreamArn": {"S": ARN}}
PARKED = {**WORK.key("CONSUMER#c", "PARKED#2020#1"), "Error": {"S": "Oh"}}


@pytest.mark.parametrize(
    "row",
    [
        WORK.key("LEASE#CONSUMERS", "LEASE"),
        WORK.key("CONSUMER#c", "SHARD#2020#shard-1"),
        WORK.key("CONSUMER#c", "HANDLED#2020#1"),
        WORK.key("GROUP#CONSUMERS", "MEMBER#1"),
        WORK.key("GROUP#CONSUMERS", "SHARD#Source#2020#shard-1"),
        WORK.key("IMPORT", "IMPORT"),
        WORK.key("MOVED", "MOVED"),
    ],
)
def test_leases_and_positions_are_left_behind(row):
    assert moved_row(WORK, row) is None


def test_parked_records_are_moved_and_a_stream_becomes_one_that_no_table_has():
    assert moved_row(WORK, PARKED) == PARKED
    moved = moved_row(WORK, STREAM)
    assert moved == {**STREAM, "StreamArn": {"S": f"moved from {ARN}"}}
    assert moved_row(WORK, moved) == moved, "moving it twice changes nothing"


@pytest.mark.parametrize(
    ("row", "begins", "expected"),
    [
        (moved_row(WORK, STREAM), True, ["lost"]),
        (moved_row(WORK, STREAM), False, ["lost"]),
        (moved_mark(WORK, 0), True, ["begin"]),
        (moved_mark(WORK, 0), False, ["lost"]),
        (None, True, ["begin"]),
        (None, False, []),
    ],
    ids=["had run", "had run, without begin", "never ran", "never ran, without begin", "new", "new, without begin"],
)
async def test_a_consumer_makes_up_for_what_was_left_behind_and_then_reads_the_new_stream(
    row: dict[str, Any] | None, begins: bool, expected: list[str], tmp_path
):
    done: list[str] = []

    async def handle(record):
        done.append(record.new["SK"]["S"])

    async def lost(_: PositionLost):
        done.append("lost")

    async def begin():
        done.append("begin")

    async with opened(EMBEDDED, tmp_path) as engine:
        await engine.call("CreateTable", table("Source", stream=True))
        await WORK.create_if_missing(engine)
        if row is not None:
            await engine.call("PutItem", {"TableName": WORK.table, "Item": row})
        item = {"PK": {"S": "K"}, "SK": {"S": "after the move"}}
        await engine.call("PutItem", {"TableName": "Source", "Item": item})
        # Twice: what was made up for once is not made up for again.
        for _ in range(2):
            consumer = RecordConsumer(engine, "c", "Source", handle, lost=lost, begin=begin if begins else None)
            running = asyncio.create_task(consumer.run())

            async def read():
                return "after the move" in done

            await until(read)
            await stopped(running)
        assert done == [*expected, "after the move"]


class Counted(msgspec.Struct):
    name: str


async def test_long_work_goes_on_where_it_was(tmp_path):
    done: list[int] = []

    async def step(subject: Counted, after: int | None) -> StepDone:
        assert subject.name == "a"
        number = (after or 0) + 1
        done.append(number)
        return StepDone(then=number if number < 5 else None)

    async def lost(_: PositionLost) -> None:
        pass

    steps = Steps("counting", Counted, step)
    work = steps.of(Counted("a"))
    left = {
        **WORK.key("CONSUMER#c", f"STEPS#{work.name}"),
        "Work": {"S": "counting"},
        "Subject": {"S": work.saved()},
        "After": {"S": "3"},
        "Run": {"S": "r"},
        "Shard": {"S": "2020#shard-1"},
        "Holder": {"S": "elsewhere"},
    }
    moved = moved_row(WORK, left)
    assert moved is not None
    assert moved_row(WORK, moved) == moved
    async with opened(EMBEDDED, tmp_path) as engine:
        await engine.call("CreateTable", table("Source", stream=True))
        await WORK.create_if_missing(engine)
        for row in (moved_row(WORK, STREAM), moved):
            await engine.call("PutItem", {"TableName": WORK.table, "Item": row})
        consumer = RecordConsumer(engine, "c", "Source", handle_nothing, lost=lost, steps=[steps])
        running = asyncio.create_task(consumer.run())

        async def finished() -> bool:
            return not [row for row in await rows_in(engine, WORK.table) if row["SK"]["S"].startswith("STEPS#")]

        await until(finished)
        await stopped(running)
    assert done == [4, 5]


async def handle_nothing(record: Any) -> None:
    pass
