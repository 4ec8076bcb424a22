"""The rows of a group: one for each process, which it renews, and one for each shard, which names its owner."""

import contextlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from potluck.engines import DynamoError, Engine
from potluck.engines.transient import is_transient
from potluck.streams.leases import Deposed, Lease, LeaseTerms, WorkTable

MEMBER = "MEMBER"
"""How the sort keys of members begin."""


class ShardName(NamedTuple):
    """One shard of one stream of a table; `stream` is the stream's label."""

    table: str
    stream: str
    shard: str

    def __str__(self) -> str:
        return "#".join(self)


Row = Mapping[str, Any]


class Heartbeat(NamedTuple):
    """What a member's row says: who it is in this term, and how often it has renewed the row."""

    owner: str
    renewals: str


class GroupMembership(Lease):
    """A process's place in a group: a lease on a row of its own, which others delete when it is not renewed."""

    def __init__(
        self, engine: Engine, group: str, work_table: WorkTable, terms: LeaseTerms, monotonic: Callable[[], float]
    ) -> None:
        super().__init__(engine, group, work_table, **terms._asdict(), monotonic=monotonic)
        self.terms = terms
        self.monotonic = monotonic
        self.member = uuid.uuid4().hex

    @property
    def partition(self) -> str:
        """The partition that has all rows of the group."""
        return f"GROUP#{self.name}"

    @property
    def key(self) -> dict[str, Any]:
        return self.key_of(self.member)

    def key_of(self, member: str) -> dict[str, Any]:
        """The key of a member's row."""
        return self.work_table.key(self.partition, f"{MEMBER}#{member}")

    def share_key(self, name: ShardName) -> dict[str, Any]:
        """The key of a shard's row."""
        return self.work_table.key(self.partition, f"SHARD#{name}")

    async def release(self) -> None:
        if self.owner is None:
            return
        owner = self.owner
        self._lose()
        with contextlib.suppress(DynamoError):
            await self._call("DeleteItem", {"Key": self.key, **owned_by(owner)})


class OwnedShard:
    """A shard that this process reads for its group, until it lets it go or loses it."""

    def __init__(self, membership: GroupMembership, name: ShardName) -> None:
        self.name = name
        self.owner = membership.owner
        self.lost = False
        self._membership = membership

    @property
    def held(self) -> bool:
        """Whether the shard is certainly ours, by our own clock."""
        membership = self._membership
        return not self.lost and membership.held and membership.owner == self.owner

    def check(self) -> dict[str, Any]:
        """The action that cancels a transaction when another process owns the shard."""
        if self.owner is None or self.lost:
            raise Deposed(str(self.name))
        return {"ConditionCheck": {**self._row(), **owned_by(self.owner)}}

    def lease(self, name: str) -> Lease:
        """A lease for work that only one process of the group may do at a time, for as long as it takes."""
        group = self._membership
        return Lease(group.engine, name, group.work_table, **group.terms._asdict(), monotonic=group.monotonic)

    async def take(self, seen: Mapping[str, Any]) -> bool:
        """Become the owner, if the row is as it was seen and its owner is no member any more; False if not."""
        if self.owner is None:
            return False
        names = {"#owner": "Owner", "#member": "Member", "#table": "Table", "#stream": "Stream", "#shard": "Shard"}
        values = {":owner": self.owner, ":member": self._membership.member}
        values |= {":table": self.name.table, ":stream": self.name.stream, ":shard": self.name.shard}
        update = {
            **self._row(),
            "UpdateExpression": "SET " + ", ".join(f"{name} = {name.replace('#', ':')}" for name in names),
            "ConditionExpression": "attribute_not_exists(#owner)",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": {name: {"S": value} for name, value in values.items()},
        }
        try:
            if "Owner" not in seen:
                await self._membership.engine.call("UpdateItem", update)
            else:
                before = seen["Owner"]["S"]
                update["ConditionExpression"] = "#owner = :before"
                update["ExpressionAttributeValues"][":before"] = {"S": before}
                gone = {
                    "TableName": self._membership.work_table.table,
                    "Key": self._membership.key_of(seen["Member"]["S"]),
                    "ConditionExpression": "attribute_not_exists(#owner) OR #owner <> :before",
                    "ExpressionAttributeNames": {"#owner": "Owner"},
                    "ExpressionAttributeValues": {":before": {"S": before}},
                }
                actions = [{"Update": update}, {"ConditionCheck": gone}]
                await self._membership.engine.call("TransactWriteItems", {"TransactItems": actions})
        except DynamoError as error:
            if error.code in ("ConditionalCheckFailedException", "TransactionCanceledException") or is_transient(error):
                # Another was faster, or the next look shows what became of it.
                return False
            raise
        return True

    async def let_go(self, finished_by: Sequence[str] = ()) -> None:
        """Free the shard; `finished_by` are the consumers that have nothing left to do in it."""
        if self.owner is None or self.lost:
            return
        self.lost = True
        update: dict[str, Any] = {"UpdateExpression": "REMOVE #owner, #member"}
        condition = owned_by(self.owner)
        condition["ExpressionAttributeNames"] |= {"#member": "Member"}
        if finished_by:
            update["UpdateExpression"] += " ADD #finished :finished"
            condition["ExpressionAttributeNames"] |= {"#finished": "FinishedBy"}
            condition["ExpressionAttributeValues"] |= {":finished": {"SS": sorted(finished_by)}}
        try:
            await self._membership.engine.call("UpdateItem", {**self._row(), **update, **condition})
        except DynamoError as error:
            if error.code != "ConditionalCheckFailedException" and not is_transient(error):
                raise

    def _row(self) -> dict[str, Any]:
        return {
            "TableName": self._membership.work_table.table,
            "Key": self._membership.share_key(self.name),
        }


def owned_by(owner: str) -> dict[str, Any]:
    """A condition on the owner of a row."""
    return {
        "ConditionExpression": "#owner = :owner",
        "ExpressionAttributeNames": {"#owner": "Owner"},
        "ExpressionAttributeValues": {":owner": {"S": owner}},
    }
