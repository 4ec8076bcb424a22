"""Finished counts: kept as records, and renewed when votes have come in since and it is time to.

A record names the votes' version that it was made of: the sum over the shards, which every vote raises in its own
transaction. Each shard only ever grows, so the same sum later means that nothing was voted in between. The counts are
read between two readings of the shards. Where those agree, and the counts have as many votes as the shards say, nothing
was written meanwhile and the record is complete; else it names a version that is past already, and the next reader
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

from potluck.apps.polls.counting import Ranking, Rules, as_bytes, count, from_bytes
from potluck.apps.polls.counting import Record as Counted
from potluck.apps.polls.entities import MOST_BYTES_IN_RECORD_PART, Count, Poll, Record, Shard
from potluck.apps.polls.fields import Method
from potluck.store import Clock, Store
from potluck.table import WriteRefused, absent, check, delete, present, put, the
from potluck.table.operations import Operation

__all__ = [
    "AtVersion",
    "Known",
    "Records",
    "Stopwatch",
    "counted",
    "rules_of",
    "stored_record",
    "version_of",
    "votes_of",
]

# A record of another form, or counted by other rules than today's, is none.
FORMAT = b"\x02"
SHORTEST_INTERVAL = timedelta(seconds=1)
# A twentieth of the time may go into counting while votes come in.
INTERVAL_IN_COUNTS = 20
# Counting is work for a processor, not waiting: more at once would only slow each other down.
COUNTS_AT_ONCE = 2
# Nobody else is served while a page is read, and one of a megabyte has ten thousand of them.
COUNTS_A_PAGE = 1_000
# A transaction takes 4 MB.
MOST_PARTS = 9

log = logging.getLogger(__name__)

Stopwatch = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Known:
    """What was counted, of which votes, when, and how long that took."""

    record: Counted
    votes_version: int
    counted_at: datetime
    counting: timedelta
    parts: int = 0

    @property
    def due(self) -> datetime:
        """From when on it may be renewed while votes come in."""
        return self.counted_at + max(SHORTEST_INTERVAL, INTERVAL_IN_COUNTS * self.counting)


@dataclass(frozen=True, slots=True)
class AtVersion:
    """How often each ranking was voted for, and of which version that is; not complete if votes came in meanwhile."""

    ballots: Mapping[Ranking, int]
    votes_version: int
    complete: bool


def version_of(shards: Iterable[Shard]) -> int:
    return sum(each.votes_version for each in shards)


def votes_of(shards: Iterable[Shard]) -> int:
    return sum(each.votes for each in shards)


def rules_of(poll: Poll, method: Method) -> Rules:
    return Rules(method=method, seats=poll.seats)


def counted(poll: Poll, method: Method, ballots: Mapping[Ranking, int]) -> Counted:
    """The whole record; the same for the same ballots, whenever and wherever it is counted."""
    return count(len(poll.candidates), ballots, rules_of(poll, method), poll.lot_order)


def stored_record(rows: Sequence[Record], method: Method) -> Known | None:
    """The record that these rows hold by this method; None if they hold none, or not all of one."""
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
    return Known(record, first.votes_version, first.counted_at, took, first.parts)


class Records:
    """Counts, and keeps what was counted. One for a process: nobody counts what another is just counting."""

    def __init__(self, store: Store, clock: Clock, stopwatch: Stopwatch) -> None:
        self._store = store
        self._clock = clock
        self._stopwatch = stopwatch
        self._turns = asyncio.Semaphore(COUNTS_AT_ONCE)
        self._under_way: dict[tuple[UUID, Method], asyncio.Task[Known]] = {}

    def empty(self, poll: Poll, method: Method) -> Known:
        """The record of a poll in which nobody has ever voted; it is not kept."""
        return Known(counted(poll, method, {}), 0, self._clock(), timedelta())

    def renewal(self, poll: Poll, method: Method, parts_before: int = 0) -> asyncio.Task[Known]:
        """A count that is under way, begun now if there is none. It goes on if whoever waits for it gives up."""
        key = (poll.poll_id, method)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._renew(poll, method, parts_before), name=f"counting {poll.poll_id}")
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        return task

    def _ended(self, key: tuple[UUID, Method], task: asyncio.Task[Known]) -> None:
        del self._under_way[key]
        if not task.cancelled() and task.exception() is not None:
            log.warning("counting poll %s by %s failed: %r", *key, task.exception())

    async def ballots(self, poll_id: UUID) -> AtVersion:
        """Every ranking that was voted for, of the counts; never of the votes."""
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

    async def _renew(self, poll: Poll, method: Method, parts_before: int) -> Known:
        async with self._turns:
            started = self._stopwatch()
            found = await self.ballots(poll.poll_id)
            record, content = await asyncio.to_thread(_counted_and_packed, poll, method, found.ballots)
            took = timedelta(seconds=max(0.0, self._stopwatch() - started))
        known = Known(record, found.votes_version, self._clock(), took)
        await self._keep(poll.poll_id, method, known, content, parts_before)
        return known

    async def _keep(self, poll_id: UUID, method: Method, known: Known, content: bytes, parts_before: int) -> None:
        """Keep the record, all of it or nothing, unless the poll is gone or a newer one is there."""
        size = MOST_BYTES_IN_RECORD_PART
        pieces = [content[start : start + size] for start in range(0, len(content), size)]
        if len(pieces) > MOST_PARTS:
            # More candidates and rounds than polls have; it is counted whenever it is asked for.
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
        # Of a longer one before; parts that do not agree would be no record.
        operations += [delete(Record.one(poll_id, method, part)) for part in range(len(pieces), parts_before)]
        try:
            await self._store.transact(*operations)
        except WriteRefused as refusal:
            # What was counted is right all the same; what is kept is newer, or the poll is gone.
            log.debug("the record of poll %s by %s is not kept: %s", poll_id, method, refusal)


def _counted_and_packed(poll: Poll, method: Method, ballots: Mapping[Ranking, int]) -> tuple[Counted, bytes]:
    record = counted(poll, method, ballots)
    return record, FORMAT + zlib.compress(as_bytes(record))
