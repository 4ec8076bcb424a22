"""Consumers: order, exactly once, taking over, lost positions, and records that cannot be handled."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import ANSWER_LOST, DynamoError, Engine
from potluck.engines.conflicting import Conflicting
from potluck.engines.embedded import open_embedded
from potluck.engines.recording import Recording
from potluck.engines.throttling import Throttling
from potluck.streams import Action, ConsumerGroup, LeaseTerms, PositionLost, Record, RecordConsumer, leases
from potluck.streams import record_consumer as streams
from potluck.streams.leases import WorkTable
from potluck.table.errors import OutcomeUnknown, Unavailable
from tests.engine_targets import BOTH, EMBEDDED, opened, table
from tests.patience import PATIENCE_SECONDS, stopped

WORK = WorkTable("Work")


@pytest.fixture(autouse=True)
def patient_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost to a slow machine has changes handed over again, and what is not given back is waited for."""
    monkeypatch.setattr(streams, "ConsumerGroup", partial(ConsumerGroup, terms=LeaseTerms(PATIENCE_SECONDS)))
    monkeypatch.setattr(leases, "RELEASE_SECONDS", PATIENCE_SECONDS)


@pytest.fixture(params=BOTH)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path) as engine:
        await engine.call("CreateTable", table("Source", stream=True))
        await engine.call("CreateTable", table("Seen"))
        yield engine


async def put(engine: Engine, number: int, key: str = "K", **more: Any) -> None:
    item = {"PK": {"S": key}, "SK": {"S": "item"}, "n": {"N": str(number)}, **more}
    await engine.call("PutItem", {"TableName": "Source", "Item": item})


def tally(change: Record) -> list[Action]:
    """Counts each change once in a row of its own, and all of them in a row that adding twice would spoil."""
    assert change.new is not None
    row = {"PK": {"S": change.new["PK"]["S"]}, "SK": {"S": change.new["n"]["N"].zfill(6)}}
    add = "ADD #times :one"
    counting = {"TableName": "Seen", "UpdateExpression": add, "ExpressionAttributeNames": {"#times": "times"}}
    return [
        {"Update": {**counting, "Key": key, "ExpressionAttributeValues": {":one": {"N": "1"}}}}
        for key in (row, {"PK": {"S": "total"}, "SK": {"S": "total"}})
    ]


async def tallied(engine: Engine) -> dict[str, int]:
    page = await engine.call("Scan", {"TableName": "Seen", "ConsistentRead": True})
    return {item["SK"]["S"]: int(item["times"]["N"]) for item in page["Items"]}


@contextlib.asynccontextmanager
async def running(*consumers: RecordConsumer) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(consumer.run()) for consumer in consumers]
    try:
        yield tasks
    finally:
        await stopped(*tasks)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in several places
            await asyncio.sleep(0.02)


