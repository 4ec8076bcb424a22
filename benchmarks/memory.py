"""Whether the memory of the suite reaches a plateau: `python -m benchmarks.memory`, ten minutes.

    python -m benchmarks.memory --requests 5000      # leaves the results as they are

300 people use all five apps, 16 at a time and without a pause, while everyone follows a list. The store grows all the
time; the memory of the server must not. The server believes that it is in a container of 512 MB, so that what it maps
of the store is bounded as it is there.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop

from benchmarks.measuring import say
from benchmarks.served_suite import ServedSuite
from benchmarks.simulated_people import People, next_habit

RESULTS = Path(__file__).parent / "results"
PEOPLE, REQUESTS = 300, 100_000
AT_ONCE = 16
CONTAINER = 512 << 20
LOOKS = 10
# What is being freed when the last request has been answered.
SETTLING_SECONDS = 2.0
# After this many looks, all caches are full, and so are the change logs in memory, also of tables that are seldom
# written to. From then on it may grow by this much.
WARM_LOOKS = 4
MOST_GROWTH = 1.05


@dataclass
class Look:
    """The memory of the server after this many requests, in MB."""

    requests: int
    resident: float
    own: float
    """Without what is mapped of files."""
    store: float
    seconds: float


async def measure(number: int, requests: int) -> tuple[list[Look], People]:
    with tempfile.TemporaryDirectory() as folder:
        suite = ServedSuite(Path(folder), memory=CONTAINER)
        await suite.start()
        try:
            people = People(suite.port, number)
            await people.join()
            following = [asyncio.create_task(person.follow()) for person in people.people]
            looks: list[Look] = []
            began = time.monotonic()
            left = 0

            async def live(start: int) -> None:
                nonlocal left
                # Everyone in turn, and no one twice at a time.
                while left > 0:
                    for person in people.people[start::AT_ONCE]:
                        left -= 1
                        await next_habit(person)(person, people)

            async def look() -> None:
                await asyncio.sleep(SETTLING_SECONDS)
                used = suite.used()
                store = sum(file.stat().st_size for file in suite.data.glob("potluck.db*"))
                asked = people.outcomes.requests - before
                looks.append(
                    Look(asked, used.bytes / 1e6, used.anonymous_bytes / 1e6, store / 1e6, time.monotonic() - began)
                )
                last = looks[-1]
                say(f"{last.requests:,} requests: {last.resident:.0f} MB, own {last.own:.0f}, store {last.store:.0f}")

            before = people.outcomes.requests
            await look()
            for _ in range(LOOKS):
                left = requests // LOOKS
                await asyncio.gather(*(live(start) for start in range(AT_ONCE)))
                await look()
            for task in following:
                task.cancel()
            await people.verify()
            return looks, people
        finally:
            suite.stop()


def growth(looks: list[Look]) -> float:
    """How many times as much it took at the end as once it was warm; of three looks each, as garbage comes and goes."""
    warm, end = looks[WARM_LOOKS : WARM_LOOKS + 3], looks[-3:]
    return statistics.median(look.resident for look in end) / statistics.median(look.resident for look in warm)


def report(looks: list[Look], people: int, requests: int, load: float, errors: int, lost: int) -> str:
    lines = [
        "| requests | resident MB | own MB | store MB | after |",
        "|---:|---:|---:|---:|---:|",
        *(f"| {x.requests:,} | {x.resident:.0f} | {x.own:.0f} | {x.store:.0f} | {x.seconds:.0f} s |" for x in looks),
    ]
    times = growth(looks)
    verdict = "a plateau" if times <= MOST_GROWTH else "**it grows**"
    machine = (
        f"{people} people, {requests:,} requests, one worker; {os.cpu_count()} cores shared by server and people,"
        f" {platform.system()}, Python {platform.python_version()}, load average at the start {load:.1f}."
        f" Errors: {errors}; lost or twice: {lost}. “Own” is without what is mapped of files. Once it was warm, from"
        f" {looks[WARM_LOOKS].requests:,} requests on, it grew {times:.2f} times: {verdict}."
    )
    return "\n".join([machine, "", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    chosen = parser.parse_args()
    load = os.getloadavg()[0]
    looks, people = uvloop.run(measure(chosen.people, chosen.requests))
    errors, lost = people.outcomes.errors, people.outcomes.lost
    said = report(looks, chosen.people, chosen.requests, load, sum(errors.values()), len(lost))
    print(f"\n{said}\n\n{dict(errors)} {lost[:3]}")
    if (chosen.people, chosen.requests) == (PEOPLE, REQUESTS):
        (RESULTS / "memory.md").write_text(f"# Memory, last measured\n\n{said}\n")
        results = {"growth": growth(looks), "load": load, "looks": [asdict(look) for look in looks]}
        (RESULTS / "memory.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
