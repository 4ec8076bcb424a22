"""Writes whose outcome can be foretold, so that any loss, half or disorder after a fault can be named.

Every writer owns a few items and nobody else writes them: after n writes their content is known exactly. Transfers
between shared accounts leave a receipt among the writer's own items in the same transaction, so the accounts can be
recomputed from the receipts. Tallies are plain increments of a shared counter, acknowledged or not.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

Item = dict[str, dict[str, Any]]
Key = tuple[str, str]

TABLE = "Ledger"
ACCOUNTS = 8
OWN_ITEMS = 6
OPENING_BALANCE = 1000
RECEIPT = "receipt"

CREATE_TABLE: dict[str, Any] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "colour", "AttributeType": "S"},
        {"AttributeName": "weight", "AttributeType": "N"},
        {"AttributeName": "label", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-colour",
            "KeySchema": [
                {"AttributeName": "colour", "KeyType": "HASH"},
                {"AttributeName": "weight", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        },
        {
            "IndexName": "by-label",
            "KeySchema": [{"AttributeName": "label", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["version"]},
        },
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by-weight",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "weight", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


class Database(Protocol):
    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Write:
    """One request, and what it does to its writer's items, the accounts and the tally."""

    operation: str
    request: dict[str, Any]
    own: dict[Key, Item | None]
    accounts: dict[int, int] = field(default_factory=dict)
    tally: int = 0


def account_key(number: int) -> Item:
    return {"pk": {"S": "accounts"}, "sk": {"S": f"{number:02}"}}


TALLY_KEY: Item = {"pk": {"S": "tally"}, "sk": {"S": "tally"}}


