"""The engine over HTTP against DynamoDB Local, dynalite and moto: the same client, the same requests, in turn."""

import asyncio
import contextlib
import itertools
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measuring import Finding, Round, alternate, median_ratio, say
from benchmarks.sample_data import CREATE_TABLE, TABLE, item, key
from benchmarks.wire_client import WireClient, WireError
from tests import references

CONNECTIONS = 8
LOADED = 2_000
ROUNDS = 5
ROUND_SECONDS = 0.3
WARM_UP_SECONDS = 0.5
PATIENCE_SECONDS = 10
FIRST_GUESS = 3_000  # requests a second, until the first round has shown better
STARTS = 5
START_TARGET_SECONDS = 0.3
MEMORY_TARGET_MB = 60
OURS = "potluck"
LOCAL = "DynamoDB Local"

Requests = Callable[[], tuple[str, dict[str, Any]]]


def operations() -> dict[str, Requests]:
    """Each operation's endless series of requests."""
    fresh = itertools.count(1_000_000)
    gone = itertools.count(1_000_000)
    known = itertools.cycle(range(0, LOADED, 7))
    partitions = itertools.cycle(range(0, LOADED, 100))

    def query() -> tuple[str, dict[str, Any]]:
        return "Query", {
            "TableName": TABLE,
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": key(next(partitions))["PK"]},
            "Limit": 100,
        }

    def update() -> tuple[str, dict[str, Any]]:
        return "UpdateItem", {
            "TableName": TABLE,
            "Key": key(next(known)),
            "UpdateExpression": "SET quantity = :quantity",
            "ConditionExpression": "#type = :type",
            "ExpressionAttributeNames": {"#type": "type"},
            "ExpressionAttributeValues": {
                ":type": {"S": "InventoryItem"},
                ":quantity": {"N": str(next(fresh))},
            },
        }

    def batch_write() -> tuple[str, dict[str, Any]]:
        puts = [{"PutRequest": {"Item": item(next(fresh))}} for _ in range(25)]
        return "BatchWriteItem", {"RequestItems": {TABLE: puts}}

    def batch_get() -> tuple[str, dict[str, Any]]:
        first = next(known)
        keys = [key((first + n * 31) % LOADED) for n in range(25)]
        return "BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys}}}

    def transact() -> tuple[str, dict[str, Any]]:
        puts = [{"Put": {"TableName": TABLE, "Item": item(next(fresh))}} for _ in range(4)]
        return "TransactWriteItems", {"TransactItems": puts}

    return {
        "GetItem": lambda: ("GetItem", {"TableName": TABLE, "Key": key(next(known))}),
        "PutItem": lambda: ("PutItem", {"TableName": TABLE, "Item": item(next(fresh))}),
        "UpdateItem with a condition": update,
        "DeleteItem": lambda: ("DeleteItem", {"TableName": TABLE, "Key": key(next(gone))}),
        "Query of 100": query,
        "BatchWriteItem of 25": batch_write,
        "BatchGetItem of 25": batch_get,
        "Scan page of 100": lambda: ("Scan", {"TableName": TABLE, "Limit": 100}),
        "TransactWriteItems of 4": transact,
    }


class Server:
    """One server with the table made and filled."""

    def __init__(self, endpoint: str, stop: Callable[[], None]) -> None:
        self.client = WireClient(endpoint, CONNECTIONS)
        self.stop = stop
        self.operations = operations()
        self.fastest: dict[str, float] = {}

    async def prepare(self) -> None:
        await self.client.call("CreateTable", CREATE_TABLE)
        for _ in range(100):
            table = (await self.client.call("DescribeTable", {"TableName": TABLE}))["Table"]
            if table["TableStatus"] == "ACTIVE":
                break
            await asyncio.sleep(0.05)
        for first in range(0, LOADED, 25):
            puts = [{"PutRequest": {"Item": item(number)}} for number in range(first, first + 25)]
            await self.client.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})

    async def rate(self, operation: str, seconds: float = ROUND_SECONDS) -> float:
        """Requests answered in a second, from several connections with one request under way each."""
        make = self.operations[operation]
        # Made before the clock starts, so that the client only sends and receives.
        count = int(self.fastest.get(operation, FIRST_GUESS) * seconds) + CONNECTIONS
        prepared = iter([self.client.prepared(*make()) for _ in range(count)])
        answered = 0
        start = time.perf_counter()
        end = start + seconds

        async def one_connection(connection: Any) -> None:
            nonlocal answered
            for request in prepared:
                await self.client.send(connection, request)
                answered += 1
                if time.perf_counter() > end:
                    return

        await asyncio.gather(*(one_connection(connection) for connection in self.client.connections))
        rate = answered / (time.perf_counter() - start)
        self.fastest[operation] = max(self.fastest.get(operation, 0), rate * 1.3)
        return rate


