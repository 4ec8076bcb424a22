"""Writes go on while the event loop has no moment to spare."""

import asyncio
import time

from potluck.dynamo.database import Database

CALLERS = 64
SLICES = 100
SLICE_SECONDS = 0.01

# At Python's default switch interval the writing thread gets through about eight puts in such a second.
LEAST_PUTS = 200

TABLE = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}


def compute_for(seconds: float) -> None:
    """So long by what this thread gets of the machine, of which the writing thread gets no more."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))


async def test_puts_are_acknowledged_while_the_loop_is_saturated(tmp_path):
    database = await Database.open(tmp_path / "store.db")
    await database.call("CreateTable", TABLE)
    acknowledged = 0
    saturated = True

    async def put_on_and_on(caller: int) -> None:
        nonlocal acknowledged
        number = 0
        while saturated:
            item = {"id": {"S": f"{caller}/{number}"}, "text": {"S": "x" * 200}}
            await database.call("PutItem", {"TableName": "Things", "Item": item})
            acknowledged += saturated
            number += 1

    callers = [asyncio.create_task(put_on_and_on(caller)) for caller in range(CALLERS)]
    await asyncio.sleep(0)
    for _ in range(SLICES):
        compute_for(SLICE_SECONDS)
        await asyncio.sleep(0)
    saturated = False
    await asyncio.gather(*callers)
    await database.close()
    assert acknowledged >= LEAST_PUTS
