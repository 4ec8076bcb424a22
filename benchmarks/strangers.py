"""What one stranger can take from people who are signed in: `python -m benchmarks.strangers`.

The suite as it is served, in a process of its own. One client without an account does its worst, from one address of
this machine; somebody who is signed in goes on reading, writing and opening streams, from another.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import resource
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.measuring import Finding, as_json, markdown, percentile, say

RESULTS = Path(__file__).parent / "results"
API = "/api/v1"

STREAMS = 10_000
CALLS, CODES = 36, 1_000
POLLS = 300
TRIES = 60
CONNECTING_AT_ONCE = 100
STRANGER, PERSON = "127.0.0.3", "127.0.0.2"
PATIENCE_SECONDS = 30.0
# Nothing here takes longer: what does, counts as long.
ATTACK_SECONDS = 55.0

Status = int | str


class Client:
    """Requests from one address, each on a connection of its own."""

    def __init__(self, port: int, address: str, token: str = "") -> None:
        self.port = port
        self.address = address
        self.token = token

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))

    def head(self, method: str, path: str, length: int = 0, **headers: str) -> bytes:
        named = {"Host": f"127.0.0.1:{self.port}", "Content-Length": str(length), **headers}
        if self.token:
            named["Authorization"] = f"Bearer {self.token}"
        if length:
            named["Content-Type"] = "application/json"
        lines = [f"{method} {API}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        sent = b"" if body is None else json.dumps(body).encode()
        reader, writer = await self.connect()
        try:
            writer.write(self.head(method, path, len(sent), Connection="close", **headers) + sent)
            answer = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
        finally:
            writer.close()
        status, _, rest = answer.partition(b"\r\n")
        body = rest.partition(b"\r\n\r\n")[2]
        return int(status.split()[1]), json.loads(body) if body else None

    async def made(self, path: str, body: Any, **headers: str) -> Any:
        status, answer = await self.ask("POST", path, body, **headers)
        if status != 201:
            raise RuntimeError(f"{path}: {status} {answer}")
        return answer

    async def open_stream(self, path: str) -> tuple[Status, asyncio.StreamWriter | None]:
        """The status, as soon as there is one; the stream stays open."""
        try:
            reader, writer = await self.connect()
            writer.write(self.head("GET", path))
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_SECONDS)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            return type(error).__name__, None
        return int(head.split()[1]), writer


@contextlib.asynccontextmanager
async def running(source: Path | None) -> AsyncIterator[tuple[int, Path]]:
    """The suite on a store of its own; `source` is where another version of it lies."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "import sys; from potluck.commands.main import main; sys.exit(main(['serve']))",
            env={
                **os.environ,
                "POTLUCK_DATA": str(data),
                "POTLUCK_PORT": str(port),
                **({} if source is None else {"PYTHONPATH": str(source)}),
            },
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while True:
                with contextlib.suppress(OSError):
                    (await asyncio.open_connection("127.0.0.1", port))[1].close()
                    break
                if time.monotonic() > deadline:
                    raise TimeoutError("the suite does not start")
                await asyncio.sleep(0.1)
            yield port, data
        finally:
            process.send_signal(signal.SIGTERM)
            await process.wait()


class Person:
    """Somebody with a family, and how long what they do takes."""

    def __init__(self, client: Client, family: str) -> None:
        self.client = client
        self.list = f"/families/{family}/shopping-list"
        self.number = 0

    @classmethod
    async def joined(cls, port: int) -> "Person":
        client = Client(port, PERSON)
        account = {"email": "ada@example.org", "password": "correct horse battery staple", "name": "Ada"}
        client.token = (await client.made("/accounts", account))["token"]
        return cls(client, (await client.made("/families", {"name": "Elm Street"}))["familyId"])

    async def read(self) -> Status:
        return (await self.client.ask("GET", self.list))[0]

    async def write(self) -> Status:
        self.number += 1
        return (await self.client.ask("POST", self.list, {"name": f"Thing {self.number}"}))[0]

    async def listen(self) -> Status:
        status, writer = await self.client.open_stream(f"{self.list}/events")
        if writer is not None:
            writer.close()
        return status


Times = dict[str, list[float]]


async def timed(doing: dict[str, Callable[[], Awaitable[Status]]], going_on: Callable[[], bool]) -> tuple[Times, Times]:
    """Milliseconds of each thing, done in turn; and of those that were refused."""
    taken: Times = {name: [] for name in doing}
    refused: Times = {name: [] for name in doing}
    while going_on():
        for name, do in doing.items():
            start = time.perf_counter()
            status = await do()
            (taken if status in (200, 201) else refused)[name].append((time.perf_counter() - start) * 1000)
    return taken, refused


def so_often(times: int) -> Callable[[], bool]:
    left = iter(range(times))
    return lambda: next(left, None) is not None


def said(times: list[float], refused: list[float]) -> str:
    if not times:
        return f"all {len(refused)} refused"
    told = f"{statistics.median(times):.1f} ms (99 of 100 within {percentile(times, 0.99):.0f})"
    return told + (f", {len(refused)} of {len(refused) + len(times)} refused" if refused else "")


