"""What those who follow the log add to a write that is none of their business: `python -m benchmarks.writes`.

Servers of the whole suite that differ in one thing: how many more consumers of the shopping table there are, for kinds
of rows that are not written, or how many streams are open on other lists. Each gets the same adds, in turns; what is
compared is the processor time of the server for an add, of all its threads, until it is idle again.
"""

import asyncio
import contextlib
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import uvloop

from benchmarks.api import API, RESULTS, Person, Server, repeated, signed_up
from benchmarks.measuring import Finding, alternate, as_json, markdown, median_ratio, say
from benchmarks.over_http import wait_for_port
from benchmarks.wire_client import WireClient
from tests import references
from tests.web.suites import app_with

ROUNDS = 9
SIDES = {
    "none": (0, 0),
    "none again": (0, 0),
    "2 consumers": (2, 0),
    "20 consumers": (20, 0),
    "1,000 streams": (0, 1000),
}
TARGETS = {"2 consumers": 1.10, "20 consumers": 1.10, "1,000 streams": 1.25}


@contextlib.asynccontextmanager
async def followed(folder: Path, consumers: int, streams: int) -> AsyncIterator[Any]:
    """The suite with so many more who follow the log of the shopping table, and whom an add does not concern."""
    from potluck.apps.shopping.entities import Deletion, ShoppingListItem
    from potluck.settings import Settings
    from potluck.streams import Consumer, created
    from potluck.suite import APPS, assembled
    from potluck.web.app import App, Core
    from potluck.web.live import Listener

    async def nothing(deletion: Deletion) -> None:
        raise AssertionError("it does not concern them")

    def more(core: Core) -> App:
        idle = [Consumer(f"idle-{each}", created(Deletion, do=nothing), lost=None) for each in range(consumers)]
        return app_with("more", consumers=idle)(core)

    async def yes() -> bool:
        return True

    async def listen(core: Core, number: int) -> None:
        of = ShoppingListItem.all_of_family(uuid4())
        by = Listener(None, f"192.0.2.{number % 250}")
        async for _ in core.live.open(None, of=of, see=lambda item: item, allowed=yes, by=by).chunks:
            pass

    async with assembled(Settings(data=folder), (*APPS, more)) as application:
        listening = [asyncio.create_task(listen(application.state.core, number)) for number in range(streams)]
        yield application
        for task in listening:
            task.cancel()


async def serve(folder: Path, port: int, consumers: int, streams: int) -> None:
    from potluck.web.server.uvicorn_server import SuiteServer as PotluckServer

    listener = socket.create_server(("127.0.0.1", port))
    async with followed(folder, consumers, streams) as application:
        await PotluckServer(application, lambda: None).serve([listener])


@contextlib.contextmanager
def started(folder: Path, consumers: int, streams: int) -> Iterator[Server]:
    folder.mkdir()
    port = references.free_port()
    arguments = [str(folder), str(port), str(consumers), str(streams)]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.writes", *arguments])
    try:
        wait_for_port(port)
        yield Server("potluck", process.pid, WireClient(f"http://127.0.0.1:{port}", 1))
    finally:
        process.terminate()
        process.wait()


async def measure(folder: Path) -> list[Finding]:
    with contextlib.ExitStack() as stack:
        worked: dict[str, list[float]] = {name: [] for name in SIDES}
        rounds = {}
        for name, (consumers, streams) in SIDES.items():
            say(f"starting with {name}")
            server = stack.enter_context(started(folder / name.replace(" ", "-"), consumers, streams))
            token = await signed_up(server, "Ada")
            server.people = [Person(token, "")]
            for number in range(8):
                family = await server.ask("POST", f"{API}/families", token, {"name": f"Written {number}"})
                server.written.append(f"{API}/families/{family['familyId']}/shopping-list")
            rounds[name] = repeated(server, lambda server, _: server.add(), 1, worked[name])
        await alternate(ROUNDS, rounds)
    by_processor = {name: found[1:] for name, found in worked.items()}
    # An add a second of processor time: the more, the less it costs.
    control = median_ratio(by_processor, "none again", "none")
    least = 1_000_000 / statistics.median(by_processor["none"])
    findings = []
    for name, most in TARGETS.items():
        ratio = 1 / median_ratio(by_processor, name, "none", "none again")
        cost = 1_000_000 / statistics.median(by_processor[name])
        findings.append(
            Finding(
                f"add, {name} more",
                f"{cost:,.0f} µs processor",
                f"{least:,.0f} µs",
                ratio,
                f"≤ {most}",
                ratio <= most,
                control,
            )
        )
    return findings


def main() -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        findings = uvloop.run(measure(Path(folder)))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"the run took {time.perf_counter() - start:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    (RESULTS / "writes.md").write_text(
        f"# What followers of the log add to a write, last measured\n\n{machine}\n\n{table}\n"
    )
    (RESULTS / "writes.json").write_text(
        json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
    )


if __name__ == "__main__":
    if len(sys.argv) == 5:
        uvloop.run(serve(Path(sys.argv[1]), *map(int, sys.argv[2:])))
    else:
        main()
