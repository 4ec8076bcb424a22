"""Several processes share the shards: each change once and in order, whoever joins, leaves, dies or hangs."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import Engine
from potluck.engines.recording import Recording
from potluck.streams import Action, ConsumerGroup, LeaseTerms, Record, RecordConsumer, WorkTable, leases
from tests.engine_targets import EMBEDDED, opened, table
from tests.patience import PATIENCE_SECONDS, stopped, until
from tests.streams.shards import Sharded

WORK = WorkTable("Work")
KEYS = 8
# Real terms, only shorter: no test says how fast anything is.
QUICK = LeaseTerms(0.6, renew_every=0.1, look_every=0.03)
LASTING = LeaseTerms(PATIENCE_SECONDS, renew_every=1.0, look_every=0.03)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(EMBEDDED, tmp_path) as engine:
        await engine.call("CreateTable", table("Source", stream=True))
        await engine.call("CreateTable", table("Seen"))
        await WORK.create_if_missing(engine)
        yield engine


class Line:
    """One process's line to the store, which can be cut: then nothing that it asks is ever answered."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.asked = 0
        self.stalls_at: int | None = None
        self.stalled = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        if self.stalls_at is not None and self.asked >= self.stalls_at:
            self.stalled.set()
            await self.goes_on.wait()
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)

    async def close(self) -> None: ...

    def cut(self) -> None:
        self.stalls_at = 0


class Process:
    """A process of the group, with two consumers: one counts each change once, the other has them in its memory."""

    def __init__(self, engine: Engine, terms: LeaseTerms = LASTING) -> None:
        self.line = Line(engine)
        self.group = ConsumerGroup(self.line, "group", WORK, terms, discover_seconds=0.1, restart_seconds=0.05)
        self.seen: list[str] = []
        self.task: asyncio.Task[None] | None = None

    @property
    def me(self) -> str:
        return str(self.group.membership.owner)

    def start(self) -> None:
        async def once(change: Record) -> list[Action]:
            assert change.new is not None
            await asyncio.sleep(0)
            return tally(change.new["SK"]["S"], change.new["n"]["N"])

        async def often(change: Record) -> None:
            self.seen.append(change.sequence_number)

        consumers = [
            RecordConsumer(self.line, name, "Source", handle, work_table=WORK, idle_seconds=0.02)
            for name, handle in (("once", once), ("often", often))
        ]
        self.task = asyncio.create_task(self.group.run(consumers))

    async def leave(self) -> None:
        assert self.task is not None
        await stopped(self.task)


def tally(key: str, number: str) -> list[Action]:
    """Counts a change, and fails if an earlier change of its key comes later."""
    add = {"TableName": "Seen", "UpdateExpression": "ADD #times :one", "ExpressionAttributeNames": {"#times": "times"}}
    last = {
        "TableName": "Seen",
        "Key": {"PK": {"S": "last"}, "SK": {"S": key}},
        "UpdateExpression": "SET #n = :n",
        "ConditionExpression": "attribute_not_exists(#n) OR #n < :n",
        "ExpressionAttributeNames": {"#n": "n"},
        "ExpressionAttributeValues": {":n": {"N": number}},
    }
    row = {"PK": {"S": "change"}, "SK": {"S": f"{key}/{int(number):06}"}}
    return [{"Update": {**add, "Key": row, "ExpressionAttributeValues": {":one": {"N": "1"}}}}, {"Update": last}]


class Writes:
    """Numbered changes of a few keys."""

    def __init__(self, engine: Engine, seed: int = 1) -> None:
        self._engine = engine
        self._chance = random.Random(seed)
        self.written: Counter[str] = Counter()

    async def write(self, count: int) -> None:
        for _ in range(count):
            key = f"k{self._chance.randrange(KEYS)}"
            item = {"PK": {"S": "K"}, "SK": {"S": key}, "n": {"N": str(self.written[key])}}
            await self._engine.call("PutItem", {"TableName": "Source", "Item": item})
            self.written[key] += 1

    async def followed(self) -> None:
        """Every change was counted once, and none came too early."""
        expected = {f"{key}/{number:06}": 1 for key, count in self.written.items() for number in range(count)}

        async def all_there() -> bool:
            return len(await rows(self._engine, "Seen", "change")) >= len(expected)

        await until(all_there)
        counted = {row["SK"]["S"]: int(row["times"]["N"]) for row in await rows(self._engine, "Seen", "change")}
        assert counted == expected
        work = await rows(self._engine, "Work", "CONSUMER#once")
        assert [row for row in work if row["SK"]["S"].startswith("PARKED#")] == []


async def rows(engine: Engine, table_name: str, partition: str) -> list[dict[str, Any]]:
    request = {
        "TableName": table_name,
        "ConsistentRead": True,
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
    }
    return list((await engine.call("Query", request))["Items"])


async def owners(engine: Engine) -> dict[str, str]:
    """Who owns each shard that has an owner."""
    group = await rows(engine, "Work", "GROUP#group")
    return {row["Shard"]["S"]: row["Owner"]["S"] for row in group if {"Shard", "Owner"} <= row.keys()}


