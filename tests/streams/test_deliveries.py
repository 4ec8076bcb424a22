"""Consumers that are given their records: what they return is committed once, however often a record is delivered."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import DynamoError, Engine
from potluck.store import Store
from potluck.streams import Consumer, DeliveredConsumer, Record, WorkTable, created, log
from potluck.table import put, the, update
from potluck.table.operations import Operation
from tests.engine_targets import BOTH, opened
from tests.stores import rows_in
from tests.web.live.boards import Card, boards, clock

WORK = WorkTable("Work")
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Boards/stream/2026-01-01T00:00:00.000"


TOTAL = Card.by_name("total", "all")


class Failing:
    """An engine that fails the next transactions, before or after they are carried out."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.before = self.after = 0

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation != "TransactWriteItems":
            return await self.engine.call(operation, request)
        if self.before:
            self.before -= 1
            raise DynamoError("ThrottlingException", "not now")
        answer = await self.engine.call(operation, request)
        if self.after:
            self.after -= 1
            raise KeyboardInterrupt
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None:
        await self.engine.close()


@pytest.fixture(params=BOTH)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path) as engine:
        store = Store(Failing(engine), clock)
        await store.create_tables(boards, WORK.design)
        yield store


def inserted(*cards: Card) -> list[Record]:
    """The records of these new rows, as Lambda delivers them."""
    rows = [put(card).request(0).body["Item"] for card in cards]
    return [
        Record(
            boards.name,
            {
                "eventName": "INSERT",
                "eventSourceARN": ARN,
                "dynamodb": {
                    "Keys": {name: row[name] for name in boards.key_names},
                    "NewImage": row,
                    "SequenceNumber": f"{number + 1:021}",
                },
            },
        )
        for number, row in enumerate(rows)
    ]


def counting(store: Store, **options: Any) -> DeliveredConsumer:
    """A consumer whose writes are not idempotent: it counts cards."""

    async def counted(card: Card) -> list[Operation]:
        if card.text == "bad":
            raise ValueError("bad")
        return [update(TOTAL, the(Card.rank).add(1))]

    return DeliveredConsumer(Consumer("counting", created(Card, do=counted), lost=None), store, WORK, **options)


async def total(store: Store) -> int:
    card = await store.get(TOTAL)
    return 0 if card is None else card.rank


async def test_a_batch_that_is_delivered_again_is_committed_once(store: Store) -> None:
    await store.put(Card(board="total", card="all", rank=0))
    batch = inserted(*(Card(board="b", card=f"c{number}") for number in range(5)))
    consumer = counting(store)
    assert await consumer.handle(ARN, batch) is None
    assert await consumer.handle(ARN, batch) is None
    # Another instance of the function remembers nothing.
    assert await counting(store).handle(ARN, batch[2:]) is None
    assert await total(store) == 5


async def test_a_function_that_dies_between_its_commit_and_its_answer_repeats_nothing(store: Store) -> None:
    await store.put(Card(board="total", card="all", rank=0))
    batch = inserted(*(Card(board="b", card=f"c{number}") for number in range(3)))
    engine = store.engine
    assert isinstance(engine, Failing)
    engine.after = 1
    with pytest.raises(KeyboardInterrupt):
        await counting(store).handle(ARN, batch)
    assert await total(store) == 1
    assert await counting(store).handle(ARN, batch) is None
    assert await total(store) == 3


async def test_a_record_that_cannot_be_written_now_is_delivered_again_and_no_earlier_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "RETRY_SECONDS", 0.0)
    await store.put(Card(board="total", card="all", rank=0))
    batch = inserted(*(Card(board="b", card=f"c{number}") for number in range(4)))
    engine = store.engine
    assert isinstance(engine, Failing)
    consumer = counting(store)
    assert await consumer.handle(ARN, batch[:2]) is None
    engine.before = 1
    assert await consumer.handle(ARN, batch[2:]) == 0
    assert await consumer.handle(ARN, batch[2:]) is None
    assert await total(store) == 4


async def test_a_record_that_cannot_be_handled_is_parked_with_its_images_and_the_rest_goes_on(store: Store) -> None:
    await store.put(Card(board="total", card="all", rank=0))
    batch = inserted(Card(board="b", card="c1"), Card(board="b", card="c2", text="bad"), Card(board="b", card="c3"))
    for _ in range(2):
        assert await counting(store, attempts=2).handle(ARN, batch) is None
    assert await total(store) == 2
    (row,) = [row for row in await rows_in(store.engine, WORK.table) if row["SK"]["S"].startswith("PARKED#")]
    assert "ValueError" in row["Error"]["S"]
    assert '"bad"' in row["Record"]["S"]


async def test_marks_expire_after_the_stream_has_forgotten_the_record(store: Store) -> None:
    await store.put(Card(board="total", card="all", rank=0))
    await counting(store, clock=lambda: 1_000_000.0).handle(ARN, inserted(Card(board="b", card="c")))
    (row,) = [row for row in await rows_in(store.engine, WORK.table) if row["SK"]["S"].startswith("HANDLED#")]
    assert row["ExpiresAt"]["N"] == str(1_000_000 + 48 * 3600)
    assert WORK.design.ttl == "ExpiresAt"


async def test_a_consumer_begins_once_and_rebuilds_after_a_new_stream(store: Store) -> None:
    happened: list[str] = []

    async def begin() -> None:
        happened.append("begin")

    async def lost() -> None:
        happened.append("lost")

    async def nothing(card: Card) -> None: ...

    consumer = Consumer("careful", created(Card, do=nothing), begin=begin, lost=lost)
    for arn in (ARN, ARN, ARN.replace("2026", "2027"), ARN.replace("2026", "2027")):
        assert await DeliveredConsumer(consumer, store, WORK).handle(arn, []) is None
    assert happened == ["begin", "lost"]
