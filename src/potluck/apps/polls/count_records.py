"""Finished counts: stored as records, and renewed when votes have come in since and a recount is due.

A record names the votes' version it was counted at: the sum over the shards, one of which every vote increments in its
own transaction. Shards only ever grow, so an equal sum later means that no vote came in between. The counts are read
between two reads of the shards. If those agree, and the counts add up to as many votes as the shards say, nothing was
written meanwhile and the record is complete; otherwise it names a version that is already outdated, and the next reader
renews it.
"""

import asyncio
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from potluck.apps.polls.counting import CountRecord, Ranking, Rules, as_bytes, count, from_bytes
from potluck.apps.polls.entities import MOST_BYTES_IN_RECORD_PART, Count, Poll, Record, Shard
from potluck.apps.polls.fields import Method
from potluck.store import Clock, Store
from potluck.table import Operation, WriteRefused, absent, check, delete, present, put, the

# A record in another format, or counted by other rules than today's, is ignored.
FORMAT = b"\x03"
SHORTEST_INTERVAL = timedelta(seconds=1)
# While votes come in, at most a twentieth of the time goes into counting.
INTERVAL_IN_COUNTS = 20
# Counting is CPU-bound: more at once would only slow each other down.
COUNTS_AT_ONCE = 2
# Decoding a page blocks the event loop, and a full one of a megabyte has ten thousand counts.
COUNTS_A_PAGE = 1_000
# A transaction takes 4 MB.
MOST_PARTS = 9

log = logging.getLogger(__name__)

Stopwatch = Callable[[], float]


@dataclass(frozen=True, slots=True)
class FinishedCount:
    """A record, the votes' version it was counted at, when, and how long counting took."""

    record: CountRecord
    votes_version: int
    counted_at: datetime
    counting: timedelta
    parts: int = 0

    @property
    def due(self) -> datetime:
        """The earliest time to count again while votes come in."""
        return self.counted_at + max(SHORTEST_INTERVAL, INTERVAL_IN_COUNTS * self.counting)


@dataclass(frozen=True, slots=True)
class AtVersion:
    """How many votes each ranking has, and at which version; incomplete if votes came in while it was read."""

    ballots: Mapping[Ranking, int]
    votes_version: int
    complete: bool


def version_of(shards: Iterable[Shard]) -> int:
    return sum(each.votes_version for each in shards)


def votes_of(shards: Iterable[Shard]) -> int:
    return sum(each.votes for each in shards)


def rules_of(poll: Poll, method: Method) -> Rules:
    return Rules(method=method, seats=poll.seats)


def counted(poll: Poll, method: Method, ballots: Mapping[Ranking, int]) -> CountRecord:
    """Counts the ballots. Deterministic: the same ballots give the same record, whenever and wherever."""
    return count(len(poll.candidates), ballots, rules_of(poll, method), poll.lot_order)


def stored_record(rows: Sequence[Record], method: Method) -> FinishedCount | None:
    """The record by this method in these rows; None if there is none, or parts of it are missing."""
    parts = sorted((each for each in rows if each.method == method), key=lambda each: each.part)
    if not parts:
        return None
    first = parts[0]
    parts = parts[: first.parts]
    of_one_count = {(each.parts, each.votes_version, each.counted_at, each.counting_milliseconds) for each in parts}
    if len(of_one_count) > 1 or [each.part for each in parts] != list(range(first.parts)):
        return None
    content = b"".join(each.content for each in parts)
    if not content.startswith(FORMAT):
        return None
    try:
        record = from_bytes(zlib.decompress(content[len(FORMAT) :]))
    except (zlib.error, msgspec.MsgspecError):
        log.exception("the stored record of poll %s by %s cannot be read", first.poll_id, method)
        return None
    took = timedelta(milliseconds=first.counting_milliseconds)
    return FinishedCount(record, first.votes_version, first.counted_at, took, first.parts)


