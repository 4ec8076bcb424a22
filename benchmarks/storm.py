"""A storm of votes on one poll, and of ticks on one checklist: `python -m benchmarks.storm BEFORE`, ten minutes.

The engine cancels transactions that overlap on an item, as DynamoDB does (`potluck.engines.colliding`), on virtual
time: what is measured is the design, not the machine. Four processes take the calls. BEFORE is another checkout, which
gets the same storms; then both cast votes on the embedded engine in turns, for their processor time.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.against import version_of
from benchmarks.measuring import say
from tests import virtual_time

HERE = Path(__file__).resolve().parent.parent
RESULTS = HERE / "benchmarks" / "results"
# Shared memory, if there is any: the storms are not about the disk.
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
PROCESSES = 4
SECONDS = 5
READ_SECONDS = 0.003
KEY = b"a key that only the suite has..."
START = datetime(2040, 1, 1, 12, tzinfo=UTC)
CANDIDATES = ["Ada", "Ben", "Cyd", "Dee"]
# Two in five vote alike, and the others as they like.
FAVOURITE_SHARE = 0.4
ITEMS = 90
VOTES, TICKS = "votes", "ticks"
STORMS = [
    (subject, rate, milliseconds)
    for subject, rates in ((VOTES, (100, 300, 1_000)), (TICKS, (100, 300, 1_000)))
    for rate in rates
    for milliseconds in (5, 10, 20)
]
EMBEDDED_ROUNDS = 9
EMBEDDED_VOTES = 400


def colliding() -> Any:
    """The engine wrapper of this checkout, also for one that has none."""
    path = HERE / "src" / "potluck" / "engines" / "colliding.py"
    spec = importlib.util.spec_from_file_location("potluck.engines.colliding", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Colliding


class Storm:
    """Calls at a rate, each at a moment of its own, and how they end."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seconds: list[float] = []
        self.refused: Counter[str] = Counter()

    async def run(self, rate: float, seconds: float, one: Callable[[int], Awaitable[Any]]) -> None:
        loop = asyncio.get_running_loop()
        tasks = []
        for number in range(int(rate * seconds)):
            await asyncio.sleep(self.random.expovariate(rate))
            tasks.append(loop.create_task(self._one(number, one)))
        await asyncio.gather(*tasks)

    async def _one(self, number: int, one: Callable[[int], Awaitable[Any]]) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            await one(number)
        except Exception as error:
            self.refused[type(error).__name__] += 1
        else:
            self.seconds.append(loop.time() - started)


async def storm(subject: str, rate: int, milliseconds: int) -> dict[str, Any]:
    """One storm on a new store."""
    from potluck.engines import open_engine

    loop: Any = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        bottom = await open_engine(path=str(Path(folder) / "store.db"))
        engine = virtual_time.OutOfTime(bottom, loop)
        try:
            world = await (polls if subject == VOTES else checklist)(engine, loop, milliseconds / 1_000)
            world.collide.transactions = 0
            world.collide.collisions.clear()
            calls = Storm(seed=rate * milliseconds)
            await calls.run(rate, SECONDS, world.one)
            await world.must_be_right(len(calls.seconds))
            return found(subject, rate, milliseconds, calls, world.collide)
        finally:
            await bottom.close()