async def shared_by(engine: Engine, processes: list[Process], each: int) -> dict[str, str]:
    """The owners, once every one of the processes has so many shards and nobody else has any."""

    async def shared() -> dict[str, str] | None:
        found = await owners(engine)
        return found if Counter(found.values()) == {process.me: each for process in processes} else None

    return await until(shared)


@contextlib.asynccontextmanager
async def running(*processes: Process) -> AsyncIterator[None]:
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.line.goes_on.set()
        await asyncio.gather(*(process.leave() for process in processes))


async def test_processes_that_join_and_leave_share_the_shards_and_every_change_is_handled_once(engine: Engine) -> None:
    sharded = Sharded(engine)
    writes = Writes(engine)
    for _ in range(4):
        await sharded.split("Source")
    first, second, third, fourth = processes = [Process(sharded) for _ in range(4)]
    async with running(*processes[:1]):
        await writes.write(30)
        await shared_by(engine, [first], 8)
        second.start()
        await writes.write(30)
        await shared_by(engine, [first, second], 4)
        third.start()
        fourth.start()
        await writes.write(30)
        before = await shared_by(engine, processes, 2)
        await third.leave()
        await fourth.leave()
        await writes.write(30)
        after = await shared_by(engine, [first, second], 4)
        # Those that stay keep what they have.
        kept = {shard: owner for shard, owner in before.items() if owner in (first.me, second.me)}
        assert kept.items() <= after.items()
        await writes.followed()
        await second.leave()


async def test_a_shard_is_read_after_its_parent_whoever_reads_which(engine: Engine) -> None:
    sharded = Sharded(engine)
    writes = Writes(engine)
    processes = [Process(sharded) for _ in range(3)]
    async with running(*processes):
        for _ in range(5):
            await writes.write(25)
            await sharded.split("Source")
        await writes.write(25)
        await writes.followed()
        assert len(set((await owners(engine)).values())) == 3


async def test_the_shards_of_a_process_that_dies_are_taken_over(engine: Engine) -> None:
    sharded = Sharded(engine)
    writes = Writes(engine)
    for _ in range(2):
        await sharded.split("Source")
    first, second, third = processes = [Process(sharded, QUICK) for _ in range(3)]
    async with running(*processes):
        await writes.write(40)

        async def all_have_some() -> bool:
            return len(set((await owners(engine)).values())) == 3

        await until(all_have_some)
        first.line.cut()
        await writes.write(40)

        async def the_others_have_all() -> bool:
            found = await owners(engine)
            return set(found.values()) == {second.me, third.me} and len(found) == 4

        await until(the_others_have_all)
        await writes.write(40)
        await writes.followed()


@pytest.mark.parametrize(
    "at", [pytest.param(at, marks=[] if at % 12 == 6 and at < 60 else pytest.mark.soak) for at in range(1, 90)]
)
async def test_a_process_that_hangs_at_any_request_and_wakes_up_deposed_applies_nothing_more(
    engine: Engine, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RELEASE_SECONDS", 0.05)
    sharded = Sharded(engine)
    writes = Writes(engine)
    hanging, waiting = Process(sharded, QUICK), Process(sharded, QUICK)
    hanging.line.stalls_at = at
    await writes.write(20)
    async with running(hanging):
        await asyncio.wait_for(hanging.line.stalled.wait(), PATIENCE_SECONDS)
        waiting.start()
        await writes.write(20)
        await writes.followed()
        # Its requests arrive only now, long after it was taken for dead.
        hanging.line.stalls_at = None
        hanging.line.goes_on.set()
        await writes.write(20)
        await writes.followed()
        await waiting.leave()


async def test_an_idle_process_asks_for_the_rows_of_the_group_and_renews_its_own_and_nothing_else(
    engine: Engine,
) -> None:
    sharded = Sharded(engine)
    for splits in range(5):
        recording = Recording(sharded)
        terms = LeaseTerms(PATIENCE_SECONDS, renew_every=0.1, look_every=0.01)
        group = ConsumerGroup(recording, f"idle{splits}", WORK, terms)

        async def nothing(change: Record) -> None: ...

        # At the log's end it is given what follows, as by the reader of its process.
        consumer = RecordConsumer(recording, f"c{splits}", "Source", nothing, work_table=WORK, follow=Silent.follow)
        task = asyncio.create_task(group.run([consumer]))

        async def idle(calls: Any = recording.calls) -> bool:
            return len(calls) > 20 and {call.operation for call in [*calls][-20:]} == {"Query", "UpdateItem"}

        await until(idle)
        last = [*recording.calls][-20:]
        renewals = [call.request for call in last if call.operation == "UpdateItem"]
        assert {request["Key"]["SK"]["S"] for request in renewals} == {group.membership.key["SK"]["S"]}
        assert len(renewals) <= 4
        await stopped(task)
        await sharded.split("Source")


class Silent:
    """A reader of the log that never has anything."""

    ended = False
    read_to = None
    passed_over = 0

    @classmethod
    def follow(cls, *asked: Any) -> "Silent":
        return cls()

    async def next(self, seconds: float) -> list[Record]:
        await asyncio.sleep(seconds)
        return []

    def end(self) -> None: ...
