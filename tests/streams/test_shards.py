"""Streams of several shards, which end, are followed by others, and are trimmed; and engines that fail on the way."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import Engine
from potluck.engines.embedded import open_embedded
from potluck.store import Store
from potluck.streams.log import Log
from potluck.web.live import Live
from tests.patience import PATIENCE_SECONDS, until
from tests.streams.shards import Failing, Sharded
from tests.web.live.boards import KEY, Card, boards, clock, folded, heard_by, listening, random_history


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = await open_embedded(tmp_path / "store.db")
    await Store(engine, clock).create_tables(boards)
    yield engine
    await engine.close()


def by_card(events: list[Any]) -> dict[str, list[tuple[str, str]]]:
    """What was told of each card, in order: between those of different shards there is none."""
    told: dict[str, list[tuple[str, str]]] = {}
    for each in events:
        assert each != "reset"
        item = each.item if isinstance(each.item, dict) else {"card": each.item.card, "text": each.item.text}
        told.setdefault(item["card"], []).append((each.event, item["text"]))
    return told


async def visible(store: Store) -> dict[str, str]:
    return {card.card: card.text for card in await store.all(Card.on_board("b")) if not card.hidden}


async def test_shards_end_and_others_follow_without_a_gap_or_a_double(engine: Engine) -> None:
    sharded = Sharded(engine)
    store = Store(engine, clock)
    live = Live(sharded, clock, key=KEY)
    start = await live.position(boards)
    async with listening(live, start) as listener:
        for generation in range(4):
            await random_history(store, seed=generation, steps=12)
            await sharded.split(boards.name)
            sharded.told_late = 2 if generation == 2 else 0
        await random_history(store, seed=99, steps=12)
        now = await visible(store)
        await listener.until(lambda: folded(listener.events) == now)
        # The list may be so before the last has been told that leads to it.
        await listener.heard(len(await heard_by(live, start)))
        await asyncio.sleep(0.2)
    whole = listener.events
    assert folded(whole) == now
    restarted, forgetful = Live(sharded, clock, key=KEY), Live(sharded, clock, key=KEY, buffer_records=4)
    for each in (live, restarted, forgetful):
        assert by_card(await heard_by(each, start)) == by_card(whole)
        for place in range(0, len(whole), 3):
            assert by_card(await heard_by(each, whole[place].position)) == by_card(whole[place + 1 :]), place
    for each in (live, restarted, forgetful):
        await each.stop()


async def test_shards_that_end_faster_than_they_are_read_are_read_in_their_order(engine: Engine) -> None:
    sharded = Sharded(engine)
    store = Store(engine, clock)
    live = Live(sharded, clock, key=KEY)
    start = await live.position(boards)
    async with listening(live, start) as listener:
        for generation in range(6):
            for card in ("one", "two", "three"):
                await store.put(Card(board="b", card=card, text=f"t{generation}"))
            await sharded.split(boards.name)
        await listener.heard(18)
        await asyncio.sleep(0.2)
    expected = [("created", "t0"), *(("updated", f"t{generation}") for generation in range(1, 6))]
    assert by_card(listener.events) == dict.fromkeys(("one", "two", "three"), expected)
    await live.stop()


def test_a_position_leaves_out_what_follows_it_and_what_it_follows() -> None:
    log = Log(None, "t", "arn")  # type: ignore[arg-type]
    log.parents = {"a": None, "b": None, "a1": "a", "a2": "a", "a11": "a1", "b1": "b", "b11": "b1", "c1": "c"}
    assert log.unknown_to({"a1": 1, "a2": 1, "b": 1, "c1": 1}) == []
    assert log.unknown_to({"a": 1}) == ["b", "c1"]
    assert log.unknown_to({"a1": 1, "b11": None, "c1": 1}) == ["a2"]
    assert log.unknown_to({}) == ["a", "b", "c1"]


async def test_a_shard_that_is_not_kept_any_more_is_reset(engine: Engine) -> None:
    sharded = Sharded(engine)
    store = Store(engine, clock)
    live = Live(sharded, clock, key=KEY)
    await live.position(boards)
    await random_history(store, seed=1, steps=10)
    await asyncio.sleep(0.3)
    old = await live.position(boards)
    await sharded.split(boards.name)
    await random_history(store, seed=2, steps=10)
    await live.stop()
    sharded.trimmed |= {"0-0", "0-1"}
    restarted = Live(sharded, clock, key=KEY)
    assert await heard_by(restarted, old) == ["reset"]
    position = await restarted.position(boards)
    await store.put(Card(board="b", card="new"))
    told = await until(lambda: heard_by(restarted, position))
    assert [each.item.card for each in told] == ["new"]
    await restarted.stop()


class Turns(asyncio.Semaphore):
    """Counts how often somebody reads the log."""

    taken = 0

    async def acquire(self) -> Any:
        self.taken += 1
        return await super().acquire()


async def test_for_one_who_has_gone_away_the_log_is_read_no_further(engine: Engine) -> None:
    sharded = Sharded(engine)
    live = Live(sharded, clock, key=KEY, buffer_records=3)
    turns = live._log_slots = Turns(4)
    start = await live.position(boards)
    for number in range(90):
        await Store(engine, clock).put(Card(board="elsewhere", card=f"c{number}"))
    await asyncio.sleep(0.2)
    # Nothing of it is theirs, so nothing is sent on the way.
    async with listening(live, start) as gone:
        await gone.until(lambda: bool(gone.last_id))
        gone.source.end()
        await gone.until(lambda: gone.ended)
    left_early = turns.taken

    async def read_on() -> bool:
        return turns.taken > 5

    async with listening(live, start) as stays:
        await until(read_on)
        assert stays.events == []
    assert left_early < 5
    await live.stop()


@pytest.mark.parametrize("seed", range(3))
async def test_what_fails_on_the_way_is_tried_again(engine: Engine, seed: int) -> None:
    failing = Failing(engine, seed)
    store = Store(engine, clock)
    live = Live(failing, clock, key=KEY)
    start = await live.position(boards)
    async with listening(live, start) as listener:
        parts = itertools.count()
        async with asyncio.timeout(PATIENCE_SECONDS):
            # A reader that seldom has its turn reads much at once, and meets few failures.
            while (part := next(parts)) < 4 or len(set(failing.failed)) < 4:
                await random_history(store, seed=seed * 10 + part, steps=10)
                await asyncio.sleep(0.02)
        restarted = Live(failing, clock, key=KEY, buffer_records=3)
        history = await heard_by(restarted, start)
        await listener.heard(len(history))
        assert folded(listener.events) == await visible(store)
    assert by_card(history) == by_card(listener.events) == by_card(await heard_by(live, start))
    await live.stop()
    await restarted.stop()
