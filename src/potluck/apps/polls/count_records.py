"""Finished counts: stored as records, and renewed when votes have come in since and a recount is due.

A record has the version of the votes at which it was counted: the sum over the shards, one of which every vote
increments in its own transaction. Shards only grow, so an equal sum later means that no vote has come in since. The
counts are read between two reads of the shards. If those agree, and the counts add up to the votes in the shards,
nothing was written in between and the record is complete; otherwise it gets a version that is already outdated, and the
next reader renews it.
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
from potluck.apps.polls.entities import MOST_BYTES_IN_RECORD_PART, CountRow, Poll, Record, Shard
from potluck.apps.polls.fields import Method
from potluck.store import Store
from potluck.table import Operation, WriteRefused, absent, check, delete, present, put, the

# A record in another format, or counted by earlier rules, is ignored.
FORMAT = b"\x03"
SHORTEST_INTERVAL = timedelta(seconds=1)
# While votes come in, at most a twentieth of the time is spent counting.
INTERVAL_IN_COUNTS = 20
# Counting is CPU-bound: more at once would only slow each other down.
COUNTS_AT_ONCE = 2
# Decoding a page blocks the event loop, and a full page of a megabyte has ten thousand counts.
COUNTS_PER_PAGE = 1_000
# A transaction may have 4 MB.
MOST_PARTS = 9

log = logging.getLogger(__name__)

Stopwatch = Callable[[], float]


@dataclass(frozen=True, slots=True)
class FinishedCount:
    """A record, the version of the votes at which it was counted, when, and how long that took."""

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
    """How many votes each ranking has, and at which version; incomplete if votes came in during the read."""

    ballots: Mapping[Ranking, int]
    votes_version: int
    complete: bool


def version_of(shards: Iterable[Shard]) -> int:
    return sum(shard.votes_version for shard in shards)


def votes_of(shards: Iterable[Shard]) -> int:
    return sum(shard.votes for shard in shards)


def rules_of(poll: Poll, method: Method) -> Rules:
    return Rules(method=method, seats=poll.seats)


def counted(poll: Poll, method: Method, ballots: Mapping[Ranking, int]) -> CountRecord:
    """Counts the ballots. Deterministic: the same ballots give the same record, whenever and wherever."""
    return count(len(poll.candidates), ballots, rules_of(poll, method), poll.lot_order)


def stored_record(rows: Sequence[Record], method: Method) -> FinishedCount | None:
    """The record by this method in these rows; None if there is none, or parts of it are missing."""
    parts = sorted((row for row in rows if row.method == method), key=lambda row: row.part)
    if not parts:
        return None
    first = parts[0]
    parts = parts[: first.parts]
    counts = {(row.parts, row.votes_version, row.counted_at, row.counting_milliseconds) for row in parts}
    if len(counts) > 1 or [row.part for row in parts] != list(range(first.parts)):
        return None
    content = b"".join(row.content for row in parts)
    if not content.startswith(FORMAT):
        return None
    try:
        record = from_bytes(zlib.decompress(content[len(FORMAT) :]))
    except (zlib.error, msgspec.MsgspecError):
        log.exception("the stored record of poll %s by %s cannot be read", first.poll_id, method)
        return None
    counting = timedelta(milliseconds=first.counting_milliseconds)
    return FinishedCount(record, first.votes_version, first.counted_at, counting, first.parts)


class Records:
    """Counts polls and stores the records. One per process, so that concurrent readers share a running count."""

    def __init__(self, store: Store, stopwatch: Stopwatch) -> None:
        self._store = store
        self._stopwatch = stopwatch
        self._turns = asyncio.Semaphore(COUNTS_AT_ONCE)
        self._running: dict[tuple[UUID, Method], asyncio.Task[FinishedCount]] = {}

    def empty(self, poll: Poll, method: Method) -> FinishedCount:
        """The record of a poll that has never had a vote; it is not stored."""
        return FinishedCount(counted(poll, method, {}), 0, self._store.clock(), timedelta())

    def renewal(self, poll: Poll, method: Method, parts_before: int = 0) -> asyncio.Task[FinishedCount]:
        """The running count, started now if there is none. It continues even if everyone stops waiting for it."""
        key = (poll.poll_id, method)
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(self._renew(poll, method, parts_before), name=f"counting {poll.poll_id}")
            self._running[key] = task
            task.add_done_callback(lambda done: self._finish(key, done))
        return task

    def _finish(self, key: tuple[UUID, Method], task: asyncio.Task[FinishedCount]) -> None:
        del self._running[key]
        if not task.cancelled() and task.exception() is not None:
            log.warning("counting poll %s by %s failed: %r", *key, task.exception())

    async def ballots(self, poll_id: UUID) -> AtVersion:
        """Every ranking with its number of votes, read from the counts and never from the votes."""
        before = await self._store.all(Shard.of_poll(poll_id))
        ballots: dict[Ranking, int] = {}
        after: Mapping[str, Any] | None = None
        while True:
            page = await self._store.page(CountRow.of_poll(poll_id), COUNTS_PER_PAGE, after)
            for row in page.items:
                ballots[row.ranking] = ballots.get(row.ranking, 0) + row.count
            after = page.next
            if after is None:
                break
        version = version_of(before)
        unchanged = version_of(await self._store.all(Shard.of_poll(poll_id))) == version
        complete = unchanged and sum(ballots.values()) == votes_of(before)
        ballots = {ranking: count for ranking, count in ballots.items() if count}
        return AtVersion(ballots, version if complete or not unchanged else max(0, version - 1), complete)

    async def _renew(self, poll: Poll, method: Method, parts_before: int) -> FinishedCount:
        async with self._turns:
            started = self._stopwatch()
            votes = await self.ballots(poll.poll_id)
            record, content = await asyncio.to_thread(_count_and_pack, poll, method, votes.ballots)
            counting = timedelta(seconds=max(0.0, self._stopwatch() - started))
        finished = FinishedCount(record, votes.votes_version, self._store.clock(), counting)
        await self._save(poll.poll_id, method, finished, content, parts_before)
        return finished

    async def _save(
        self, poll_id: UUID, method: Method, finished: FinishedCount, content: bytes, parts_before: int
    ) -> None:
        """Store the record in one transaction, unless the poll is gone or a newer record exists."""
        size = MOST_BYTES_IN_RECORD_PART
        pieces = [content[start : start + size] for start in range(0, len(content), size)]
        if len(pieces) > MOST_PARTS:
            # More candidates and rounds than a poll has in practice; without a stored record, every read counts again.
            log.warning("the record of poll %s by %s has %d bytes and is not stored", poll_id, method, len(content))
            return
        not_newer = absent | (the(Record.votes_version) <= finished.votes_version)
        operations: list[Operation] = [check(Poll.one(poll_id), when=present)]
        for part, piece in enumerate(pieces):
            row = Record(
                poll_id=poll_id,
                method=method,
                part=part,
                parts=len(pieces),
                votes_version=finished.votes_version,
                counted_at=finished.counted_at,
                counting_milliseconds=round(finished.counting / timedelta(milliseconds=1)),
                content=piece,
            )
            operations.append(put(row, when=not_newer))
        # These are left from an earlier, longer record; parts that disagree would invalidate the new one.
        operations += [delete(Record.one(poll_id, method, part)) for part in range(len(pieces), parts_before)]
        try:
            await self._store.transact(*operations)
        except WriteRefused as refusal:
            # The count is right, but not stored: there is a newer one, or the poll is gone.
            log.debug("the record of poll %s by %s is not stored: %s", poll_id, method, refusal)


def _count_and_pack(poll: Poll, method: Method, ballots: Mapping[Ranking, int]) -> tuple[CountRecord, bytes]:
    record = counted(poll, method, ballots)
    return record, FORMAT + zlib.compress(as_bytes(record))
