"""What each acceleration is worth: `python -m benchmarks.accelerations`, two minutes.

One server for each step from plain to everything, each in a process of its own, which get the same bytes from the same
client in alternating rounds. What is compared is the processor time of the server for a request. An acceleration builds
on those before it: answers can be cached only of packed rows, and only cached answers take the fast path.
"""

import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import uvloop

from benchmarks.api import (
    LISTED,
    RESULTS,
    Person,
    Server,
    Side,
    after_writes,
    filled,
    repeated,
    serve_potluck,
    started,
)
from benchmarks.measuring import alternate, median_ratio, say
from potluck.acceleration import ALL, PLAIN

ROUNDS = 7
PACKED = replace(PLAIN, packed_rows=True)
CACHED = replace(PACKED, cached_answers=True)
STEPS = {
    "plain": PLAIN,
    "packed rows, each decoded once": PACKED,
    "cached answers, until any commit": CACHED,
    "the WAL index: until a commit there": replace(CACHED, wal_index=True),
    "the fast path, without a task": ALL,
}
LAST = list(STEPS)[-1]
AGAIN = "A/A of the last"

Row = dict[str, float]
"""By step, microseconds; by the same name with a slash before it, how many times less than the step before."""


def again(make: Callable[[Server, Person], bytes]) -> Side:
    return lambda server, kept: repeated(server, lambda here, _: make(here, here.people[0]), 1, kept)


def after(make: Callable[[Server, Person], bytes], *, own: bool) -> Side:
    return lambda server, kept: after_writes(server, make, kept, own=own)


SUBJECTS: dict[str, Side] = {
    "one item, nothing written": again(Server.read_one),
    f"list of {LISTED}, nothing written": again(Server.read_list),
    f"list of {LISTED} after a write elsewhere": after(Server.read_list, own=False),
    "one item after its write": after(Server.read_one, own=True),
    "add": lambda server, kept: repeated(server, Server.add, 1, kept),
}


async def measured(subject: str, servers: dict[str, Server]) -> Row:
    say(f"{subject}: {ROUNDS} rounds")
    sides = {**servers, AGAIN: servers[LAST]}
    worked: dict[str, list[float]] = {name: [] for name in sides}
    await alternate(ROUNDS, {name: SUBJECTS[subject](server, worked[name]) for name, server in sides.items()})
    # The first round only warms up.
    rates = {name: kept[1:] for name, kept in worked.items()}
    row = {name: 1_000_000 / statistics.median(rates[name]) for name in STEPS}
    for before, name in zip(list(STEPS)[:-1], list(STEPS)[1:], strict=True):
        row[f"/{name}"] = median_ratio(rates, name, before)
    row["/all"] = median_ratio(rates, LAST, "plain")
    row[f"/{AGAIN}"] = median_ratio(rates, AGAIN, LAST)
    return row


async def measure(folder: Path) -> dict[str, Row]:
    with contextlib.ExitStack() as stack:
        servers: dict[str, Server] = {}
        for number, name in enumerate(STEPS):
            server = stack.enter_context(started(name, folder / str(number), ("-m", "benchmarks.accelerations")))
            say(f"{name}: lists of its people")
            await filled(server)
            servers[name] = server
        return {subject: await measured(subject, servers) for subject in SUBJECTS}


def table_of(rows: dict[str, Row]) -> str:
    lines = [f"| | {' | '.join(rows)} |", f"|---|{'---:|' * len(rows)}"]
    for name in STEPS:
        times = [f"{row[name]:,.0f} µs" for row in rows.values()]
        gains = [f" ({row[f'/{name}']:.2f}×)" if f"/{name}" in row else "" for row in rows.values()]
        cells = [time + gain for time, gain in zip(times, gains, strict=True)]
        lines.append(f"| {'' if name == 'plain' else '+ '}{name} | {' | '.join(cells)} |")
    for name, key in (("everything against plain", "/all"), (AGAIN, f"/{AGAIN}")):
        lines.append(f"| {name} | {' | '.join(f'{row[key]:.2f}×' for row in rows.values())} |")
    return "\n".join(lines)


def main() -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows = uvloop.run(measure(Path(folder)))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"the run took {time.perf_counter() - start:.0f} s."
    )
    text = f"""\
# What each acceleration is worth, last measured

Processor time of the server for a request of Shopping's API; in brackets, how many times less that is than in the line
above, by rounds that alternate. {machine}

{table_of(rows)}
"""
    print(f"\n{text}")
    (RESULTS / "accelerations.md").write_text(text)
    (RESULTS / "accelerations.json").write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        serve_potluck(Path(sys.argv[2]), int(sys.argv[3]), accelerations=STEPS[sys.argv[1]])
    else:
        main()
