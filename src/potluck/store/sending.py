"""Sending a request with retries until its outcome is known; OutcomeUnknown where it cannot be."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from potluck.engines import FULL, DynamoError, Engine
from potluck.engines.transient import MAYBE_EXECUTED, NOT_EXECUTED, is_transient_cancellation
from potluck.metrics import GAVE_UP, RETRIES
from potluck.table.errors import Changed, ConditionFailed, NoSpace, OutcomeUnknown, Unavailable, VersionConflict
from potluck.table.operations import Operation, explain_failure
from potluck.table.tables import Request

Send = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

READS = frozenset(
    {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "DescribeTable", "DescribeTimeToLive"}
)
# Refusals that an earlier attempt of the same write may have caused, if its answer was lost.
UNSETTLED = (VersionConflict, Changed, ConditionFailed)


@dataclass(frozen=True, slots=True)
class Patience:
    """The retry policy of a store: how many attempts, and how long it waits between them."""

    attempts: int = 12
    first_wait: float = 0.01
    longest_wait: float = 1.0

    def wait(self, attempt: int) -> float:
        """Exponential backoff with full jitter, so that colliding writers do not collide again."""
        return random.uniform(0, min(self.longest_wait, self.first_wait * 2**attempt))


class _Tries:
    """The attempts at one request so far."""

    def __init__(self, what: str, patience: Patience) -> None:
        self.what = what
        self.patience = patience
        self.attempt = 0
        self.lost = False  # an attempt may have been executed without our knowing

    async def wait_after(self, error: DynamoError) -> None:
        """Back off before the next attempt, or give up: OutcomeUnknown if something may have been written."""
        if error.code == FULL:
            # Retrying in a few seconds would hardly find more room.
            raise NoSpace(f"{self.what}: {error.message}") from error
        self.attempt += 1
        if self.attempt >= self.patience.attempts:
            GAVE_UP.add(_met(error))
            ended = OutcomeUnknown if self.lost else Unavailable
            raise ended(f"{self.what}: {error.message}") from error
        RETRIES.add(_met(error))
        await asyncio.sleep(self.patience.wait(self.attempt))


def _met(error: DynamoError) -> str:
    """The code of a transient failure; of a cancelled transaction, that of the reason."""
    codes = (str(reason.get("Code", "None")) for reason in error.reasons or ())
    return next((code for code in codes if code != "None"), error.code)


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests to an engine, with retries."""

    engine: Engine
    patience: Patience

    async def repeat(self, request: Request) -> dict[str, Any]:
        """Send a request that is safe to repeat, until it is answered."""
        tries: _Tries | None = None
        while True:
            try:
                return await self.engine.call(request.operation, request.body)
            except DynamoError as error:
                tries = tries or _Tries(request.operation, self.patience)
                if error.code in MAYBE_EXECUTED:
                    tries.lost = tries.lost or request.operation not in READS
                elif error.code not in NOT_EXECUTED and not is_transient_cancellation(error):
                    raise
                await tries.wait_after(error)

    async def after_batch(self, attempt: int, *, nothing_done: bool, some_left: bool) -> int:
        """Back off if part of a batch was left unprocessed; give up only if all of it keeps being."""
        if not some_left:
            return 0
        attempt = attempt + 1 if nothing_done else 1
        if attempt >= self.patience.attempts:
            raise Unavailable("the engine is too busy: a batch was left undone again and again")
        await asyncio.sleep(self.patience.wait(attempt))
        return attempt

    async def write(self, operation: Operation, request: Request, now: int, recognise: bool) -> dict[str, Any]:
        """Send a write until its outcome is known.

        With `recognise`, an item that looks like the result counts as our own write, whose answer was lost.
        """
        tries = _Tries(operation.name, self.patience)
        while True:
            try:
                return await self.engine.call(request.operation, request.body)
            except DynamoError as error:
                if error.code == "ConditionalCheckFailedException":
                    refusal = explain_failure(operation, error, now)
                    if tries.lost and error.item is not None:
                        if recognise and operation.settled_by(error.item):
                            # The condition failed on our own write, whose answer was lost.
                            return {"Attributes": error.item}
                        if isinstance(refusal, UNSETTLED) and not operation.ruled_out_by(error.item):
                            raise OutcomeUnknown(f"{operation.name}: {refusal}, perhaps by this write") from refusal
                    raise refusal from None
                if error.code in MAYBE_EXECUTED:
                    if not operation.repeatable:
                        raise OutcomeUnknown(f"{operation.name}: {error.message}") from error
                    tries.lost = True
                elif error.code not in NOT_EXECUTED:
                    raise
                await tries.wait_after(error)

    async def transact(
        self,
        request: Request,
        explain: Callable[[DynamoError], Exception],
        send: Send | None = None,
        contended: Callable[[DynamoError], Exception | None] | None = None,
    ) -> dict[str, Any]:
        """Send a transaction until its outcome is known; its token makes retries safe. `send` is a faster call.

        After a conflict with another transaction, the exception that `contended` makes of it is raised, if any.
        """
        tries: _Tries | None = None
        while True:
            try:
                if send is not None:
                    return await send(request.body)
                return await self.engine.call(request.operation, request.body)
            except DynamoError as error:
                tries = tries or _Tries("transaction", self.patience)
                if error.code in MAYBE_EXECUTED:
                    tries.lost = True
                elif is_transient_cancellation(error):
                    # If an earlier attempt may have been executed, only this same request can find out.
                    elsewhere = None if contended is None or tries.lost else contended(error)
                    if elsewhere is not None:
                        raise elsewhere from None
                elif error.code == "TransactionCanceledException":
                    raise explain(error) from None
                elif error.code not in NOT_EXECUTED:
                    raise
                await tries.wait_after(error)
