"""A thousand event streams on one worker: what each costs, and when all have an event: `python -m benchmarks.live`."""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import resource
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import msgspec
import uvloop

from benchmarks.live_server import Used
from benchmarks.measuring import Finding, as_json, markdown, say

RESULTS = Path(__file__).parent / "results"

STREAMS = 1000
WARMING_STREAMS = 50
WRITES = 30
PAUSE_SECONDS = 0.05
SETTLING_SECONDS = 0.5
CONNECTING_AT_ONCE = 50
PATIENCE_SECONDS = 30.0
# A change reaches every other open client within a second.
DELIVERY_TARGET_SECONDS = 1.0


class Listener(asyncio.Protocol):
    """One open stream, and when it had which event."""

    def __init__(self, path: str, port: int, token: str = "") -> None:
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Accept: text/event-stream"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        self.request = "\r\n".join((*lines, "", "")).encode()
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting: asyncio.Future[float] | None = None
        self.sought = b""
        self.tail = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        if not self.opened.done() and (b"id: " in data or b"data: " in data):
            self.opened.set_result(None)
        if self.waiting is not None and not self.waiting.done():
            self.tail = (self.tail + data)[-4096:]
            if self.sought in self.tail:
                self.waiting.set_result(time.perf_counter())

    def close(self) -> None:
        assert self.transport is not None
        self.transport.close()

    def seek(self, text: bytes) -> "asyncio.Future[float]":
        self.sought, self.tail = text, b""
        self.waiting = asyncio.get_running_loop().create_future()
        return self.waiting


class Server:
    """A worker process of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """One request on a connection of its own; only the answer's body."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.read()
        writer.close()
        status, _, rest = answer.partition(b"\r\n")
        if b" 20" not in status:
            raise RuntimeError(answer.decode(errors="replace"))
        return rest.partition(b"\r\n\r\n")[2]

    async def used(self) -> Used:
        return msgspec.json.decode(await self.ask("GET", "/used"), type=Used)

    async def listen(self, paths: list[str]) -> list[Listener]:
        loop = asyncio.get_running_loop()
        listeners: list[Listener] = []
        for start in range(0, len(paths), CONNECTING_AT_ONCE):
            some = [Listener(path, self.port) for path in paths[start : start + CONNECTING_AT_ONCE]]
            for each in some:
                await loop.create_connection(lambda each=each: each, "127.0.0.1", self.port)  # type: ignore[misc]
            await asyncio.wait_for(asyncio.gather(*(each.opened for each in some)), PATIENCE_SECONDS)
            listeners += some
        return listeners


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.live_server", str(Path(folder) / "store.db"), str(port)]
        process = await asyncio.create_subprocess_exec(*command)
        try:
            server = Server(port)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while True:
                try:
                    await server.used()
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    await asyncio.sleep(0.1)
            yield server
        finally:
            process.terminate()
            await asyncio.wait_for(process.wait(), 10)


class Side:
    """So many streams of one worker, and what was measured of them."""

    def __init__(self, name: str, paths: list[str], written: str, lists: set[str]) -> None:
        self.name = name
        self.paths = paths
        self.written = written
        self.lists = lists
        self.bytes_each = 0.0
        self.medians: list[float] = []
        self.lasts: list[float] = []
        self.processor: list[float] = []
        """Seconds of the worker's processors for one write and all its events."""

    async def open(self, server: Server) -> None:
        self.server = server
        for each in self.lists:
            await server.ask("POST", f"/lists/{each}/members")
        for listener in await server.listen(self.paths[:WARMING_STREAMS]):
            listener.close()
        await asyncio.sleep(SETTLING_SECONDS)
        before = await server.used()
        self.listeners = await server.listen(self.paths)
        await asyncio.sleep(SETTLING_SECONDS)
        self.bytes_each = ((await server.used()).bytes - before.bytes) / len(self.paths)
        concerned = zip(self.listeners, self.paths, strict=True)
        self.concerned = [each for each, path in concerned if path == self.paths[0]]

    async def round(self, number: int) -> None:
        """One write, until everyone whom it concerns has its event."""
        name = f"note-{number:04}"
        waiting = [each.seek(f'"note_id":"{name}"'.encode()) for each in self.concerned]
        before = (await self.server.used()).seconds
        await self.server.ask("POST", self.written, json.dumps({"note_id": name}).encode())
        answered = time.perf_counter()
        times = await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE_SECONDS)
        after = (await self.server.used()).seconds
        if number:
            # Some have it before the writer has its answer.
            self.medians.append(max(0.0, statistics.median(times) - answered))
            self.lasts.append(max(0.0, max(times) - answered))
            self.processor.append(after - before)

    def close(self) -> None:
        for each in self.listeners:
            each.close()


def milliseconds(times: list[float]) -> str:
    return f"{statistics.median(times) * 1000:,.1f} ms (worst {max(times) * 1000:,.0f})"


def finding(subject: str, ours: list[float], bare: list[float] | None = None, target: float | None = None) -> Finding:
    ratio = None if bare is None else statistics.median(a / max(b, 1e-6) for a, b in zip(ours, bare, strict=True))
    return Finding(
        subject,
        milliseconds(ours),
        "" if bare is None else f"bare Starlette SSE {milliseconds(bare)}",
        ratio,
        "" if target is None else f"every one < {target:g} s",
        None if target is None else max(ours) < target,
    )


async def measure(streams: int) -> list[Finding]:
    many = [f"l{number}" for number in range(streams)]
    one = Side("one list", ["/lists/one/events"] * streams, "/lists/one/notes", {"one"})
    each = Side("a list each", [f"/lists/{name}/events" for name in many], "/lists/l0/notes", set(many))
    bare = Side("bare", ["/bare/events"] * streams, "/bare/notes", set())
    sides = (one, each, bare)
    async with running() as first, running() as second, running() as third:
        for side, server in zip(sides, (first, second, third), strict=True):
            say(f"{streams} streams: {side.name}")
            await side.open(server)
        for number in range(WRITES + 1):
            for side in sides if number % 2 else sides[::-1]:
                await side.round(number)
                await asyncio.sleep(PAUSE_SECONDS)
        for side in sides:
            side.close()

    def memory(subject: str, ours: Side) -> Finding:
        kilobytes, theirs = ours.bytes_each / 1024, bare.bytes_each / 1024
        return Finding(
            subject, f"{kilobytes:.1f} KB", f"bare Starlette SSE {theirs:.1f} KB", kilobytes / theirs, "", None
        )

    every = f"write answered → all {streams} have it, checked for each"
    only = f"write answered → the one of {streams} whom it concerns has it"
    return [
        memory(f"memory of each of {streams} streams of one list", one),
        memory(f"— of {streams} different lists", each),
        finding(every, one.lasts, bare.lasts, DELIVERY_TARGET_SECONDS),
        finding("— half of them have it", one.medians, bare.medians),
        finding("— processor time of the worker for all of it", one.processor, bare.processor),
        finding(only, each.lasts, None, DELIVERY_TARGET_SECONDS),
        finding("— processor time of the worker for it", each.processor),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=STREAMS, help="fewer leave the results as they are")
    streams = parser.parse_args().streams
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    start = time.perf_counter()
    findings = uvloop.run(measure(streams))
    seconds = time.perf_counter() - start
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"client and worker on the same machine; the run took {seconds:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    if streams == STREAMS:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "live.md").write_text(f"# Live updates, last measured\n\n{machine}\n\n{table}\n")
        (RESULTS / "live.json").write_text(
            json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
