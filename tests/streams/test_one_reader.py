"""One reader of the log in a process: consumers sleep through what is not theirs, and nothing is missed for it."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.dynamo.database import Database
from potluck.store import Store
from potluck.streams import (
    Action,
    ConsumerGroup,
    LeaseTerms,
    Record,
    RecordConsumer,
    WorkTable,
    handing_over,
    subscription,
    tail,
)
from potluck.table import delete
from potluck.web.live import Live
from tests.engine_targets import BOTH, opened
from tests.patience import PATIENCE_SECONDS, stopped
from tests.web.live.boards import KEY, Board, Card, boards, clock, heard_by, listening, of_board

WORK = WorkTable("Work")


class Counting(Database):
    """Counts what it is asked by name."""

    asked: list[str]

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.__dict__.setdefault("asked", []).append(operation)
        return await super().call(operation, request)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Counting]:
    database = await Counting.open(tmp_path / "store.db")
    await Store(database, clock).create_tables(boards)
    yield database
    await database.close()


@contextlib.asynccontextmanager
async def followed(engine: Any) -> AsyncIterator[Live]:
    live = Live(engine, clock, key=KEY)
    live.start(boards)
    try:
        yield live
    finally:
        await live.stop()


class Kept:
    """A consumer of boards, and what it was given."""

    def __init__(self, engine: Any, live: Live, name: str = "titles") -> None:
        self.titles: list[str] = []
        self.follows = asyncio.Event()
        """Set once it is given what follows, and reads nothing by itself."""
        self._feed = live.feed(boards)
        # Given back when the consumer stops, but not to a store that takes longer than a second for it. So it is longer
        # than such a moment, and much shorter than what a test waits for.
        group = ConsumerGroup(engine, name, WORK, LeaseTerms(10.0, renew_every=0.2, look_every=0.05))
        self.consumer = RecordConsumer(
            engine, name, boards.name, self.handle, concerns=of_board, work_table=WORK, group=group, follow=self._follow
        )

    def _follow(self, *asked: Any) -> Any:
        given = self._feed(*asked)
        if given is not None:
            self.follows.set()
        return given

    async def handle(self, change: Record) -> None:
        assert change.new is not None
        self.titles.append(change.new["title"]["S"])

    async def until(self, *titles: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.titles) < len(titles):  # noqa: ASYNC110 - it happens in the consumer
                await asyncio.sleep(0.01)
        assert self.titles == [*titles]


@contextlib.asynccontextmanager
async def running(*consumers: RecordConsumer) -> AsyncIterator[None]:
    # A group, so that a consumer that fails ends the test with its failure, and not with somebody's patience.
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(consumer.run()) for consumer in consumers]
        try:
            yield
        finally:
            await stopped(*tasks)


async def position(engine: Any) -> str | None:
    rows = (await engine.call("Scan", {"TableName": WORK.table, "ConsistentRead": True}))["Items"]
    (shard,) = [row for row in rows if "ReadAt" in row]
    return shard["Position"]["S"] if "Position" in shard else None


async def until_saved(engine: Any) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (saved := await position(engine)) is None:  # noqa: ASYNC110 - it happens in the store
            await asyncio.sleep(0.01)
    return saved


async def test_a_change_that_concerns_no_consumer_is_neither_read_nor_noted(database: Counting) -> None:
    store = Store(database, clock)
    async with followed(database) as live:
        kept = Kept(database, live)
        async with running(kept.consumer):
            await store.put(Board(board="b", title="first"))
            await kept.until("first")
            saved = await until_saved(database)
            async with listening(live) as listener:
                database.asked.clear()
                began = time.monotonic()
                for number in range(30):
                    await store.put(Card(board="b", card=f"c{number}"))
                await listener.heard(30)
                # Whoever reads the log anyway, to be safe, does so this seldom; and what is handed over while it is
                # being read is read too, however many at once.
                assert database.asked.count("GetRecords") <= 10 + (time.monotonic() - began) / tail.IDLE_SECONDS
                assert database.asked.count("PutItem") == 30
                assert set(database.asked) <= {"PutItem", "GetRecords", "GetShardIterator", "UpdateItem", "Query"}
                assert await position(database) == saved
            await store.put(Board(board="c", title="second"))
            await kept.until("first", "second")
            await store.put(Card(board="b", card="last"))
        # A worker that stops leaves nothing to be passed over again.
        assert await position(database) != saved
        again = Kept(database, live)
        async with running(again.consumer):
            await store.put(Board(board="d", title="third"))
            await again.until("third")


async def test_who_was_idle_for_longer_than_the_log_goes_back_does_not_read_it_by_itself(tmp_path: Path) -> None:
    moment = [1_800_000_000.0]
    database = await Database.open(tmp_path / "store.db", clock=lambda: moment[0])
    store = Store(database, clock)
    await store.create_tables(boards)
    for title in ("first", "second"):
        async with followed(database) as live:
            kept = Kept(database, live)
            kept.consumer.clock, kept.consumer.idle_seconds = lambda: moment[0], 0.02
            async with running(kept.consumer):
                await asyncio.wait_for(kept.follows.wait(), PATIENCE_SECONDS)
                await store.put(Board(board="b", title=title))
                await kept.until(title)
                await until_saved(database)
        moment[0] += 30 * 3600
    await database.close()


@pytest.mark.parametrize("target", BOTH)
async def test_a_position_that_only_passed_over_changes_is_saved_after_so_many(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_over, "PASSED_OVER_SAVE_RECORDS", 20)
    monkeypatch.setattr(subscription, "MOST_PASSED_OVER", 20)
    async with opened(target, tmp_path) as engine:
        store = Store(engine, clock)
        await store.create_tables(boards)
        async with followed(engine) as live:
            kept = Kept(engine, live)
            async with running(kept.consumer):
                await store.put(Board(board="b", title="first"))
                await kept.until("first")
                saved = await until_saved(engine)
                for number in range(40):
                    await store.put(Card(board="b", card=f"c{number}"))
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while await position(engine) == saved:  # noqa: ASYNC110 - it happens in the store
                        await asyncio.sleep(0.05)


async def test_what_several_processes_write_at_once_is_handed_over_once_and_in_order(
    database: Counting, tmp_path: Path
) -> None:
    """Two engines on one file are to each other as two processes are; each has a reader, one has the consumer."""
    elsewhere = await Counting.open(tmp_path / "store.db")
    chance = random.Random(53)
    try:
        async with followed(database) as live, followed(elsewhere) as live_elsewhere:
            started = await live.position(Card.on_board("b"))
            kept = Kept(database, live)
            titles: list[str] = []
            async with running(kept.consumer), listening(live) as here, listening(live_elsewhere) as there:

                async def write(engine: Any, who: str) -> None:
                    store = Store(engine, clock)
                    for number in range(40):
                        await store.put(Card(board="b", card=f"{who}{number}"))
                        if number % 4 == 0:
                            await store.put(Board(board=f"{who}{number}", title=f"{who}{number}"))
                            titles.append(f"{who}{number}")
                        if chance.random() < 0.3:
                            await asyncio.sleep(chance.random() * 0.03)

                await asyncio.gather(write(database, "h"), write(elsewhere, "t"))
                for listener in (here, there):
                    heard = [each.item["card"] for each in await listener.heard(80)]
                    assert sorted(heard) == sorted(f"{who}{number}" for who in "ht" for number in range(40))
                    for who in "ht":
                        assert [each for each in heard if each[0] == who] == [f"{who}{number}" for number in range(40)]
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while len(kept.titles) < len(titles):  # noqa: ASYNC110 - it happens in the consumer
                        await asyncio.sleep(0.01)
                assert sorted(kept.titles) == sorted(titles)
            assert len(await heard_by(live_elsewhere, started)) == 80
    finally:
        await elsewhere.close()


async def test_a_consumer_that_is_slower_than_the_writes_goes_back_to_the_log(
    database: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscription, "MOST_UNHANDLED", 5)
    store = Store(database, clock)
    seen: list[str] = []
    go_on = asyncio.Event()

    async def handle(change: Record) -> list[Action]:
        await go_on.wait()
        key = {"PK": {"S": change.key["PK"]["S"]}, "SK": {"S": "seen"}}
        seen.append(change.key["PK"]["S"])
        return [{"Put": {"TableName": WORK.table, "Item": key}}]

    async with followed(database) as live:
        consumer = RecordConsumer(
            database, "slow", boards.name, handle, concerns=of_board, work_table=WORK, follow=live.feed(boards)
        )
        async with running(consumer):
            go_on.set()
            await store.put(Board(board="first", title="t"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not seen:  # noqa: ASYNC110 - it happens in the consumer
                    await asyncio.sleep(0.01)
            go_on.clear()
            names = [f"b{number}" for number in range(30)]
            for name in names:
                await store.put(Board(board=name, title="t"))
                await store.put(Card(board=name, card="c"))
                await store.write_each([delete(Card.by_name(name, "c"))])
            go_on.set()
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(seen) < 31:  # noqa: ASYNC110 - it happens in the consumer
                    await asyncio.sleep(0.01)
    assert seen == [f"BOARD#{name}" for name in ("first", *names)]
