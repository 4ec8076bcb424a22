"""Live updates of up to 12 processes within the service's limits, with a fan-out or not: `python -m benchmarks.fanout`.

The service is the embedded engine behind HTTP, which refuses what DynamoDB Streams would: more than five GetRecords a
second of a shard, or more than 2 MB. With `--before CHECKOUT`, processes of another checkout are measured too.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

from benchmarks.fanout_process import Note, notes, system_clock
from benchmarks.measuring import percentile, say
from potluck.dynamo.database import Database
from potluck.engines import DynamoError
from potluck.store import Store
from potluck.streams import WorkTable
from tests.redis_server import RedisServer, redis_server

RESULT = Path(__file__).parent / "results" / "fanout.json"
READS_PER_SECOND = 5
BYTES_PER_SECOND = 2_000_000
WRITES_PER_SECOND = 5.0
SETTLING_SECONDS = 8.0
PATIENCE_SECONDS = 60.0
START_SECONDS = 300.0
DAY_SECONDS = 12 * 3600.0


class Service:
    """DynamoDB and its streams, with the limits of a shard."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.reads = 0
        self.throttled = 0
        self.is_limited = True
        self._shards: dict[str, str] = {}
        self._served: dict[str, deque[tuple[float, int]]] = {}

    async def answer(self, request: web.Request) -> web.Response:
        operation = request.headers["X-Amz-Target"].rpartition(".")[2]
        asked = json.loads(await request.read())
        try:
            shard = self._must_be_allowed(asked) if operation == "GetRecords" else ""
            answer = await self.database.call(operation, asked)
        except DynamoError as error:
            said: dict[str, Any] = {"__type": f"com.amazonaws.dynamodb#{error.code}", "message": error.message}
            if error.reasons:
                said["CancellationReasons"] = error.reasons
            return web.json_response(said, status=400)
        body = json.dumps(answer)
        if operation == "GetShardIterator":
            self._shards[answer["ShardIterator"]] = asked["ShardId"]
        elif operation == "GetRecords":
            self._served[shard].append((time.monotonic(), len(body)))
            if "NextShardIterator" in answer:
                self._shards[answer["NextShardIterator"]] = shard
        return web.Response(text=body, content_type="application/x-amz-json-1.0")

    def _must_be_allowed(self, asked: dict[str, Any]) -> str:
        shard = self._shards[asked["ShardIterator"]]
        served = self._served.setdefault(shard, deque())
        now = time.monotonic()
        while served and served[0][0] < now - 1.0:
            served.popleft()
        too_many = len(served) >= READS_PER_SECOND or sum(size for _, size in served) >= BYTES_PER_SECOND
        if self.is_limited and too_many:
            self.throttled += 1
            raise DynamoError("ProvisionedThroughputExceededException", "the shard is read too often")
        self.reads += 1
        return shard


