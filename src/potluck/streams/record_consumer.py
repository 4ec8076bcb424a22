"""Consumers of a table's records: every record is handed to a function once, in order for each key.

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

**Long work** is done in steps (`steps.py`), between which other records are handled.

**A position older than the log** is never ignored. `lost` is called with a PositionLost and should rebuild what the
consumer maintains; then reading restarts at the oldest record of the log, so records of the meantime are handled after
it. Without `lost`, PositionLost ends `run`. A consumer that never ran starts at the log's beginning, after `begin` has
built what it maintains from rows that are older than the log. Either may return long work instead: it is saved before
reading starts, and done between the records.

**Filtering.** With `concerns`, only the records that this function picks are handed over; others do not wake the
consumer. A position that only passed over other records is saved after a minute or a thousand of them, and when the
worker stops; after a crash its successor passes over them again.

**Who reads.** The shards are divided among the processes of a group (`consumer_group.py`). Once it has read the log to
its end, a consumer gets further records from `follow`, the process's one reader of the log (`Tail`); without one, or
where that does not reach back far enough, it reads the log.

A stream has shards: a shard is read after its parent, and several are read concurrently, so a handler may be called for
different keys at the same time. Leases and positions must not be kept in the table whose stream is read, since saving
one would create the next record.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from potluck.dynamo.limits import STREAM_RETENTION_SECONDS
from potluck.engines import DynamoError, Engine
from potluck.metrics import CONSUMER_LAG_SECONDS
from potluck.states import CONSUMER_FAILING, Trouble
from potluck.streams.backoff import Backoff
from potluck.streams.consumer_group import ConsumerGroup, label_of
from potluck.streams.failures import ATTEMPTS, passes
from potluck.streams.handing_over import Following, HandingOver
from potluck.streams.leases import Lease, WorkTable
from potluck.streams.log import Log, call_with_retry, open_log
from potluck.streams.long_work import Begun, Encoded, LongWork, LongWorkRows
from potluck.streams.moved_rows import is_moved
from potluck.streams.positions import Action, Positions, ShardPosition
from potluck.streams.records import Concerns, Record
from potluck.streams.shares import OwnedShard
from potluck.streams.steps import Steps, Work

PAGE_RECORDS = 100
IDLE_SECONDS = 1.0
# Another machine's clock may trim the log a little early.
SURELY_KEPT_SECONDS = STREAM_RETENTION_SECONDS - 3600.0

log = logging.getLogger(__name__)


class PositionLost(Exception):
    """Changes may have been trimmed from the log before this consumer read them."""

    def __init__(self, consumer: str, table: str, why: str) -> None:
        super().__init__(f"{consumer} may have missed records of {table}: {why}")
        self.consumer = consumer
        self.table = table
        self.why = why


class Handled(NamedTuple):
    """What a handler leaves to do: actions to commit with the position, and long work to begin."""

    actions: Sequence[Action] = ()
    works: Sequence[Work[Any]] = ()


Handler = Callable[[Record], Awaitable[Sequence[Action] | Handled | None]]
Shards = Mapping[str, str | None]
"""Each shard and its parent."""


class StreamChange(NamedTuple):
    """How the shards that a consumer knows differ from those of the stream."""

    known: dict[str, ShardPosition]
    never_ran: bool
    lost: str | None
    """What records may have been missed, in words."""
    new: list[str]
    trimmed: list[str]
    other_stream: bool
    moved: bool
    """Whether the consumer ran in another store, from which its rows were moved here."""

    @property
    def nothing(self) -> bool:
        return not (self.never_ran or self.lost or self.new or self.trimmed or self.other_stream)


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
        group: ConsumerGroup | None = None,
        follow: Following | None = None,
        lost: Callable[[PositionLost], Awaitable[Work[Any] | None]] | None = None,
        begin: Callable[[], Awaitable[Work[Any] | None]] | None = None,
        steps: Sequence[Steps[Any]] = (),
        encoded: Encoded = lambda operations: [],
        attempts: int = ATTEMPTS,
        park: bool = True,
        page_records: int = PAGE_RECORDS,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.engine = engine
        self.name = name
        self.table = table
        self.handle = handle
        self.work_table = work_table or WorkTable()
        if self.work_table.table == table:
            raise ValueError(f"positions stored in {table} would be new records of {table}, endlessly")
        self.group = group or ConsumerGroup(engine, f"CONSUMER#{name}", self.work_table)
        """The processes that it is run by, if it runs by itself."""
        self.follow = follow
        self.concerns = concerns or _everything
        self.lost = lost
        self.begin = begin
        self.attempts = attempts
        self.park = park
        self.page_records = page_records
        self.idle_seconds = idle_seconds
        self.clock = clock
        patiently = partial(call_with_retry, engine, patient=True)
        self.positions = Positions(engine, self.work_table, name, patiently)
        self._long_work = LongWorkRows(engine, self.work_table, name, steps, encoded, patiently)
        self.handling: dict[str, float] = {}
        """By shard, when the record was written that is being handled."""
        self.failing = Trouble(CONSUMER_FAILING, log, f"{name} fails")
        self.parking = Trouble(CONSUMER_FAILING, log, f"{name} parks records of {table}", level=logging.ERROR)
        # A process reads several shards at once, and one of them looks after what concerns the whole stream.
        self._one_at_a_time = asyncio.Lock()

    async def run(self) -> None:
        """Consume our group's part of the shards, until cancelled."""
        await self.work_table.create_if_missing(self.engine)
        await self.group.run([self])

    async def read(self, share: OwnedShard) -> None:
        """Read a shard to its end, after its parent, and do all the long work that began there."""
        work = self._work_in(share)
        await work.claim()
        while True:
            stream = await self._open_log()
            known = await self._up_to_date(stream, share, work)
            shard = share.name.shard
            position = known.get(shard) if label_of(stream) == share.name.stream else None
            if position is None or position.finished:
                break
            parent = stream.parents.get(shard)
            before = known.get(parent) if parent in stream.parents else None
            if before is None or before.finished:
                position = await self.positions.claim(shard, share)
                # Until now, the former owner could still begin work.
                await work.claim()
                await HandingOver(self, share, stream, position, work).run()
            elif not await work.turn():
                await asyncio.sleep(self.idle_seconds)
        while (seconds := work.seconds) is not None:
            if not await work.turn():
                await asyncio.sleep(seconds)

    def measure(self) -> None:
        """Set the metrics of this consumer."""
        since = min(self.handling.values(), default=None)
        CONSUMER_LAG_SECONDS.set(0.0 if since is None else max(0.0, self.clock() - since), self.name)

    async def parked(self) -> list[dict[str, Any]]:
        """The parked records, each with its Error, Record and time (At), in wire form."""
        return await self.positions.parked()

    async def handled(self, record: Record) -> Handled:
        """What is left to do after the handler had the record."""
        result = await self.handle(record)
        return result if isinstance(result, Handled) else Handled(result or ())

    def may_have_lost(self, position: ShardPosition) -> bool:
        """Whether records after the last one read may have been trimmed by now."""
        return self.clock() - position.read_at > SURELY_KEPT_SECONDS

    async def report(self, why: str, *, expected: bool = False) -> Work[Any] | None:
        """Have what may have been missed made up for; returns the work that is left to do, if it is long."""
        lost = PositionLost(self.name, self.table, why)
        log.log(logging.INFO if expected else logging.ERROR, "%s", lost)
        if self.lost is None:
            raise lost
        rebuild = self.lost
        return await _persistently(lambda: rebuild(lost))

    def _work_in(self, share: OwnedShard) -> LongWork:
        name = f"{share.name.stream}#{share.name.shard}"
        return LongWork(self._long_work, name, share, self.attempts, self.clock)

    # --- the whole stream ---------------------------------------------------------------------------------------------

    async def _up_to_date(self, stream: Log, share: OwnedShard, work: LongWork) -> dict[str, ShardPosition]:
        """A position for every shard, after reporting what the log has lost."""
        async with self._one_at_a_time:
            change = await self._change_of(stream)
            if not change.nothing:
                lease = share.lease(f"CONSUMER#{self.name}")
                await lease.run(lambda: self._follow_change(stream, lease, work))
                change = await self._change_of(stream)
            return change.known

    async def _change_of(self, stream: Log) -> StreamChange:
        """What is to be done because the stream's shards are others than before."""
        previous = await self.positions.stream()
        known = await self.positions.known(stream.arn)
        # After the positions: those that another process has created since are of shards that we see.
        await stream.look_at_shards()
        shards = stream.parents
        lost = None
        if is_moved(previous) or (previous is None and self.begin is None and await self.positions.were_moved()):
            lost = "the table was moved here, and what was unread was left behind"
        elif previous is not None and previous != stream.arn:
            lost = "the table has a new stream, and nothing was logged between the two"
        elif previous is not None:
            gone = [shard for shard, position in known.items() if shard not in shards and not position.finished]
            skipped = [
                shard
                for shard, parent in shards.items()
                if shard not in known and parent is not None and parent not in shards and parent not in known
            ]
            if gone or skipped:
                why = f"trimmed with unread records {gone}" if gone else f"trimmed before {skipped}"
                lost = f"shards were {why}"
        new = [shard for shard in shards if shard not in known]
        trimmed = [shard for shard in known if shard not in shards]
        return StreamChange(
            known, previous is None, lost, new, trimmed, previous != stream.arn, moved=is_moved(previous)
        )

    async def _follow_change(self, stream: Log, lease: Lease, work: LongWork) -> None:
        change = await self._change_of(stream)
        begun: list[Begun] = []
        left: Work[Any] | None = None
        if change.never_ran and self.begin is not None:
            left = await _persistently(self.begin)
        elif change.lost is not None:
            left = await self.report(change.lost, expected=change.moved or change.never_ran)
        if left is not None:
            begun = [Begun(left, None)]
            await self.positions.write(lease, [work.saving(each) for each in begun])
        if change.moved:
            # Before the stream is registered, or a crash in between would leave it undone.
            await work.claim_moved()
        if change.new or change.other_stream:
            await self.positions.register(stream.arn, change.new, self.clock(), lease)
        if change.trimmed:
            await self.positions.forget(change.trimmed, lease)
        work.remember(begun)

    async def _open_log(self) -> Log:
        stream = await open_log(self.engine, self.table, patient=True, although_disabled=True)
        if stream is None:
            raise DynamoError("ValidationException", f"the table {self.table} has no stream for {self.name} to read")
        return stream


async def _persistently(rebuild: Callable[[], Awaitable[Work[Any] | None]]) -> Work[Any] | None:
    """Run it to completion, repeating it after transient failures."""
    pauses = Backoff()
    while True:
        try:
            return await rebuild()
        except Exception as error:
            if not passes(error):
                raise
        await pauses.wait()


def _everything(record: Record) -> bool:
    return True
