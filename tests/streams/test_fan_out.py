"""One process reads a table's stream and passes it on to the others; no event is lost, whatever of it fails."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from potluck.engines import REQUEST_NOT_SENT, DynamoError, Engine
from potluck.engines.embedded import open_embedded
from potluck.store import Store
from potluck.streams import Lease, LeaseTerms, Record, WorkTable
from potluck.streams import fan_out as fan_outs
from potluck.streams import tail as tails
from potluck.streams.fan_out import FanOut
from potluck.streams.log import new_marker
from potluck.streams.passed import Passed, Unconnected
from potluck.web.live import Live
from potluck.web.sealing import Seal
from tests.patience import PATIENCE_SECONDS, stopped, until
from tests.redis_server import RedisServer, redis_server
from tests.web.live.boards import KEY, Card, Listener, boards, clock, heard_by, listening

WORK = WorkTable("Work")
TERMS = LeaseTerms(1.0, 0.2, 0.1)

pytestmark = pytest.mark.needs("redis")


class Elsewhere:
    """An engine in another process, whose reads of streams are counted, and which can be cut off."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.pages = 0
        self.records: list[str] = []
        self.is_cut_off = False

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if self.is_cut_off:
            raise DynamoError(REQUEST_NOT_SENT, "for the test")
        answer = await self.engine.call(operation, request)
        if operation == "GetRecords":
            self.pages += 1
            self.records += [record["dynamodb"]["SequenceNumber"] for record in answer["Records"]]
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        # As on the service, the writes of others are found by looking.
        await asyncio.sleep(min(timeout, 0.05))
        return False

    async def close(self) -> None: ...


class Process:
    """What one process of a suite has."""

    def __init__(self, engine: Engine, url: str, key: bytes = KEY) -> None:
        self.engine = Elsewhere(engine)
        self.fan_out = FanOut(url, "tests", Seal(key), self.lease)
        self.live = Live(self.engine, clock, key=KEY)
        self.live.start(boards, fan_out=self.fan_out)

    def lease(self, name: str) -> Lease:
        return Lease(self.engine, name, WORK, **TERMS._asdict())

    @property
    def channel(self) -> Any:
        (channel,) = self.fan_out._channels.values()
        return channel

    @property
    def follows(self) -> bool:
        """Whether it waits for what another process reads."""
        waits = self.live._tails[boards.name]._at_end
        return bool(waits and self.channel.is_heard and not self.channel.leads)

    async def stop(self) -> None:
        await self.live.stop()


class Processes:
    def __init__(self, engine: Engine, server: RedisServer) -> None:
        self.engine = engine
        self.server = server
        self.all: list[Process] = []

    def start(self, count: int) -> list[Process]:
        started = [Process(self.engine, self.server.url) for _ in range(count)]
        self.all += started
        return started

    async def one_reads(self, among: list[Process]) -> tuple[Process, list[Process]]:
        """The process that reads for all, and those that follow, as soon as it is so."""

        async def is_so() -> bool:
            leading = [process for process in among if process.channel.leads]
            return len(leading) == 1 and all(process.follows for process in among if process not in leading)

        await until(is_so)
        (leader,) = [process for process in among if process.channel.leads]
        return leader, [process for process in among if process is not leader]

    async def put(self, *cards: str) -> None:
        for card in cards:
            await Store(self.engine, clock).put(Card(board="b", card=card))
            await asyncio.sleep(0)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path) as server:
        yield server


