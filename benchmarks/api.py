"""Shopping's API beside FastAPI, SQLAlchemy and SQLite doing the same job: `python -m benchmarks.api`.

Each is served as it is served elsewhere, by uvicorn with uvloop and httptools, Potluck with its own connections; one
process each, which get the same bytes from the same client in turns. What is compared is the processor time of the
server for a request, of all its threads, until it is idle again.
"""

import asyncio
import contextlib
import itertools
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from benchmarks.measuring import Finding, Round, alternate, as_json, markdown, median_ratio, say, sync_milliseconds
from benchmarks.over_http import wait_for_port
from benchmarks.wire_client import Connection, WireClient, WireError
from tests import references

RESULTS = Path(__file__).parent / "results"
API = "/api/v1"
PASSWORD = "correct horse battery"

LISTED = 60
PURCHASED = 12
STORES = 4
CONNECTIONS = 32
TOO_MANY = 429
# What Shopping tells of a thing beyond what the other side does: who changed it last, and what it is.
OURS_ALONE = {"entityType", "updatedBy", "updatedByName"}
# A list holds two thousand things.
WRITTEN_LISTS, ADDED_TO_ONE = 18, 1900

ROUNDS = 11
ROUND_SECONDS = 0.25
# After a write so many people read, each something of their own. Those who read first do so before the clock starts: a
# server that was idle for milliseconds takes two or three times as long for its first answers, whatever they are.
WRITES = 2
READERS = 16
WARMING = 4

# What the app layer is to bring: so many times less processor time than the other side.
ONE_ITEM_TARGET, LIST_TARGET = 25, 50
# After a write of something else, and after one of theirs.
AFTER_A_WRITE_TARGET, OWN_ITEM_TARGET, OWN_LIST_TARGET = 10, 4, 3
ADD_TARGET, ADDS_TARGET = 3, 5

# A server that took less than this in two looks running has nothing under way; its timers take some microseconds.
QUIET_SECONDS = 0.000_05
LOOK_AFTER_SECONDS = 0.002
LOOKS = 100


# --- the two servers -------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def fastapi(folder: Path) -> AsyncIterator[Any]:
    from benchmarks.fastapi_shopping import application

    yield application(folder / "shopping.db")


def run_server(name: str, folder: Path, port: int) -> None:
    """Neither writes a line for a request: what is logged is a choice, and not what is compared."""
    if name == "potluck":
        serve_potluck(folder, port)
    else:
        uvloop.run(serve_fastapi(folder, port))


def serve_potluck(folder: Path, port: int, **options: Any) -> None:
    """As `potluck serve` does: the suite with all of its apps, by uvicorn with our own connections."""
    from potluck.settings import Settings
    from potluck.suite import assembled
    from potluck.web import rate_limits
    from potluck.web.server.uvicorn_server import serve_here

    # One person writes here in a minute what is allowed in some hours; it is counted all the same.
    rate_limits.SIGNED_IN_TIMES = 1_000
    serve_here(assembled, Settings(data=folder, **options), [socket.create_server(("127.0.0.1", port))], lambda: None)


