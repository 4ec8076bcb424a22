"""The suite of another checkout beside this one: `python -m benchmarks.against CHECKOUT`, four minutes.

Two servers of each checkout, each in a process of its own, get the same requests from the same client in many short
rounds that alternate. What is compared is the processor time of a server for a request, of all its threads; whatever
else the machine does slows both sides alike.
"""

import argparse
import asyncio
import contextlib
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import uvloop

from benchmarks.api import API, PASSWORD, RESULTS, WRITES, Person, Server, Side, after_writes, filled, repeated, started
from benchmarks.live import Listener
from benchmarks.measuring import Round, alternate, say
from benchmarks.wire_client import WireError

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 25
ROUND_SECONDS = 0.1
# A cached answer takes 20 µs, a fifth of what the client takes to ask for it: a short round has too few of them.
ROUND_SECONDS_CACHED = 0.3
WRITES_CACHED = 8
REFUSALS = 150
# A hash of a password takes as long as dozens of sign-ins, so the servers hash cheaply. They throttle nothing.
SIGN_INS = 50
STREAMS = 100
EVENTS = 4
SERVER = """
import sys
from pathlib import Path

from benchmarks.api import serve_potluck
from potluck.people import passwords
from potluck.people.throttling import Throttles


async def allowed(*_):
    return 1


passwords.MEMORY_KIB, passwords.PASSES = 8, 1
Throttles.attempt = Throttles.allows = allowed
serve_potluck(Path(sys.argv[2]), int(sys.argv[3]))
"""
BEFORE, NOW, BEFORE_AGAIN, NOW_AGAIN = SIDES = ("before", "now", "before again", "now again")


def again(make: Callable[[Server, Person], bytes], seconds: float = ROUND_SECONDS_CACHED) -> Side:
    return lambda server, rates: repeated(server, lambda here, _: make(here, here.people[0]), 1, rates, seconds)


def after(make: Callable[[Server, Person], bytes], *, own: bool = False) -> Side:
    writes = WRITES if own else WRITES_CACHED
    return lambda server, rates: after_writes(server, make, rates, own=own, writes=writes)


def written(make: Callable[[Server, int], bytes]) -> Side:
    return lambda server, rates: repeated(server, make, 1, rates, ROUND_SECONDS)


def sign_in(server: Server, rates: list[float]) -> Round:
    """Signing in, of everyone in turn, so that no account has too many sessions."""
    bodies = [{"email": f"person{number}@example.org", "password": PASSWORD} for number in range(len(server.people))]
    requests = cycle([server.prepared("POST", f"{API}/sessions", "", body) for body in bodies])

    async def one_round() -> float:
        worked = await server.idle()
        for _ in range(SIGN_INS):
            await server.client.send(server.client.connections[0], next(requests))
        rates.append(SIGN_INS / (await server.idle() - worked))
        return rates[-1]

    return one_round


def events(server: Server, rates: list[float]) -> Round:
    """An add to a list that many follow: what one stream takes for its event, with its share of the write."""
    person = server.people[1]
    listeners: list[Listener] = []

    async def one_round() -> float:
        if not listeners:
            await listen(server, person, listeners)
        worked = await server.idle()
        for _ in range(EVENTS):
            name = f"Event {next(server.numbers)}."
            heard = [listener.seek(name.encode()) for listener in listeners]
            add = server.prepared("POST", person.listed, person.token, {"name": name})
            await server.client.send(server.client.connections[0], add)
            await asyncio.gather(*heard)
        rates.append(EVENTS * STREAMS / (await server.idle() - worked))
        return rates[-1]

    return one_round


async def listen(server: Server, person: Person, listeners: list[Listener]) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(STREAMS):
        listener = Listener(f"{person.listed}/events", server.client.port, person.token)
        await loop.create_connection(lambda listener=listener: listener, server.client.host, server.client.port)  # type: ignore[misc]
        await listener.opened
        listeners.append(listener)


def page(server: Server, person: Person) -> bytes:
    """The page of a shopping list, as a browser asks for it."""
    path = person.family.replace(f"{API}/families", "/shopping")
    host = f"{server.client.host}:{server.client.port}"
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: potluck={person.token}\r\n\r\n".encode()


