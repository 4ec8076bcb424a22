"""The second process on a file that a test has open: it does what the test's lines tell it, one answer line each.

python -m tests.faults.second_process FILE
"""

import asyncio
import json
import sys
from typing import Any

from potluck.dynamo.database import Database
from potluck.dynamo.errors import DynamoError

COUNTERS = "Counters"


async def add_by_condition(database: Database, counter: str, times: int) -> int:
    """Add one that many times, each time only if nobody was faster; returns how often somebody was."""
    key = {"id": {"S": counter}}
    beaten = 0
    done = 0
    while done < times:
        answer = await database.call("GetItem", {"TableName": COUNTERS, "Key": key, "ConsistentRead": True})
        seen = int(answer["Item"]["n"]["N"])
        request = {
            "TableName": COUNTERS,
            "Key": key,
            "UpdateExpression": "SET n = :next",
            "ConditionExpression": "n = :seen",
            "ExpressionAttributeValues": {":seen": {"N": str(seen)}, ":next": {"N": str(seen + 1)}},
        }
        try:
            await database.call("UpdateItem", request)
            done += 1
        except DynamoError as error:
            if error.code != "ConditionalCheckFailedException":
                raise
            beaten += 1
    return beaten


async def move(database: Database, giver: str, taker: str, times: int) -> int:
    """Move one from a counter to another that many times, in transactions; returns how many conflicts there were."""
    conflicts = 0
    for _ in range(times):
        actions = [
            {
                "Update": {
                    "TableName": COUNTERS,
                    "Key": {"id": {"S": counter}},
                    "UpdateExpression": "ADD n :change",
                    "ExpressionAttributeValues": {":change": {"N": change}},
                }
            }
            for counter, change in ((giver, "-1"), (taker, "1"))
        ]
        while True:
            try:
                await database.call("TransactWriteItems", {"TransactItems": actions})
                break
            except DynamoError as error:
                codes = {reason.get("Code") for reason in error.reasons or []}
                if error.code != "TransactionCanceledException" or codes - {"None"} != {"TransactionConflict"}:
                    raise
                conflicts += 1
    return conflicts


async def obey(database: Database, order: dict[str, Any]) -> Any:
    match order["do"]:
        case "call":
            return await database.call(order["operation"], order["request"])
        case "add":
            workers = order["workers"]
            return sum(
                await asyncio.gather(
                    *(add_by_condition(database, order["counter"], order["times"]) for _ in range(workers))
                )
            )
        case "move":
            workers = order["workers"]
            return sum(
                await asyncio.gather(
                    *(move(database, order["from"], order["to"], order["times"]) for _ in range(workers))
                )
            )
        case "changed":
            print(json.dumps("waiting"), flush=True)
            return await database.changed(order["table"], order["timeout"])
    raise ValueError(order)


async def obey_lines(path: str) -> None:
    database = await Database.open(path)
    print(json.dumps("open"), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await obey(database, json.loads(line))), flush=True)
    await database.close()


if __name__ == "__main__":
    asyncio.run(obey_lines(sys.argv[1]))
