"""Processes that read the same streams notice each other, and where the others have read to."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import Engine
from potluck.streams import WorkTable
from potluck.streams.processes import PARTITION, Processes, places_of
from tests.engine_targets import BOTH, opened
from tests.patience import stopped, until

WORK = WorkTable("Work")


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path) as engine:
        await WORK.create_if_missing(engine)
        yield engine


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def process(engine: Engine, clock: Clock, number: int = 5, *, shared: bool = False) -> Processes:
    return Processes(engine, lambda: {"log": {"shard": str(number)}}, shared=shared, work_table=WORK, monotonic=clock)


async def rows(engine: Engine) -> list[Any]:
    query = {
        "TableName": WORK.table,
        "KeyConditionExpression": "PK = :processes",
        "ExpressionAttributeValues": {":processes": {"S": PARTITION}},
    }
    return list((await engine.call("Query", query))["Items"])


async def test_processes_count_each_other_until_one_is_gone(engine: Engine) -> None:
    clock = Clock()
    one, two, three = (process(engine, clock) for _ in range(3))
    for each in (one, two, three):
        await each.beat()
        await each.look()
    assert [each.count for each in (one, two, three)] == [1, 2, 3]
    await one.look()
    assert one.count == 3
    for _ in range(4):
        clock.now += 20.0
        for each in (one, two):
            await each.beat()
            await each.look()
    assert (one.count, two.count) == (2, 2)
    assert len(await rows(engine)) == 2


async def test_a_process_that_starts_begins_where_others_have_read_to(engine: Engine) -> None:
    clock = Clock()
    for number in (7, 10**30, 9):
        await process(engine, clock, number).beat()
    new = process(engine, clock)
    assert new.last_known("log", "shard") is None
    await new.look()
    assert new.last_known("log", "shard") == 10**30
    assert new.last_known("log", "another") is new.last_known("another", "shard") is None


async def test_more_than_two_readers_are_warned_of_once_unless_one_reads_for_all(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    clock = Clock()
    others = [process(engine, clock) for _ in range(2)]
    alone = process(engine, clock)
    sharing = process(engine, clock, shared=True)
    for _ in range(3):
        for each in others:
            await each.beat()
        for each in (alone, sharing):
            await each.look()
            each._warn_of_too_many()
    assert [message.partition(":")[0] for message in caplog.messages] == [
        "3 readers share the streams of this store, and Amazon DynamoDB allows 2"
    ]
    assert "POTLUCK_FANOUT" in caplog.text


async def test_functions_that_read_the_streams_count_as_a_reader(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    other = process(engine, Clock())
    watching = Processes(engine, dict, others=1, work_table=WORK)
    for _ in range(2):
        await other.beat()
        await watching.look()
        watching._warn_of_too_many()
    assert watching.count == 3
    assert caplog.messages[0].startswith("3 readers share the streams")


async def test_rows_that_the_last_run_left_behind_are_no_reason_for_a_warning(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    for _ in range(4):
        await process(engine, clock).beat()
    started = process(engine, clock)
    for _ in range(3):
        await started.look()
        started._warn_of_too_many()
    assert caplog.messages == []
    # They may be there, so the limit is shared with them for now.
    assert started.count == 5


async def test_a_process_that_stops_leaves_no_row(engine: Engine) -> None:

    running = asyncio.create_task(process(engine, Clock()).run())

    async def has_row() -> bool:
        return len(await rows(engine)) == 1

    await until(has_row)
    await stopped(running)
    assert await rows(engine) == []


def test_only_places_with_a_number_are_noted() -> None:
    assert places_of([("log", {"a": 5, "b": None, "c": -7})]) == {"log": {"a": "5"}}