async def until_saved(engine: Engine, **wanted: dict[str, Any]) -> None:
    """A shard's position has these attributes: it is saved after its page, a moment after the handler's return."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            rows = (await engine.call("Scan", {"TableName": WORK.table, "ConsistentRead": True}))["Items"]
            if any("Shard" in row and wanted.items() <= row.items() for row in rows):
                return
            await asyncio.sleep(0.02)


async def until_tallied(engine: Engine, number: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while f"{number:06}" not in await tallied(engine):  # noqa: ASYNC110 - it happens in the store
            await asyncio.sleep(0.05)


async def test_every_change_is_handed_over_in_order(engine: Engine) -> None:
    seen: list[tuple[str, int]] = []

    async def handle(change: Record) -> None:
        assert change.new is not None
        seen.append((change.kind, int(change.new["n"]["N"])))

    for number in range(5):
        await put(engine, number)
    async with running(RecordConsumer(engine, "c", "Source", handle, work_table=WORK)):
        await until(lambda: len(seen) == 5)
        for number in range(5, 10):
            await put(engine, number)
        await until(lambda: len(seen) == 10)
    assert seen == [("INSERT" if n == 0 else "MODIFY", n) for n in range(10)]


async def test_the_change_has_both_images_and_the_key(engine: Engine) -> None:
    seen: list[Record] = []

    async def handle(change: Record) -> None:
        seen.append(change)

    await put(engine, 1)
    await put(engine, 2)
    await engine.call("DeleteItem", {"TableName": "Source", "Key": {"PK": {"S": "K"}, "SK": {"S": "item"}}})
    async with running(RecordConsumer(engine, "c", "Source", handle, work_table=WORK)):
        await until(lambda: len(seen) == 3)
    assert [change.kind for change in seen] == ["INSERT", "MODIFY", "REMOVE"]
    assert [change.old and change.old["n"]["N"] for change in seen] == [None, "1", "2"]
    assert [change.new and change.new["n"]["N"] for change in seen] == ["1", "2", None]
    assert seen[2].key == {"PK": {"S": "K"}, "SK": {"S": "item"}}
    assert not seen[2].expired


async def test_a_stopped_consumer_goes_on_where_it_was(engine: Engine) -> None:
    seen: list[int] = []
    read: list[str] = []

    async def handle(change: Record) -> None:
        assert change.new is not None
        seen.append(int(change.new["n"]["N"]))
        read.append(change.sequence_number)

    for number in range(3):
        await put(engine, number)
        async with running(RecordConsumer(engine, "c", "Source", handle, work_table=WORK)):
            await until(lambda number=number: number in seen)
            await until_saved(engine, Position={"S": read[-1]})
    assert seen == [0, 1, 2]


async def test_returned_actions_happen_exactly_once_under_conflicts_and_lost_answers(engine: Engine) -> None:
    troubled = Conflicting(Throttling(engine, 1, 0.05), 7, conflicts=0.15, single_writes=0.1, lost_answers=0.2)

    async def handle(change: Record) -> list[Action]:
        return tally(change)

    # Not a long one: who takes it and does not hear so may have to wait until it is over.
    group = ConsumerGroup(troubled, "work", WORK)
    written = 0
    async with running(RecordConsumer(troubled, "c", "Source", handle, work_table=WORK, group=group)):
        # How much trouble so many changes meet depends on how often the lease is renewed meanwhile.
        while troubled.answers_lost <= 3 or troubled.conflicts_met <= 3:
            for _ in range(12):
                await put(engine, written)
                written += 1
            await until_tallied(engine, written - 1)
    assert await tallied(engine) == {**{f"{n:06}": 1 for n in range(written)}, "total": written}


async def test_two_who_believe_they_own_the_stream_apply_nothing_twice(engine: Engine) -> None:
    """They are of different groups, each of which has the shard; only the position's conditions hold them apart."""

    async def handle(change: Record) -> list[Action]:
        await asyncio.sleep(0.01)
        return tally(change)

    for number in range(40):
        await put(engine, number)
    terms = LeaseTerms(PATIENCE_SECONDS, look_every=0.05)
    groups = [ConsumerGroup(engine, f"group{n}", WORK, terms) for n in range(2)]
    async with running(
        *(RecordConsumer(engine, "c", "Source", handle, work_table=WORK, group=group) for group in groups)
    ):
        await until_tallied(engine, 39)
    assert await tallied(engine) == {**{f"{n:06}": 1 for n in range(40)}, "total": 40}


async def test_only_the_owner_of_a_shard_works(engine: Engine) -> None:
    workers: dict[int, list[str]] = {0: [], 1: [], 2: []}

    def consumer(number: int) -> RecordConsumer:
        async def handle(change: Record) -> None:
            workers[number].append(change.sequence_number)

        return RecordConsumer(engine, "c", "Source", handle, work_table=WORK)

    async with running(*(consumer(number) for number in workers)):
        for number in range(10):
            await put(engine, number)
        await until(lambda: sum(map(len, workers.values())) == 10)
        await asyncio.sleep(0.3)
    assert sorted(map(len, workers.values())) == [0, 0, 10]


async def test_a_record_that_cannot_be_handled_is_parked_and_the_rest_goes_on(engine: Engine) -> None:
    seen: list[int] = []

    async def handle(change: Record) -> None:
        assert change.new is not None
        if change.new["n"]["N"] == "1":
            raise RuntimeError("cannot stand ones")
        seen.append(int(change.new["n"]["N"]))

    for number in range(3):
        await put(engine, number)
    consumer = RecordConsumer(engine, "c", "Source", handle, work_table=WORK, attempts=2)
    async with running(consumer):
        await until(lambda: len(seen) == 2)
    assert seen == [0, 2]
    (parked,) = await consumer.parked()
    assert "cannot stand ones" in parked["Error"]["S"]
    assert '"n":{"N":"1"}' in parked["Record"]["S"]


