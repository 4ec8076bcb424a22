"""kill -9 under load; what was acknowledged is there afterwards, and nothing is half."""

import asyncio
import random
import signal
import sys
from pathlib import Path

import pytest

from potluck.dynamo.database import Database
from tests.faults.audit import Audit, check_file
from tests.faults.workload import prepare

ROOT = Path(__file__).resolve().parents[2]
WRITERS = 64
ROUNDS_PER_STORE = 5
START_SECONDS = 60


async def write_until_killed(path: Path, seed: int, names: list[str], kill_after: int) -> dict[str, int]:
    """How many writes of each writer a killed process had reported as acknowledged."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.writing_process", str(path), str(seed), *names),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    acknowledged = dict.fromkeys(names, 0)
    try:
        assert await asyncio.wait_for(process.stdout.readline(), START_SECONDS) == b"ready\n"
        for _ in range(kill_after):
            name = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
            acknowledged[name.decode().strip()] += 1
    finally:
        process.kill()
    for name in (await process.stdout.read()).decode().splitlines():
        acknowledged[name] += 1
    assert await process.wait() == -signal.SIGKILL, "the process ended by itself"
    return acknowledged


async def survive_kills(tmp_path: Path, seed: int, rounds: int) -> None:
    audit = Audit(seed)
    path = tmp_path / "store.db"
    moments = random.Random(seed)
    database = await Database.open(path)
    await prepare(database)
    await database.close()
    for number in range(rounds):
        names = [f"round{number}writer{writer}" for writer in range(WRITERS)]
        acknowledged = await write_until_killed(path, seed, names, kill_after=moments.randint(1, 3000))
        # Every writer has at most one write under way.
        begun = {name: count + 1 for name, count in acknowledged.items()}
        database = await Database.open(path)
        try:
            await audit.check(database, acknowledged, begun)
        finally:
            await database.close()
    check_file(str(path))


async def test_nothing_acknowledged_is_lost_over_five_kills(tmp_path):
    await survive_kills(tmp_path, seed=1, rounds=ROUNDS_PER_STORE)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 260))
async def test_nothing_acknowledged_is_lost_over_eight_hundred_kills(tmp_path, seed):
    await survive_kills(tmp_path, seed, rounds=ROUNDS_PER_STORE)
