"""Hands the records of one shard to one consumer, and does steps of its long work when it has no record to handle."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from potluck.engines import DynamoError
from potluck.engines.transient import is_transient
from potluck.metrics import CONSUMER_FAILURES, CONSUMER_PARKED
from potluck.streams.backoff import SHORTEST_PAUSE, Backoff
from potluck.streams.failures import parked, passes
from potluck.streams.leases import Deposed
from potluck.streams.log import Log, Trimmed
from potluck.streams.long_work import LongWork
from potluck.streams.positions import ShardPosition
from potluck.streams.records import Concerns, Record
from potluck.streams.shares import OwnedShard

if TYPE_CHECKING:
    from potluck.streams.record_consumer import RecordConsumer

# An idle position is saved too, because its age tells whether records may have been lost.
IDLE_SAVE_SECONDS = 3600.0
# How long, and how many records, a position may pass over before it is saved.
PASSED_OVER_SAVE_SECONDS = 60.0
PASSED_OVER_SAVE_RECORDS = 1000
LAST_SAVE_SECONDS = 1.0
# With steps to do, the log is read this often where nothing else says that there are records.
LOOK_BETWEEN_STEPS_SECONDS = 0.5
# While records keep coming, one step of long work is done after this many.
RECORDS_PER_STEP = 1000


class Subscribed(Protocol):
    """A subscription of one consumer to a shard that another reader reads."""

    ended: bool
    read_to: str | None
    passed_over: int

    async def next(self, seconds: float) -> list[Record]: ...

    def end(self) -> None: ...


Following = Callable[[str, str, str | None, Concerns], Subscribed | None]
"""Subscribes to the records after a position, by table and shard; None if they have to be read from the log."""


class HandingOver:
    """One consumer's reading of one shard, while the shard is ours."""

    def __init__(
        self, consumer: "RecordConsumer", share: OwnedShard, stream: Log, position: ShardPosition, work: LongWork
    ) -> None:
        self._consumer = consumer
        self._share = share
        self._stream = stream
        self._position = position
        self._work = work
        self._handled_since_step = 0

    async def run(self) -> None:
        """Hand over the shard's records from the position to the shard's end, or until the shard is gone."""
        try:
            await self._read()
        except asyncio.CancelledError:
            if self._position.passed_to is not None:
                await self._save_at_the_end(self._position.passed_to, self._consumer.clock())
            raise
        finally:
            self._consumer.failing.forget()
            self._consumer.parking.forget()

    async def _read(self) -> None:
        consumer, position, shard = self._consumer, self._position, self._share.name.shard
        if position.sequence_number is None and consumer.may_have_lost(position):
            age = consumer.clock() - position.read_at
            await self._restart(f"shard {shard} was not read for {age:.0f} seconds")
        reader = self._stream.read(shard, _number(position.read_to), consumer.page_records)
        while True:
            asked_at = consumer.clock()
            try:
                page = await reader.page()
            except Trimmed as trimmed:
                if not await self._recovers(trimmed):
                    return
                reader.seek(_number(position.read_to))
                continue
            records = page.records
            await self._hand_over([record for record in records if consumer.concerns(record)], asked_at)
            if records:
                _skip(position, records[-1].sequence_number, len(records))
            if page.ended:
                await consumer.positions.save(position, position.read_to, asked_at, finished=True)
                return
            await self._save_if_due(asked_at)
            if not records:
                follow = consumer.follow
                subscription = follow and follow(consumer.table, shard, position.read_to, consumer.concerns)
                if subscription is None:
                    await self._wait()
                else:
                    await self._consume_subscription(subscription)
                    reader.seek(_number(position.read_to))

    async def _restart(self, lost: str) -> None:
        """Have what was lost made up for, and read the shard from the start of what the log still holds."""
        left = await self._consumer.report(lost)
        if left is not None:
            actions, begun = await self._work.begin([left])
            await self._consumer.positions.write(self._share, actions)
            self._work.remember(begun)
        await self._consumer.positions.restart(self._position, self._consumer.clock())

    async def _recovers(self, trimmed: Trimmed) -> bool:
        """Make up for what the log no longer has; False if the shard itself is gone."""
        consumer, position = self._consumer, self._position
        if trimmed.never_there:
            raise trimmed.error
        if trimmed.shard_gone:
            # The shard or the table is gone; looking up the shards again shows which.
            await asyncio.sleep(consumer.idle_seconds)
            return False
        if position.read_to is None and not consumer.may_have_lost(position):
            # Too soon for anything to have been trimmed; DynamoDB Local reports this for a new shard at times.
            await asyncio.sleep(SHORTEST_PAUSE)
            return True
        await self._restart(f"shard {position.shard} is trimmed after {position.read_to}")
        return True

    async def _consume_subscription(self, subscription: Subscribed) -> None:
        """Handle the records that the process's reader supplies, until the log has to be read again."""
        position = self._position
        try:
            while True:
                seconds = self._work.seconds
                wait = PASSED_OVER_SAVE_SECONDS if seconds is None else min(seconds, PASSED_OVER_SAVE_SECONDS)
                records = await subscription.next(wait)
                if subscription.ended:
                    return
                now, read_to, passed_over = self._consumer.clock(), subscription.read_to, subscription.passed_over
                subscription.passed_over = 0
                await self._hand_over(records, now)
                if read_to is not None:
                    _skip(position, read_to, passed_over)
                await self._save_if_due(now)
                if not records:
                    await self._do_a_step()
        finally:
            subscription.end()

    async def _wait(self) -> None:
        """Wait at the log's end until there may be more in it; steps of long work are done meanwhile."""
        until = time.monotonic() + LOOK_BETWEEN_STEPS_SECONDS
        while self._work.seconds == 0:
            await self._do_a_step()
            if time.monotonic() >= until:
                return
        idle = self._consumer.idle_seconds
        seconds = self._work.seconds
        try:
            await self._consumer.engine.changed(self._consumer.table, idle if seconds is None else min(idle, seconds))
        except DynamoError as error:
            if not is_transient(error):
                raise
            await asyncio.sleep(idle)

    async def _do_a_step(self) -> None:
        self._handled_since_step = 0
        await self._work.turn()

    async def _save_if_due(self, now: float) -> None:
        """Save a position that only passed over records, or was idle for long."""
        position = self._position
        age = now - position.read_at
        passed = position.passed_over >= PASSED_OVER_SAVE_RECORDS or (
            position.passed_to is not None and age >= PASSED_OVER_SAVE_SECONDS
        )
        if passed or age > IDLE_SAVE_SECONDS:
            await self._consumer.positions.save(position, position.read_to, now)

    # --- records ------------------------------------------------------------------------------------------------------

    async def _hand_over(self, records: list[Record], asked_at: float) -> None:
        unsaved: str | None = None
        handling, shard = self._consumer.handling, self._share.name.shard
        try:
            for record in records:
                handling[shard] = record.created_at
                saved = await self._handled(record, asked_at)
                unsaved = None if saved else record.sequence_number
                self._handled_since_step += 1
                if self._handled_since_step >= RECORDS_PER_STEP:
                    await self._do_a_step()
        except asyncio.CancelledError:
            if unsaved is not None:
                await self._save_at_the_end(unsaved, asked_at)
            raise
        finally:
            handling.pop(shard, None)
        if unsaved is not None:
            await self._consumer.positions.save(self._position, unsaved, asked_at)

    async def _save_at_the_end(self, to: str, now: float) -> None:
        # A worker that stops saves its position, if the store answers promptly, to spare its successor the repetition.
        with contextlib.suppress(TimeoutError, DynamoError, Deposed):
            async with asyncio.timeout(LAST_SAVE_SECONDS):
                await self._consumer.positions.save(self._position, to, now)

    async def _handled(self, record: Record, asked_at: float) -> bool:
        """Handle one record, with retries; returns whether the position was saved with it."""
        consumer = self._consumer
        failures = 0
        pauses = Backoff()
        while True:
            if not self._share.held:
                raise Deposed(consumer.name)
            try:
                handled = await consumer.handled(record)
                begun_actions, begun = await self._work.begin(handled.works)
                actions = [*handled.actions, *begun_actions]
                if actions:
                    await consumer.positions.advance(self._position, record.sequence_number, asked_at, actions)
                self._work.remember(begun)
                consumer.failing.over()
                consumer.parking.over()
                return bool(actions)
            except Deposed:
                raise
            except Exception as error:
                if not passes(error):
                    failures += 1
                    CONSUMER_FAILURES.add(consumer.name)
                    if failures >= consumer.attempts:
                        if not consumer.park:
                            raise
                        consumer.parking.met(error)
                        await self._give_up(record, asked_at, error)
                        CONSUMER_PARKED.add(consumer.name)
                        consumer.failing.forget()
                        return True
                    consumer.failing.met(error)
            await pauses.wait()

    async def _give_up(self, record: Record, asked_at: float, error: Exception) -> None:
        positions = self._consumer.positions
        parking = positions.parking(record.sequence_number, parked(record, error, self._consumer.clock()))
        await positions.advance(self._position, record.sequence_number, asked_at, [parking])


def _skip(position: ShardPosition, to: str, count: int) -> None:
    """Move past records that were handled or do not concern us; the position is saved later."""
    if to != position.sequence_number:
        position.passed_to, position.passed_over = to, position.passed_over + count


def _number(sequence_number: str | None) -> int | None:
    return None if sequence_number is None else int(sequence_number)