async def test_without_parking_the_failure_ends_the_run(engine: Engine) -> None:
    async def handle(change: Record) -> None:
        raise RuntimeError("no")

    await put(engine, 1)
    with pytest.raises(RuntimeError, match="no"):
        await asyncio.wait_for(
            RecordConsumer(engine, "c", "Source", handle, work_table=WORK, attempts=2, park=False).run(),
            PATIENCE_SECONDS,
        )


async def test_passing_failures_do_not_count_as_attempts(engine: Engine) -> None:
    """Whether the engine tells of them, or the store that has tried again for long enough."""
    passing = [DynamoError(ANSWER_LOST, "the line is bad"), Unavailable("busy"), OutcomeUnknown("nobody knows")]
    failures = iter(passing * 2)
    seen: list[str] = []

    async def handle(change: Record) -> None:
        if (failure := next(failures, None)) is not None:
            raise failure
        seen.append(change.sequence_number)

    await put(engine, 1)
    consumer = RecordConsumer(engine, "c", "Source", handle, work_table=WORK, attempts=2)
    async with running(consumer):
        await until(lambda: len(seen) == 1)
    assert await consumer.parked() == []


async def test_more_actions_than_a_transaction_holds_are_refused(engine: Engine) -> None:
    async def handle(change: Record) -> list[Action]:
        return tally(change) * 50

    await put(engine, 1)
    with pytest.raises(ValueError, match="100 actions; at most 99 fit into one transaction"):
        await asyncio.wait_for(
            RecordConsumer(engine, "c", "Source", handle, work_table=WORK, attempts=1, park=False).run(),
            PATIENCE_SECONDS,
        )


async def test_a_new_stream_of_the_table_is_reported_before_it_is_read(engine: Engine) -> None:
    events: list[str] = []
    read: list[str] = []

    async def handle(change: Record) -> None:
        assert change.new is not None
        events.append(change.new["n"]["N"])
        read.append(change.sequence_number)

    async def lost(report: PositionLost) -> None:
        events.append(f"lost: {report.why}")

    def consumer() -> RecordConsumer:
        return RecordConsumer(engine, "c", "Source", handle, work_table=WORK, lost=lost)

    await put(engine, 1)
    async with running(consumer()):
        await until(lambda: events == ["1"])
        await until_saved(engine, Position={"S": read[-1]})
    switched = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    await engine.call("UpdateTable", {"TableName": "Source", "StreamSpecification": {"StreamEnabled": False}})
    await put(engine, 2)
    await engine.call("UpdateTable", {"TableName": "Source", "StreamSpecification": switched})
    await put(engine, 3)
    async with running(consumer()):
        await until(lambda: len(events) == 3)
    assert events[1].startswith("lost: the table has a new stream")
    assert events[2] == "3"


async def test_a_consumer_that_never_ran_begins_with_what_is_older_than_the_log(engine: Engine) -> None:
    events: list[str] = []
    read: list[str] = []

    async def handle(change: Record) -> None:
        assert change.new is not None
        events.append(change.new["n"]["N"])
        read.append(change.sequence_number)

    async def begin() -> None:
        events.append("begun")

    await put(engine, 1)
    for number in (1, 2):
        async with running(RecordConsumer(engine, "c", "Source", handle, work_table=WORK, begin=begin)):
            await until(lambda number=number: str(number) in events)
            await until_saved(engine, Position={"S": read[-1]})
        await put(engine, 2)
    assert events == ["begun", "1", "2"]


async def test_positions_in_the_consumed_table_are_refused(engine: Engine) -> None:
    async def handle(change: Record) -> None: ...

    with pytest.raises(ValueError, match="would be new records of Source"):
        RecordConsumer(engine, "c", "Source", handle, work_table=WorkTable("Source"))


async def test_a_table_without_a_stream_is_an_error(engine: Engine) -> None:
    async def handle(change: Record) -> None: ...

    with pytest.raises(DynamoError, match="the table Seen has no stream"):
        await asyncio.wait_for(RecordConsumer(engine, "c", "Seen", handle, work_table=WORK).run(), PATIENCE_SECONDS)


