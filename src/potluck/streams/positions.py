"""How far a consumer has read each shard of a stream, in rows that only the shard's owner can change.

A row names its holder: the owner that claimed the shard, in a transaction that checks that it owns it. Every later
change of the row is conditional on that holder and on the position it moves from. So a deposed owner is stopped by its
next write, and what is written in the same transaction as a position is written once.
"""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from potluck.dynamo.limits import TRANSACTION_ACTIONS
from potluck.engines import DynamoError, Engine
from potluck.streams.leases import Deposed, Ownership, WorkTable
from potluck.streams.moved_rows import moved_key

Action = dict[str, Any]
Patience = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(slots=True)
class ShardPosition:
    """Where one shard has been read to: after this sequence number, or from the start of the log."""

    shard: str
    sequence_number: str | None
    read_at: float
    finished: bool = False
    holder: str = ""
    """Who claimed it; only they can move it."""
    passed_to: str | None = None
    """Read beyond the saved position: no record up to here concerned the consumer."""
    passed_over: int = 0
    """How many records were passed over since the last save."""

    @property
    def read_to(self) -> str | None:
        """Where to resume reading, saved or not."""
        return self.sequence_number if self.passed_to is None else self.passed_to

    def moved(self, to: str | None, now: float, finished: bool = False) -> None:
        """Record that the position was saved here."""
        self.sequence_number, self.read_at, self.finished = to, now, finished
        self.passed_to, self.passed_over = None, 0


