"""Consumers of a table's records: one worker at a time hands every record to a function, in order for each key.

    consumer = RecordConsumer(engine, "library-consistency", "MediaLibrary", handle)
    await consumer.run()                      # until cancelled; any number of workers may run it

Apps declare a `Consumer` (`consumer.py`), which gets entities; this is what runs it.

**Once, or at least once.** The handler may return actions of a transaction. They are committed together with the
position's advance, so they happen exactly once, whichever process is killed when. A handler that returns nothing did
its work itself; the position is saved afterwards, and after a crash the handler may get the same records again.

**A record that cannot be handled** is retried with backoff. Transient failures (throttling, conflicts, lost
connections) are retried for as long as they last. After `attempts` other failures the record is parked:
a row with the record and the error is written in the same transaction as the position, an error is logged, and the
consumer continues: one bad record should not stop the others. With `park=False` the failure ends `run` instead.

**A position older than the log** is never ignored. `lost` is called with a PositionLost and should rebuild what the
consumer maintains; then reading restarts at the oldest record of the log, so records of the meantime are handled after
it. Without `lost`, PositionLost ends `run`. A consumer that never ran starts at the log's beginning, after `begin` has
built what it maintains from rows that are older than the log.

**Filtering.** With `concerns`, only the records that this function picks are handed over; others do not wake the
consumer. A position that only passed over other records is saved after a minute or a thousand of them, and when the
worker stops; after a crash its successor passes over them again.

**Who reads.** Once it has read the log to its end, a consumer gets further records from `follow`, the process's one
reader of the log (`Tail`); without one, or where that does not reach back far enough, it reads the log.

A stream has shards: a shard is read after its parent, and several are read concurrently, so a handler may be called for
different keys at the same time. Leases and positions must not be kept in the table whose stream is read, since saving
one would create the next record.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec

from potluck.dynamo.limits import STREAM_RETENTION_SECONDS
from potluck.engines import DynamoError, Engine
from potluck.engines.transient import is_transient
from potluck.metrics import CONSUMER_FAILURES, CONSUMER_LAG_SECONDS, CONSUMER_PARKED
from potluck.states import CONSUMER_FAILING, Trouble
from potluck.streams.backoff import SHORTEST_PAUSE, Backoff
from potluck.streams.leases import Deposed, Lease, WorkTable, cancelled
from potluck.streams.log import Log, Trimmed, call_with_retry, open_log
from potluck.streams.positions import Action, Positions, ShardPosition
from potluck.streams.records import Concerns, Record
from potluck.table.errors import OutcomeUnknown, Unavailable

PAGE_RECORDS = 100
ATTEMPTS = 8
IDLE_SECONDS = 1.0
# When a shard ends, its children are read at once; only shards without a parent have to be discovered.
DISCOVER_SECONDS = 300.0
# An idle position is saved too, because its age tells whether records may have been lost.
IDLE_SAVE_SECONDS = 3600.0
# How long, and how many records, a position may pass over before it is saved.
PASSED_OVER_SAVE_SECONDS = 60.0
PASSED_OVER_SAVE_RECORDS = 1000
# Another machine's clock may trim the log a little early.
SURELY_KEPT_SECONDS = STREAM_RETENTION_SECONDS - 3600.0
LAST_SAVE_SECONDS = 1.0
PARKED_RECORD_BYTES = 300_000
PARKED_ERROR_LENGTH = 2000

log = logging.getLogger(__name__)


class PositionLost(Exception):
    """Changes may have been trimmed from the log before this consumer read them."""

    def __init__(self, consumer: str, table: str, why: str) -> None:
        super().__init__(f"{consumer} may have missed records of {table}: {why}")
        self.consumer = consumer
        self.table = table
        self.why = why


Handler = Callable[[Record], Awaitable[Sequence[Action] | None]]


class Subscribed(Protocol):
    """A subscription of one consumer to a shard that another reader reads."""

    ended: bool
    read_to: str | None
    passed_over: int

    async def next(self, seconds: float) -> list[Record]: ...

    def end(self) -> None: ...


Following = Callable[[str, str, str | None, Concerns], Subscribed | None]
"""Subscribes to the records after a position, by table and shard; None if they have to be read from the log."""

Shards = Mapping[str, str | None]
"""Each shard and its parent."""


class RecordConsumer:
    """One named reader of one table's records."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        table: str,
        handle: Handler,
        *,
        concerns: Concerns | None = None,
        work_table: WorkTable | None = None,
        lease: Lease | None = None,
        follow: Following | None = None,
        lost: Callable[[PositionLost], Awaitable[None]] | None = None,
        begin: Callable[[], Awaitable[None]] | None = None,
        attempts: int = ATTEMPTS,
        park: bool = True,
        page_records: int = PAGE_RECORDS,
        idle_seconds: float = IDLE_SECONDS,
        discover_seconds: float = DISCOVER_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.engine = engine
        self.name = name
        self.table = table
        self.handle = handle
        self.work_table = work_table or WorkTable()
        if self.work_table.table == table:
            raise ValueError(f"positions stored in {table} would be new records of {table}, endlessly")
        # Consumers of one process may share a lease, so that idling costs one renewal instead of one each.
        self.lease = lease or Lease(engine, f"CONSUMER#{name}", self.work_table)
        self.follow = follow
        self.concerns = concerns or _everything
        self.lost = lost
        self.begin = begin
        self.attempts = attempts
        self.park = park
        self.page_records = page_records
        self.idle_seconds = idle_seconds
        self.discover_seconds = discover_seconds
        self.clock = clock
        self._positions = Positions(
            engine, self.work_table, name, self.lease, partial(call_with_retry, engine, patient=True)
        )
        self._handling: dict[str, float] = {}
        """By shard, when the record was written that is being handled."""
        self._failing = Trouble(CONSUMER_FAILING, log, f"{name} fails")
        self._parking = Trouble(CONSUMER_FAILING, log, f"{name} parks records of {table}", level=logging.ERROR)

    async def run(self) -> None:
        """Consume whenever the lease is ours, until cancelled."""
        await self.work_table.create_if_missing(self.engine)
        await self.lease.run(self.consume)

    async def consume(self) -> None:
        """Read every shard in order; to be called while the lease is held, as `run` does."""
        reading: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                stream = await self._open_log()
                shards = stream.parents
                positions = await self._up_to_date(stream.arn, shards)
                for shard, parent in shards.items():
                    before = positions.get(parent) if parent in shards else None
                    if shard not in reading and not positions[shard].finished and (before is None or before.finished):
                        reading[shard] = asyncio.create_task(self._read(stream, shard), name=f"{self.name}:{shard}")
                done: set[asyncio.Task[None]] = set()
                if reading:
                    done, _ = await asyncio.wait(
                        reading.values(), timeout=self.discover_seconds, return_when=asyncio.FIRST_COMPLETED
                    )
                else:
                    await asyncio.sleep(self.idle_seconds)
                for task in done:
                    task.result()
                reading = {shard: task for shard, task in reading.items() if task not in done}
        finally:
            await cancelled(*reading.values())
            await asyncio.gather(*reading.values(), return_exceptions=True)
            self._failing.forget()
            self._parking.forget()

    def measure(self) -> None:
        """Set the metrics of this consumer."""
        since = min(self._handling.values(), default=None)
        CONSUMER_LAG_SECONDS.set(0.0 if since is None else max(0.0, self.clock() - since), self.name)

    async def parked(self) -> list[dict[str, Any]]:
        """The parked records, each with its Error, Record and time (At), in wire form."""
        return await self._positions.parked()

    async def _up_to_date(self, arn: str, shards: Shards) -> dict[str, ShardPosition]:
        """A position for every shard, after reporting what the log has lost."""
        positions = self._positions
        previous = await positions.stream()
        known = await positions.known(arn)
        if previous is None and self.begin is not None:
            await self._persist(self.begin)
        elif previous is not None and previous != arn:
            await self._report("the table has a new stream, and nothing was logged between the two")
        elif previous is not None:
            gone = [shard for shard, position in known.items() if shard not in shards and not position.finished]
            skipped = [
                shard
                for shard, parent in shards.items()
                if shard not in known and parent is not None and parent not in shards and parent not in known
            ]
            if gone or skipped:
                why = f"trimmed with unread records {gone}" if gone else f"trimmed before {skipped}"
                await self._report(f"shards were {why}")
        new = [shard for shard in shards if shard not in known]
        if new or previous != arn:
            await positions.register(arn, new, self.clock())
            known |= {shard: ShardPosition(shard, None, self.clock()) for shard in new}
        trimmed = [shard for shard in known if shard not in shards]
        if trimmed:
            await positions.forget(trimmed)
        return known

    async def _read(self, stream: Log, shard: str) -> None:
        """Hand over the shard's records from its position to its end."""
        position = await self._positions.claim(shard)
        try:
            await self._read_from(stream, shard, position)
        except asyncio.CancelledError:
            if position.passed_to is not None:
                await self._save_at_the_end(position, position.passed_to, self.clock())
            raise

    async def _read_from(self, stream: Log, shard: str, position: ShardPosition) -> None:
        if position.sequence_number is None and self._may_have_lost(position):
            await self._report(f"shard {shard} was not read for {self.clock() - position.read_at:.0f} seconds")
            await self._positions.restart(position, self.clock())
        reader = stream.read(shard, _number(position.read_to), self.page_records)
        while True:
            asked_at = self.clock()
            try:
                page = await reader.page()
            except Trimmed as trimmed:
                if not await self._recovers(position, trimmed):
                    return
                reader.seek(_number(position.read_to))
                continue
            records = page.records
            await self._hand_over(position, [record for record in records if self.concerns(record)], asked_at)
            if records:
                _skip(position, records[-1].sequence_number, len(records))
            if page.ended:
                await self._positions.save(position, position.read_to, asked_at, finished=True)
                return
            await self._save_if_due(position, asked_at)
            if not records:
                follow = self.follow
                subscription = follow and follow(self.table, shard, position.read_to, self.concerns)
                if subscription is None:
                    await self._wait()
                else:
                    await self._consume_subscription(position, subscription)
                    reader.seek(_number(position.read_to))

    async def _recovers(self, position: ShardPosition, trimmed: Trimmed) -> bool:
        """Make up for what the log no longer has; False if the shard itself is gone."""
        if trimmed.never_there:
            raise trimmed.error
        if trimmed.shard_gone:
            # The shard or the table is gone; looking up the shards again shows which.
            await asyncio.sleep(self.idle_seconds)
            return False
        if position.read_to is None and not self._may_have_lost(position):
            # Too soon for anything to have been trimmed; DynamoDB Local reports this for a new shard at times.
            await asyncio.sleep(SHORTEST_PAUSE)
            return True
        await self._report(f"shard {position.shard} is trimmed after {position.read_to}")
        await self._positions.restart(position, self.clock())
        return True

    async def _consume_subscription(self, position: ShardPosition, subscription: Subscribed) -> None:
        """Handle the records that the process's reader supplies, until the log has to be read again."""
        try:
            while True:
                records = await subscription.next(PASSED_OVER_SAVE_SECONDS)
                if subscription.ended:
                    return
                now, read_to, passed_over = self.clock(), subscription.read_to, subscription.passed_over
                subscription.passed_over = 0
                await self._hand_over(position, records, now)
                if read_to is not None:
                    _skip(position, read_to, passed_over)
                await self._save_if_due(position, now)
        finally:
            subscription.end()

    async def _save_if_due(self, position: ShardPosition, now: float) -> None:
        """Save a position that only passed over records, or was idle for long."""
        age = now - position.read_at
        passed = position.passed_over >= PASSED_OVER_SAVE_RECORDS or (
            position.passed_to is not None and age >= PASSED_OVER_SAVE_SECONDS
        )
        if passed or age > IDLE_SAVE_SECONDS:
            await self._positions.save(position, position.read_to, now)

    def _may_have_lost(self, position: ShardPosition) -> bool:
        """Whether records after the last one read may have been trimmed by now."""
        return self.clock() - position.read_at > SURELY_KEPT_SECONDS

    async def _hand_over(self, position: ShardPosition, records: list[Record], asked_at: float) -> None:
        unsaved: str | None = None
        try:
            for record in records:
                self._handling[position.shard] = record.created_at
                saved = await self._handled(position, record, asked_at)
                unsaved = None if saved else record.sequence_number
        except asyncio.CancelledError:
            if unsaved is not None:
                await self._save_at_the_end(position, unsaved, asked_at)
            raise
        finally:
            self._handling.pop(position.shard, None)
        if unsaved is not None:
            await self._positions.save(position, unsaved, asked_at)

    async def _save_at_the_end(self, position: ShardPosition, to: str, now: float) -> None:
        # A worker that stops saves its position, if the store answers promptly, to spare its successor the repetition.
        with contextlib.suppress(TimeoutError, DynamoError, Deposed):
            async with asyncio.timeout(LAST_SAVE_SECONDS):
                await self._positions.save(position, to, now)

    async def _handled(self, position: ShardPosition, record: Record, asked_at: float) -> bool:
        """Handle one record, with retries; returns whether the position was saved with it."""
        failures = 0
        pauses = Backoff()
        while True:
            if not self.lease.held:
                raise Deposed(self.name)
            try:
                actions = await self.handle(record)
                if actions:
                    await self._positions.advance(position, record.sequence_number, asked_at, actions)
                self._failing.over()
                self._parking.over()
                return bool(actions)
            except Deposed:
                raise
            except Exception as error:
                if not passes(error):
                    failures += 1
                    CONSUMER_FAILURES.add(self.name)
                    if failures >= self.attempts:
                        if not self.park:
                            raise
                        self._parking.met(error)
                        await self._give_up(position, record, asked_at, error)
                        CONSUMER_PARKED.add(self.name)
                        self._failing.forget()
                        return True
                    self._failing.met(error)
            await pauses.wait()

    async def _give_up(self, position: ShardPosition, record: Record, asked_at: float, error: Exception) -> None:
        parking = self._positions.parking(record.sequence_number, parked(record, error, self.clock()))
        await self._positions.advance(position, record.sequence_number, asked_at, [parking])

    async def _report(self, why: str) -> None:
        lost = PositionLost(self.name, self.table, why)
        log.error("%s", lost)
        if self.lost is None:
            raise lost
        rebuild = self.lost
        await self._persist(lambda: rebuild(lost))

    async def _persist(self, rebuild: Callable[[], Awaitable[None]]) -> None:
        """Run it to completion, repeating it after transient failures."""
        pauses = Backoff()
        while True:
            try:
                await rebuild()
                return
            except Exception as error:
                if not passes(error):
                    raise
            await pauses.wait()

    async def _open_log(self) -> Log:
        stream = await open_log(self.engine, self.table, patient=True, although_disabled=True)
        if stream is None:
            raise DynamoError("ValidationException", f"the table {self.table} has no stream for {self.name} to read")
        return stream

    async def _wait(self) -> None:
        try:
            await self.engine.changed(self.table, self.idle_seconds)
        except DynamoError as error:
            if not is_transient(error):
                raise
            await asyncio.sleep(self.idle_seconds)


def parked(record: Record, error: Exception, now: float) -> dict[str, Any]:
    """The attributes of a parked record: itself, without its images if it is too large, and why it is there."""
    encoded = msgspec.json.encode(record.wire)
    if len(encoded) > PARKED_RECORD_BYTES:
        small = {name: part for name, part in record.wire["dynamodb"].items() if not name.endswith("Image")}
        encoded = msgspec.json.encode({**record.wire, "dynamodb": small})
    return {
        "Error": {"S": repr(error)[:PARKED_ERROR_LENGTH]},
        "Record": {"S": encoded.decode()},
        "At": {"N": f"{now:.3f}"},
    }


def passes(error: Exception) -> bool:
    """Whether the failure is transient, reported by the engine or by the store."""
    return isinstance(error, Unavailable | OutcomeUnknown) or (isinstance(error, DynamoError) and is_transient(error))


def _skip(position: ShardPosition, to: str, count: int) -> None:
    """Move past records that were handled or do not concern us; the position is saved later."""
    if to != position.sequence_number:
        position.passed_to, position.passed_over = to, position.passed_over + count


def _number(sequence_number: str | None) -> int | None:
    return None if sequence_number is None else int(sequence_number)


def _everything(record: Record) -> bool:
    return True