async def serve_fastapi(folder: Path, port: int) -> None:
    """By uvicorn, with the options that cost least."""
    import uvicorn

    async with fastapi(folder) as application:
        config = uvicorn.Config(
            application,
            port=port,
            http="httptools",
            lifespan="off",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        await uvicorn.Server(config).serve()


@contextlib.contextmanager
def started(
    name: str, folder: Path, program: Sequence[str] = ("-m", "benchmarks.api"), checkout: Path | None = None
) -> Iterator["Server"]:
    """A server of this checkout, or of another by its own .venv; Python runs `program` with name, folder and port."""
    folder.mkdir()
    port = references.free_port()
    python = sys.executable if checkout is None else str(checkout / ".venv" / "bin" / "python")
    process = subprocess.Popen([python, *program, name, str(folder), str(port)], cwd=checkout)
    try:
        wait_for_port(port)
        yield Server(name, process.pid, WireClient(f"http://127.0.0.1:{port}", CONNECTIONS))
    finally:
        process.terminate()
        process.wait()


# --- asking ----------------------------------------------------------------------------------------------------------


@dataclass
class Person:
    """Somebody with a family and a list of sixty, which is only read."""

    token: str
    family: str
    one: str = ""
    version: int = 1
    """That of the one, which is checked off and put back."""

    @property
    def listed(self) -> str:
        return f"{self.family}/shopping-list"


@dataclass
class Server:
    """One of the two, and what was put into it."""

    name: str
    process_id: int
    client: WireClient
    people: list[Person] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """The addresses of other lists of the first person, which are written to, one after the other."""
    ticked: list[str] = field(default_factory=list)
    """An item for each connection, so that the version of each is known."""
    versions: dict[int, int] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def processor_seconds(self) -> float:
        """What the process has taken so far: utime and stime of /proc, to the nanosecond and not to the tick."""
        return time.clock_gettime((~self.process_id << 3) | 2)

    async def idle(self) -> float:
        """Wait until nothing is under way any more; the processor time until then."""
        before, quiet = self.processor_seconds(), 0
        for _ in range(LOOKS):
            await asyncio.sleep(LOOK_AFTER_SECONDS)
            after = self.processor_seconds()
            quiet = quiet + 1 if after - before < QUIET_SECONDS else 0
            before = after
            if quiet == 2:
                break
        return before

    def prepared(self, method: str, path: str, token: str, body: Any = None) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.client.host}:{self.client.port}"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        raw = b"" if body is None else msgspec.json.encode(body)
        if raw:
            lines += ["Content-Type: application/json", f"Content-Length: {len(raw)}"]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw

    async def ask(self, method: str, path: str, token: str, body: Any = None, connection: int = 0) -> Any:
        """For filling and checking: what was answered, as Python has it."""
        prepared = self.prepared(method, path, token, body)
        return msgspec.json.decode(await self.client.send(self.client.connections[connection], prepared))

    # --- what is measured ---------------------------------------------------------------------------------------

    def read_one(self, person: Person) -> bytes:
        return self.prepared("GET", person.one, person.token)

    def read_list(self, person: Person) -> bytes:
        return self.prepared("GET", f"{person.listed}?limit={LISTED}", person.token)

    def add(self, _: int = 0) -> bytes:
        number = next(self.numbers)
        item = {"name": f"Added {number}", "quantity": 2}
        return self.prepared("POST", self.written[number // ADDED_TO_ONE], self.people[0].token, item)

    def tick_own(self, person: Person) -> bytes:
        seen, person.version = person.version, person.version + 1
        change = {"status": "purchased" if seen % 2 else "pending", "version": seen}
        return self.prepared("PATCH", f"{person.one}/status", person.token, change)

    def tick(self, connection: int) -> bytes:
        """Check it off; the next time, back onto the list."""
        seen = self.versions[connection]
        self.versions[connection] = seen + 1
        change = {"status": "purchased" if seen % 2 else "pending", "version": seen}
        return self.prepared("PATCH", f"{self.ticked[connection]}/status", self.people[0].token, change)


async def signed_up(server: Server, name: str, connection: int = 0) -> str:
    account = {"email": f"{name.lower()}@example.org", "password": PASSWORD, "name": name}
    while True:
        try:
            answer = await server.ask("POST", f"{API}/accounts", "", account, connection)
        except WireError as error:
            # So many people from one address are taken for an attack, and have to come one after the other.
            if error.status != TOO_MANY:
                raise
            await asyncio.sleep(1.0)
        else:
            return str(answer["token"])


async def with_list(server: Server, number: int) -> Person:
    """Somebody new, with a list of sixty for four stores."""
    token = await signed_up(server, f"Person{number}", number)

    async def made(path: str, body: Any) -> Any:
        return await server.ask("POST", path, token, body, number)

    person = Person(token, f"{API}/families/{(await made(f'{API}/families', {'name': 'Read'}))['familyId']}")
    stores = [(await made(f"{person.family}/stores", {"name": f"Store {each}"}))["storeId"] for each in range(STORES)]
    for each in range(LISTED):
        item = {
            "name": f"Needed {each}",
            "storeId": stores[each % STORES],
            "quantity": 1 + each % 5,
            "unit": "bottles",
            "notes": "The one in the green bottle, if there is any left.",
        }
        person.one = f"{person.listed}/{(await made(person.listed, item))['shoppingItemId']}"
        if each < PURCHASED:
            purchased = {"status": "purchased", "version": 1}
            await server.ask("PATCH", f"{person.one}/status", token, purchased, number)
    return person


async def filled(server: Server) -> None:
    server.people = await asyncio.gather(*(with_list(server, number) for number in range(WARMING + READERS)))
    token = server.people[0].token
    for number in range(WRITTEN_LISTS):
        family = await server.ask("POST", f"{API}/families", token, {"name": f"Written {number}"})
        server.written.append(f"{API}/families/{family['familyId']}/shopping-list")
    for number in range(CONNECTIONS):
        made = await server.ask("POST", server.written[0], token, {"name": f"Ticked {number}"})
        server.ticked.append(f"{server.written[0]}/{made['shoppingItemId']}")
        server.versions[number] = 1


async def same_job(one: Server, other: Server) -> None:
    """That both do it: the same fields and values but for ids and times, a conflict, and nothing for a stranger."""

    def told(answer: Any) -> Any:
        ids_and_times = ("Id", "At", "addedBy", "ttl")
        return {name: answer[name] for name in answer if not name.endswith(ids_and_times) and name not in OURS_ALONE}

    items, lists = [], []
    for server in (one, other):
        person = server.people[0]
        item = await server.ask("GET", person.one, person.token)
        whole = await server.ask("GET", f"{person.listed}?limit={LISTED}", person.token)
        items.append((set(item) - OURS_ALONE, told(item)))
        # Made within a second they have no order among themselves, so they are compared by name.
        by_name = sorted((told(each) for each in whole["items"]), key=lambda each: str(each["name"]))
        assert len(by_name) == LISTED
        lists.append(([told(each) for each in whole["groups"]], by_name))
        stale = {"status": "purchased", "version": 7}
        await refused(server, 409, "PATCH", f"{server.ticked[0]}/status", person.token, stale)
        await refused(server, 401, "GET", person.one, "")
        await refused(server, 404, "GET", person.one, await signed_up(server, "Stranger"))
    assert items[0] == items[1]
    assert lists[0] == lists[1]


async def refused(server: Server, status: int, method: str, path: str, token: str, body: Any = None) -> None:
    answered = 200
    try:
        await server.ask(method, path, token, body)
    except WireError as error:
        answered = error.status
    assert answered == status, f"{server.name} answered {method} {path} with {answered}"


# --- measuring -------------------------------------------------------------------------------------------------------

Make = Callable[[Server, int], bytes]
Side = Callable[[Server, list[float]], Round]
"""What a server does in a round, which keeps beside its rate the one by processor time."""


def repeated(
    server: Server, make: Make, connections: int, by_processor: list[float], seconds: float = ROUND_SECONDS
) -> Round:
    """Requests for a while, on each of the connections one after the other: how many a second, by either clock."""

    async def one_round() -> float:
        done = 0
        worked, start = await server.idle(), time.perf_counter()
        end = start + seconds

        async def ask(number: int, connection: Connection) -> None:
            nonlocal done
            while time.perf_counter() < end:
                await server.client.send(connection, make(server, number))
                done += 1

        await asyncio.gather(*(ask(*each) for each in enumerate(server.client.connections[:connections])))
        taken = time.perf_counter() - start
        by_processor.append(done / (await server.idle() - worked))
        return done / taken

    return one_round


def after_writes(
    server: Server,
    make: Callable[[Server, Person], bytes],
    by_processor: list[float],
    *,
    own: bool = False,
    writes: int = WRITES,
) -> Round:
    """What many people read, each for the first time since somebody else wrote, or they did; the writes are over."""

    async def one_round() -> float:
        connection = server.client.connections[0]
        requests = [make(server, person) for person in server.people]
        worked = taken = 0.0
        for _ in range(writes):
            for write in [server.tick_own(person) for person in server.people] if own else [server.add()]:
                await server.client.send(connection, write)
            await server.idle()
            for request in requests[:WARMING]:
                await server.client.send(connection, request)
            before, start = server.processor_seconds(), time.perf_counter()
            for request in requests[WARMING:]:
                await server.client.send(connection, request)
            taken += time.perf_counter() - start
            worked += await server.idle() - before
        by_processor.append(writes * READERS / worked)
        return writes * READERS / taken

    return one_round


async def compared(
    subject: str,
    of: Side,
    ours: Server,
    theirs: Server,
    target: float | None = None,
    synced: Callable[[], float] | None = None,
) -> list[Finding]:
    """A line by processor time and one by the clock on the wall."""
    say(f"{subject}: {ROUNDS} rounds")
    sides = {"potluck": ours, "fastapi": theirs, "potluck again": ours}
    worked: dict[str, list[float]] = {name: [] for name in sides}
    rates = await alternate(ROUNDS, {name: of(server, worked[name]) for name, server in sides.items()})
    # The first round only warms up.
    by_processor = {name: found[1:] for name, found in worked.items()}
    ratio, control = ratio_of(by_processor)
    say(f"  {ratio:.1f} times less processor time, A/A {control:.2f}")
    on_the_wall, its_control = ratio_of(rates)
    return [
        Finding(
            subject,
            f"{1_000_000 / middle(by_processor['potluck']):,.0f} µs processor",
            f"{1_000_000 / middle(by_processor['fastapi']):,.0f} µs",
            ratio,
            f"≥ {target}" if target else "",
            ratio >= target if target else None,
            control,
        ),
        Finding(
            f"— {subject}, on the wall",
            f"{middle(rates['potluck']):,.0f}/s",
            f"{middle(rates['fastapi']):,.0f}/s",
            on_the_wall,
            "",
            None,
            its_control,
            synced() if synced else None,
        ),
    ]


def ratio_of(rates: dict[str, list[float]]) -> tuple[float, float]:
    """How many times more of ours for the same time, and ours against itself."""
    ratio = 1 / median_ratio(rates, "fastapi", "potluck", "potluck again")
    return ratio, median_ratio(rates, "potluck again", "potluck")


middle = statistics.median


async def measure(folder: Path, *, reads_only: bool) -> list[Finding]:
    with started("potluck", folder / "potluck") as ours, started("fastapi", folder / "fastapi") as theirs:
        for server in (ours, theirs):
            say(f"{server.name}: lists of {WARMING + READERS} people")
            await filled(server)
        await same_job(ours, theirs)

        def calls(make: Make, connections: int = 1) -> Side:
            return lambda server, kept: repeated(server, make, connections, kept)

        def read(make: Callable[[Server, Person], bytes]) -> Side:
            return calls(lambda server, _: make(server, server.people[0]))

        def read_after(make: Callable[[Server, Person], bytes], *, own: bool = False) -> Side:
            return lambda server, kept: after_writes(server, make, kept, own=own)

        def synced() -> float:
            return sync_milliseconds(folder)

        repeated_reads: list[Awaitable[list[Finding]]] = [
            compared("one item, nothing written", read(Server.read_one), ours, theirs, ONE_ITEM_TARGET),
            compared(f"list of {LISTED}, nothing written", read(Server.read_list), ours, theirs, LIST_TARGET),
        ]
        if reads_only:
            return [finding for row in repeated_reads for finding in await row]
        rows = [
            *repeated_reads,
            compared("one item after a write", read_after(Server.read_one), ours, theirs, AFTER_A_WRITE_TARGET),
            compared(
                f"list of {LISTED} after a write", read_after(Server.read_list), ours, theirs, AFTER_A_WRITE_TARGET
            ),
            compared("one item after its write", read_after(Server.read_one, own=True), ours, theirs, OWN_ITEM_TARGET),
            compared(
                f"list of {LISTED} after its write",
                read_after(Server.read_list, own=True),
                ours,
                theirs,
                OWN_LIST_TARGET,
            ),
            compared("add, alone", calls(Server.add), ours, theirs, ADD_TARGET, synced=synced),
            compared("tick, alone", calls(Server.tick), ours, theirs, synced=synced),
            compared(
                f"add, {CONNECTIONS} at once", calls(Server.add, CONNECTIONS), ours, theirs, ADDS_TARGET, synced=synced
            ),
            compared(f"tick, {CONNECTIONS} at once", calls(Server.tick, CONNECTIONS), ours, theirs, synced=synced),
        ]
        return [finding for row in rows for finding in await row]


def main(*, reads_only: bool) -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        findings = uvloop.run(measure(Path(folder), reads_only=reads_only))
    versions = ", ".join(f"{name} {version(name)}" for name in ("uvicorn", "fastapi", "sqlalchemy", "pydantic"))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {versions}; "
        f"the run took {time.perf_counter() - start:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    if reads_only:
        # A part is no result to keep.
        return
    (RESULTS / "api.md").write_text(
        f"# Shopping beside FastAPI, SQLAlchemy and SQLite, last measured\n\n{machine}\n\n{table}\n"
    )
    (RESULTS / "api.json").write_text(json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_server(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(reads_only=sys.argv[1:] == ["--only-reads"])