class Positions:
    """The rows of one consumer, for one stream at a time."""

    def __init__(self, engine: Engine, work_table: WorkTable, consumer: str, patiently: Patience) -> None:
        self._engine = engine
        self._table = work_table
        self._partition = f"CONSUMER#{consumer}"
        self._patiently = patiently  # sends a request, retrying transient failures
        self._label = ""

    async def stream(self) -> str | None:
        """The stream that these positions belong to; None for a consumer that has never run."""
        row = (await self._read("GetItem", {"Key": self._table.key(self._partition, "STREAM")})).get("Item")
        return None if row is None else str(row["StreamArn"]["S"])

    async def were_moved(self) -> bool:
        """Whether the store was moved here, so that there may be changes that its streams never had."""
        return "Item" in await self._read("GetItem", {"Key": moved_key(self._table)})

    async def known(self, arn: str) -> dict[str, ShardPosition]:
        """Every shard of the stream that has a position."""
        self._label = arn.rpartition("/")[2]
        request = {
            "KeyConditionExpression": "#partition = :partition AND begins_with(#sort, :shards)",
            "ExpressionAttributeNames": {
                "#partition": self._table.partition_key,
                "#sort": self._table.sort_key,
            },
            "ExpressionAttributeValues": {
                ":partition": {"S": self._partition},
                ":shards": {"S": f"SHARD#{self._label}#"},
            },
        }
        positions = {}
        while True:
            answer = await self._read("Query", request)
            for row in answer["Items"]:
                position = _position(row)
                positions[position.shard] = position
            if "LastEvaluatedKey" not in answer:
                return positions
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def register(self, arn: str, shards: Sequence[str], now: float, owner: Ownership) -> None:
        """Create positions at the start of these shards, and then record the stream as the current one."""
        await self.write(
            owner,
            [
                self._put(f"SHARD#{self._label}#{shard}", {"Shard": {"S": shard}, "ReadAt": {"N": f"{now:.3f}"}})
                for shard in shards
            ],
        )
        await self.write(owner, [self._put("STREAM", {"StreamArn": {"S": arn}})])

    async def forget(self, shards: Sequence[str], owner: Ownership) -> None:
        """Remove the positions of shards that are no longer in the stream."""
        await self.write(
            owner, [{"Delete": {"TableName": self._table.table, "Key": self._key(shard)}} for shard in shards]
        )

    async def claim(self, shard: str, owner: Ownership) -> ShardPosition:
        """Become the only holder that can move this position."""
        holder = str(owner.owner)
        await self.write(
            owner,
            [
                {
                    "Update": {
                        "TableName": self._table.table,
                        "Key": self._key(shard),
                        "UpdateExpression": "SET #holder = :holder",
                        "ConditionExpression": "attribute_exists(#shard)",
                        "ExpressionAttributeNames": {"#holder": "Holder", "#shard": "Shard"},
                        "ExpressionAttributeValues": {":holder": {"S": holder}},
                    }
                }
            ],
        )
        position = _position((await self._read("GetItem", {"Key": self._key(shard)}))["Item"])
        position.holder = holder
        return position

    async def advance(self, position: ShardPosition, to: str, now: float, actions: Sequence[Action]) -> None:
        """Apply the actions and move the position in one transaction: both happen exactly once, or neither does."""
        if len(actions) > TRANSACTION_ACTIONS - 1:
            raise ValueError(
                f"{len(actions)} actions; at most {TRANSACTION_ACTIONS - 1} fit into one transaction with the position"
            )
        names = {"#holder": "Holder", "#position": "Position", "#read": "ReadAt"}
        values = {":holder": {"S": position.holder}, ":to": {"S": to}, ":now": {"N": f"{now:.3f}"}}
        if position.sequence_number is None:
            unmoved = "attribute_not_exists(#position)"
        else:
            unmoved = "#position = :from"
            values[":from"] = {"S": position.sequence_number}
        move = {
            "TableName": self._table.table,
            "Key": self._key(position.shard),
            "UpdateExpression": "SET #position = :to, #read = :now",
            "ConditionExpression": f"#holder = :holder AND {unmoved}",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        # The token makes it safe to resend the transaction when its answer was lost.
        request = {"TransactItems": [{"Update": move}, *actions], "ClientRequestToken": str(uuid.uuid4())}
        try:
            await self._patiently("TransactWriteItems", request)
        except DynamoError as error:
            if error.reasons and error.reasons[0].get("Code") == "ConditionalCheckFailed":
                raise Deposed(self._partition) from error
            raise
        position.moved(to, now)

    async def save(self, position: ShardPosition, to: str | None, now: float, finished: bool = False) -> None:
        """Move the position alone; `finished` marks the shard as read to its end."""
        names = {"#holder": "Holder", "#read": "ReadAt"}
        values: dict[str, Any] = {":holder": {"S": position.holder}, ":now": {"N": f"{now:.3f}"}}
        update = "SET #read = :now"
        if to is not None:
            update += ", #position = :to"
            names["#position"] = "Position"
            values[":to"] = {"S": to}
        if finished:
            update += ", #finished = :finished"
            names["#finished"] = "Finished"
            values[":finished"] = {"BOOL": True}
        await self._conditional(position.shard, update, names, values)
        position.moved(to, now, finished)

    async def restart(self, position: ShardPosition, now: float) -> None:
        """Reset the position to the start of what the log still holds."""
        names = {"#holder": "Holder", "#read": "ReadAt", "#position": "Position"}
        values = {":holder": {"S": position.holder}, ":now": {"N": f"{now:.3f}"}}
        await self._conditional(position.shard, "SET #read = :now REMOVE #position", names, values)
        position.moved(None, now)

    def parking(self, sequence_number: str, about: dict[str, Any]) -> Action:
        """The action that stores a record that could not be handled."""
        return self._put(f"PARKED#{self._label}#{sequence_number}", about)

    async def parked(self) -> list[dict[str, Any]]:
        """The stored records that could not be handled, whatever stream they came from."""
        request = {
            "KeyConditionExpression": "#partition = :partition AND begins_with(#sort, :parked)",
            "ExpressionAttributeNames": {
                "#partition": self._table.partition_key,
                "#sort": self._table.sort_key,
            },
            "ExpressionAttributeValues": {":partition": {"S": self._partition}, ":parked": {"S": "PARKED#"}},
        }
        rows: list[dict[str, Any]] = []
        while True:
            answer = await self._read("Query", request)
            rows += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return rows
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _key(self, shard: str) -> dict[str, Any]:
        return self._table.key(self._partition, f"SHARD#{self._label}#{shard}")

    def _put(self, sort: str, attributes: dict[str, Any]) -> Action:
        return {
            "Put": {
                "TableName": self._table.table,
                "Item": self._table.key(self._partition, sort) | attributes,
            }
        }

    async def _read(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return await self._patiently(operation, {"TableName": self._table.table, "ConsistentRead": True, **request})

    async def write(self, owner: Ownership, actions: Sequence[Action]) -> None:
        """Write these, unless another owns what the owner does."""
        room = TRANSACTION_ACTIONS - 1
        for start in range(0, len(actions), room):
            items = [owner.check(), *actions[start : start + room]]
            try:
                await self._patiently(
                    "TransactWriteItems", {"TransactItems": items, "ClientRequestToken": str(uuid.uuid4())}
                )
            except DynamoError as error:
                if error.code == "TransactionCanceledException":
                    raise Deposed(self._partition) from error
                raise

    async def _conditional(self, shard: str, update: str, names: dict[str, str], values: dict[str, Any]) -> None:
        # Conditional on the holder alone: only the holder moves the position, and a repeat after a lost answer is fine.
        request = {
            "TableName": self._table.table,
            "Key": self._key(shard),
            "UpdateExpression": update,
            "ConditionExpression": "#holder = :holder",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }
        try:
            await self._patiently("UpdateItem", request)
        except DynamoError as error:
            if error.code == "ConditionalCheckFailedException":
                raise Deposed(self._partition) from error
            raise


def _position(row: dict[str, Any]) -> ShardPosition:
    return ShardPosition(
        shard=row["Shard"]["S"],
        sequence_number=row["Position"]["S"] if "Position" in row else None,
        read_at=float(row["ReadAt"]["N"]),
        finished=row.get("Finished", {}).get("BOOL", False),
    )
