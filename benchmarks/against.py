"""The suite of another checkout beside this one: `python -m benchmarks.against CHECKOUT`, two minutes.

Two servers of each checkout, each in a process of its own, get the same requests from the same client in many short
rounds that alternate. What is compared is the processor time of a server for a request, of all its threads; whatever
else the machine does slows both sides alike.
"""

import argparse
import contextlib
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import uvloop

from benchmarks import api
from benchmarks.api import API, Person, Server, Side, after_writes, filled, repeated, started
from benchmarks.measuring import Round, alternate, say
from benchmarks.wire_client import WireError

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 25
ROUND_SECONDS = 0.1
REFUSALS = 50
BEFORE, NOW, BEFORE_AGAIN, NOW_AGAIN = SIDES = ("before", "now", "before again", "now again")


def again(make: Callable[[Server, Person], bytes]) -> Side:
    return lambda server, rates: repeated(server, lambda here, _: make(here, here.people[0]), 1, rates)


def after(make: Callable[[Server, Person], bytes], *, own: bool = False) -> Side:
    return lambda server, rates: after_writes(server, make, rates, own=own)


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
    "page": again(page),
    "stranger": refused_to_a_stranger,
    "add": lambda server, rates: repeated(server, Server.add, 1, rates),
    "tick": lambda server, rates: repeated(server, Server.tick, 1, rates),
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


async def measure(before: Path, subjects: list[str], folder: Path) -> None:
    with contextlib.ExitStack() as stack:
        servers = {}
        for name in SIDES:
            checkout = before if name in (BEFORE, BEFORE_AGAIN) else HERE
            servers[name] = stack.enter_context(started("potluck", folder / name.replace(" ", "-"), checkout=checkout))
            say(f"{name}: lists of its people")
            await filled(servers[name])
        print("| | before | now | now / before | quartiles | before / before | now / now |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for subject in subjects:
            print(await compared(subject, servers), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--only", nargs="+", choices=[*SUBJECTS], default=[*SUBJECTS], help="some of the requests")
    chosen = parser.parse_args()
    api.ROUND_SECONDS = ROUND_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(measure(chosen.checkout.resolve(), chosen.only, Path(folder)))


if __name__ == "__main__":
    main()
