"""While the store fails, those who follow are told to come back; it is said once, and goes on by itself."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import ANSWER_LOST, DynamoError, Engine
from potluck.engines.embedded import open_embedded
from potluck.store import Store
from potluck.streams import log, tail
from potluck.table import Unavailable
from potluck.web.live import Live
from tests.patience import PATIENCE_SECONDS
from tests.web.live.boards import KEY, SOMEBODY, Card, boards, clock, heard_by, listening, shown, yes

STREAMS = frozenset({"GetRecords", "GetShardIterator", "DescribeStream", "DescribeTable"})


class Switched:
    """An engine of which some operations can be switched off."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.off: frozenset[str] = frozenset()
        self.code = "ThrottlingException"
        self.refused = 0

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation in self.off:
            self.refused += 1
            raise DynamoError(self.code, "for the test")
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, min(timeout, 0.05))

    async def close(self) -> None:
        await self.engine.close()


class World:
    def __init__(self, engine: Switched) -> None:
        self.engine = engine
        # What is written and read beside the stream goes on meanwhile.
        self.store = Store(engine.engine, clock)
        self.live = Live(engine, clock, key=KEY, recheck_seconds=5.0)

    async def put(self, *cards: str) -> None:
        for card in cards:
            await self.store.put(Card(board="b", card=card))

    @property
    def tail(self) -> tail.Tail:
        return self.live._tails[boards.name]

    async def until_failing(self, failing: bool) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.tail.failing is not failing:  # noqa: ASYNC110 - it happens in the tail
                await asyncio.sleep(0.01)


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(log, "RETRY_SECONDS", 0.2)
    monkeypatch.setattr(tail, "DISCOVER_SECONDS", 0.1)
    engine = Switched(await open_embedded(tmp_path / "store.db"))
    world = World(engine)
    await world.store.create_tables(boards)
    yield world
    await world.live.stop()
    await engine.close()


