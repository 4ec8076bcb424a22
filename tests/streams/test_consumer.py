"""Declared consumers: entities in, operations out, committed once together with the position."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from potluck.people.entities import Account
from potluck.store import Store
from potluck.streams import Consumer, ConsumerGroup, LeaseTerms, WorkTable, changed, created, deleted
from potluck.table import DesignError, absent, put
from potluck.table.operations import Operation
from tests.engine_targets import BOTH, opened
from tests.patience import PATIENCE_SECONDS, stopped
from tests.web.live.boards import Board, Card, boards, clock

WORK = WorkTable("Work")


@pytest.fixture(params=BOTH)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path) as engine:
        store = Store(engine, clock)
        await store.create_tables(boards)
        yield store


@contextlib.asynccontextmanager
async def running(consumer: Consumer, store: Store, **options: object) -> AsyncIterator[None]:
    group = ConsumerGroup(store.engine, consumer.name, WORK, LeaseTerms(PATIENCE_SECONDS))
    task = asyncio.create_task(consumer.bind(store, WORK, group, **options).run())
    try:
        yield
    finally:
        await stopped(task)


async def until_there(store: Store, title: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await store.get(Board.by_name(title)) is None:  # noqa: ASYNC110 - it happens in the consumer
            await asyncio.sleep(0.02)


async def test_each_change_goes_to_the_functions_that_it_fits(store: Store) -> None:
    seen: list[str] = []

    async def card_created(card: Card) -> None:
        seen.append(f"created {card.text}")

    async def text_changed(before: Card, after: Card) -> list[Operation]:
        seen.append(f"changed {before.text} to {after.text}")
        return []

    async def card_deleted(card: Card) -> list[Operation]:
        seen.append(f"deleted {card.text}")
        return [put(Board(board="end", title="end"))]

    consumer = Consumer(
        "cards",
        created(Card, do=card_created),
        changed(Card, Card.text, do=text_changed),
        deleted(Card, do=card_deleted),
        lost=None,
    )
    card = Card(board="b", card="c", text="one")
    for row in (card, replace(card, rank=2), Board(board="b", title="x"), replace(card, text="two")):
        await store.put(row)
    async with running(consumer, store):
        await store.delete(card)
        await until_there(store, "end")
    assert seen == ["created one", "changed one to two", "deleted two"]


async def test_operations_are_committed_once_even_if_the_consumer_is_stopped_and_started(store: Store) -> None:
    async def copied(card: Card) -> list[Operation]:
        # Refused the second time, which would park the record.
        return [put(Board(board=card.card, title="copy"), when=absent)]

    consumer = Consumer("copies", created(Card, do=copied), lost=None)
    for number in range(6):
        await store.put(Card(board="b", card=f"c{number}"))
        async with running(consumer, store, attempts=1):
            await until_there(store, f"c{number}")
    assert await consumer.bind(store, WORK).parked() == []


async def test_operations_that_are_refused_park_the_record(store: Store) -> None:
    async def copied(card: Card) -> list[Operation]:
        return [put(Board(board=card.text, title="copy"), when=absent)]

    consumer = Consumer("copies", created(Card, do=copied), lost=None)
    for number, text in enumerate(("one", "one", "two")):
        await store.put(Card(board="b", card=f"c{number}", text=text))
    async with running(consumer, store, attempts=1):
        await until_there(store, "two")
    (parked,) = await consumer.bind(store, WORK).parked()
    assert "ConditionalCheckFailed" in parked["Error"]["S"]


async def test_a_consumer_that_never_ran_begins(store: Store) -> None:
    begun = asyncio.Event()

    async def begin() -> None:
        begun.set()

    async def nothing(card: Card) -> None: ...

    async with running(Consumer("c", created(Card, do=nothing), lost=begin, begin=begin), store):
        await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)


def test_a_consumer_reads_the_stream_of_one_table() -> None:
    async def nothing(entity: object) -> None: ...

    assert Consumer("c", created(Card, do=nothing), created(Board, do=nothing), lost=None).table is boards
    with pytest.raises(DesignError, match="of one table"):
        Consumer("c", created(Card, do=nothing), created(Account, do=nothing), lost=None)
    with pytest.raises(DesignError, match="of one table"):
        Consumer("c", lost=None)