@contextlib.asynccontextmanager
async def serving(database: Database) -> AsyncIterator[tuple[Service, str]]:
    service = Service(database)
    application = web.Application(client_max_size=20_000_000)
    application.router.add_post("/", service.answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield service, f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class Heard(NamedTuple):
    event: str
    note: str
    at: float


class Process:
    """A process that follows, and what it heard."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[Heard] = []
        self.ready: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.leads: asyncio.Future[bool] | None = None
        self.killed = False
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            said = json.loads(line)
            if "ready" in said and not self.ready.done():
                self.ready.set_result(said["ready"])
            elif "leads" in said and self.leads is not None:
                self.leads.set_result(said["leads"])
            elif "event" in said:
                self.heard.append(Heard(said["event"], said["note"], said["at"]))

    async def is_leading(self) -> bool:
        assert self.process.stdin is not None
        self.leads = asyncio.get_running_loop().create_future()
        self.process.stdin.write(b"leads?\n")
        return await asyncio.wait_for(self.leads, PATIENCE_SECONDS)

    def kill(self) -> None:
        self.killed = True
        self.process.send_signal(signal.SIGKILL)

    async def stop(self) -> None:
        if not self.killed:
            assert self.process.stdin is not None
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 20.0)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
        await self._reading


async def started(checkout: Path | None, *options: str) -> Process:
    here = Path(__file__).parent.parent
    source = (checkout or here) / "src"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(source), str(here))),
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
    }
    return Process(
        await asyncio.create_subprocess_exec(
            *(sys.executable, str(here / "benchmarks" / "fanout_process.py"), *options),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
        )
    )


class Case(NamedTuple):
    """What is measured: how many processes, how they read, and what is killed meanwhile."""

    processes: int
    fan_out: bool = True
    kills: str = ""
    checkout: Path | None = None

    @property
    def title(self) -> str:
        how = "with a fan-out" if self.fan_out else "each reads" if self.checkout is None else "before: each reads"
        count = "1 process" if self.processes == 1 else f"{self.processes} processes"
        return ", ".join(part for part in (count, how, self.kills) if part)


async def measured(case: Case, seconds: float, folder: Path) -> dict[str, Any]:
    """Write notes one after the other, and see when each process heard of each."""
    say(f"{case.title} …")
    with contextlib.ExitStack() as stack:
        server: RedisServer | None = stack.enter_context(redis_server(folder)) if case.fan_out else None
        async with await Database.open() as database, serving(database) as (service, endpoint):
            store = Store(database, system_clock)
            await store.create_tables(notes, WorkTable().design)
            options = ["--endpoint", endpoint, *([] if server is None else ["--fan-out", server.url])]
            processes = [await started(case.checkout, *options) for _ in range(case.processes)]
            try:
                await asyncio.gather(*(asyncio.wait_for(process.ready, START_SECONDS) for process in processes))
                # Until one leads, and until each knows how many there are.
                await asyncio.sleep(SETTLING_SECONDS if case.fan_out else 3 * SETTLING_SECONDS)
                service.reads = service.throttled = 0
                began = time.monotonic()
                written: dict[str, float] = {}
                while (now := time.monotonic()) < began + seconds:
                    share = (now - began) / seconds
                    if server is not None and case.kills == "the server killed and started again":
                        if share > 0.33 and server.is_running and share < 0.66:
                            server.kill()
                        elif share > 0.66 and not server.is_running:
                            server.start()
                    if case.kills == "the reader killed" and share > 0.33 and not any(p.killed for p in processes):
                        leading = [process for process in processes if await process.is_leading()]
                        leading[0].kill()
                    note = f"{len(written)}"
                    await store.put(Note(list_id="followed", note_id=note))
                    written[note] = time.monotonic()
                    await asyncio.sleep(1 / WRITES_PER_SECOND)
                asked = time.monotonic() - began
                reads, throttled = service.reads / asked, service.throttled
                await heard_all([process for process in processes if not process.killed], len(written))
            finally:
                await asyncio.gather(*(process.stop() for process in processes))
    return summary(case, processes, written, reads, throttled)


async def heard_all(processes: list[Process], count: int) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while any(len({heard.note for heard in process.heard}) < count for process in processes):  # noqa: ASYNC110
                await asyncio.sleep(0.1)


def summary(
    case: Case, processes: list[Process], written: dict[str, float], reads: float, throttled: int
) -> dict[str, Any]:
    alive = [process for process in processes if not process.killed]
    first = [{heard.note: heard.at for heard in reversed(process.heard)} for process in alive]
    late = [times[note] - at for times in first for note, at in written.items() if note in times]
    return {
        "case": case.title,
        "notes": len(written),
        "p50": round(statistics.median(late), 2),
        "p95": round(percentile(late, 0.95), 2),
        "max": round(max(late), 2),
        "lost": sum(len(written.keys() - times.keys()) for times in first),
        "twice": sum(len(process.heard) - len(times) for process, times in zip(alive, first, strict=True)),
        "resets": sum(heard.event == "reset" for process in alive for heard in process.heard),
        "reads_per_second": round(reads, 1),
        "throttled": throttled,
    }


# --- start-to-first-list ---------------------------------------------------------------------------------------------


async def day_of(changes: int, path: Path) -> None:
    """A store with this many changes, made half a day ago."""
    async with await Database.open(path, clock=lambda: time.time() - DAY_SECONDS) as database:
        await Store(database, system_clock).create_tables(notes, WorkTable().design)
        row = {"type": {"S": "NOTE"}, "ListId": {"S": "l"}, "NoteId": {"S": "n"}, "text": {"S": "x" * 300}}
        for start in range(0, changes, 2500):
            batches = [
                [
                    {"PutRequest": {"Item": {**row, "PK": {"S": f"LIST#{n % 1000}"}, "SK": {"S": f"NOTE#{n}"}}}}
                    for n in range(batch, min(batch + 25, changes))
                ]
                for batch in range(start, min(start + 2500, changes), 25)
            ]
            await asyncio.gather(
                *(database.call("BatchWriteItem", {"RequestItems": {notes.name: batch}}) for batch in batches)
            )


async def first_list(changes: int, path: Path, checkout: Path | None, rounds: int) -> dict[str, Any]:
    """Seconds from the open engine to the first list, on both engines."""
    name = "this checkout" if checkout is None else "before"
    say(f"first list after {changes} changes, {name} …")
    times: dict[str, list[float]] = {"embedded": [], "aws": []}
    for _ in range(rounds):
        process = await started(checkout, "--file", str(path), "--once")
        times["embedded"].append(await asyncio.wait_for(process.ready, START_SECONDS))
        await process.stop()
    async with await Database.open(path) as database, serving(database) as (service, endpoint):
        for _ in range(rounds):
            await asyncio.sleep(1.0)
            service.reads = service.throttled = 0
            process = await started(checkout, "--endpoint", endpoint, "--once")
            times["aws"].append(await asyncio.wait_for(process.ready, START_SECONDS))
            reads = service.reads
            await process.stop()
    medians = {engine: round(statistics.median(seconds), 2) for engine, seconds in times.items()}
    return {"changes": changes, "code": name, **medians, "aws_reads": reads}


# --- all of it -------------------------------------------------------------------------------------------------------


async def run(chosen: argparse.Namespace) -> None:
    cases = [Case(count) for count in (1, 2, 4, 12)]
    cases += [Case(count, fan_out=False) for count in (1, 4, 12)]
    if chosen.before is not None:
        cases += [Case(4, fan_out=False, checkout=chosen.before)]
    cases += [Case(4, kills="the server killed and started again"), Case(4, kills="the reader killed")]
    found: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.only in (None, "live"):
            found["cases"] = []
            for case in cases:
                found["cases"].append(await measured(case, (3 if case.kills else 1) * chosen.seconds, folder))
                noted(found)
        if chosen.only in (None, "start"):
            found["first_lists"] = []
            for changes in (0, 50_000, 500_000):
                path = folder / f"{changes}.db"
                await day_of(changes, path)
                found["first_lists"].append(await first_list(changes, path, None, 3))
                noted(found)
                if chosen.before is not None:
                    found["first_lists"].append(await first_list(changes, path, chosen.before, 1))
                    noted(found)


def noted(found: dict[str, Any]) -> None:
    """Write what is known so far."""
    RESULT.write_text(json.dumps(found, indent=2) + "\n")
    RESULT.with_suffix(".md").write_text(markdown(found))


def markdown(found: dict[str, Any]) -> str:
    lines = [
        "Live updates in seconds, from the answered write to the event in a process; reads and throttled calls of the",
        "stream's one shard, which allows five reads a second.",
        "",
        "| processes | notes | p50 | p95 | max | lost | twice | resets | reads/s | throttled |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    names = ("case", "notes", "p50", "p95", "max", "lost", "twice", "resets", "reads_per_second", "throttled")
    lines += ["| " + " | ".join(str(case[name]) for name in names) + " |" for case in found.get("cases", ())]
    lines += [
        "",
        "Seconds from the open engine to the first list.",
        "",
        "| changes in the last day | code | embedded | aws | GetRecords on aws |",
        "|---:|---|---:|---:|---:|",
    ]
    columns = ("changes", "code", "embedded", "aws", "aws_reads")
    lines += ["| " + " | ".join(str(start[name]) for name in columns) + " |" for start in found.get("first_lists", ())]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--before", type=Path, help="another checkout to measure too")
    parser.add_argument("--only", choices=("live", "start"), help="one half; keeps the other half's results")
    asyncio.run(run(parser.parse_args()))
    print(RESULT.with_suffix(".md").read_text())


if __name__ == "__main__":
    main()
