"""Live updates: every change of a list once and in order, as each caller may see it, wherever they come back."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from potluck.dynamo import streams
from potluck.dynamo.database import Database
from potluck.dynamo.storage import writer
from potluck.engines import Engine
from potluck.people.authentication import Principal
from potluck.people.errors import Throttled
from potluck.store import Store
from potluck.streams import tail
from potluck.table import Unavailable, put, the
from potluck.validation.errors import ValidationError
from potluck.web.live import Changes, Event, EventSource, Listener, Live, NamedEvent, open_streams
from potluck.web.live.live import _lists_id
from potluck.web.live.positions import LivePosition, PositionCodec
from tests.engine_targets import BOTH, EMBEDDED, address, opened_at
from tests.patience import PATIENCE_SECONDS
from tests.web.live.boards import (
    KEY,
    SOMEBODY,
    Board,
    Card,
    Elsewhere,
    WholeBoard,
    boards,
    clock,
    folded,
    heard_by,
    listening,
    others,
    random_history,
    shown,
)

DAY = 24 * 3600


class World(NamedTuple):
    engine: Engine
    store: Store
    live: Live
    where: dict[str, Any]

    def another(self, **options: Any) -> Live:
        """The live updates of another worker, or of this one after a restart: nothing is in its memory."""
        return Live(self.engine, clock, **{"key": KEY, "recheck_seconds": 5.0, **options})


async def opened_world(name: str, folder: Path) -> World:
    where = address(name, folder)
    engine = await opened_at(where)
    store = Store(engine, clock)
    await store.create_tables(boards, others)
    return World(engine, store, Live(engine, clock, key=KEY, recheck_seconds=5.0), where)


@pytest.fixture(params=BOTH)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    world = await opened_world(request.param, tmp_path)
    yield world
    await world.live.stop()
    await world.engine.close()


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[World]:
    world = await opened_world(EMBEDDED, tmp_path)
    yield world
    await world.live.stop()
    await world.engine.close()


async def embedded_tail(world: World, changes: int) -> None:
    """Wait until so many changes are in memory."""
    buffer = await world.live._tails[boards.name].ready()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while buffer.end < changes:  # noqa: ASYNC110 - it happens in the tail
            await asyncio.sleep(0.01)


def named(events: list[Any]) -> list[tuple[str, str, str]]:
    """Event, card and text, of events and of what `changes` gave."""
    told = []
    for each in events:
        item = each.item
        told.append((each.event, *((item["card"], item["text"]) if isinstance(item, dict) else (item.card, item.text))))
    return told


async def test_changes_are_told_in_order_by_stream_and_as_json(world: World) -> None:
    before = await world.live.position(Card.on_board("b"))
    async with listening(world.live) as listener:
        card = await world.store.put(Card(board="b", card="one", text="a"))
        await world.store.put(Card(board="elsewhere", card="one", text="a"))
        await world.store.update(card, the(Card.text).becomes("b"))
        await world.store.delete(card)
        events = await listener.heard(3)
    expected = [("created", "one", "a"), ("updated", "one", "b"), ("deleted", "one", "b")]
    assert named(events) == expected
    assert named(await heard_by(world.live, before)) == expected
    assert listener.raw.startswith(b"retry: 1000\n\nid: ")


async def test_coming_back_at_any_point_of_a_history_misses_nothing_and_doubles_nothing(world: World) -> None:
    start = await world.live.position(boards)
    async with listening(world.live, start) as listener:
        await random_history(world.store, seed=4, steps=40)
        await world.store.put(Card(board="b", card="last", text="end"))
        await listener.until(lambda: bool(listener.events) and listener.events[-1].item["card"] == "last")
    whole = listener.events
    assert len(whole) > 15
    forgetful, restarted = world.another(buffer_records=3), world.another()
    try:
        for live in (world.live, restarted, forgetful):
            assert named(await heard_by(live, start)) == named(whole)
            for place, event in enumerate(whole):
                assert named(await heard_by(live, event.position)) == named(whole[place + 1 :])
            async with listening(live, whole[3].position) as late:
                await late.heard(len(whole) - 4)
            assert [(each.event, each.item) for each in late.events] == [(each.event, each.item) for each in whole[4:]]
    finally:
        await restarted.stop()
        await forgetful.stop()


async def test_a_list_and_what_is_told_after_its_position_are_the_list_as_it_is(world: World) -> None:
    async def visible() -> dict[str, str]:
        return {card.card: card.text for card in await world.store.all(Card.on_board("b")) if not card.hidden}

    writing = asyncio.create_task(random_history(world.store, seed=9, steps=60))
    begun = []
    while not writing.done():
        position = await world.live.position(Card.on_board("b"))
        begun.append((position, await visible()))
        await asyncio.sleep(0.02)
    await writing
    now = await visible()
    for position, had in begun:
        async with asyncio.timeout(PATIENCE_SECONDS):
            # On DynamoDB the stream may be a moment behind the table.
            while folded(await heard_by(world.live, position), had) != now:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_an_event_is_decided_by_what_the_caller_sees(embedded: World) -> None:
    async with listening(embedded.live) as visitor, listening(embedded.live, see=lambda card: card) as owner:
        card = await embedded.store.put(Card(board="b", card="one", hidden=True, text="a"))
        card = await embedded.store.update(card, the(Card.secret).becomes("x"))
        card = await embedded.store.update(card, the(Card.hidden).becomes(False))
        card = await embedded.store.update(card, the(Card.secret).becomes("y"))
        card = await embedded.store.update(card, the(Card.text).becomes("b"))
        card = await embedded.store.update(card, the(Card.hidden).becomes(True))
        await embedded.store.delete(card)
        await embedded.store.put(Card(board="b", card="end"))
        await visitor.heard(4)
        await owner.heard(8)
    assert named(visitor.events) == [
        ("created", "one", "a"),
        ("updated", "one", "b"),
        ("deleted", "one", "b"),
        ("created", "end", ""),
    ]
    assert [each.event for each in owner.events] == ["created", *["updated"] * 5, "deleted", "created"]
    assert b"secret" not in visitor.raw


async def test_a_list_of_an_index_is_entered_and_left(world: World) -> None:
    async with listening(world.live, of=Card.of_owner("ann"), see=lambda card: shown(card)) as listener:
        card = await world.store.put(Card(board="b", card="one", owner="bob"))
        card = await world.store.update(card, the(Card.owner).becomes("ann"))
        card = await world.store.update(card, the(Card.text).becomes("hers"))
        card = await world.store.update(card, the(Card.owner).becomes("nobody"))
        card = await world.store.update(card, the(Card.owner).becomes("ann"))
        await world.store.delete(card)
        await listener.heard(5)
    assert named(listener.events) == [
        ("created", "one", ""),
        ("updated", "one", "hers"),
        ("deleted", "one", "hers"),
        ("created", "one", "hers"),
        ("deleted", "one", "hers"),
    ]


async def test_a_collection_is_watched_whole(embedded: World) -> None:
    async def see(entity: Any) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"kind": type(entity).__name__}

    async with listening(embedded.live, of=WholeBoard.whole("b"), see=see) as listener:
        await embedded.store.put(Board(board="b", title="B"))
        await embedded.store.put(Board(board="c", title="C"))
        await embedded.store.put(Card(board="b", card="one"))
        events = await listener.heard(2)
    assert [(each.event, each.item["kind"]) for each in events] == [("created", "Board"), ("created", "Card")]


async def test_several_lists_of_several_tables_share_a_stream(world: World) -> None:
    of = [Card.on_board("b"), Card.of_owner("ann"), Board.by_name("b"), Elsewhere.on_board("b")]
    start = await world.live.position(*of)

    def see(entity: Any) -> str:
        return type(entity).__name__

    async with listening(world.live, start, of=of, see=see) as listener:
        await world.store.put(Card(board="b", card="in both", owner="ann"))
        await world.store.put(Elsewhere(board="b", name="there"))
        await world.store.put(Board(board="b", title="B"))
        events = await listener.heard(3)
        assert sorted(each.item for each in events) == ["Board", "Card", "Elsewhere"]
        for place, event in enumerate(events):
            # Those of two tables have no order between them, but none is missed or doubled.
            rest = await heard_by(world.live, event.position, of=of, see=see)
            assert sorted(each.item for each in rest) == sorted(each.item for each in events[place + 1 :])
        assert len(await heard_by(world.live, start, of=of, see=see)) == 3


async def test_a_filtered_list_is_entered_and_left(embedded: World) -> None:
    of = Card.on_board("b").where(the(Card.rank) > 5)
    async with listening(embedded.live, of=of) as listener:
        card = await embedded.store.put(Card(board="b", card="one", rank=1))
        card = await embedded.store.update(card, the(Card.rank).becomes(6))
        await embedded.store.update(card, the(Card.rank).becomes(2))
        events = await listener.heard(2)
    assert [each.event for each in events] == ["created", "deleted"]


# --- where it begins -------------------------------------------------------------------------------------------------


async def test_without_a_position_it_begins_now(embedded: World) -> None:
    await embedded.store.put(Card(board="b", card="before"))
    first = await embedded.live.changes(None, of=Card.on_board("b"), see=shown)
    assert (first.changes, first.reset, first.more) == ([], False, False)
    async with listening(embedded.live) as listener:
        await embedded.store.put(Card(board="b", card="after"))
        await listener.heard(1)
    assert named(listener.events) == [("created", "after", "")]
    assert named(await heard_by(embedded.live, first.position)) == [("created", "after", "")]


@pytest.mark.parametrize("garbage", ["", "x", "null", "0", "ä" * 50, "A" * 100_000, "%00", "../..", "A" * 64])
async def test_a_position_that_was_never_given_out_is_refused(embedded: World, garbage: str) -> None:
    with pytest.raises(ValidationError) as refused:
        embedded.live.open(garbage, of=Card.on_board("b"), see=shown, allowed=None, by=SOMEBODY)  # type: ignore[arg-type]
    assert [each.field for each in refused.value.errors] == ["since"]
    with pytest.raises(ValidationError):
        await embedded.live.changes(garbage, of=Card.on_board("b"), see=shown)


async def test_at_most_so_many_changes_at_once(embedded: World) -> None:
    start = await embedded.live.position(boards)
    for number in range(7):
        await embedded.store.put(Card(board="b", card=f"c{number}"))
    assert len(await heard_by(embedded.live, start)) == 7
    await embedded_tail(embedded, changes=7)
    parts: list[Changes] = []
    position = start
    while not parts or parts[-1].more:
        parts.append(await embedded.live.changes(position, of=Card.on_board("b"), see=shown, limit=3))
        position = parts[-1].position
    told = [each.item.card for part in parts for each in part.changes]
    assert told == [f"c{number}" for number in range(7)]
    assert max(len(part.changes) for part in parts) == 3


async def test_a_list_from_an_index_begins_a_little_earlier(embedded: World) -> None:
    lagging = embedded.another(lag_seconds=60)
    await lagging.position(boards)
    await embedded.store.put(Card(board="b", card="one", owner="ann"))
    await asyncio.sleep(0.1)
    try:
        late = await lagging.position(Card.of_owner("ann"))
        exact = await lagging.position(Card.of_owner("ann"), read_by=Card.on_board("b"))
        assert len(await heard_by(lagging, late, of=Card.of_owner("ann"))) == 1
        assert await heard_by(lagging, exact, of=Card.of_owner("ann")) == []
        now = await lagging.position(Card.of_owner("ann"), behind=0)
        assert await heard_by(lagging, now, of=Card.of_owner("ann")) == []
    finally:
        await lagging.stop()


# --- the log ---------------------------------------------------------------------------------------------------------


async def test_a_position_older_than_the_log_is_reset(tmp_path: Path) -> None:
    seconds = [1_800_000_000.0]
    database = await Database.open(tmp_path / "store.db", clock=lambda: seconds[0])
    store = Store(database, clock)
    await store.create_tables(boards)
    live, restarted = (Live(database, clock, key=KEY) for _ in range(2))
    await store.put(Card(board="b", card="old"))
    await asyncio.sleep(0.1)
    old = await live.position(boards)
    await store.put(Card(board="b", card="missed"))
    await live.stop()
    seconds[0] += DAY + 10
    await store.put(Card(board="b", card="newer"))
    await streams.trim(database)
    async with listening(restarted, old) as listener:
        await listener.heard(1)
        assert [each.event for each in listener.events] == ["reset"]
        await store.put(Card(board="b", card="newest"))
        await listener.heard(2)
    assert listener.events[1].item == {"card": "newest", "text": ""}
    assert await heard_by(restarted, old) == ["reset"]
    assert named(await heard_by(restarted, listener.events[0].position)) == [("created", "newest", "")]
    await restarted.stop()
    await database.close()


async def test_a_position_in_a_quiet_log_stays_good(tmp_path: Path) -> None:
    seconds = [1_800_000_000.0]
    database = await Database.open(tmp_path / "store.db", clock=lambda: seconds[0])
    store = Store(database, clock)
    await store.create_tables(boards)
    await store.put(Card(board="b", card="old"))
    seconds[0] += 2 * DAY
    await streams.trim(database)
    live, restarted = (Live(database, clock, key=KEY) for _ in range(2))
    position = await live.position(boards)  # of a log of which nothing can be read
    assert await heard_by(live, position) == []
    await store.put(Card(board="b", card="new"))
    for each in (live, restarted):
        assert named(await heard_by(each, position)) == [("created", "new", "")]
        await each.stop()
    await database.close()


async def test_a_table_that_is_made_anew_is_reset(world: World) -> None:
    async with listening(world.live) as listener:
        await world.store.put(Card(board="b", card="one"))
        await listener.heard(1)
        await world.engine.call("DeleteTable", {"TableName": boards.name})
        await asyncio.sleep(0.1)
        await world.store.create_tables(boards)
        await listener.until(lambda: listener.events[-1].event == "reset")
        await world.store.put(Card(board="b", card="two"))
        await listener.heard(3)
    assert [each.event for each in listener.events] == ["created", "reset", "created"]


async def test_a_reader_who_is_slower_than_memory_reads_the_log(embedded: World) -> None:
    live = embedded.another(buffer_records=5)
    response: Any = live.open(await live.position(boards), of=Card.on_board("b"), see=shown, allowed=_yes, by=SOMEBODY)
    chunks = response.chunks
    await anext(chunks)
    await anext(chunks)
    for number in range(250):
        await embedded.store.put(Card(board="b", card=f"c{number}"))
    received = b""
    while b'"c249"' not in received:
        received += await asyncio.wait_for(anext(chunks), PATIENCE_SECONDS)
    told = [json.loads(line[6:])["card"] for line in received.decode().split("\n") if line.startswith("data: ")]
    assert told == [f"c{number}" for number in range(250)]
    await chunks.aclose()
    await live.stop()


async def _yes() -> bool:
    return True


async def test_large_changes_do_not_stay_in_memory(embedded: World) -> None:
    live = embedded.another(buffer_bytes=2000)
    start = await live.position(boards)
    for number in range(60):
        await embedded.store.put(Card(board="b", card=f"c{number}", text="x" * 20))
    await asyncio.sleep(0.1)
    buffer = await live._tails[boards.name].ready()
    assert 0 < len(buffer.records) < 20
    assert len(buffer.topics) <= len(buffer.records) + 1
    assert len(await heard_by(live, start)) == 60
    await live.stop()


# --- several processes -----------------------------------------------------------------------------------------------


async def test_workers_on_one_file_tell_of_each_others_changes(embedded: World) -> None:
    engine = await opened_at(embedded.where)
    other = Live(engine, clock, key=KEY)
    async with listening(embedded.live) as here, listening(other) as there:
        await embedded.store.put(Card(board="b", card="here"))
        await Store(engine, clock).put(Card(board="b", card="there"))
        await here.heard(2)
        await there.heard(2)
    assert named(here.events) == named(there.events)
    # What one worker gave out, the other takes.
    assert named(await heard_by(other, here.events[0].position)) == named(here.events[1:])
    assert named(await heard_by(embedded.live, there.events[0].position)) == named(there.events[1:])
    await other.stop()
    await engine.close()


async def test_a_change_in_another_process_is_noticed_and_not_only_found_when_somebody_looks(
    embedded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "IDLE_SECONDS", 10.0 * PATIENCE_SECONDS)
    assert writer.WATCH_SECONDS < 1.0
    second = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.second_process", embedded.where["path"]),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert second.stdin is not None
    assert second.stdout is not None
    try:
        await asyncio.wait_for(second.stdout.readline(), PATIENCE_SECONDS)
        async with listening(embedded.live) as listener:
            request = put(Card(board="b", card="from afar")).request(now=0)
            order = {"do": "call", "operation": request.operation, "request": request.body}
            second.stdin.write(json.dumps(order).encode() + b"\n")
            await asyncio.wait_for(second.stdout.readline(), PATIENCE_SECONDS)
            await listener.heard(1)
        assert named(listener.events) == [("created", "from afar", "")]
    finally:
        second.stdin.close()
        await asyncio.wait_for(second.wait(), PATIENCE_SECONDS)


async def test_after_a_restart_the_stream_goes_on(tmp_path: Path) -> None:
    world = await opened_world(EMBEDDED, tmp_path)
    async with listening(world.live) as listener:
        await world.store.put(Card(board="b", card="one"))
        await listener.heard(1)
        await world.live.stop()
        await listener.until(lambda: listener.ended)
    await world.store.put(Card(board="b", card="meanwhile"))
    await world.engine.close()
    again = await opened_world(EMBEDDED, tmp_path)
    async with listening(again.live, listener.last_id) as back:
        await again.store.put(Card(board="b", card="now"))
        await back.heard(2)
    assert named(back.events) == [("created", "meanwhile", ""), ("created", "now", "")]
    await again.live.stop()
    await again.engine.close()


# --- how long it lasts -----------------------------------------------------------------------------------------------


async def test_who_may_not_look_any_more_is_told_nothing_more(embedded: World) -> None:
    may = [True]

    async def allowed() -> bool:
        return may[0]

    async with listening(embedded.live, allowed=allowed) as listener:
        await embedded.store.put(Card(board="b", card="one"))
        await listener.heard(1)
        may[0] = False
        await embedded.store.put(Card(board="b", card="two"))
        await listener.until(lambda: listener.ended)
    assert named(listener.events) == [("created", "one", "")]
    assert b"two" not in listener.raw


async def test_a_quiet_stream_is_checked_again_and_kept_alive(embedded: World) -> None:
    live = embedded.another(recheck_seconds=0.1)
    written = False
    checks = [0]

    async def allowed() -> bool:
        checks[0] += written
        return checks[0] < 4

    async with listening(live, allowed=allowed) as listener:
        first = listener.last_id
        await embedded.store.put(Card(board="elsewhere", card="one"))
        written = True
        await listener.until(lambda: listener.ended)
    assert checks[0] == 4
    assert listener.events == []
    # It was told nothing, but where to go on from: nothing of what it need not look at again.
    assert listener.last_id != first
    told, now = (position_at(each) for each in (listener.last_id, await live.position(Card.on_board("b"))))
    assert told.streams == now.streams != position_at(first).streams
    await live.stop()


def position_at(text: str) -> LivePosition:
    return PositionCodec(KEY).decode(text, _lists_id([Card.on_board("b")]))


async def test_a_position_is_good_for_the_partitions_that_it_is_of(embedded: World) -> None:
    live = embedded.live
    here = await live.position(Card.on_board("b"))
    both = await live.position(Card.on_board("c"), Card.on_board("b"))
    everywhere = await live.position(boards)
    good: list[tuple[str, list[Any]]] = [
        (here, [Card.on_board("b")]),
        (here, [Board.by_name("b")]),
        (both, [Card.on_board("b"), Card.on_board("c")]),
        (everywhere, [Card.on_board("b")]),
    ]
    for position, of in good:
        assert (await live.changes(position, of=of, see=shown)).changes == []
    bad: list[tuple[str, list[Any]]] = [
        (here, [Card.on_board("c")]),
        (here, [Card.of_owner("b")]),
        (here, [Elsewhere.on_board("b")]),
        (here, [Card.on_board("b"), Card.on_board("c")]),
        (both, [Card.on_board("b")]),
    ]
    for position, of in bad:
        with pytest.raises(ValidationError):
            await live.changes(position, of=of, see=shown)


async def test_a_check_that_fails_ends_the_stream(embedded: World) -> None:
    async def allowed() -> bool:
        raise LookupError("no such board")

    async with listening(embedded.live, allowed=allowed) as listener:
        await embedded.store.put(Card(board="b", card="one"))
        await listener.until(lambda: listener.ended)
    assert listener.events == []


async def test_nobody_is_asked_for_changes_that_are_none_of_theirs(embedded: World) -> None:
    checks, looks = [0], [0]

    async def allowed() -> bool:
        checks[0] += 1
        return True

    def see(card: Card) -> Any:
        looks[0] += 1
        return shown(card)

    live = embedded.another(recheck_seconds=10.0 * PATIENCE_SECONDS)
    async with listening(live, allowed=allowed, see=see) as listener:
        (reader,) = live._open.readers
        sleeping = reader._wake
        assert sleeping is not None
        for number in range(20):
            await embedded.store.put(Card(board="elsewhere", card=f"c{number}"))
        await asyncio.sleep(0.05)
        assert not sleeping.done()
        await embedded.store.put(Card(board="b", card="one"))
        await listener.heard(1)
        assert sleeping.done()
    assert checks[0] == 1
    assert looks[0] == 1
    await live.stop()


async def test_everything_is_let_go_when_a_stream_ends(embedded: World) -> None:
    async with listening(embedded.live), listening(embedded.live, of=Card.on_board("z")):
        assert embedded.live.open_streams == 2
    tail = embedded.live._tails[boards.name]
    assert embedded.live.open_streams == 0
    assert tail._waiting == {}
    assert tail.buffer is not None
    assert tail.buffer.topics == {}


async def test_stopping_ends_streams_and_refuses_what_comes_after(embedded: World) -> None:
    async with listening(embedded.live) as listener:
        await embedded.live.stop()
        await listener.until(lambda: listener.ended)
    async with listening(embedded.live) as late:
        assert late.ended


async def test_a_person_who_opens_many_at_the_same_moment_has_no_more_than_one_after_the_other(
    embedded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_streams, "MOST_STREAMS_OF_ONE", 3)
    caller = Listener(somebody(), "192.0.2.1")
    # None of them has begun when the last is asked for.
    responses: list[Any] = [
        embedded.live.open(None, of=Card.on_board("b"), see=shown, allowed=_yes, by=caller) for _ in range(6)
    ]
    begun = [[await anext(each.chunks), await anext(each.chunks, None)] for each in responses]
    assert [first for first, _ in begun] == [b"retry: 1000\n\n"] * 6
    assert [second is None for _, second in begun] == [False] * 3 + [True] * 3
    assert embedded.live.open_streams == 3
    with pytest.raises(Throttled):
        embedded.live.open(None, of=Card.on_board("b"), see=shown, allowed=_yes, by=caller)
    for each in responses:
        await each.chunks.aclose()
    assert embedded.live.open_streams == 0
    assert not embedded.live._open.by_counter


def somebody() -> Principal:
    return Principal(kind="session", user_id=uuid4(), name="", hash="", session_epoch=0, expires_at=None)


async def test_strangers_leave_streams_for_people_who_are_signed_in(
    embedded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_streams, "MOST_STREAMS_OF_STRANGERS", 3)
    monkeypatch.setattr(open_streams, "MOST_STREAMS", 4)

    async def opened(by: Listener) -> EventSource:
        source = embedded.live.open(None, of=Card.on_board("b"), see=shown, allowed=_yes, by=by)
        await anext(source.chunks)
        return source

    sources = [await opened(Listener(None, f"192.0.2.{number}")) for number in range(3)]
    with pytest.raises(Unavailable):
        await opened(Listener(None, "192.0.2.9"))
    sources.append(await opened(Listener(somebody(), "192.0.2.0")))
    for each in sources:
        await each.close()
    assert not embedded.live._open.by_counter


async def test_a_client_has_only_so_many_streams_however_many_accounts_it_has(
    embedded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_streams, "MOST_STREAMS_OF_CLIENT", 3)

    async def opened(client: str) -> EventSource:
        by = Listener(somebody(), client)
        source = embedded.live.open(None, of=Card.on_board("b"), see=shown, allowed=_yes, by=by)
        await anext(source.chunks)
        return source

    sources = [await opened("192.0.2.1") for _ in range(3)]
    with pytest.raises(Throttled):
        await opened("192.0.2.1")
    sources.append(await opened("192.0.2.2"))
    for each in sources:
        await each.close()


async def test_a_large_history_is_sent_in_pieces_each_to_one_who_may_look_then(embedded: World) -> None:
    start = await embedded.live.position(boards)
    for number in range(20):
        await embedded.store.put(Card(board="b", card=f"c{number}"))
    checks = [0]

    async def allowed() -> bool:
        checks[0] += 1
        return checks[0] < 4

    response: Any = embedded.live.open(
        start,
        of=Card.on_board("b"),
        see=shown,
        allowed=allowed,
        by=SOMEBODY,
        render=lambda event: "x" * 30_000 + event.item.card,
    )
    pieces = [piece async for piece in response.chunks]
    told = [piece.count(b"event: created") for piece in pieces]
    assert [each for each in told if each] == [3, 3, 3]
    assert checks[0] == 4


async def test_a_view_that_fails_ends_its_stream_and_no_other(
    embedded: World, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(card: Card) -> None:
        raise RuntimeError("this view is broken")

    async with listening(embedded.live) as good, listening(embedded.live, see=broken) as bad:
        with caplog.at_level(logging.ERROR):
            await embedded.store.put(Card(board="b", card="one"))
            await good.heard(1)
            await bad.until(lambda: bad.ended)
    assert "this view is broken" in caplog.text


# --- what is written -------------------------------------------------------------------------------------------------


async def test_pages_get_fragments_whatever_lines_they_have(embedded: World) -> None:
    def render(event: Event) -> NamedEvent | str:
        if event.name == "deleted":
            return "gone"
        return NamedEvent("card", f"<li>\r\n{event.item.card}\r</li>\n\nevent: forged\nid: forged")

    async with listening(embedded.live, render=render) as listener:
        card = await embedded.store.put(Card(board="b", card="one"))
        await embedded.store.delete(card)
        events = await listener.heard(2)
    assert [(each.event, each.item) for each in events] == [
        ("card", "<li>\none\n</li>\n\nevent: forged\nid: forged"),
        ("deleted", "gone"),
    ]
    assert b"\r" not in listener.raw


# --- expiry ----------------------------------------------------------------------------------------------------------


async def test_what_expires_is_told_to_those_who_saw_it_only(tmp_path: Path) -> None:
    seconds = [1_800_000_000]

    def moment() -> datetime:
        return datetime.fromtimestamp(seconds[0], UTC)

    database = await Database.open(tmp_path / "store.db", clock=lambda: seconds[0])
    store, live = Store(database, moment), Live(database, moment, key=KEY)
    await store.create_tables(boards)
    async with listening(live) as saw_it:
        await store.put(Card(board="b", card="brief", expires_at=seconds[0] + 3))
        await saw_it.heard(1)
        await store.put(Card(board="b", card="over", expires_at=seconds[0] - 60))
        seconds[0] += 3
        await saw_it.heard(2)
    assert named(saw_it.events) == [("created", "brief", ""), ("deleted", "brief", "")]
    await live.stop()
    await database.close()