async def test_idling_costs_a_renewal_a_second_and_no_position_writes(engine: Engine) -> None:
    seen: list[str] = []

    async def handle(change: Record) -> None:
        seen.append(change.sequence_number)

    recording = Recording(engine)

    def saved() -> bool:
        updates = (call.request for call in recording.calls if call.operation == "UpdateItem")
        return any({"S": seen[0]} in update["ExpressionAttributeValues"].values() for update in updates)

    await put(engine, 1)
    async with running(RecordConsumer(recording, "c", "Source", handle, work_table=WORK)):
        await until(lambda: len(seen) == 1 and saved())
        with recording.scope() as calls:
            began = time.monotonic()
            await asyncio.sleep(2.5)
            await until(lambda: any(call.write_units for call in calls))
            seconds = time.monotonic() - began
    writes = [call for call in calls if call.write_units]
    assert {call.operation for call in writes} == {"UpdateItem"}
    assert len(writes) <= seconds + 1


class Clock:
    """A clock that a test can move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


async def test_the_embedded_log_is_trimmed_after_a_day_and_only_unread_changes_count_as_lost(tmp_path: Path) -> None:
    clock, numbers = Clock(), Numbers()
    engine = await open_embedded(tmp_path / "store.db", clock)
    try:
        await engine.call("CreateTable", table("Source", stream=True))
        await put(engine, 1)
        async with running(numbers.consumer(engine, clock=clock)):
            await until(lambda: numbers == [1])
            await numbers.saved(engine)
        clock.now += 30 * 3600  # what was read is trimmed, and nobody minds
        async with running(numbers.consumer(engine, clock=clock)):
            await put(engine, 2)
            await until(lambda: numbers == [1, 2])
            await numbers.saved(engine)
        await put(engine, 3)
        clock.now += 30 * 3600  # now something is trimmed that was not read
        await put(engine, 4)
        async with running(numbers.consumer(engine, clock=clock)):
            await until(lambda: len(numbers) == 4)
        assert "is trimmed after" in numbers[2]
        assert numbers[3] == 4
    finally:
        await engine.close()


async def test_an_expired_item_is_told_from_a_deleted_one(tmp_path: Path) -> None:
    clock = Clock()
    seen: list[Record] = []

    async def handle(change: Record) -> None:
        seen.append(change)

    engine = await open_embedded(tmp_path / "store.db", clock)
    try:
        await engine.call("CreateTable", table("Source", stream=True))
        ttl = {"Enabled": True, "AttributeName": "ttl"}
        await engine.call("UpdateTimeToLive", {"TableName": "Source", "TimeToLiveSpecification": ttl})
        await put(engine, 1, ttl={"N": str(int(clock.now) + 10)})
        async with running(RecordConsumer(engine, "c", "Source", handle, work_table=WORK, clock=clock)):
            await until(lambda: len(seen) == 1)
            clock.now += 60
            await until(lambda: len(seen) == 2)
        assert [change.kind for change in seen] == ["INSERT", "REMOVE"]
        assert [change.expired for change in seen] == [False, True]
    finally:
        await engine.close()


class Shelved:
    """A stream of several shards, with a log that can be trimmed, in front of an engine that keeps everything else.

    The references have one shard for ever, so this stands in for what DynamoDB Streams does with them.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.arn = "arn:aws:dynamodb:x:1:table/Source/stream/2026"
        self.parents: dict[str, str | None] = {}
        self.records: dict[str, list[dict[str, Any]]] = {}
        self.closed: set[str] = set()
        self.trimmed: dict[str, int] = {}
        self.expire_next = False
        self.call_trimmed_next = False
        self.iterators_given = 0

    def shard(self, name: str, numbers: list[int], parent: str | None = None, closed: bool = False) -> None:
        self.parents[name] = parent
        self.records[name] = [
            {
                "eventName": "INSERT",
                "dynamodb": {"Keys": {}, "NewImage": {"n": {"N": str(n)}}, "SequenceNumber": f"{n:021}"},
            }
            for n in numbers
        ]
        if closed:
            self.closed.add(name)

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation == "DescribeTable" and request["TableName"] == "Source":
            return {"Table": {"TableStatus": "ACTIVE", "LatestStreamArn": self.arn}}
        if operation == "DescribeStream":
            return self.described(request.get("ExclusiveStartShardId"))
        if operation == "GetShardIterator":
            return self.iterator(request)
        if operation == "GetRecords":
            return self.page(request)
        return await self.engine.call(operation, request)

    async def changed(self, table: str, timeout: float) -> bool:
        await asyncio.sleep(min(timeout, 0.02))
        return True

    async def close(self) -> None: ...

    def described(self, after: str | None) -> dict[str, Any]:
        # One shard a page: the consumer has to ask for the rest.
        names = list(self.parents)
        place = 0 if after is None else names.index(after) + 1
        shards = []
        for name in names[place : place + 1]:
            parent = self.parents[name]
            numbers = {"EndingSequenceNumber": "9"} if name in self.closed else {}
            about = {"ParentShardId": parent} if parent else {}
            shards.append({"ShardId": name, "SequenceNumberRange": numbers, **about})
        more = {"LastEvaluatedShardId": names[place]} if place + 1 < len(names) else {}
        return {"StreamDescription": {"Shards": shards, **more}}

    def iterator(self, request: dict[str, Any]) -> dict[str, Any]:
        self.iterators_given += 1
        name = request["ShardId"]
        if name not in self.parents:
            raise DynamoError("ResourceNotFoundException", "no such shard")
        if request["ShardIteratorType"] == "TRIM_HORIZON":
            return {"ShardIterator": f"{name}|{self.trimmed.get(name, 0)}"}
        numbers = [record["dynamodb"]["SequenceNumber"] for record in self.records[name]]
        place = numbers.index(request["SequenceNumber"]) + 1
        if place < self.trimmed.get(name, 0):
            raise DynamoError("TrimmedDataAccessException", "trimmed")
        return {"ShardIterator": f"{name}|{place}"}

    def page(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.expire_next:
            self.expire_next = False
            raise DynamoError("ExpiredIteratorException", "too old")
        if self.call_trimmed_next:
            self.call_trimmed_next = False
            raise DynamoError("TrimmedDataAccessException", "trimmed")
        name, place = request["ShardIterator"].split("|")
        start = int(place)
        records = self.records[name][start : start + 2]
        ended = name in self.closed and start + len(records) == len(self.records[name])
        return {
            "Records": records,
            **({} if ended else {"NextShardIterator": f"{name}|{start + len(records)}"}),
        }


@pytest.fixture
async def shelved(tmp_path: Path) -> AsyncIterator[Shelved]:
    async with opened(EMBEDDED, tmp_path) as engine:
        yield Shelved(engine)


class Numbers(list[Any]):
    """A handler that keeps what it was given, and what it was told is lost."""

    read = ""

    async def saved(self, engine: Engine) -> None:
        """Whoever comes next goes on after what was read last."""
        await until_saved(engine, Position={"S": self.read})

    def consumer(self, engine: Engine, **more: Any) -> RecordConsumer:
        async def handle(change: Record) -> None:
            assert change.new is not None
            self.append(int(change.new["n"]["N"]))
            self.read = change.sequence_number

        async def lost(report: PositionLost) -> None:
            self.append(report.why)

        terms = LeaseTerms(PATIENCE_SECONDS, look_every=0.05)
        group = ConsumerGroup(engine, "CONSUMER#c", WORK, terms, discover_seconds=0.1)
        more = {"lost": lost, "work_table": WORK, "idle_seconds": 0.05, "group": group, **more}
        return RecordConsumer(engine, "c", "Source", handle, **more)


async def test_parents_are_read_to_their_end_before_children_and_new_shards_are_found(shelved: Shelved) -> None:
    shelved.shard("grandchild", [7, 8], parent="child")
    shelved.shard("child", [4, 5, 6], parent="root", closed=True)
    shelved.shard("root", [1, 2, 3], closed=True)
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 8)
        shelved.closed.add("grandchild")
        shelved.shard("new", [9], parent="grandchild")
        await until(lambda: len(numbers) == 9)
    assert numbers == list(range(1, 10))


