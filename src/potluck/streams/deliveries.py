"""Consumers whose records are delivered in batches, as Lambda delivers a stream to a function.

The event source keeps the position, so there is no lease, and no shard is read here. It delivers in order within a
partition key, and again from the first record that was reported as not handled, or the whole batch if nothing was
reported.

**Once, or at least once**, as with `RecordConsumer`: what a handler returns is committed in one transaction with a mark
that says that this consumer has handled this record. If the record is delivered again, the mark refuses the
transaction. Marks expire when the stream no longer has the record. A handler that returns nothing may get it again.

**A record that cannot be handled** is parked after the same number of attempts, in the same rows. After a transient
failure the record is reported, and delivered again.

**Long work** is saved in the transaction of the mark, and `carry_on` goes on with it, on a schedule.
"""

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from potluck.dynamo.limits import STREAM_RETENTION_SECONDS
from potluck.engines import DynamoError
from potluck.store import Store
from potluck.streams.backoff import Backoff
from potluck.streams.consumer import Consumer, Rebuild, encoded, rebuilding
from potluck.streams.failures import ATTEMPTS, parked, passes
from potluck.streams.leases import EXPIRES, Deposed, Lease, WorkTable
from potluck.streams.log import call_with_retry
from potluck.streams.long_work import LongWork, LongWorkRows
from potluck.streams.moved_rows import is_moved, moved_key
from potluck.streams.positions import Action
from potluck.streams.records import Record
from potluck.table.errors import OutcomeUnknown, Unavailable

# Long work that began in no shard of ours.
DELIVERED = "DELIVERED"
# Longer than one call carries on, so that it needs no renewal.
CARRYING_ON_SECONDS = 60.0
MOST_SECONDS = 40.0
AT_ONCE_SECONDS = 2.0

# Until no event source can deliver the record again.
MARK_SECONDS = 2 * STREAM_RETENTION_SECONDS

log = logging.getLogger(__name__)


