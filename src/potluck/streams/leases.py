"""One owner for background work, whatever the number of workers.

A lease is a row that its owner changes every second. Another worker may take it when it has *seen no change* for
`LEASE_SECONDS` of its own monotonic clock: the clocks of two machines are never compared. The owner in turn stops
believing in its lease `LEASE_SECONDS` after it began its last successful renewal, which is before anyone may take it.
A worker that was stalled may still act a moment too late, so whatever the owner writes should be conditional on the
lease: `Lease.check()` is an action for the transaction.
"""

import asyncio
import contextlib
import logging
import os
import random
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from potluck.engines import DynamoError, Engine
from potluck.engines.transient import is_transient
from potluck.store.sending import Patience, Sender
from potluck.store.table_creation import create_table
from potluck.table import Table

# From dead owner to new owner, at worst: a look interval before the last renewal is noticed, the lease itself, another
# look interval, and the write that takes it: a little over 4 seconds.
LEASE_SECONDS = 3.0
RENEW_SECONDS = 1.0
LOOK_SECONDS = 0.5
RELEASE_SECONDS = 1.0
# Longer than a stopping consumer takes to save its position.
CANCEL_AGAIN_SECONDS = 3.0
SHORTEST_MARGIN_SECONDS = 2.0

# The attribute by which rows expire that are needed only for a while.
EXPIRES = "ExpiresAt"

log = logging.getLogger(__name__)


async def cancelled(*tasks: asyncio.Future[None]) -> None:
    """Cancel the tasks, repeatedly if need be, and wait for all of them."""
    try:
        while running := [task for task in tasks if not task.done()]:
            for task in running:
                task.cancel()
            # Up to Python 3.11, `wait_for` swallows a cancellation that arrives together with its result.
            await asyncio.wait(running, timeout=CANCEL_AGAIN_SECONDS)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise


class Deposed(Exception):
    """Another worker owns the lease now; nothing was written."""


@dataclass(frozen=True)
class WorkTable:
    """The table that holds leases and positions, and the names of its two key attributes."""

    table: str = "BackgroundWork"
    partition_key: str = "PK"
    sort_key: str = "SK"

    def key(self, partition: str, sort: str) -> dict[str, Any]:
        return {self.partition_key: {"S": partition}, self.sort_key: {"S": sort}}

    @property
    def design(self) -> Table:
        """The table as it is created; nothing follows it, so it has no stream."""
        return Table(self.table, self.partition_key, self.sort_key, ttl=EXPIRES, stream=False)

    async def create_if_missing(self, engine: Engine) -> None:
        """Create the table unless it exists; it is ready when this returns."""
        await create_table(Sender(engine, Patience()), self.design)


class Ownership(Protocol):
    """What fences writes: the row that names an owner, and the belief of this process to be it."""

    @property
    def owner(self) -> str | None: ...
    @property
    def held(self) -> bool:
        """Whether we certainly own it, by our own clock."""
        ...

    def check(self) -> dict[str, Any]:
        """The action that cancels a transaction when another owns it."""
        ...


class LeaseTerms(NamedTuple):
    """How long a lease lasts, how often it is renewed, and how often other workers check that."""

    seconds: float = LEASE_SECONDS
    renew_every: float = RENEW_SECONDS
    look_every: float = LOOK_SECONDS

    @classmethod
    def for_takeover_within(cls, seconds: float) -> "LeaseTerms":
        """The fewest renewals with which a dead owner is replaced in time, leaving room to retry a failed one."""
        lasts = 0.7 * seconds
        return cls(lasts, lasts - max(SHORTEST_MARGIN_SECONDS, 0.18 * seconds), 0.1 * seconds)