class Records:
    """Counts polls and stores the records. One per process, so that concurrent readers share a running count."""

    def __init__(self, store: Store, clock: Clock, stopwatch: Stopwatch) -> None:
        self._store = store
        self._clock = clock
        self._stopwatch = stopwatch
        self._turns = asyncio.Semaphore(COUNTS_AT_ONCE)
        self._under_way: dict[tuple[UUID, Method], asyncio.Task[FinishedCount]] = {}

    def empty(self, poll: Poll, method: Method) -> FinishedCount:
        """The record of a poll in which nobody has ever voted; it is not stored."""
        return FinishedCount(counted(poll, method, {}), 0, self._clock(), timedelta())

    def renewal(self, poll: Poll, method: Method, parts_before: int = 0) -> asyncio.Task[FinishedCount]:
        """The running count, started now if there is none. It continues even if its waiters give up."""
        key = (poll.poll_id, method)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._renew(poll, method, parts_before), name=f"counting {poll.poll_id}")
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        return task

    def _ended(self, key: tuple[UUID, Method], task: asyncio.Task[FinishedCount]) -> None:
        del self._under_way[key]
        if not task.cancelled() and task.exception() is not None:
            log.warning("counting poll %s by %s failed: %r", *key, task.exception())

    async def ballots(self, poll_id: UUID) -> AtVersion:
        """Every ranking with its number of votes, read from the counts and never from the votes."""
        before = await self._store.all(Shard.of_poll(poll_id))
        ballots: dict[Ranking, int] = {}
        after: Mapping[str, Any] | None = None
        while True:
            page = await self._store.page(Count.of_poll(poll_id), COUNTS_A_PAGE, after)
            ballots.update((each.ranking, each.count) for each in page.items if each.count)
            after = page.next
            if after is None:
                break
        still = await self._store.all(Shard.of_poll(poll_id)) == before
        complete = still and sum(ballots.values()) == votes_of(before)
        version = version_of(before)
        return AtVersion(ballots, version if complete or not still else max(0, version - 1), complete)

    async def _renew(self, poll: Poll, method: Method, parts_before: int) -> FinishedCount:
        async with self._turns:
            started = self._stopwatch()
            found = await self.ballots(poll.poll_id)
            record, content = await asyncio.to_thread(_counted_and_packed, poll, method, found.ballots)
            took = timedelta(seconds=max(0.0, self._stopwatch() - started))
        known = FinishedCount(record, found.votes_version, self._clock(), took)
        await self._keep(poll.poll_id, method, known, content, parts_before)
        return known

    async def _keep(
        self, poll_id: UUID, method: Method, known: FinishedCount, content: bytes, parts_before: int
    ) -> None:
        """Store the record in one transaction, unless the poll is gone or a newer record exists."""
        size = MOST_BYTES_IN_RECORD_PART
        pieces = [content[start : start + size] for start in range(0, len(content), size)]
        if len(pieces) > MOST_PARTS:
            # More candidates and rounds than polls have; without a stored record, every read counts again.
            log.warning("the record of poll %s by %s has %d bytes and is not kept", poll_id, method, len(content))
            return
        not_newer = absent | (the(Record.votes_version) <= known.votes_version)
        operations: list[Operation] = [check(Poll.one(poll_id), when=present)]
        for part, piece in enumerate(pieces):
            row = Record(
                poll_id=poll_id,
                method=method,
                part=part,
                parts=len(pieces),
                votes_version=known.votes_version,
                counted_at=known.counted_at,
                counting_milliseconds=round(known.counting / timedelta(milliseconds=1)),
                content=piece,
            )
            operations.append(put(row, when=not_newer))
        # Left from a longer record before; parts that disagree would invalidate the record.
        operations += [delete(Record.one(poll_id, method, part)) for part in range(len(pieces), parts_before)]
        try:
            await self._store.transact(*operations)
        except WriteRefused as refusal:
            # The count is still right; it just is not stored, because a newer one is, or the poll is gone.
            log.debug("the record of poll %s by %s is not kept: %s", poll_id, method, refusal)


def _counted_and_packed(poll: Poll, method: Method, ballots: Mapping[Ranking, int]) -> tuple[CountRecord, bytes]:
    record = counted(poll, method, ballots)
    return record, FORMAT + zlib.compress(as_bytes(record))