class DeliveredConsumer:
    """One consumer that is given its records."""

    def __init__(
        self,
        consumer: Consumer,
        store: Store,
        work_table: WorkTable | None = None,
        *,
        attempts: int = ATTEMPTS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.consumer = consumer
        self._store = store
        self._table = work_table or WorkTable()
        self._attempts = attempts
        self._clock = clock
        self._partition = f"CONSUMER#{consumer.name}"
        self._prepared: str | None = None
        self._began = False
        """Whether there is new long work since the last time that any was done."""
        patiently = partial(call_with_retry, store.engine)
        self._rows = LongWorkRows(
            store.engine, self._table, consumer.name, [*consumer.steps.values()], partial(encoded, store), patiently
        )
        self._lease = Lease(store.engine, f"STEPS#{consumer.name}", self._table, seconds=CARRYING_ON_SECONDS)
        self._work = LongWork(self._rows, DELIVERED, self._lease, attempts, clock)

    async def handle(self, arn: str, records: Sequence[Record]) -> int | None:
        """Handle the records of this stream in order; the index of the first that has to be delivered again, if any."""
        try:
            await self._prepare(arn)
        except Exception as error:
            if not passes(error):
                raise
            log.warning("%s: cannot begin yet: %r", self.consumer.name, error)
            return 0
        try:
            return await self._handle_all(arn, records)
        finally:
            if self._began:
                # Little work is done at once; the schedule goes on with the rest.
                self._began = False
                with contextlib.suppress(DynamoError, Unavailable, OutcomeUnknown):
                    await self.carry_on(AT_ONCE_SECONDS)

    async def _handle_all(self, arn: str, records: Sequence[Record]) -> int | None:
        for index, record in enumerate(records):
            if not self.consumer.concerns(record):
                continue
            try:
                await self._handle(arn, record)
            except Exception as error:
                if not passes(error):
                    raise
                log.warning("%s: %s has to wait: %r", self.consumer.name, record.sequence_number, error)
                return index
        return None

    async def rebuild(self) -> None:
        """Make up for records that were never delivered."""
        await self._rebuild(self.consumer.lost)

    async def _rebuild(self, rebuild: Rebuild | None) -> None:
        work = await rebuilding(rebuild)
        if work is not None:
            actions, _ = await self._work.begin([work])
            for action in actions:
                await call_with_retry(self._store.engine, "TransactWriteItems", {"TransactItems": [action]})

    async def carry_on(self, seconds: float = MOST_SECONDS) -> bool:
        """Do steps of long work for so long, unless another does; whether nothing is left of what was saved before."""
        if not await self._rows.any():
            return True
        if not await self._lease.try_acquire():
            return False
        until = time.monotonic() + min(seconds, MOST_SECONDS)
        try:
            await self._work.claim_moved()
            await self._work.claim()
            while self._work and time.monotonic() < until:
                if not await self._work.turn():
                    break
            return not self._work
        except Deposed:
            return False
        finally:
            self._work.forget()
            await self._lease.release()

    async def _prepare(self, arn: str) -> None:
        """Before the first record, build what is older than the stream; after a new stream, what was lost between."""
        if self._prepared == arn:
            return
        key = self._table.key(self._partition, "STREAM")
        row = (await self._call("GetItem", {"Key": key, "ConsistentRead": True})).get("Item")
        previous = None if row is None else row["StreamArn"]["S"]
        if previous is None and self.consumer.begin is not None:
            await self._rebuild(self.consumer.begin)
        elif is_moved(previous) or (previous is None and await self._were_moved()):
            log.info("%s: the table was moved here, and what was unread was left behind", self.consumer.name)
            await self.rebuild()
        elif previous is not None and previous != arn:
            log.error("%s: the table has a new stream, and nothing was logged between the two", self.consumer.name)
            await self.rebuild()
        if previous != arn:
            await self._call("PutItem", {"Item": key | {"StreamArn": {"S": arn}}})
        self._prepared = arn

    async def _were_moved(self) -> bool:
        return "Item" in await self._call("GetItem", {"Key": moved_key(self._table), "ConsistentRead": True})

    async def _handle(self, arn: str, record: Record) -> None:
        """Handle one record, with retries; afterwards it is done, or parked."""
        failures = 0
        pauses = Backoff()
        while True:
            try:
                actions, works = await self.consumer.handle(self._store, record)
                begun_actions, _ = await self._work.begin(works)
                if actions := [*actions, *begun_actions]:
                    await self._commit(arn, record, actions)
                self._began = self._began or bool(works and begun_actions)
                return
            except Exception as error:
                if passes(error):
                    raise
                failures += 1
                if failures >= self._attempts:
                    log.exception("%s: parked %s of %s", self.consumer.name, record.sequence_number, record.table)
                    await self._commit(arn, record, [self._parking(arn, record, error)])
                    return
                log.warning(
                    "%s: attempt %d of %s failed: %r", self.consumer.name, failures, record.sequence_number, error
                )
            await pauses.wait()

    async def _commit(self, arn: str, record: Record, actions: Sequence[Action]) -> None:
        """Apply the actions, unless an earlier delivery of the record has."""
        mark = {
            "Put": {
                "TableName": self._table.table,
                "Item": self._table.key(self._partition, f"HANDLED#{_label(arn)}#{record.sequence_number}")
                | {EXPIRES: {"N": str(int(self._clock()) + MARK_SECONDS)}},
                "ConditionExpression": "attribute_not_exists(#partition)",
                "ExpressionAttributeNames": {"#partition": self._table.partition_key},
            }
        }
        request = {"TransactItems": [mark, *actions], "ClientRequestToken": str(uuid.uuid4())}
        try:
            await call_with_retry(self._store.engine, "TransactWriteItems", request)
        except DynamoError as error:
            if not error.reasons or error.reasons[0].get("Code") != "ConditionalCheckFailed":
                raise
            log.info("%s: %s was handled before", self.consumer.name, record.sequence_number)

    def _parking(self, arn: str, record: Record, error: Exception) -> Action:
        key = self._table.key(self._partition, f"PARKED#{_label(arn)}#{record.sequence_number}")
        return {"Put": {"TableName": self._table.table, "Item": key | parked(record, error, self._clock())}}

    async def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await call_with_retry(self._store.engine, operation, {"TableName": self._table.table, **request})


def _label(arn: str) -> str:
    return arn.rpartition("/")[2]