class Lease:
    """The right to do one named task, held by at most one worker at a time."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        work_table: WorkTable | None = None,
        *,
        seconds: float = LEASE_SECONDS,
        renew_every: float = RENEW_SECONDS,
        look_every: float = LOOK_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.engine = engine
        self.name = name
        self.work_table = work_table or WorkTable()
        self.owner: str | None = None  # a new id each time the lease is taken, so that no two terms are confused
        self._seconds = seconds
        self._renew_every = renew_every
        self._look_every = look_every
        self._monotonic = monotonic
        self._valid_until = float("-inf")
        self._seen: tuple[str | None, str] | None = None
        self._seen_at = float("-inf")
        self._reached_for_as: str | None = None

    @property
    def held(self) -> bool:
        """Whether the lease is certainly ours, by our own clock."""
        return self.owner is not None and self._monotonic() < self._valid_until

    @property
    def key(self) -> dict[str, Any]:
        return self.work_table.key(f"LEASE#{self.name}", "LEASE")

    def check(self) -> dict[str, Any]:
        """The action that cancels a transaction when the lease is no longer ours."""
        if self.owner is None:
            raise Deposed(self.name)
        return {
            "ConditionCheck": {
                "TableName": self.work_table.table,
                "Key": self.key,
                "ConditionExpression": "#owner = :owner",
                "ExpressionAttributeNames": {"#owner": "Owner"},
                "ExpressionAttributeValues": {":owner": {"S": self.owner}},
            }
        }

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work whenever the lease is ours, restarting it after each loss, until it returns or fails."""
        await self.work_table.create_if_missing(self.engine)
        while True:
            await self.acquire()
            log.info("%s: the lease is ours as %s", self.name, self.owner)
            if await self._work_while_held(work):
                return

    async def acquire(self) -> None:
        """Wait until the lease is ours."""
        while True:
            try:
                with contextlib.suppress(Deposed):
                    if await self.try_acquire():
                        return
            except DynamoError as error:
                if not is_transient(error):
                    raise
            # Jitter, or all waiting workers would try to take it at the same moment.
            await asyncio.sleep(self._look_every * random.uniform(0.8, 1.0))

    async def try_acquire(self) -> bool:
        """Look once, and take the lease if it is free or has not been renewed for long enough."""
        row = (await self._call("GetItem", {"Key": self.key, "ConsistentRead": True})).get("Item", {})
        seen = (row.get("Owner", {}).get("S"), row.get("Renewals", {}).get("N", "0"))
        now = self._monotonic()
        if seen != self._seen:
            self._seen, self._seen_at = seen, now
        if seen[0] is not None and seen[0] == self._reached_for_as:
            # We took it, but the answer was lost. Others may have seen it since, so our term starts with a renewal.
            self.owner, self._reached_for_as = seen[0], None
            await self.renew()
            return True
        if seen[0] is not None and now - self._seen_at < self._seconds:
            return False
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self._reached_for_as = owner
        unchanged = "attribute_not_exists(#owner)" if seen[0] is None else "#owner = :seen AND #renewals = :renewals"
        values = {":owner": {"S": owner}, ":zero": {"N": "0"}, ":one": {"N": "1"}}
        if seen[0] is not None:
            values |= {":seen": {"S": seen[0]}, ":renewals": {"N": seen[1]}}
        try:
            await self._update(
                "SET #owner = :owner, #renewals = if_not_exists(#renewals, :zero) + :one", unchanged, values
            )
        except DynamoError as error:
            if error.code == "ConditionalCheckFailedException":
                return False
            raise
        self.owner, self._reached_for_as = owner, None
        self._valid_until = now + self._seconds
        return True

    async def renew(self) -> None:
        """Renew the lease; Deposed if another worker holds it."""
        if self.owner is None:
            raise Deposed(self.name)
        now = self._monotonic()
        values = {":owner": {"S": self.owner}, ":one": {"N": "1"}}
        try:
            await self._update("SET #renewals = #renewals + :one", "#owner = :owner", values)
        except DynamoError as error:
            if error.code == "ConditionalCheckFailedException":
                self._lose()
                raise Deposed(self.name) from error
            raise
        self._valid_until = now + self._seconds

    async def release(self) -> None:
        """Give up the lease, so that another worker need not wait for it to expire."""
        if self.owner is None:
            return
        owner = self.owner
        self._lose()
        with contextlib.suppress(DynamoError):
            await self._call(
                "UpdateItem",
                {
                    "Key": self.key,
                    "UpdateExpression": "REMOVE #owner",
                    "ConditionExpression": "#owner = :owner",
                    "ExpressionAttributeNames": {"#owner": "Owner"},
                    "ExpressionAttributeValues": {":owner": {"S": owner}},
                },
            )

    def _lose(self) -> None:
        self.owner = None
        self._valid_until = float("-inf")

    async def _work_while_held(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Whether the work finished; False if the lease was lost meanwhile."""
        working = asyncio.ensure_future(work())
        renewing = asyncio.ensure_future(self._keep_renewing())
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # The caller may cancel again during shutdown; the lease is released all the same.
            ending = asyncio.ensure_future(self._end(working, renewing))
            cancelled: asyncio.CancelledError | None = None
            while not ending.done():
                try:
                    await asyncio.wait({ending})
                except asyncio.CancelledError as again:
                    cancelled = again
            ending.result()
            if cancelled is not None:
                raise cancelled
        for task in (working, renewing):
            if not task.cancelled() and (failure := task.exception()) is not None and not _is_deposed(failure):
                raise failure
        if working.cancelled() or working.exception() is not None:
            log.warning("%s: the lease was lost", self.name)
            self._lose()
            return False
        return True

    async def _end(self, working: asyncio.Future[None], renewing: asyncio.Future[None]) -> None:
        """Stop both tasks, and release the lease unless it was lost."""
        lost = renewing.done() and not working.done()
        # A cancelled handler may take its time to stop; until it has, nothing else starts here.
        await cancelled(working, renewing)
        if not lost:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RELEASE_SECONDS):
                    await self.release()

    async def _keep_renewing(self) -> None:
        """Renew the lease until it is lost."""
        while self.held:
            await asyncio.sleep(min(self._renew_every, max(0.0, self._valid_until - self._monotonic())))
            while self.held:
                try:
                    # An answer after the lease has expired is useless.
                    async with asyncio.timeout(max(0.0, self._valid_until - self._monotonic())):
                        await self.renew()
                    break
                except (TimeoutError, Deposed):
                    return
                except DynamoError as error:
                    if not is_transient(error):
                        raise
                    await asyncio.sleep(self._look_every / 5)

    async def _update(self, update: str, condition: str, values: dict[str, Any]) -> None:
        await self._call(
            "UpdateItem",
            {
                "Key": self.key,
                "UpdateExpression": update,
                "ConditionExpression": condition,
                "ExpressionAttributeNames": {"#owner": "Owner", "#renewals": "Renewals"},
                "ExpressionAttributeValues": values,
            },
        )

    async def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await self.engine.call(operation, {"TableName": self.work_table.table, **request})


def _is_deposed(failure: BaseException) -> bool:
    # Work in a TaskGroup fails with an exception group.
    if isinstance(failure, BaseExceptionGroup):
        return failure.split(Deposed)[1] is None
    return isinstance(failure, Deposed)