@pytest.fixture
async def processes(tmp_path: Path, server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Processes]:
    monkeypatch.setattr(fan_outs, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(fan_outs, "UNHEARD_SECONDS", 1.0)
    monkeypatch.setattr(fan_outs, "ECHO_SECONDS", 2.0)
    engine = await open_embedded(tmp_path / "store.db")
    await Store(engine, clock).create_tables(boards)
    processes = Processes(engine, server)
    yield processes
    await asyncio.gather(*(process.stop() for process in processes.all))
    await engine.close()


def names(prefix: str, count: int = 20) -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def heard(listener: Listener) -> list[str]:
    return [event.item["card"] for event in listener.events]


async def all_listening(stack: AsyncExitStack, among: list[Process]) -> list[Listener]:
    return [await stack.enter_async_context(listening(process.live)) for process in among]


async def test_a_stream_is_read_by_one_process_and_heard_by_all(processes: Processes) -> None:
    leader, followers = await processes.one_reads(processes.start(4))
    async with AsyncExitStack() as stack:
        listeners = await all_listening(stack, [leader, *followers])
        pages = [process.engine.pages for process in followers]
        await processes.put(*names("c"))
        for listener in listeners:
            await listener.heard(20)
            assert heard(listener) == names("c")
    assert [process.engine.pages for process in followers] == pages
    assert len(leader.engine.records) == 20
    # What one gave out, another takes.
    assert len(await heard_by(followers[0].live, listeners[0].events[4].position)) == 15


async def test_a_process_that_joins_later_follows_as_well(processes: Processes) -> None:
    leader, _ = await processes.one_reads(processes.start(2))
    await processes.put(*names("a"))
    (late,) = processes.start(1)
    await processes.one_reads(processes.all)
    async with listening(late.live) as listener:
        pages = late.engine.pages
        await processes.put(*names("b"))
        await listener.heard(20)
        assert heard(listener) == names("b")
        assert late.engine.pages == pages
    assert leader.channel.leads


async def test_while_the_server_is_down_each_reads_for_itself_and_afterwards_one_does(
    processes: Processes, server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    among = processes.start(3)
    await processes.one_reads(among)
    async with AsyncExitStack() as stack:
        listeners = await all_listening(stack, among)
        writing = asyncio.create_task(processes.put(*names("a", 100)))
        await listeners[0].heard(5)
        server.kill()
        await writing
        await processes.put(*names("b"))
        for listener in listeners:
            await listener.heard(120)
        server.start()
        _, followers = await processes.one_reads(among)
        pages = [process.engine.pages for process in followers]
        await processes.put(*names("c"))
        for listener in listeners:
            await listener.heard(140)
            assert heard(listener) == [*names("a", 100), *names("b"), *names("c")]
        assert [process.engine.pages for process in followers] == pages
    assert "the fan-out of live updates does not answer" in caplog.text


async def test_a_reader_that_dies_is_replaced_and_nothing_is_lost(processes: Processes) -> None:
    among = processes.start(3)
    leader, followers = await processes.one_reads(among)
    async with AsyncExitStack() as stack:
        listeners = await all_listening(stack, followers)
        await processes.put(*names("a"))
        # Neither its lease nor its channel hears from it again.
        leader.engine.is_cut_off = True
        leader.fan_out.send = lambda *_: None  # type: ignore[method-assign]
        await processes.put(*names("b"))
        for listener in listeners:
            await listener.heard(40)
        successor, _ = await processes.one_reads(followers)
        assert successor is not leader
        await processes.put(*names("c"))
        for listener in listeners:
            await listener.heard(60)
            assert heard(listener) == [*names("a"), *names("b"), *names("c")]


async def test_a_reader_that_stops_is_replaced_without_a_wait(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_outs, "ECHO_SECONDS", 10.0 * PATIENCE_SECONDS)
    among = processes.start(3)
    monkeypatch.setattr(fan_outs, "UNHEARD_SECONDS", 10.0 * PATIENCE_SECONDS)
    leader, followers = await processes.one_reads(among)
    await leader.stop()
    await processes.one_reads(followers)


async def test_what_was_lost_on_the_way_is_read_from_the_log(processes: Processes) -> None:
    among = processes.start(2)
    _, (follower,) = await processes.one_reads(among)
    receive, lost = follower.channel.receive, []

    def lossy(content: bytes) -> None:
        message = fan_outs.msgspec.msgpack.decode(content, type=fan_outs._Message)
        if message.shard and len(lost) < 3:
            lost.append(message)
        else:
            receive(content)

    follower.channel.receive = lossy
    async with listening(follower.live) as listener:
        for number in range(6):
            await processes.put(*names(f"{number}-", 5))
            await listener.heard(5 * (number + 1))
        assert heard(listener) == [name for number in range(6) for name in names(f"{number}-", 5)]
    assert len(lost) == 3
    assert 0 < len(follower.engine.records) < 30
    assert len(set(follower.engine.records)) == len(follower.engine.records)


async def test_the_server_neither_sees_nor_invents_what_people_wrote(processes: Processes, server: RedisServer) -> None:
    among = processes.start(2)
    _, (follower,) = await processes.one_reads(among)
    client = Redis.from_url(server.url)
    seen: list[bytes] = []
    async with client.pubsub() as listening_in, listening(follower.live) as listener:
        await listening_in.subscribe(follower.channel.name)
        forger = Seal(bytes(32))
        forged = fan_outs._Message(b"forger", boards.name.encode(), "shard", None, [{"forged": True}], {})
        await client.publish(
            follower.channel.name, forger.encrypt(fan_outs.msgspec.msgpack.encode(forged), follower.channel.name)
        )
        await client.publish(follower.channel.name, b"nonsense")
        await processes.put("confidential")
        await listener.heard(1)
        # Besides the two that were forged, the card and where the reader is.
        while len(seen) < 6:
            message = await listening_in.get_message(ignore_subscribe_messages=True, timeout=PATIENCE_SECONDS)
            seen += [] if message is None else [message["data"]]
        assert heard(listener) == ["confidential"]
    assert not any(b"confidential" in content for content in seen)
    await client.aclose()


async def test_messages_that_are_replayed_hold_nothing_back(
    processes: Processes, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server goes on saying what a reader has said that is long dead."""
    monkeypatch.setattr(tails, "OWN_LOOK_SECONDS", 0.3)
    among = processes.start(2)
    leader, (follower,) = await processes.one_reads(among)
    client = Redis.from_url(server.url)
    async with client.pubsub() as listening_in, listening(follower.live) as listener:
        await listening_in.subscribe(follower.channel.name)
        said = None
        while said is None:
            message = await listening_in.get_message(ignore_subscribe_messages=True, timeout=PATIENCE_SECONDS)
            said = None if message is None else message["data"]
        leader.engine.is_cut_off = True
        leader.fan_out.send = lambda *_: None  # type: ignore[method-assign]

        async def replayed() -> None:
            while True:
                await client.publish(follower.channel.name, said)
                await asyncio.sleep(0.1)

        replaying = asyncio.create_task(replayed())
        try:
            await processes.put(*names("a"))
            await listener.heard(20)
            assert heard(listener) == names("a")
            assert not follower.channel.leads
        finally:
            await stopped(replaying)
    await client.aclose()


def record(number: int) -> Record:
    return Record("T", {"dynamodb": {"SequenceNumber": str(number)}})


def numbers(records: list[Record] | None) -> list[int] | None:
    return None if records is None else [int(record.sequence_number) for record in records]


def test_only_what_follows_the_last_record_is_taken() -> None:
    passed = Passed("shard", 10, [record(11), record(12)])
    assert numbers(passed.after(10)) == numbers(passed.after(10)) == [11, 12]
    assert numbers(passed.after(11)) == [12]
    assert numbers(passed.after(12)) == numbers(passed.after(99)) == []
    # There may be records between 9 and 11, and after a place without a number.
    assert passed.after(9) is passed.after(None) is passed.after(new_marker()) is None
    first = Passed("shard", None, [record(1), record(2)])
    assert numbers(first.after(None)) == [1, 2]
    assert numbers(first.after(1)) == [2]
    assert first.after(new_marker()) is None
    marker = new_marker()
    somewhere = Passed("shard", marker, [record(5)])
    assert numbers(somewhere.after(marker)) == [5]
    assert somewhere.after(4) is somewhere.after(None) is somewhere.after(new_marker()) is None


def test_what_does_not_follow_is_kept_until_it_does() -> None:
    unconnected = Unconnected()
    unconnected.keep(Passed("shard", 4, [record(5)]))
    unconnected.keep(Passed("shard", 5, [record(6), record(7)]))
    assert unconnected.take_after("shard", 3) is None
    assert numbers(unconnected.take_after("shard", 4)) == [5]
    assert numbers(unconnected.take_after("shard", 6)) == [7]
    assert not unconnected.has("shard")
    assert unconnected.take_after("another", 6) is None
