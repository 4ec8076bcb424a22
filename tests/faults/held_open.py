"""A process that opens a store, writes items to it, says so, and keeps it open until it is killed or told to end."""

import asyncio
import sys

from potluck.dynamo.database import Database

TABLE = "Things"


def item(number: int) -> dict:
    text = f"thing-{number:05}-" + "x" * 1500
    return {"pk": {"S": f"thing-{number:05}"}, "kind": {"S": f"kind-{number % 7}"}, "text": {"S": text}}


async def fill(database: Database, first: int, last: int) -> None:
    tables = (await database.call("ListTables", {}))["TableNames"]
    if TABLE not in tables:
        await database.call(
            "CreateTable",
            {
                "TableName": TABLE,
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "kind", "AttributeType": "S"},
                ],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "ByKind",
                        "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    for number in range(first, last):
        await database.call("PutItem", {"TableName": TABLE, "Item": item(number)})


async def main(path: str, first: int, last: int) -> None:
    database = await Database.open(path)
    await fill(database, first, last)
    print("written", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    # The process ends without closing the store, as a script that forgets to.


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