def beside(subject: str, before: tuple[Times, Times], during: tuple[Times, Times], target: str = "") -> list[Finding]:
    found = []
    for name in before[0]:
        times, refused = during[0][name], during[1][name]
        ratio = statistics.median(times) / statistics.median(before[0][name]) if times else None
        found.append(
            Finding(
                f"{subject}: somebody signed in {name}",
                said(times, refused),
                f"before {said(before[0][name], before[1][name])}",
                ratio,
                target,
                not refused if target else None,
            )
        )
    return found


def counted(statuses: Counter[Status]) -> str:
    return ", ".join(f"{statuses[each]:,} × {each}" for each in sorted(statuses, key=str))


async def streams(source: Path | None) -> list[Finding]:
    """Ten thousand streams of one stranger."""
    async with running(source) as (port, _):
        person, stranger = await Person.joined(port), Client(port, STRANGER)
        poll = await stranger.made("/polls", {"title": "Where to?", "candidates": ["Lake", "Hut"]})
        doing = {"reads": person.read, "writes": person.write, "opens a stream": person.listen}
        before = await timed(doing, so_often(TRIES))
        held: list[asyncio.StreamWriter] = []
        statuses: Counter[Status] = Counter()
        deadline = time.monotonic() + ATTACK_SECONDS

        async def attack() -> None:
            for _ in range(0, STREAMS, CONNECTING_AT_ONCE):
                if time.monotonic() > deadline:
                    statuses["not tried"] += CONNECTING_AT_ONCE
                    continue
                opening = (stranger.open_stream(f"/polls/{poll['id']}/events") for _ in range(CONNECTING_AT_ONCE))
                for status, writer in await asyncio.gather(*opening):
                    statuses[status] += 1
                    if writer is not None:
                        held.append(writer)

        attacking = asyncio.create_task(attack())
        during = await timed(doing, lambda: not attacking.done())
        await attacking
        after = await timed(doing, so_often(TRIES))
        for each in held:
            each.close()
    subject = f"{STREAMS:,} streams of one stranger"
    return [
        Finding(subject, counted(statuses), "", None, "at most 200 of them open", statuses[200] <= 200),
        *beside(f"— while they are opened ({sum(map(len, during[0].values()))} times)", before, during, "none refused"),
        *beside("— while they are held", before, after, "none refused"),
    ]


def sizes(data: Path) -> tuple[float, float]:
    """Megabytes of the store, and of its log of writes, which is used again."""
    store, log = ((data / name).stat().st_size / 1e6 for name in ("potluck.db", "potluck.db-wal"))
    return store, log


async def codes(source: Path | None) -> list[Finding]:
    """Thirty-six thousand codes, and hundreds of polls, of one stranger."""
    async with running(source) as (port, data):
        person, stranger = await Person.joined(port), Client(port, STRANGER)
        new = {"title": "Who?", "candidates": ["Lake", "Hut"], "voterPolicy": "codes"}
        poll = await stranger.made("/polls", new)
        doing = {"writes": person.write}
        before = await timed(doing, so_often(TRIES))
        small = sizes(data)
        path, key = f"/polls/{poll['id']}/codes", {"X-Admin-Key": poll["adminKey"]}
        begun = time.perf_counter()
        calls = [asyncio.create_task(stranger.ask("POST", path, {"count": CODES}, **key)) for _ in range(CALLS)]
        during = await timed(doing, lambda: not all(each.done() for each in calls))
        taken = time.perf_counter() - begun
        statuses = Counter([each.result()[0] for each in calls])
        large = sizes(data)
        begun = time.perf_counter()
        made = Counter([(await stranger.ask("POST", "/polls", new))[0] for _ in range(POLLS)])
        polls_taken = time.perf_counter() - begun
    subject = f"{CALLS} × {CODES:,} codes of one stranger"
    return [
        Finding(subject, f"{counted(statuses)}, in {taken:.1f} s", "", None, "5,000 codes", statuses[201] <= 5),
        Finding(
            "— the store grows by",
            f"{large[0] - small[0]:.0f} MB, its log by {max(0.0, large[1] - small[1]):.0f} MB",
            "",
            None,
            "",
            None,
        ),
        *beside("— meanwhile", before, during, "none refused"),
        Finding(
            f"{POLLS} polls of one stranger",
            f"{counted(made)}, in {polls_taken:.1f} s",
            "",
            None,
            "100 polls",
            made[201] <= 100,
        ),
    ]


async def measure(source: Path | None) -> list[Finding]:
    say(f"{STREAMS:,} streams")
    found = await streams(source)
    say(f"{CALLS} × {CODES:,} codes")
    return found + await codes(source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, help="the src of another version; leaves the results as they are")
    source = parser.parse_args().source
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    start = time.perf_counter()
    findings = uvloop.run(measure(source))
    seconds = time.perf_counter() - start
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"clients and worker on the same machine; the run took {seconds:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    if source is None:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "strangers.md").write_text(f"# What one stranger can take, last measured\n\n{machine}\n\n{table}\n")
        (RESULTS / "strangers.json").write_text(
            json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