def refused_to_a_stranger(server: Server, rates: list[float]) -> Round:
    """An item of a family that the caller is not in: 404, which the client raises."""
    request = server.prepared("GET", server.people[0].one, server.people[1].token)

    async def one_round() -> float:
        worked = await server.idle()
        for _ in range(REFUSALS):
            with contextlib.suppress(WireError):
                await server.client.send(server.client.connections[0], request)
        rates.append(REFUSALS / (await server.idle() - worked))
        return rates[-1]

    return one_round


SUBJECTS: dict[str, Side] = {
    "item": again(Server.read_one),
    "list": again(Server.read_list),
    "item-after-write": after(Server.read_one),
    "list-after-write": after(Server.read_list),
    "item-after-own-write": after(Server.read_one, own=True),
    "list-after-own-write": after(Server.read_list, own=True),
    "page": again(page, ROUND_SECONDS),
    "stranger": refused_to_a_stranger,
    "add": written(Server.add),
    "tick": written(Server.tick),
    "sign-in": sign_in,
    "event": events,
}


async def compared(subject: str, servers: dict[str, Server]) -> str:
    """A line of the table: microseconds of both, how many times as much it takes now, and the same checkout twice."""
    say(f"{subject}: {ROUNDS} rounds")
    rates: dict[str, list[float]] = {name: [] for name in SIDES}
    await alternate(ROUNDS, {name: SUBJECTS[subject](server, rates[name]) for name, server in servers.items()})
    # The first round only warms up.
    costs = {name: [1_000_000 / rate for rate in found[1:]] for name, found in rates.items()}

    def ratio(above: str, below: str) -> list[float]:
        return [one / other for one, other in zip(costs[above], costs[below], strict=True)]

    ratios = ratio(NOW, BEFORE) + ratio(NOW_AGAIN, BEFORE_AGAIN)
    low, middle, high = statistics.quantiles(ratios, n=4)
    controls = [statistics.median(ratio(*pair)) for pair in ((BEFORE_AGAIN, BEFORE), (NOW_AGAIN, NOW))]
    times = [statistics.median(costs[name] + costs[f"{name} again"]) for name in (BEFORE, NOW)]
    cells = [
        subject,
        *(f"{time:,.0f} µs" for time in times),
        f"{middle:.3f}",
        f"{low:.2f}-{high:.2f}",
        *(f"{control:.2f}" for control in controls),
    ]
    return f"| {' | '.join(cells)} |"


async def measure(before: Path, subjects: list[str], folder: Path) -> str:
    """The table, whose lines are printed as soon as they are known."""
    with contextlib.ExitStack() as stack:
        servers = {}
        for name in SIDES:
            checkout = before if name in (BEFORE, BEFORE_AGAIN) else HERE
            servers[name] = stack.enter_context(
                started("potluck", folder / name.replace(" ", "-"), ("-c", SERVER), checkout)
            )
            say(f"{name}: lists of its people")
            await filled(servers[name])
        lines = [
            "| | before | now | now / before | quartiles | before / before | now / now |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        print("\n".join(lines))
        for subject in subjects:
            lines.append(await compared(subject, servers))
            print(lines[-1], flush=True)
        return "\n".join(lines)


def version_of(checkout: Path) -> str:
    git = ["git", "-C", str(checkout), "describe", "--always", "--dirty"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--only", nargs="+", choices=[*SUBJECTS], default=[*SUBJECTS], help="some of the requests")
    chosen = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        table = uvloop.run(measure(chosen.checkout.resolve(), chosen.only, Path(folder)))
    if chosen.only != [*SUBJECTS]:
        # A part is no result to keep.
        return
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    (RESULTS / "against.md").write_text(
        f"# {version_of(HERE)} beside {version_of(chosen.checkout)}, last measured\n\n"
        f"Processor time of the server for a request. {machine}; the run took {time.perf_counter() - start:.0f} s.\n\n"
        f"{table}\n"
    )


if __name__ == "__main__":
    main()