class Writer:
    """The endless, foreseeable series of one writer's writes."""

    def __init__(self, seed: int, name: str) -> None:
        self.name = name
        self.random = random.Random(f"{seed}/{name}")
        self.items: dict[Key, Item] = {}  # as they are after every write that was made so far
        self.number = 0

    def next(self) -> Write:
        """The write that follows; its effect is taken as done."""
        self.number += 1
        kinds = ["put", "put", "update", "conditional update", "delete", "transaction", "transfer", "tally"]
        kind = self.random.choice(kinds)
        key = self._own_key(self.random.randrange(OWN_ITEMS))
        if kind in ("update", "conditional update", "delete") and key not in self.items:
            kind = "put"
        write = self._write(kind, key)
        for changed, item in write.own.items():
            if item is None:
                self.items.pop(changed, None)
            else:
                self.items[changed] = item
        return write

    def _own_key(self, number: int) -> Key:
        # Half of a writer's items share a partition, the others have one each.
        return (self.name, f"{number}") if number % 2 else (f"{self.name}#{number}", "only")

    def _fresh_item(self, key: Key) -> Item:
        item: Item = {
            "pk": {"S": key[0]},
            "sk": {"S": key[1]},
            "version": {"N": str(self.number)},
            "text": {"S": "é\u0000#|" + "x" * self.random.choice([5, 60, 700])},
        }
        item.update(self._index_attributes())
        return item

    def _index_attributes(self) -> Item:
        attributes: Item = {}
        if self.random.random() < 0.8:
            attributes["colour"] = {"S": self.random.choice(["red", "green", "blue"])}
        if self.random.random() < 0.8:
            attributes["weight"] = {"N": self.random.choice(["-12.5", "-3", "0", "0.001", "7", "12", "100"])}
        if self.random.random() < 0.5:
            attributes["label"] = {"S": f"{self.name}/{self.random.randrange(3)}"}
        return attributes

    def _write(self, kind: str, key: Key) -> Write:
        table: dict[str, Any] = {"TableName": TABLE}
        wire_key: Item = {"pk": {"S": key[0]}, "sk": {"S": key[1]}}
        match kind:
            case "put":
                item = self._fresh_item(key)
                return Write("PutItem", {**table, "Item": item}, {key: item})
            case "delete":
                return Write("DeleteItem", {**table, "Key": wire_key}, {key: None})
            case "update" | "conditional update":
                return self._update(kind == "conditional update", key, wire_key)
            case "transaction":
                return self._transaction()
            case "transfer":
                return self._transfer()
            case _:
                request = {
                    **table,
                    "Key": TALLY_KEY,
                    "UpdateExpression": "ADD #n :one",
                    "ExpressionAttributeNames": {"#n": "count"},
                    "ExpressionAttributeValues": {":one": {"N": "1"}},
                }
                return Write("UpdateItem", request, {}, tally=1)

    def _update(self, conditional: bool, key: Key, wire_key: Item) -> Write:
        old = self.items[key]
        colour = self.random.choice(["red", "green", "blue"])
        item = {**old, "version": {"N": str(self.number)}, "colour": {"S": colour}}
        item.pop("label", None)
        request = {
            "TableName": TABLE,
            "Key": wire_key,
            "UpdateExpression": "SET version = :version, colour = :colour REMOVE label",
            "ExpressionAttributeValues": {":version": item["version"], ":colour": item["colour"]},
        }
        if conditional:
            request["ConditionExpression"] = "version = :before"
            request["ExpressionAttributeValues"][":before"] = old["version"]
        return Write("UpdateItem", request, {key: item})

    def _transaction(self) -> Write:
        """Several own items change together: some put, some deleted."""
        own: dict[Key, Item | None] = {}
        actions: list[dict[str, Any]] = []
        for number in self.random.sample(range(OWN_ITEMS), self.random.randint(2, OWN_ITEMS)):
            key = self._own_key(number)
            if key in self.items and self.random.random() < 0.3:
                wire_key = {"pk": {"S": key[0]}, "sk": {"S": key[1]}}
                actions.append({"Delete": {"TableName": TABLE, "Key": wire_key}})
                own[key] = None
            else:
                item = self._fresh_item(key)
                actions.append({"Put": {"TableName": TABLE, "Item": item}})
                own[key] = item
        return Write("TransactWriteItems", {"TransactItems": actions}, own)

    def _transfer(self) -> Write:
        giver, taker = self.random.sample(range(ACCOUNTS), 2)
        amount = self.random.randint(1, 9)
        key = (self.name, RECEIPT)
        receipt: Item = {"pk": {"S": key[0]}, "sk": {"S": key[1]}, "version": {"N": str(self.number)}}
        actions: list[dict[str, Any]] = [{"Put": {"TableName": TABLE, "Item": receipt}}]
        for account, change in ((giver, -amount), (taker, amount)):
            actions.append(
                {
                    "Update": {
                        "TableName": TABLE,
                        "Key": account_key(account),
                        "UpdateExpression": "SET balance = balance + :change",
                        "ExpressionAttributeValues": {":change": {"N": str(change)}},
                    }
                }
            )
        accounts = {giver: -amount, taker: amount}
        return Write("TransactWriteItems", {"TransactItems": actions}, {key: receipt}, accounts)


async def prepare(database: Database) -> None:
    """Make the table and open the accounts, unless an earlier run did."""
    if TABLE in (await database.call("ListTables", {}))["TableNames"]:
        return
    await database.call("CreateTable", CREATE_TABLE)
    # One transaction, so that a fault between leaves all accounts or none.
    opening = [
        {"Put": {"TableName": TABLE, "Item": {**account_key(n), "balance": {"N": str(OPENING_BALANCE)}}}}
        for n in range(ACCOUNTS)
    ]
    opening.append({"Put": {"TableName": TABLE, "Item": {**TALLY_KEY, "count": {"N": "0"}}}})
    await database.call("TransactWriteItems", {"TransactItems": opening})


async def run_writer(
    database: Database,
    writer: Writer,
    going_on: Callable[[], bool],
    acknowledged: Callable[[Writer], None],
    refused: Callable[[Exception], Awaitable[None]] | None = None,
) -> None:
    """Make one write after the other while it goes on; a refused write is tried again."""
    while going_on():
        write = writer.next()
        while True:
            try:
                await database.call(write.operation, write.request)
            except Exception as error:
                if refused is None:
                    raise
                await refused(error)
                continue
            acknowledged(writer)
            break
        await asyncio.sleep(0)