def cards(events: list[Any]) -> list[str]:
    return [each.item["card"] if isinstance(each.item, dict) else each.item.card for each in events]


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says of each trouble, and whether it says that it is over."""
    lines = [each.message for each in caplog.records if each.levelno >= logging.WARNING]
    return [("over: " if ": over after" in line else "") + line.partition(":")[0] for line in lines]


@pytest.mark.parametrize(
    ("off", "code"),
    [(STREAMS, "InternalServerError"), ({"GetRecords"}, "ThrottlingException"), ({"DescribeStream"}, ANSWER_LOST)],
    ids=["all", "records", "shards"],
)
async def test_streams_end_with_a_wish_to_come_back_and_miss_nothing_when_they_do(
    world: World, caplog: pytest.LogCaptureFixture, off: frozenset[str], code: str
) -> None:
    caplog.set_level(logging.WARNING)
    async with AsyncExitStack() as stack:
        followers = [await stack.enter_async_context(listening(world.live)) for _ in range(20)]
        await world.put("before")
        for each in followers:
            await each.heard(1)
        world.engine.code, world.engine.off = code, frozenset(off)
        await world.put("meanwhile")
        for each in followers:
            await each.until(lambda each=each: each.ended)
    for each in followers:
        # Not all of them at the same moment.
        milliseconds = int(re.findall(rb"retry: (\d+)\n\n$", each.raw)[0])
        assert 10_000 <= milliseconds <= 20_000
    # Whoever comes now is told at once; nobody is told that nothing is new. A list can be read, and goes on from here.
    with pytest.raises(Unavailable):
        world.live.open(followers[0].last_id, of=Card.on_board("b"), see=shown, allowed=yes, by=SOMEBODY)
    with pytest.raises(Unavailable):
        await world.live.changes(followers[0].last_id, of=Card.on_board("b"), see=shown)
    listed = await world.live.position(Card.on_board("b"))
    refused = world.engine.refused
    async with asyncio.timeout(PATIENCE_SECONDS):
        while world.engine.refused < refused + 5:  # noqa: ASYNC110 - it is tried again
            await asyncio.sleep(0.01)
    assert said(caplog) == ["the stream of Boards cannot be read"]
    world.engine.off = frozenset()
    await world.until_failing(False)
    await world.put("after")
    async with listening(world.live, followers[0].last_id) as back:
        await back.heard(len({"meanwhile", "after"} - set(cards(followers[0].events))))
    assert cards(followers[0].events + back.events) == ["before", "meanwhile", "after"]
    assert cards(await heard_by(world.live, listed))[-1] == "after"
    assert said(caplog) == ["the stream of Boards cannot be read", "over: the stream of Boards cannot be read"]


async def test_a_hiccup_is_nobody_s_concern(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RETRY_SECONDS", PATIENCE_SECONDS)
    caplog.set_level(logging.WARNING)
    async with listening(world.live) as listener:
        world.engine.off = STREAMS
        await world.put("one")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not world.engine.refused:  # noqa: ASYNC110 - it happens in the tail
                await asyncio.sleep(0.01)
        world.engine.off = frozenset()
        await listener.heard(1)
    assert cards(listener.events) == ["one"]
    assert said(caplog) == []


async def test_a_log_that_cannot_be_read_at_the_start_is_read_when_it_can(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "READY_SECONDS", 0.5)
    world.engine.off = STREAMS
    world.live.start(boards)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await world.live.position(Card.on_board("b"))
    world.engine.off = frozenset()
    await world.until_failing(False)
    async with listening(world.live) as listener:
        await world.put("one")
        await listener.heard(1)
    assert len(said(caplog)) == 2


async def test_a_failure_that_does_not_pass_is_said_once_and_tried_again(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.engine.code = "AccessDeniedException"
    async with listening(world.live) as listener:
        monkeypatch.setattr(tail, "READY_SECONDS", 0.5)
        world.engine.off = STREAMS
        await world.put("meanwhile")
        await listener.until(lambda: listener.ended)
    assert re.search(rb"retry: [12]\d{4}\n\n$", listener.raw)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while world.engine.refused < 5:  # noqa: ASYNC110 - it is tried again
            await asyncio.sleep(0.01)
    assert said(caplog) == ["the stream of Boards cannot be read"]
    world.engine.off = frozenset()
    await world.until_failing(False)
    assert cards(await heard_by(world.live, listener.last_id)) == ["meanwhile"]


async def test_a_table_that_is_gone_is_followed_again_when_it_is_back(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(world.live) as listener:
        await world.put("before")
        await listener.heard(1)
        monkeypatch.setattr(tail, "READY_SECONDS", 0.5)
        await world.engine.call("DeleteTable", {"TableName": boards.name})
        await listener.until(lambda: listener.ended)
    assert re.search(rb"retry: [12]\d{4}\n\n$", listener.raw)
    with pytest.raises(Unavailable):
        await world.live.position(Card.on_board("b"))
    await world.store.create_tables(boards)
    await world.until_failing(False)
    async with listening(world.live, listener.last_id) as back:
        await back.heard(1)
        await world.put("after")
        await back.heard(2)
    # It is another log; whatever the old one had, nobody knows any more.
    assert [each.event for each in back.events] == ["reset", "created"]
    assert len(said(caplog)) <= 4


async def test_a_shard_that_never_could_be_read_again_is_in_nobody_s_way_once_there_are_others(world: World) -> None:
    world.live.start(boards)
    await world.live.position(boards)
    world.engine.off = frozenset({"GetRecords"})
    await world.until_failing(True)
    # What passed becomes what does not: the shard is given up, with all that was read.
    world.engine.code = "AccessDeniedException"
    async with asyncio.timeout(PATIENCE_SECONDS):
        while world.tail.buffer is not None:  # noqa: ASYNC110 - it happens in the tail
            await asyncio.sleep(0.01)
    await world.engine.call("DeleteTable", {"TableName": boards.name})
    await world.store.create_tables(boards)
    world.engine.off = frozenset()
    await world.until_failing(False)
    async with listening(world.live) as listener:
        await world.put("after")
        await listener.heard(1)


async def test_the_log_far_back_is_not_waited_for_by_everybody_in_turn(world: World) -> None:
    """Who reads the log itself has a turn in four; while it cannot be read, nobody takes theirs."""
    live = Live(world.engine, clock, key=KEY, buffer_records=3)
    start = await live.position(boards)
    await world.put(*(f"c{number}" for number in range(9)))
    assert len(await heard_by(live, start)) == 9
    world.engine.off = frozenset({"GetRecords"})
    answers = await asyncio.wait_for(
        asyncio.gather(
            *(live.changes(start, of=Card.on_board("b"), see=shown) for _ in range(50)), return_exceptions=True
        ),
        PATIENCE_SECONDS,
    )
    assert {type(each) for each in answers} == {Unavailable}
    world.engine.off = frozenset()
    await live.stop()


async def test_a_stream_whose_caller_cannot_be_looked_up_ends_with_a_wish_to_come_back(world: World) -> None:
    async def allowed() -> bool:
        if cards_put:
            raise Unavailable("the engine throttles")
        return True

    cards_put: list[str] = []
    async with listening(world.live, allowed=allowed) as listener:
        cards_put.append("one")
        await world.put("one")
        await listener.until(lambda: listener.ended)
    assert listener.events == []
    assert re.search(rb"retry: [12]\d{4}\n\n$", listener.raw)
