"""The processes that share the consumers of a suite, and which of them reads which shard.

Each process has one row, which it renews as a lease is renewed: its heartbeat. Each shard has one row, which names its
owner and changes only when the owner does, so that idling costs the same whatever the number of shards. Every process
looks at all these rows in one request, removes the row of a process whose heartbeat has stopped, and takes and lets go
shards until all have equally many, or one has them all (`shard_assignment.py`).

What fences the writes of a consumer is its position in the shard: a new owner claims it in a transaction that checks
the shard's row, and every later write is conditional on that claim (`positions.py`).
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from potluck.engines import DynamoError, Engine
from potluck.engines.transient import is_transient
from potluck.metrics import CONSUMER_SHARDS
from potluck.streams.leases import Deposed, LeaseTerms, WorkTable, cancelled
from potluck.streams.log import Log, open_log
from potluck.streams.restarting import restarted
from potluck.streams.shard_assignment import UnfinishedShard, assignment
from potluck.streams.shares import MEMBER, GroupMembership, Heartbeat, OwnedShard, Row, ShardName, owned_by

# When a shard ends, its children are looked for at once; only shards without a parent have to be discovered.
DISCOVER_SECONDS = 300.0
# The children of a shard that has ended may appear a little later: this many looks are for them.
LOOKS_FOR_CHILDREN = 30

log = logging.getLogger(__name__)


class ShardConsumer(Protocol):
    """What a group runs on every shard of a table."""

    name: str
    table: str

    async def read(self, share: "OwnedShard") -> None:
        """Read the shard to its end, and do all the work that comes of it."""
        ...


class ConsumerGroup:
    """The consumers of one suite, run by every process that has a group of this name on the same store."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        work_table: WorkTable | None = None,
        terms: LeaseTerms | None = None,
        *,
        spread: bool = True,
        restart_seconds: float | None = None,
        discover_seconds: float = DISCOVER_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `spread`, one process reads everything, and the others wait to take over.

        A consumer that fails is started again after `restart_seconds`; without that, its failure ends `run`.
        """
        self.engine = engine
        self.name = name
        self.work_table = work_table or WorkTable()
        self.terms = terms or LeaseTerms()
        self.spread = spread
        self.monotonic = monotonic
        self.membership = GroupMembership(engine, name, self.work_table, self.terms, monotonic)
        self._restart_seconds = restart_seconds
        self._discover_seconds = discover_seconds
        self._part: _Part | None = None

    async def run(self, consumers: Sequence[ShardConsumer]) -> None:
        """Run the consumers on our part of the shards, until cancelled."""
        await self.membership.run(partial(self._take_part, consumers))

    def measure(self) -> None:
        """Set the metrics of the group."""
        CONSUMER_SHARDS.set(0 if self._part is None or not self.membership.held else len(self._part.reading))

    async def _take_part(self, consumers: Sequence[ShardConsumer]) -> None:
        self._part = part = _Part(self, consumers, self._restart_seconds, self._discover_seconds)
        try:
            await part.run()
        finally:
            await part.stop()
            self._part = None


class _Part:
    """What one process does for its group during one term of its membership."""

    def __init__(
        self,
        group: ConsumerGroup,
        consumers: Sequence[ShardConsumer],
        restart_seconds: float | None,
        discover_seconds: float,
    ) -> None:
        self._group = group
        self._me = str(group.membership.owner)
        self._consumers: dict[str, list[ShardConsumer]] = {}
        for consumer in consumers:
            self._consumers.setdefault(consumer.table, []).append(consumer)
        self._restart_seconds = restart_seconds
        self._discover_seconds = discover_seconds
        self._logs: dict[str, Log] = {}
        self._ended: set[ShardName] = set()
        """Shards that were read to their end here, whose children may have to be found yet."""
        self._unknown: set[ShardName] = set()
        """Shards that another process has found, and this one has looked for."""
        self.reading: dict[ShardName, tuple[OwnedShard, asyncio.Task[None]]] = {}
        self._heartbeats: dict[str, tuple[Heartbeat, float]] = {}
        self._news = asyncio.Event()
        self._discover_now = asyncio.Event()
        self._discovering = self._started(self._discover(), f"{group.name}: discovering shards")

    async def run(self) -> None:
        while True:
            try:
                await self._look()
            except DynamoError as error:
                if not is_transient(error):
                    raise
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._group.terms.look_every):
                    await self._news.wait()
            self._news.clear()
            if self._discovering.done():
                self._discovering.result()

    async def stop(self) -> None:
        """Stop all readers. The shards are free as soon as the row of this process is gone."""
        await cancelled(self._discovering, *(task for _, task in self.reading.values()))
        for share, _ in self.reading.values():
            share.lost = True

    def _started(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(lambda _: self._news.set())
        return task

    # --- the shards there are -----------------------------------------------------------------------------------------

    async def _discover(self) -> None:
        """Look up the streams and their shards, now and then and when a shard has ended."""
        looks_left = LOOKS_FOR_CHILDREN
        while True:
            for table, consumers in self._consumers.items():
                stream = await open_log(self._group.engine, table, patient=True, although_disabled=True)
                if stream is not None:
                    self._logs[table] = stream
                elif self._restart_seconds is None:
                    name = consumers[0].name
                    raise DynamoError("ValidationException", f"the table {table} has no stream for {name} to read")
            self._news.set()
            self._ended = {name for name in self._ended if not self._has_children(name)}
            seconds = self._discover_seconds
            if self._ended and looks_left:
                looks_left -= 1
                seconds = self._group.terms.look_every
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._discover_now.wait()
                    looks_left = LOOKS_FOR_CHILDREN
            self._discover_now.clear()

    def _has_children(self, name: ShardName) -> bool:
        stream = self._logs[name.table]
        return label_of(stream) != name.stream or bool(stream.children(name.shard))

    # --- which are ours -----------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Look at the rows of the group once, and do what follows from them."""
        await self._end_readers()
        members, rows = await self._rows()
        if members.get(self._group.membership.member, Heartbeat("", "")).owner != self._me:
            # Our heartbeat was taken for dead; the next renewal says so, too.
            raise Deposed(self._group.name)
        for member in self._stopped(members):
            if await self._removed(member, members[member]):
                del members[member]
        shards = self._unfinished(rows)
        by_name = {str(name): name for name in shards}
        owners = {str(name): shard for name, shard in shards.items()}
        present = [heartbeat.owner for heartbeat in members.values()]
        plan = assignment(self._me, present, owners, spread=self._group.spread)
        let_go = {by_name[name] for name in plan.let_go}
        lost = {name for name in self.reading if name not in shards or shards[name].owner != self._me}
        await self._stop_readers(let_go, lost)
        # A shard that names us and is not read here: the answer to its taking was lost.
        for name, shard in shards.items():
            if shard.owner == self._me and name not in self.reading and name not in let_go:
                self._start(OwnedShard(self._group.membership, name))
        await asyncio.gather(*(self._take(by_name[name], rows.get(by_name[name], {})) for name in plan.take))
        await self._forget(name for name in rows if name not in shards and not self._is_in_its_stream(name))

    async def _rows(self) -> tuple[dict[str, Heartbeat], dict[ShardName, Row]]:
        """The members with their heartbeats, and the rows of shards of tables that we have consumers for."""
        table = self._group.work_table
        request: dict[str, Any] = {
            "TableName": table.table,
            "ConsistentRead": True,
            "KeyConditionExpression": "#partition = :group",
            "ExpressionAttributeNames": {"#partition": table.partition_key},
            "ExpressionAttributeValues": {":group": {"S": self._group.membership.partition}},
        }
        members: dict[str, Heartbeat] = {}
        rows: dict[ShardName, Row] = {}
        while True:
            answer = await self._group.engine.call("Query", request)
            for row in answer["Items"]:
                kind, _, name = row[table.sort_key]["S"].partition("#")
                if kind == MEMBER:
                    members[name] = Heartbeat(row["Owner"]["S"], row["Renewals"]["N"])
                elif row["Table"]["S"] in self._consumers:
                    rows[ShardName(row["Table"]["S"], row["Stream"]["S"], row["Shard"]["S"])] = row
            if "LastEvaluatedKey" not in answer:
                return members, rows
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _stopped(self, members: Mapping[str, Heartbeat]) -> list[str]:
        """The members whose heartbeat we have not seen to change for as long as it lasts."""
        now = self._group.monotonic()
        for member, heartbeat in members.items():
            if member not in self._heartbeats or self._heartbeats[member][0] != heartbeat:
                self._heartbeats[member] = heartbeat, now
        self._heartbeats = {member: seen for member, seen in self._heartbeats.items() if member in members}
        seconds = self._group.terms.seconds
        return [
            member
            for member, (heartbeat, seen_at) in self._heartbeats.items()
            if now - seen_at >= seconds and heartbeat.owner != self._me
        ]

    async def _removed(self, member: str, heartbeat: Heartbeat) -> bool:
        """Delete the row of a member that stopped, so that it can never renew it; False if it just did."""
        group = self._group
        condition = owned_by(heartbeat.owner)
        condition["ConditionExpression"] += " AND #renewals = :renewals"
        condition["ExpressionAttributeNames"]["#renewals"] = "Renewals"
        condition["ExpressionAttributeValues"][":renewals"] = {"N": heartbeat.renewals}
        key = group.membership.key_of(member)
        try:
            await group.engine.call("DeleteItem", {"TableName": group.work_table.table, "Key": key, **condition})
        except DynamoError as error:
            if error.code == "ConditionalCheckFailedException" or is_transient(error):
                return False
            raise
        log.warning("%s: %s has stopped; its shards are taken over", group.name, heartbeat.owner)
        return True

    def _unfinished(self, rows: Mapping[ShardName, Row]) -> dict[ShardName, UnfinishedShard]:
        """The shards of the streams that some consumer has not finished, and earlier ones with work left."""
        names = {
            ShardName(table, label_of(stream), shard): None
            if parent is None or parent not in stream.parents
            else parent
            for table, stream in self._logs.items()
            for shard, parent in stream.parents.items()
        }
        unknown = {name for name in rows if name not in names and self._is_of_current_stream(name)}
        if unknown - self._unknown:
            self._discover_now.set()
        self._unknown = unknown
        for name in rows:
            if name.table in self._logs:
                names.setdefault(name, None)
        return {
            name: UnfinishedShard(
                rows.get(name, {}).get("Owner", {}).get("S"),
                None if parent is None else str(name._replace(shard=parent)),
            )
            for name, parent in names.items()
            if not self._is_finished(name.table, rows.get(name, {}))
        }

    def _is_finished(self, table: str, row: Row) -> bool:
        """Whether every consumer that we have for the table has finished the shard."""
        finished_by = row.get("FinishedBy", {}).get("SS", ())
        return all(consumer.name in finished_by for consumer in self._consumers[table])

    def _is_of_current_stream(self, name: ShardName) -> bool:
        stream = self._logs.get(name.table)
        return stream is not None and label_of(stream) == name.stream

    def _is_in_its_stream(self, name: ShardName) -> bool:
        stream = self._logs.get(name.table)
        return stream is None or (label_of(stream) == name.stream and name.shard in stream.parents)

    async def _take(self, name: ShardName, seen: Row) -> None:
        share = OwnedShard(self._group.membership, name)
        if await share.take(seen):
            self._start(share)

    async def _forget(self, names: Iterable[ShardName]) -> None:
        """Delete the rows of finished shards that are no longer in their stream."""
        group = self._group
        for name in names:
            request = {
                "TableName": group.work_table.table,
                "Key": group.membership.share_key(name),
                "ConditionExpression": "attribute_not_exists(#owner)",
                "ExpressionAttributeNames": {"#owner": "Owner"},
            }
            try:
                await group.engine.call("DeleteItem", request)
            except DynamoError as error:
                if error.code != "ConditionalCheckFailedException" and not is_transient(error):
                    raise

    # --- reading them -------------------------------------------------------------------------------------------------

    def _start(self, share: OwnedShard) -> None:
        log.info("%s: reading %s as %s", self._group.name, share.name, share.owner)
        self.reading[share.name] = share, self._started(self._read(share), f"{self._group.name}:{share.name}")

    async def _read(self, share: OwnedShard) -> None:
        """Run every consumer of the table on the shard, until all have finished it."""
        reading = [
            asyncio.create_task(self._read_by(consumer, share), name=f"{consumer.name}:{share.name.shard}")
            for consumer in self._consumers[share.name.table]
        ]
        try:
            await asyncio.wait(reading, return_when=asyncio.FIRST_EXCEPTION)
            for task in reading:
                if task.done():
                    task.result()
        finally:
            await cancelled(*reading)

    async def _read_by(self, consumer: ShardConsumer, share: OwnedShard) -> None:
        if self._restart_seconds is None:
            await consumer.read(share)
        else:
            await restarted(consumer.name, partial(consumer.read, share), self._restart_seconds, log)

    async def _end_readers(self) -> None:
        """Note which shards were read to their end, and which were lost; a failure of a reader is ours."""
        for name, (share, task) in [*self.reading.items()]:
            if not task.done():
                continue
            del self.reading[name]
            failure = None if task.cancelled() else task.exception()
            if isinstance(failure, Deposed):
                log.warning("%s: lost %s", self._group.name, name)
                share.lost = True
            elif failure is not None:
                raise failure
            else:
                await share.let_go([consumer.name for consumer in self._consumers[name.table]])
                self._ended.add(name)
                self._discover_now.set()

    async def _stop_readers(self, let_go: Collection[ShardName], lost: Collection[ShardName]) -> None:
        """Stop reading these; those that were not lost are free for another process then."""
        stopped = {name: self.reading.pop(name) for name in {*let_go, *lost} if name in self.reading}
        for name in lost:
            stopped[name][0].lost = True
        await cancelled(*(task for _, task in stopped.values()))
        for name in stopped:
            log.info("%s: %s %s", self._group.name, "lost" if name in lost else "letting go of", name)
        await asyncio.gather(*(share.let_go() for share, _ in stopped.values()))


def label_of(stream: Log) -> str:
    """What distinguishes a table's stream from its earlier ones."""
    return stream.arn.rpartition("/")[2]