async def test_finished_shards_are_not_read_again(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2], closed=True)
    shelved.shard("child", [3], parent="root")
    numbers = Numbers()
    for expected in (3, 3):
        async with running(numbers.consumer(shelved)):
            await until(lambda expected=expected: len(numbers) >= expected)
            await until_saved(shelved, Shard={"S": "root"}, Finished={"BOOL": True})
            await numbers.saved(shelved)
            # Whoever read it again would do so within a few looks.
            await asyncio.sleep(0.3)
    assert numbers == [1, 2, 3]


async def test_an_expired_iterator_is_renewed_from_the_position(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2])
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 2)
        await numbers.saved(shelved)
        given = shelved.iterators_given
        shelved.expire_next = True
        await until(lambda: shelved.iterators_given > given)
        extra = {
            "eventName": "INSERT",
            "dynamodb": {"Keys": {}, "NewImage": {"n": {"N": "3"}}, "SequenceNumber": "000000003"},
        }
        shelved.records["root"].append(extra)
        await until(lambda: len(numbers) == 3)
    assert numbers == [1, 2, 3]


async def test_a_trimmed_position_is_reported_and_reading_starts_at_what_is_left(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2])
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 2)
        await numbers.saved(shelved)
    shelved.shard("root", [1, 2, 3, 4, 5])
    shelved.trimmed["root"] = 4
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 4)
        await numbers.saved(shelved)
    assert numbers == [1, 2, "shard root is trimmed after 000000000000000000002", 5]
    async with running(numbers.consumer(shelved)):
        await asyncio.sleep(0.3)
    assert len(numbers) == 4