@contextlib.contextmanager
def potluck(folder: Path) -> Iterator[tuple[str, int]]:
    """`potluck dynamodb` on a file: its endpoint and its process id."""
    port = references.free_port()
    command = [
        sys.executable,
        "-m",
        "potluck.commands.main",
        "dynamodb",
        "--port",
        str(port),
        "--file",
        str(folder / "http.db"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def wait_for_port(port: int) -> None:
    end = time.perf_counter() + 30
    while time.perf_counter() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.002)
    raise TimeoutError(f"nothing answers on port {port}")


async def start_up() -> list[Finding]:
    """From starting the process to its first answer, and what it holds in memory when idle."""
    times, sizes = [], []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as name:
            start = time.perf_counter()
            with potluck(Path(name)) as (endpoint, pid):
                client = WireClient(endpoint, 1)
                await client.call("ListTables", {})
                times.append(time.perf_counter() - start)
                await asyncio.sleep(0.3)
                sizes.append(resident_megabytes(pid))
                await client.close()
    seconds, megabytes = statistics.median(times), statistics.median(sizes)
    say(f"  start {seconds:.2f} s, {megabytes:.0f} MB")
    return [
        Finding(
            "start of `potluck dynamodb` to its first answer",
            f"{seconds:.2f} s",
            "",
            None,
            f"< {START_TARGET_SECONDS} s",
            seconds < START_TARGET_SECONDS,
        ),
        Finding(
            "its idle memory", f"{megabytes:.0f} MB", "", None, f"< {MEMORY_TARGET_MB} MB", megabytes < MEMORY_TARGET_MB
        ),
    ]


def resident_megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"no resident size for process {pid}")


async def measure() -> list[Finding]:
    findings = await start_up()
    say("over HTTP")
    others = {
        LOCAL: (references.dynamodb_local, references.dynamodb_local_missing()),
        "dynalite": (references.dynalite, references.dynalite_missing()),
        "moto": (references.moto, references.moto_missing()),
    }
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="potluck-bench-"))
        servers = {OURS: started(stack, potluck(Path(folder)), lambda running: running[0])}
        for name, (start, missing) in others.items():
            if missing:
                say(f"  left out: {name}, because {missing}")
            else:
                servers[name] = started(stack, start(), lambda running: running.endpoint)
        for server in servers.values():
            await server.prepare()
        for operation in operations():
            findings += await compare(servers, operation)
        for server in servers.values():
            await server.client.close()
    return findings


def started(
    stack: contextlib.ExitStack, starting: contextlib.AbstractContextManager[Any], endpoint: Callable[[Any], str]
) -> Server:
    """A server that is stopped at the end, or before."""
    own = stack.enter_context(contextlib.ExitStack())
    return Server(endpoint(own.enter_context(starting)), own.close)


async def compare(servers: dict[str, Server], operation: str) -> list[Finding]:
    sides: dict[str, Round] = {}
    for name, server in list(servers.items()):
        try:
            await asyncio.wait_for(server.rate(operation, WARM_UP_SECONDS), PATIENCE_SECONDS)
        except TimeoutError:
            # It would go on with those requests while the others are measured.
            say(f"  {name} did not finish {operation} in {PATIENCE_SECONDS} s, and was stopped")
            server.stop()
            del servers[name]
        except WireError as refusal:
            if b"UnknownOperation" not in refusal.body:
                raise
            say(f"  {name} does not have {operation}")
        else:
            sides[name] = partial(server.rate, operation)
    rates = await alternate(ROUNDS, sides)
    findings = []
    for other in sides:
        if other == OURS:
            continue
        ratio = median_ratio(rates, OURS, other)
        target = other == LOCAL
        findings.append(
            Finding(
                f"HTTP {operation}",
                f"{statistics.median(rates[OURS]):,.0f}/s",
                f"{other} {statistics.median(rates[other]):,.0f}/s",
                ratio,
                "> 1" if target else "",
                ratio > 1 if target else None,
            )
        )
    say(f"  {operation}: " + ", ".join(f"{name} {statistics.median(each):,.0f}/s" for name, each in rates.items()))
    return findings
