"""A tail starts at the end of the log, whatever was written before; what is older is read on demand, or reset."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import DynamoError, Engine
from potluck.engines.embedded import open_embedded
from potluck.engines.shard_reads import ShardReads
from potluck.store import Store
from potluck.streams import ConsumerGroup, LeaseTerms, RecordConsumer, WorkTable, tail
from potluck.web.live import Live, reader
from tests.engine_targets import BOTH, opened
from tests.patience import PATIENCE_SECONDS, stopped, until
from tests.web.live.boards import KEY, Board, Card, boards, clock, heard_by, listening, of_board

WORK = WorkTable("Work")


class Reading:
    """An engine elsewhere: it hands nothing over, and what is read from its streams is counted."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.pages = 0
        self.records: list[str] = []
        self.expired = False
        self.shard_reads: ShardReads | None = None

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "GetRecords" and self.expired:
            self.expired = False
            raise DynamoError("ExpiredIteratorException", "for the test")
        answer = await self.engine.call(operation, request)
        if operation == "GetRecords":
            self.pages += 1
            self.records += [record["dynamodb"]["SequenceNumber"] for record in answer["Records"]]
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, min(timeout, 0.05))

    async def close(self) -> None:
        await self.engine.close()


class Sparse(Reading):
    """Every page is preceded by an empty one, as the service's may be."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._passed: set[str] = set()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation != "GetRecords":
            return await self.engine.call(operation, request)
        if request["ShardIterator"] not in self._passed:
            self._passed.add(request["ShardIterator"])
            return {"Records": [], "NextShardIterator": request["ShardIterator"]}
        return await self.engine.call(operation, {**request, "Limit": 7})


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Reading]:
    async with opened(request.param, tmp_path) as engine:
        await Store(engine, clock).create_tables(boards)
        yield Reading(engine)


@pytest.fixture
async def sparse(tmp_path: Path) -> AsyncIterator[Sparse]:
    engine = await open_embedded(tmp_path / "store.db")
    await Store(engine, clock).create_tables(boards)
    yield Sparse(engine)
    await engine.close()


@pytest.fixture
def everything_is_far_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "LONG_PAGE_RECORDS", 5)
    monkeypatch.setattr(tail, "OLD_SECONDS", -10.0)


async def put(engine: Engine, *cards: str) -> None:
    for card in cards:
        await Store(engine, clock).put(Card(board="b", card=card))


def cards(events: list[Any]) -> list[str]:
    return [event.item["card"] if isinstance(event.item, dict) else event.item.card for event in events]


@pytest.mark.usefixtures("everything_is_far_back")
async def test_a_start_after_a_busy_day_reads_one_page_of_it_and_follows_from_there(engine: Reading) -> None:
    before = Live(engine, clock, key=KEY)
    old = await before.position(boards)
    await put(engine, *(f"c{number}" for number in range(30)))
    await until(lambda: _has_read(engine, 30))
    recent = await before.position(boards)
    await before.stop()

    engine.pages = 0
    live = Live(engine, clock, key=KEY)
    position = await live.position(boards)
    # The tail may have begun to wait for what follows.
    assert engine.pages <= 2
    assert await heard_by(live, position) == []
    # What is between the two is not known to be nothing.
    assert await heard_by(live, old) == await heard_by(live, recent) == ["reset"]
    async with listening(live, position) as listener:
        await put(engine, "new")
        assert cards(await listener.heard(1)) == ["new"]
    # Now it is known where memory begins, so that a position from before it goes on.
    assert cards(await heard_by(live, recent)) == ["new"]
    assert len(await heard_by(live, old)) == 31
    assert cards(await heard_by(live, position)) == ["new"]
    await live.stop()


async def _has_read(engine: Reading, records: int) -> bool:
    return len(engine.records) >= records


@pytest.mark.usefixtures("everything_is_far_back")
async def test_a_place_that_only_another_process_knows_is_reset(engine: Reading) -> None:
    await put(engine, *(f"c{number}" for number in range(6)))
    one, other = (Live(engine, clock, key=KEY) for _ in range(2))
    position = await one.position(boards)
    await other.position(boards)
    assert await heard_by(one, position) == []
    assert await heard_by(other, position) == ["reset"]
    await put(engine, "new")
    assert cards(await until(lambda: heard_by(one, position))) == ["new"]
    assert await heard_by(other, position) == ["reset"]
    await one.stop()
    await other.stop()


@pytest.mark.usefixtures("everything_is_far_back")
async def test_a_list_whose_index_may_lag_behind_an_unknown_start_is_read_again(engine: Reading) -> None:
    await put(engine, *(f"c{number}" for number in range(6)))
    live = Live(engine, clock, key=KEY, lag_seconds=60.0)
    exact = await live.position(Card.on_board("b"))
    assert await heard_by(live, exact) == []
    lagging = await live.position(Card.of_owner("ann"))
    assert await heard_by(live, lagging, of=Card.of_owner("ann")) == ["reset"]
    await live.stop()


@pytest.mark.usefixtures("everything_is_far_back")
async def test_a_place_at_the_end_that_the_service_has_forgotten_is_reset(engine: Reading) -> None:
    await put(engine, *(f"c{number}" for number in range(6)))
    live = Live(engine, clock, key=KEY)
    async with listening(live) as listener:
        engine.expired = True
        await listener.until(lambda: bool(listener.events))
        await put(engine, "new")
        await listener.heard(2)
    assert [event.event for event in listener.events] == ["reset", "created"]
    await live.stop()


async def test_each_record_is_read_once_for_lists_and_consumers_together(engine: Reading) -> None:
    live = Live(engine, clock, key=KEY)
    feed = live.feed(boards)
    followed, titles = asyncio.Event(), []

    def follow(*asked: Any) -> Any:
        subscription = feed(*asked)
        if subscription is not None:
            followed.set()
        return subscription

    async def handle(record: Any) -> None:
        titles.append(record.new["title"]["S"])

    await live.position(boards)
    group = ConsumerGroup(engine, "titles", WORK, LeaseTerms(10.0, renew_every=0.2, look_every=0.05))
    consumer = RecordConsumer(
        engine, "titles", boards.name, handle, concerns=of_board, work_table=WORK, group=group, follow=follow
    )
    async with listening(live) as listener, asyncio.TaskGroup() as group:
        consuming = group.create_task(consumer.run())
        await asyncio.wait_for(followed.wait(), PATIENCE_SECONDS)
        for number in range(20):
            await put(engine, f"c{number}")
            await Store(engine, clock).put(Board(board=f"b{number}", title=f"t{number}"))
        await listener.heard(20)
        await until(lambda: _has(titles, 20))
        await stopped(consuming)
    assert titles == [f"t{number}" for number in range(20)]
    assert len(engine.records) == len(set(engine.records)) == 40
    await live.stop()


async def _has(titles: list[str], count: int) -> bool:
    return len(titles) >= count


async def test_an_empty_page_is_not_taken_for_the_logs_end(sparse: Sparse) -> None:
    live = Live(sparse, clock, key=KEY, buffer_records=3)
    start = await live.position(boards)
    names = [f"c{number}" for number in range(40)]
    async with listening(live, start) as listener:
        await put(sparse, *names)
        assert cards(await listener.heard(40)) == names
        assert cards(await heard_by(live, start)) == names
        assert cards(await heard_by(live, listener.events[9].position)) == names[10:]
    await live.stop()


async def test_where_reads_are_limited_most_of_many_clients_from_before_read_their_lists_again(
    sparse: Sparse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MOST_WAITING", 3)
    sparse.shard_reads = ShardReads(per_second=1000.0)
    live = Live(sparse, clock, key=KEY, buffer_records=3)
    start = await live.position(boards)
    names = [f"c{number}" for number in range(20)]
    async with listening(live, start) as listener:
        await put(sparse, *names)
        await listener.heard(20)
    answers = await asyncio.gather(*(heard_by(live, start) for _ in range(30)))
    missed = [answer for answer in answers if answer != ["reset"]]
    assert 4 <= len(missed) < 30
    assert all(cards(answer) == names for answer in missed)
    await live.stop()


async def test_a_shard_is_read_at_this_process_share_of_the_limit() -> None:
    reads = ShardReads(per_second=50.0)
    reads.processes = lambda: 2
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(reads.turn("shard") for _ in range(6)), reads.turn("another"))
    assert loop.time() - began >= 5 * 2 / 50.0
