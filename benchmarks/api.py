"""What the HTTP contract costs: calls of an app against a bare endpoint with its bytes: `python -m benchmarks.api`.

Both servers are Litestar on uvicorn, one process each, asked by the same client in turns. The bare one returns from
memory what the app answered, and knows no callers, versions, checks or store.
"""

import asyncio
import contextlib
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import uvloop

from benchmarks.measuring import Finding, alternate, as_json, markdown, median_ratio, say, sync_milliseconds
from benchmarks.over_http import wait_for_port
from benchmarks.wire_client import Connection, WireClient
from tests import references

RESULTS = Path(__file__).parent / "results"

CONNECTIONS = 16
ROUNDS = 15
ROUND_SECONDS = 0.4
LISTED = 100
READ_TARGET = 0.5

Answer = tuple[int, bytes]


# --- the two servers -------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def notes(settings: Any) -> AsyncIterator[Any]:
    """The suite with the toy app."""
    from potluck.suite import assembled
    from tests.toy import notes_app

    async with assembled(settings, [notes_app]) as application:
        yield application


@contextlib.asynccontextmanager
async def bare(settings: Any) -> AsyncIterator[Any]:
    """Endpoints that return bytes from memory, whatever they are asked."""
    from litestar import Litestar, MediaType, Request, Response, get, patch, post
    from litestar.params import FromPath

    kept: dict[str, bytes] = {}
    AnyRequest = Request[Any, Any, Any]

    def told(name: str, status: int = 200) -> Response[bytes]:
        return Response(kept[name], media_type=MediaType.JSON, status_code=status)

    @get("/{name:str}")
    async def read(name: FromPath[str]) -> Response[bytes]:
        return told(name)

    @post("/{name:str}", status_code=201)
    async def create(name: FromPath[str], request: AnyRequest) -> Response[bytes]:
        await request.body()
        return told(name, 201)

    @patch("/{name:str}")
    async def update(name: FromPath[str], request: AnyRequest) -> Response[bytes]:
        await request.body()
        return told(name)

    @post("/keep/{name:str}", status_code=201)
    async def keep(name: FromPath[str], request: AnyRequest) -> None:
        kept[name] = await request.body()

    yield Litestar([read, create, update, keep], openapi_config=None, logging_config=None)


def run_server(make: Callable[[Any], Any], folder: str, port: int) -> None:
    import uvicorn

    from potluck.settings import Settings

    async def serve() -> None:
        async with make(Settings(data=Path(folder), port=port)) as application:
            config = uvicorn.Config(application, port=port, http="httptools", log_level="warning", lifespan="off")
            config.server_header = False
            await uvicorn.Server(config).serve()

    uvloop.run(serve())


@contextlib.contextmanager
def started(which: str, folder: Path) -> Iterator[str]:
    port = references.free_port()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.api", which, str(folder), str(port)])
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


# --- asking ----------------------------------------------------------------------------------------------------------


class Asker:
    """Requests over a few kept-alive connections."""

    def __init__(self, endpoint: str, token: str = "") -> None:
        self.client = WireClient(endpoint, CONNECTIONS)
        self.token = token

    def prepared(self, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.client.host}:{self.client.port}"]
        if self.token:
            lines.append(f"Authorization: Bearer {self.token}")
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        answer = await self.send(self.client.connections[0], self.prepared(method, path, raw))
        return msgspec.json.decode(answer) if answer else None

    async def send(self, connection: Connection, request: bytes) -> bytes:
        return await self.client.send(connection, request)

    async def rate(self, make: Callable[[], bytes]) -> float:
        """Requests answered in a second."""
        answered = 0
        start = time.perf_counter()
        end = start + ROUND_SECONDS

        async def one(connection: Connection) -> None:
            nonlocal answered
            while time.perf_counter() < end:
                await self.send(connection, make())
                answered += 1

        await asyncio.gather(*(one(connection) for connection in self.client.connections))
        return answered / (time.perf_counter() - start)