async def test_a_shard_registered_just_now_cannot_have_lost_anything(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2])
    shelved.call_trimmed_next = True
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 2)
    assert not shelved.call_trimmed_next
    assert numbers == [1, 2]


async def test_without_anyone_to_tell_a_lost_position_ends_the_run(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2])
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 2)
        await numbers.saved(shelved)
    shelved.shard("root", [1, 2, 3, 4])
    shelved.trimmed["root"] = 3
    with pytest.raises(PositionLost, match="c may have missed records of Source"):
        await asyncio.wait_for(numbers.consumer(shelved, lost=None).run(), PATIENCE_SECONDS)
    assert numbers == [1, 2]


async def test_an_unfinished_shard_that_is_gone_is_reported(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2])
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 2)
        await numbers.saved(shelved)
    del shelved.parents["root"]
    shelved.shard("later", [9], parent="middle")
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 4)
    assert numbers == [1, 2, "shards were trimmed with unread records ['root']", 9]


async def test_shards_that_came_and_went_unseen_are_reported(shelved: Shelved) -> None:
    shelved.shard("root", [1, 2], closed=True)
    numbers = Numbers()
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 2)
        await until_saved(shelved, Shard={"S": "root"}, Finished={"BOOL": True})
    del shelved.parents["root"]
    shelved.shard("later", [9], parent="middle")
    async with running(numbers.consumer(shelved)):
        await until(lambda: len(numbers) == 4)
    assert numbers == [1, 2, "shards were trimmed before ['later']", 9]


async def test_a_shard_left_unread_for_a_day_is_reported_even_if_nothing_of_it_was_ever_read(shelved: Shelved) -> None:
    shelved.shard("root", [])
    numbers = Numbers()
    now = 1_000_000.0
    await WORK.create_if_missing(shelved)
    for later in (now, now + 20 * 3600):
        async with running(numbers.consumer(shelved, clock=lambda later=later: later)):
            await until_saved(shelved, ReadAt={"N": f"{later:.0f}"})
    assert numbers == []
    async with running(numbers.consumer(shelved, clock=lambda: now + 50 * 3600)):
        await until(lambda: len(numbers) == 1)
    assert numbers == [f"shard root was not read for {30 * 3600} seconds"]


class LosingACancellation(Recording):
    """An engine that loses the first cancellation of whoever waits for a change, as `wait_for` may."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.waited_for = asyncio.Event()
        self.lost = False

    async def changed(self, table: str, timeout: float) -> bool:
        self.waited_for.set()
        try:
            return await super().changed(table, timeout)
        except asyncio.CancelledError:
            if self.lost:
                raise
            self.lost = True
            return False


async def test_a_reader_that_loses_its_cancellation_is_cancelled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "CANCEL_AGAIN_SECONDS", 0.02)
    async with opened(EMBEDDED, tmp_path) as embedded:
        engine = LosingACancellation(embedded)
        await engine.call("CreateTable", table("Source", stream=True))
        await WORK.create_if_missing(engine)
        consumer = RecordConsumer(engine, "losing", "Source", tally, work_table=WORK, idle_seconds=3600)
        running = asyncio.create_task(consumer.run())
        await asyncio.wait_for(engine.waited_for.wait(), PATIENCE_SECONDS)
        running.cancel()
        await asyncio.wait({running}, timeout=PATIENCE_SECONDS)
        left = [task for task in asyncio.all_tasks() if task.get_name().startswith("losing:")]
        await stopped(*left, running)
        assert engine.lost
        assert left == []
