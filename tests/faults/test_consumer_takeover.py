"""Three worker processes, one consumer: whoever owns it dies or hangs, another goes on, and nothing is lost or doubled.

Run as a program, this file is one of the workers.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from potluck.engines import Engine
from potluck.streams import Action, ConsumerGroup, Record, RecordConsumer, WorkTable
from tests.engine_targets import BOTH, LOCAL, address, opened_at, table
from tests.patience import PATIENCE_SECONDS, until

WORKERS = 3
KEYS = 5
WORK = WorkTable("Work")
GROUP = "work"
TAKEOVER_SECONDS = 5.0
ROOT = Path(__file__).resolve().parents[2]


# --- the worker ------------------------------------------------------------------------------------------------------


async def work(where: dict[str, Any]) -> None:
    """Two consumers of one group: one returns its writes, the other makes them itself."""
    engine = await opened_at(where)

    async def returns_its_writes(change: Record) -> list[Action]:
        assert change.new is not None
        key, number = change.new["PK"]["S"], change.new["n"]["N"]
        by = {":by": {"S": str(group.membership.owner)}, ":one": {"N": "1"}, ":at": {"N": repr(time.time())}}
        once = _update(_row("once", number), "SET #by = :by, #at = :at ADD #times :one", by)
        # Fails, and so parks the record, if a change of one key is applied before an earlier one.
        last = _update(_row("last", key), "SET #n = :n", {":n": {"N": number}})
        last["ConditionExpression"] = "attribute_not_exists(#n) OR #n < :n"
        total = _update(_row("total", "total"), "ADD #times :one", {":one": {"N": "1"}})
        return [{"Update": once}, {"Update": last}, {"Update": total}]

    async def writes_itself(change: Record) -> None:
        assert change.new is not None
        await engine.call(
            "UpdateItem", _update(_row("often", change.new["n"]["N"]), "ADD #times :one", {":one": {"N": "1"}})
        )

    group = ConsumerGroup(engine, GROUP, WORK)
    consumers = [
        RecordConsumer(engine, "once", "Source", returns_its_writes, work_table=WORK),
        RecordConsumer(engine, "often", "Source", writes_itself, work_table=WORK),
    ]
    print("ready", flush=True)
    await group.run(consumers)


def _row(partition: str, sort: str) -> dict[str, Any]:
    return {"PK": {"S": partition}, "SK": {"S": sort.zfill(6)}}


def _update(key: dict[str, Any], update: str, values: dict[str, Any]) -> dict[str, Any]:
    names = {name: name[1:] for name in ("#by", "#at", "#times", "#n") if name in update}
    return {
        "TableName": "Seen",
        "Key": key,
        "UpdateExpression": update,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


# --- the test --------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def workers(where: dict[str, Any]) -> AsyncIterator[dict[int, subprocess.Popen[str]]]:
    command = [sys.executable, __file__, json.dumps(where)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: ASYNC220
        for _ in range(WORKERS)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
        yield {process.pid: process for process in started}
    finally:
        for process in started:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


class Writer:
    """Changes items under a few keys, numbered in the order of the writes, until told to stop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stopping = False
        self._writing = asyncio.create_task(self._write())

    async def _write(self) -> int:
        written = 0
        while not self._stopping:
            item = {"PK": {"S": f"K{random.randrange(KEYS)}"}, "SK": {"S": "item"}, "n": {"N": str(written)}}
            await self._engine.call("PutItem", {"TableName": "Source", "Item": item})
            written += 1
            await asyncio.sleep(0.02)
        return written

    async def stopped(self) -> int:
        """How many writes were answered, after the last one."""
        self._stopping = True
        return await self._writing


async def rows(engine: Engine, partition: str, table_name: str = "Seen") -> list[dict[str, Any]]:
    request: dict[str, Any] = {
        "TableName": table_name,
        "ConsistentRead": True,
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
    }
    items: list[dict[str, Any]] = []
    while True:
        page = await engine.call("Query", request)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


async def owner(engine: Engine) -> str:
    """Whose the shard is; one that was let go is nobody's for a moment."""

    async def found() -> str | None:
        owners = [
            row["Owner"]["S"]
            for row in await rows(engine, f"GROUP#{GROUP}", "Work")
            if {"Shard", "Owner"} <= row.keys()
        ]
        return owners[0] if owners else None

    return await until(found)