def found(subject: str, rate: int, milliseconds: int, calls: Storm, collide: Any) -> dict[str, Any]:
    """What came of a storm."""
    times = sorted(calls.seconds) or [0.0]
    offered = len(calls.seconds) + calls.refused.total()
    hottest = sorted(collide.collisions.items(), key=lambda pair: -pair[1])[:1]
    return {
        "subject": subject,
        "rate": rate,
        "milliseconds": milliseconds,
        "offered": offered,
        "accepted": len(calls.seconds),
        "refused": calls.refused.total() / offered,
        "transactions": collide.transactions / offered,
        "p50": times[len(times) // 2],
        "p95": times[int(len(times) * 0.95)],
        "hottest": hottest[0][0][-1] if hottest else "",
        "reasons": dict(calls.refused),
    }


class World:
    """What a storm is about: one call of it, and whether the store is right after it."""

    collide: Any
    one: Callable[[int], Awaitable[Any]]
    must_be_right: Callable[[int], Awaitable[None]]


def ballot(number: int, chance: random.Random) -> tuple[Any, None, Any]:
    """A vote, as a call of its rule: two in five are alike."""
    from potluck.apps.polls.votes import NewVote, cast_vote

    alike = chance.random() < FAVOURITE_SHARE
    ranking = CANDIDATES if alike else chance.sample(CANDIDATES, chance.randint(1, 4))
    return cast_vote, None, NewVote(rankings=list(ranking), voter_key=f"voter {number}")


async def poll_in(engine: Any, clock: Callable[[], datetime], processes: int) -> tuple[list[Any], UUID]:
    """A poll, and the rules of these processes."""
    from potluck.apps.polls.app import PollsApp
    from potluck.apps.polls.context import polls_context
    from potluck.apps.polls.polls import NewPoll, create_poll
    from potluck.store import Store
    from potluck.web.direct_calls import Direct
    from tests.web.cores import core_on

    directs = []
    for _ in range(processes):
        store = Store(engine, clock)
        directs.append(Direct(core_on(store, clock), PollsApp.subjects, polls_context(store, KEY)))
    poll = await directs[0].do(create_poll, None, NewPoll(title="Who?", candidates=CANDIDATES))
    return directs, poll.id


async def tables_on(engine: Any, clock: Callable[[], datetime], *tables: Any) -> dict[str, tuple[str, ...]]:
    """The names of the tables' keys, once they are there."""
    from potluck.people.entities import accounts
    from potluck.store import Store

    await Store(engine, clock).create_tables(accounts, *tables)
    return {table.name: table.key_names for table in (accounts, *tables)}


async def polls(engine: Any, loop: Any, seconds: float) -> World:
    """A poll in four processes, whose voters mostly agree."""
    from potluck.apps.polls.entities import Poll, ranked_choice_polls
    from potluck.apps.polls.results import audited

    def clock() -> datetime:
        return START + timedelta(seconds=loop.time())

    keys = await tables_on(engine, clock, ranked_choice_polls)
    collide = colliding()(engine, keys, seconds, read_seconds=READ_SECONDS)
    directs, poll_id = await poll_in(collide, clock, PROCESSES)
    chance = random.Random(1)

    async def one(number: int) -> None:
        await directs[number % PROCESSES].do(*ballot(number, chance), poll_id=poll_id)

    async def must_be_right(accepted: int) -> None:
        context = directs[0].runner.context
        audit = await audited(context, await context.store.get(Poll.one(poll_id)))
        if not audit.equal or audit.votes != accepted:
            raise AssertionError(f"{accepted} votes were accepted, and the audit found {audit}")

    world = World()
    world.collide, world.one, world.must_be_right = collide, one, must_be_right
    return world


async def checklist(engine: Any, loop: Any, seconds: float) -> World:
    """A full checklist in four processes, whose items are ticked at random."""
    from potluck.apps.shareables import short_ids
    from potluck.apps.shareables.app import ShareablesApp
    from potluck.apps.shareables.creation import NewShareable, create_shareable
    from potluck.apps.shareables.items import ChecklistItemEdit, NewChecklistItem, change_item
    from potluck.apps.shareables.shareables import one_shareable
    from potluck.people.passwords import Passwords
    from potluck.settings import Settings
    from potluck.suite import core_on
    from potluck.web.access import Visitor
    from potluck.web.direct_calls import Direct
    from tests.people.assembly import CountingHasher

    def clock() -> datetime:
        return START + timedelta(seconds=loop.time())

    short_ids.POOL_PARTITIONS, short_ids.POOL_DEPTH = 20, 2
    keys = await tables_on(engine, clock, *ShareablesApp.tables)
    collide = colliding()(engine, keys, seconds, read_seconds=READ_SECONDS)
    directs = []
    for _ in range(PROCESSES):
        core = core_on(collide, Settings(), b"a secret of thirty-two bytes....", clock, Passwords(CountingHasher()))
        app = ShareablesApp(core)
        directs.append(Direct(core, ShareablesApp.subjects, app.context))
    await directs[0].runner.context.pool.refill()
    items = [NewChecklistItem(name=f"Item {number}") for number in range(ITEMS)]
    new = NewShareable(entity="checklist", name="Party", items=items)
    made = await directs[0].do(create_shareable, Visitor(), new)
    seen = await directs[0].read(one_shareable, Visitor(), short_id=made.short_id)
    ids = [item.checklist_item_id for item in seen.items]
    chance = random.Random(1)
    ticked: Counter[UUID] = Counter()

    async def one(number: int) -> None:
        item = chance.choice(ids)
        change = ChecklistItemEdit(done=bool(chance.getrandbits(1)))
        direct = directs[number % PROCESSES]
        await direct.do(change_item, Visitor(), change, short_id=made.short_id, checklist_item_id=item)
        ticked[item] += 1

    async def must_be_right(accepted: int) -> None:
        after = await directs[0].read(one_shareable, Visitor(), short_id=made.short_id)
        # A tick that changes nothing writes nothing.
        if any(item.version > 1 + ticked[item.checklist_item_id] for item in after.items):
            raise AssertionError("an item has more versions than ticks")

    world = World()
    world.collide, world.one, world.must_be_right = collide, one, must_be_right
    return world


def embedded(votes: int) -> dict[str, float]:
    """The processor time of a vote on the embedded engine, in microseconds: the first in a poll, and the others."""
    return asyncio.run(_embedded(votes))


async def _embedded(votes: int) -> dict[str, float]:
    from potluck.engines import open_engine

    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        engine = await open_engine(path=str(Path(folder) / "store.db"))
        try:
            from potluck.apps.polls.entities import ranked_choice_polls

            await tables_on(engine, lambda: START, ranked_choice_polls)
            (direct,), poll_id = await poll_in(engine, lambda: START, 1)
            times = [time.process_time()]
            for number in range(votes + 1):
                await direct.do(*ballot(number, random.Random(number)), poll_id=poll_id)
                if number in (0, votes):
                    times.append(time.process_time())
            return {"first": (times[1] - times[0]) * 1e6, "other": (times[2] - times[1]) / votes * 1e6}
        finally:
            await engine.close()


def asked(checkout: Path, *arguments: object) -> Any:
    """What this module answers when it is run on the sources of a checkout."""
    command = [sys.executable, "-m", "benchmarks.storm", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def table_of(storms: list[dict[str, Any]]) -> str:
    """A line for each storm: before, and now."""
    lines = [
        "| | a second | transaction | refused before | now | p50 before | now | p95 before | now | transactions before"
        " | now |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for pair in storms:
        before, now = pair["before"], pair["now"]
        cells = [
            now["subject"],
            f"{now['rate']:,}",
            f"{now['milliseconds']} ms",
            *(f"{side['refused']:.1%}" for side in (before, now)),
            *(f"{side[name] * 1_000:,.0f} ms" for name in ("p50", "p95") for side in (before, now)),
            *(f"{side['transactions']:.2f}" for side in (before, now)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def measured(before: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, list[float]]]]:
    """The storms on both checkouts, and what votes cost them on the embedded engine, in alternating rounds."""
    storms = []
    for storm_of in STORMS:
        say(f"{storm_of[1]} {storm_of[0]} a second, {storm_of[2]} ms")
        storms.append({"before": asked(before, "--one", *storm_of), "now": asked(HERE, "--one", *storm_of)})
    costs: dict[str, dict[str, list[float]]] = {side: {"first": [], "other": []} for side in ("before", "now")}
    for number in range(EMBEDDED_ROUNDS):
        say(f"embedded, round {number + 1} of {EMBEDDED_ROUNDS}")
        sides = [("before", before), ("now", HERE)]
        for side, checkout in sides if number % 2 else reversed(sides):
            for name, cost in asked(checkout, "--embedded", EMBEDDED_VOTES).items():
                costs[side][name].append(cost)
    return storms, costs


def report(before: Path) -> None:
    started = time.perf_counter()
    storms, costs = measured(before)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    lines = ["| the processor time of a vote | before | now | now / before |", "|---|---:|---:|---:|"]
    for name, what in (("other", "in a poll with votes"), ("first", "the first in a poll")):
        old, new = costs["before"][name], costs["now"][name]
        ratio = statistics.median(one / other for one, other in zip(new, old, strict=True))
        lines.append(f"| {what} | {statistics.median(old):,.0f} µs | {statistics.median(new):,.0f} µs | {ratio:.2f} |")
    text = (
        f"# Storms of votes and ticks, last measured\n\n{machine}; the run took {time.perf_counter() - started:.0f} s."
        f" Before is {version_of(before)}.\n\n{SECONDS} seconds of each storm, in the model of transactions.\n\n"
        f"{table_of(storms)}\n\nOn the embedded engine, {EMBEDDED_VOTES} votes one after the other in each of"
        f" {EMBEDDED_ROUNDS} rounds:\n\n" + "\n".join(lines) + "\n"
    )
    print(text)
    (RESULTS / "storm.md").write_text(text)
    (RESULTS / "storm.json").write_text(json.dumps({"storms": storms, "embedded": costs}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", type=Path, help="another checkout")
    parser.add_argument("--one", nargs=3, metavar=("SUBJECT", "RATE", "MILLISECONDS"), help="one storm, as JSON")
    parser.add_argument("--embedded", type=int, metavar="VOTES", help="the cost of a vote, as JSON")
    chosen = parser.parse_args()
    if chosen.one is not None:
        subject, rate, milliseconds = chosen.one
        print(json.dumps(virtual_time.run(storm(subject, int(rate), int(milliseconds)))))
    elif chosen.embedded is not None:
        print(json.dumps(embedded(chosen.embedded)))
    elif chosen.before is not None:
        report(chosen.before.resolve())
    else:
        parser.error("name another checkout")


if __name__ == "__main__":
    main()
