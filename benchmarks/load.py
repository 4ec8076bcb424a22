"""200 people use all five apps for five minutes, also while processes are killed: `python -m benchmarks.load`.

    python -m benchmarks.load                            # four runs of five minutes
    python -m benchmarks.load --people 40 --seconds 20   # leaves the results as they are

The suite as it is served, with one and with two workers; then with kill -9 of a worker, and of all processes at once,
in the middle. Everyone repeats what was not answered. At the end, everything that was acknowledged is read back.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop

from benchmarks.measuring import percentile, say
from benchmarks.served_suite import ServedSuite
from benchmarks.simulated_people import People, Person, next_habit

RESULTS = Path(__file__).parent / "results"
PEOPLE, SECONDS = 200, 300
# On average, between what one person does and what they do next.
THINKING_SECONDS = 2.0
SAMPLES = 30
# Not part of the load.
ASIDE = frozenset({"sign up", "make", "verify"})


@dataclass(frozen=True)
class Scenario:
    name: str
    workers: int
    kill: str = ""
    """What is killed in the middle: a worker, or everything."""


SCENARIOS = (
    Scenario("one worker", 1),
    Scenario("two workers", 2),
    Scenario("two workers, one killed in the middle", 2, "worker"),
    Scenario("one worker, everything killed in the middle and started again", 1, "everything"),
)


@dataclass
class Call:
    name: str
    count: int
    p50: float
    p95: float
    p99: float
    worst: float


@dataclass
class Run:
    """What one run came to; times are in milliseconds, memory in MB."""

    scenario: str
    requests: int
    per_second: float
    errors: dict[str, int]
    interrupted: int
    events: int
    unanswered_seconds: float | None
    """The longest time in which no one had an answer."""
    lost: list[str]
    acknowledged: int
    """Writes that were found again."""
    memory_start: float
    memory_end: float
    server_cores: float
    generator_cores: float
    """Processor time a second, of the server and of these people, who share its two cores."""
    load_average: tuple[float, float]
    """Of the whole machine, over a minute, at the beginning and at the end."""
    calls: list[Call]


async def run(scenario: Scenario, number: int, seconds: float) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        suite = ServedSuite(Path(folder), scenario.workers)
        await suite.start()
        try:
            return await _run(suite, scenario, number, seconds)
        finally:
            suite.stop()


async def _run(suite: ServedSuite, scenario: Scenario, number: int, seconds: float) -> Run:
    people = People(suite.port, number)
    outcomes = people.outcomes
    await people.join()
    following = [asyncio.create_task(person.follow()) for person in people.people]
    before, generator_before, load_before = suite.used(), time.process_time(), os.getloadavg()[0]
    answered = outcomes.requests
    began = time.monotonic()
    until = began + seconds

    async def live(person: Person) -> None:
        await asyncio.sleep(person.random.uniform(0, THINKING_SECONDS))
        while time.monotonic() < until:
            await next_habit(person)(person, people)
            await asyncio.sleep(min(person.random.expovariate(1 / THINKING_SECONDS), until - time.monotonic()))

    async def kill() -> None:
        if scenario.kill:
            await asyncio.sleep(seconds / 2)
            suite.used()
            if scenario.kill == "worker":
                suite.kill_worker()
            else:
                suite.kill()
                await suite.start()

    silence, memory, memory_end = 0.0, [], 0.0

    async def watch() -> None:
        nonlocal silence, memory_end
        last, since = outcomes.requests, time.monotonic()
        while True:
            await asyncio.sleep(0.05)
            now = time.monotonic()
            if outcomes.requests != last:
                last, since = outcomes.requests, now
            silence = max(silence, now - since)
            if now - began > len(memory) * seconds / SAMPLES:
                memory.append(suite.used().bytes)

    watching = asyncio.create_task(watch())
    try:
        await asyncio.gather(*(live(person) for person in people.people), kill())
    finally:
        watching.cancel()
    wall = time.monotonic() - began
    after = suite.used()
    generator = time.process_time() - generator_before
    load = load_before, os.getloadavg()[0]
    requests, errors = outcomes.requests - answered, dict(outcomes.errors)
    for task in following:
        task.cancel()
    lost = await people.verify()
    kept = sum(len(each.bought) + len(each.entries) + len(each.books) + len(each.checked) for each in people.people)
    calls = [
        Call(name, len(times), *(1000 * percentile(times, share) for share in (0.5, 0.95, 0.99)), 1000 * max(times))
        for name, times in sorted(outcomes.seconds.items())
        if name not in ASIDE
    ]
    return Run(
        scenario=scenario.name,
        requests=requests,
        per_second=requests / wall,
        errors=errors,
        interrupted=outcomes.interrupted,
        events=outcomes.events,
        unanswered_seconds=silence,
        lost=lost,
        acknowledged=kept + sum(people.votes.values()),
        memory_start=before.bytes / 1e6,
        memory_end=memory[-1] / 1e6,
        server_cores=(after.processor_seconds - before.processor_seconds) / wall,
        generator_cores=generator / wall,
        load_average=load,
        calls=calls,
    )


def seconds(number: float | None) -> str:
    return "" if number is None else f"{number:.2f} s"


def as_markdown(runs: list[Run]) -> str:
    lines = [
        "| run | requests | a second | errors | interrupted | events | longest silence | writes found again"
        " | lost or twice | memory | server | people | load average |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---|",
    ]
    for run in runs:
        lines.append(
            f"| {run.scenario} | {run.requests:,} | {run.per_second:.0f} | {sum(run.errors.values())}"
            f" | {run.interrupted} | {run.events:,} | {seconds(run.unanswered_seconds)}"
            f" | {run.acknowledged:,} | {len(run.lost)}"
            f" | {run.memory_start:.0f} → {run.memory_end:.0f} MB | {run.server_cores:.2f} | {run.generator_cores:.2f}"
            f" | {run.load_average[0]:.1f} → {run.load_average[1]:.1f} |"
        )
    for run in runs:
        lines += ["", f"## {run.scenario.capitalize()}", ""]
        if run.errors:
            lines += [", ".join(f"{name}: {count}" for name, count in sorted(run.errors.items())), ""]
        lines += [f"- {what}" for what in run.lost]
        lines += ["| call | requests | p50 ms | p95 ms | p99 ms | worst ms |", "|---|---:|---:|---:|---:|---:|"]
        lines += [
            f"| {call.name} | {call.count:,} | {call.p50:.1f} | {call.p95:.1f} | {call.p99:.1f} | {call.worst:,.0f} |"
            for call in run.calls
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--only", type=int, choices=range(len(SCENARIOS)), help="one of the runs, counted from 0")
    chosen = parser.parse_args()
    runs = []
    for scenario in SCENARIOS if chosen.only is None else SCENARIOS[chosen.only : chosen.only + 1]:
        say(f"{chosen.people} people for {chosen.seconds:g} s: {scenario.name}")
        runs.append(uvloop.run(run(scenario, chosen.people, chosen.seconds)))
    machine = (
        f"{chosen.people} people for {chosen.seconds:g} s a run, each doing something every {THINKING_SECONDS:g} s and"
        f" following a list; {os.cpu_count()} cores shared by server and people, {platform.system()}, Python"
        f" {platform.python_version()}. “Server” and “people” are processor seconds a second."
    )
    table = as_markdown(runs)
    print(f"\n{machine}\n\n{table}")
    if (chosen.people, chosen.seconds, chosen.only) == (PEOPLE, SECONDS, None):
        (RESULTS / "load.md").write_text(f"# Load, last measured\n\n{machine}\n\n{table}\n")
        results = {"machine": machine, "runs": [asdict(run) for run in runs]}
        (RESULTS / "load.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