def process_of(owner: str) -> int:
    return int(owner.split(":")[1])


async def worked_by_another(engine: Engine, first: str, since: float) -> float:
    """When somebody else than the first owner first did something after that moment."""

    async def found() -> float | None:
        times = [float(row["at"]["N"]) for row in await rows(engine, "once") if row["by"]["S"] != first]
        return min((at for at in times if at > since), default=None)

    return await until(found, every=0.25)


async def prepared(where: dict[str, Any]) -> Engine:
    engine = await opened_at(where)
    await engine.call("CreateTable", table("Source", stream=True))
    await engine.call("CreateTable", table("Seen"))
    await WORK.create_if_missing(engine)
    return engine


async def everything_arrived(engine: Engine, written: int) -> None:
    """Each change applied once by the one consumer, at least once by the other, in order for each key."""
    for partition in ("once", "often"):
        arrived = 0
        # Patience is for the next change, as a slow machine has left many to be worked off.
        while arrived < written:

            async def more(partition: str = partition, before: int = arrived) -> int:
                found = len(await rows(engine, partition))
                return found if found > before else 0

            arrived = await until(more, every=0.25)
    assert [int(row["SK"]["S"]) for row in await rows(engine, "once")] == list(range(written))
    assert [row["times"]["N"] for row in await rows(engine, "once")] == ["1"] * written
    assert (await rows(engine, "total"))[0]["times"]["N"] == str(written)
    assert [int(row["SK"]["S"]) for row in await rows(engine, "often")] == list(range(written))
    parked = [row for row in await rows(engine, "CONSUMER#once", "Work") if row["SK"]["S"].startswith("PARKED#")]
    assert parked == []


# On a machine that has other things to do, five seconds say nothing of ours: `make soak` has it to itself.
@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize("within", [PATIENCE_SECONDS, pytest.param(TAKEOVER_SECONDS, marks=pytest.mark.soak)])
async def test_a_killed_owner_is_replaced_in_time(target: str, within: float, tmp_path: Path) -> None:
    where = address(target, tmp_path)
    engine = await prepared(where)
    try:
        async with workers(where) as processes:
            writer = Writer(engine)
            first = await working_owner(engine)
            killed = process_of(first)
            killed_at = time.time()
            processes[killed].send_signal(signal.SIGKILL)
            seconds = await worked_by_another(engine, first, killed_at) - killed_at
            print(f"{target}: taken over {seconds:.2f} s after the kill")
            assert seconds < within
            await asyncio.sleep(0.5)
            await everything_arrived(engine, await writer.stopped())
            assert process_of(await owner(engine)) in set(processes) - {killed}
            assert [pid for pid, process in processes.items() if process.poll() is not None] == [killed]
    finally:
        await engine.close()


@pytest.mark.parametrize("target", [LOCAL])  # on one file, a process that hangs may hang with the file's lock
async def test_an_owner_that_hung_and_wakes_up_deposed_applies_nothing_more(target: str, tmp_path: Path) -> None:
    where = address(target, tmp_path)
    engine = await prepared(where)
    try:
        async with workers(where) as processes:
            writer = Writer(engine)
            first = await working_owner(engine)
            hanging = processes[process_of(first)]
            hanging.send_signal(signal.SIGSTOP)
            await asyncio.to_thread(os.waitpid, hanging.pid, os.WUNTRACED)
            hung_at = time.time()
            await worked_by_another(engine, first, hung_at)
            hanging.send_signal(signal.SIGCONT)
            await asyncio.sleep(1.0)
            await everything_arrived(engine, await writer.stopped())
            assert [pid for pid, process in processes.items() if process.poll() is not None] == []
            # Its process may own it again: others lose it too on a machine that has other things to do.
            assert await owner(engine) != first
            by_first = [float(row["at"]["N"]) for row in await rows(engine, "once") if row["by"]["S"] == first]
            assert max(by_first, default=0.0) <= hung_at
    finally:
        await engine.close()


async def working_owner(engine: Engine) -> str:
    """The owner, once it has applied something."""
    await until(lambda: rows(engine, "once"))
    await asyncio.sleep(random.uniform(0.3, 1.3))  # anywhere between two renewals
    return await owner(engine)


if __name__ == "__main__":
    asyncio.run(work(json.loads(sys.argv[1])))
