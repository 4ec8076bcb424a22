"""TransactWriteItems."""

import hashlib
from typing import TYPE_CHECKING, Any

from potluck.dynamo.cancellations import cancelled, misfit, reason_of
from potluck.dynamo.capacity import Consumed, read_units
from potluck.dynamo.errors import DynamoError, invalid
from potluck.dynamo.item_collections import metrics
from potluck.dynamo.limits import IDEMPOTENCY_SECONDS, TRANSACTION_BYTES
from potluck.dynamo.namespaces import Namespace
from potluck.dynamo.storage.rows import ItemRow, Rows, pack, unpack
from potluck.dynamo.values import item_size, value_size
from potluck.dynamo.writes import Check, Delete, Put, UpdateWrite, Write

if TYPE_CHECKING:
    from potluck.dynamo.database import Database

KEYED: dict[str, type[UpdateWrite | Delete | Check]] = {
    "Update": UpdateWrite,
    "Delete": Delete,
    "ConditionCheck": Check,
}


async def transact_write_items(database: "Database", request: dict[str, Any]) -> dict[str, Any]:
    asked = request["TransactItems"]
    writes: list[Write] = []
    names: list[str] = []
    payload = 0
    for action in asked:
        write, name, size = asked_write(action)
        writes.append(write)
        names.append(name)
        payload += size
    check_payload(payload)
    tables = list(map(database.table, names))
    bound = 0
    try:
        for write in writes:
            write.bind(tables[bound])
            bound += 1
    except DynamoError as failure:
        raise misfit(failure, bound, len(writes)) from failure
    if len({(write.table.number, write.key) for write in writes}) != len(writes):
        invalid("Transaction request cannot include multiple operations on one item")
    transaction = TransactionWrite(request, asked, writes, database.namespace, database.clock())
    answer: dict[str, Any] = await database.file.writer.submit(transaction.run)
    return answer


def asked_write(asked: dict[str, Any]) -> tuple[Write, str, int]:
    """One action, the name of its table, and the size of the values it sends."""
    if not asked:
        invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
    if len(asked) != 1:
        invalid("TransactItems can only contain one of Check, Put, Update or Delete")
    ((kind, action),) = asked.items()
    write: Write
    if kind == "Put":
        write = put = Put(action, action["Item"])
        size = put.size
    else:
        write = KEYED[kind](action)
        size = item_size(action["Key"])
    values = action.get("ExpressionAttributeValues")
    if values:
        size += sum(map(value_size, values.values()))
    return write, action["TableName"], size


def check_payload(size: int) -> None:
    """Refuse a request that is too large; the size of the stored items does not matter."""
    if size > TRANSACTION_BYTES:
        limit = "Transaction payload size cannot exceed 4MB. Payload Size: "
        invalid(f"{limit}: {limit}{size}")


class TransactionWrite:
    """Writes of several items, all or none; repeating a client token does not repeat them."""

    def __init__(
        self,
        request: dict[str, Any],
        actions: list[dict[str, Any]],
        writes: list[Write],
        namespace: Namespace,
        now: float,
    ) -> None:
        """`actions` are what the writes were made of: a client token fits no others."""
        self.request = request
        self.actions = actions
        self.writes = writes
        self.now = now
        token = request.get("ClientRequestToken")
        self.token = None if token is None else namespace.key(token)

    def run(self, rows: Rows) -> dict[str, Any]:
        digest = b""
        if self.token is not None:
            digest = hashlib.sha256(pack(self.actions)).digest()
            before = rows.execute("SELECT request, answer, at FROM tokens WHERE token=?", (self.token,)).get
            if before is not None and before[2] > self.now - IDEMPOTENCY_SECONDS:
                return self.repeated(before[0] == digest, unpack(before[1]))
        changes = self.evaluated(rows)
        for write, (old, new) in zip(self.writes, changes, strict=True):
            if not isinstance(write, Check):
                rows.store(write.table, write.key, old, new, self.now)
        if self.token is not None:
            written = zip(self.writes, changes, strict=True)
            sizes = [(write.table.name, new.size if new else 0) for write, (_, new) in written]
            rows.execute("REPLACE INTO tokens VALUES (?, ?, ?, ?)", (self.token, digest, pack(sizes), self.now))
        return self.answer(changes)

    def evaluated(self, rows: Rows) -> list[tuple[ItemRow | None, ItemRow | None]]:
        """The old and new row of every item; if any action fails, raises the reasons of all."""
        changes: list[tuple[ItemRow | None, ItemRow | None]] = []
        reasons: list[dict[str, Any]] = []
        for write in self.writes:
            try:
                changes.append(write.evaluate(rows))
                reasons.append({"Code": "None"})
            except DynamoError as failure:
                reasons.append(reason_of(failure))
        if len(changes) < len(self.writes):
            raise cancelled(reasons)
        return changes

    def answer(self, changes: list[tuple[ItemRow | None, ItemRow | None]]) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        asked = self.request.get("ReturnConsumedCapacity", "NONE")
        if asked != "NONE":
            consumed: dict[str, Consumed] = {}
            for write, (old, new) in zip(self.writes, changes, strict=True):
                table = write.table
                consumed.setdefault(table.name, Consumed(table.name, factor=2)).write(table, old, new)
            answer["ConsumedCapacity"] = [capacity.report(asked) for capacity in consumed.values()]
        if self.request.get("ReturnItemCollectionMetrics") == "SIZE":
            collections: dict[str, list[dict[str, Any]]] = {}
            for write in self.writes:
                collection = metrics(write.table, write.key_item)
                if collection and collection not in collections.setdefault(write.table.name, []):
                    collections[write.table.name].append(collection)
            if collections:
                answer["ItemCollectionMetrics"] = collections
        return answer

    def repeated(self, same: bool, sizes: list[tuple[str, int]]) -> dict[str, Any]:
        """The answer to a repeated call, which consumes only read capacity."""
        if not same:
            raise DynamoError(
                "IdempotentParameterMismatchException",
                "Request parameters do not match a previous request with the same client token",
            )
        asked = self.request.get("ReturnConsumedCapacity", "NONE")
        if asked == "NONE":
            return {}
        consumed: dict[str, Consumed] = {}
        for name, size in sizes:
            consumed.setdefault(name, Consumed(name, factor=2)).read(read_units(size, consistent=True))
        return {"ConsumedCapacity": [capacity.report(asked) for capacity in consumed.values()]}