async def measure(folder: Path) -> list[Finding]:
    with started("notes", folder / "notes") as app_at, started("bare", folder) as bare_at:
        app, against = Asker(app_at), Asker(bare_at)
        account = {"email": "ada@example.org", "password": "correct horse battery", "name": "Ada"}
        app.token = (await app.ask("POST", "/api/v1/accounts", account))["token"]
        book = (await app.ask("POST", "/api/v1/books", {"name": "Measured"}))["bookId"]
        notes_at = f"/api/v1/books/{book}/notes"
        say(f"writing {LISTED} notes")
        text = "What was agreed, by whom, and until when. " * 3
        made = [
            (
                await app.ask(
                    "POST", notes_at, {"title": f"Note {number}", "text": text, "noteId": str(UUID(int=number))}
                )
            )
            for number in range(1, LISTED + 1)
        ]
        first = f"{notes_at}/{made[0]['noteId']}"
        versions = itertools.count(1)
        # Each of the updated notes is changed by one connection at a time, so that its version is known.
        changed = itertools.cycle(made[1:])
        seen = {note["noteId"]: 1 for note in made}

        def create() -> bytes:
            body = msgspec.json.encode({"title": f"New {next(versions)}", "text": text})
            return app.prepared("POST", elsewhere, body)

        def update() -> bytes:
            note = next(changed)["noteId"]
            body = msgspec.json.encode({"title": f"Again {seen[note]}", "version": seen[note]})
            seen[note] += 1
            return app.prepared("PATCH", f"{notes_at}/{note}", body)

        elsewhere = f"/api/v1/books/{(await app.ask('POST', '/api/v1/books', {'name': 'Other'}))['bookId']}/notes"
        listed = f"{notes_at}?limit={LISTED}"
        calls: dict[str, tuple[Callable[[], bytes], str, float | None]] = {
            "get one": (lambda: app.prepared("GET", first), "GET", READ_TARGET),
            f"list {LISTED}": (lambda: app.prepared("GET", listed), "GET", READ_TARGET),
            "create": (create, "POST", None),
            "update with version": (update, "PATCH", None),
        }
        samples = {
            "get one": await app.ask("GET", first),
            f"list {LISTED}": await app.ask("GET", listed),
            "create": made[0],
            "update with version": made[0],
        }
        findings = []
        for name, (make, method, target) in calls.items():
            place = name.replace(" ", "-")
            sample = msgspec.json.encode(samples[name])
            await against.ask("POST", f"/keep/{place}", sample)
            body = b"" if method == "GET" else msgspec.json.encode({"title": "New 1", "text": text})
            asked = against.prepared(method, f"/{place}", body)
            findings.append(await compared(name, app, make, against, asked, target, len(sample), folder))
        return findings


async def compared(
    name: str, app: Asker, make: Callable[[], bytes], against: Asker, asked: bytes, target: float | None, size: int,
    folder: Path,
) -> Finding:  # fmt: skip
    say(f"{name}: {ROUNDS} rounds")
    rates = await alternate(
        ROUNDS,
        {
            "potluck": lambda: app.rate(make),
            "bare": lambda: against.rate(lambda: asked),
            "bare again": lambda: against.rate(lambda: asked),
        },
    )
    ratio = median_ratio(rates, "potluck", "bare", "bare again")
    middle = {side: sorted(found)[len(found) // 2] for side, found in rates.items()}
    writes = target is None
    return Finding(
        subject=f"{name} ({size:,} bytes)",
        measured=f"{middle['potluck']:,.0f}/s",
        against=f"bare Litestar {middle['bare']:,.0f}/s",
        ratio=ratio,
        target=f"≥ {target}" if target else "",
        met=None if target is None else ratio >= target,
        control=median_ratio(rates, "bare again", "bare"),
        sync_milliseconds=sync_milliseconds(folder) if writes else None,
    )


def main() -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        findings = uvloop.run(measure(Path(folder)))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"Litestar {version('litestar')}, uvicorn {version('uvicorn')}; {CONNECTIONS} connections; "
        f"the run took {time.perf_counter() - start:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    (RESULTS / "api.md").write_text(f"# Calls against bare endpoints, last measured\n\n{machine}\n\n{table}\n")
    (RESULTS / "api.json").write_text(json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_server({"notes": notes, "bare": bare}[sys.argv[1]], sys.argv[2], int(sys.argv[3]))
    else:
        main()
