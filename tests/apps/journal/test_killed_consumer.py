"""kill -9 while the words of a long entry are indexed: another worker carries it to the end.

Run as a program, this file is the worker.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from potluck.apps.journal.consumers import index_consumer
from potluck.apps.journal.entities import Entry, EntryMeta, Sections, SessionMetrics, roll_model
from potluck.apps.journal.keywords import WORDS_AT_ONCE, keyword_writes
from potluck.store import Store
from potluck.table import absent, put
from tests.apps.worlds import by_key
from tests.engine_targets import EMBEDDED, LOCAL, address, opened_at
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60


class Telling:
    """An engine that says so when words were written, and waits until it is told to go on, or nobody is there to."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = await self.engine.call(operation, request)
        if operation == "TransactWriteItems" and "KW#" in json.dumps(request):
            print("indexed", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        found: bool = await self.engine.changed(table, timeout)
        return found


async def work(where: dict[str, Any]) -> None:
    rows = Store(Telling(await opened_at(where)), lambda: datetime.now(UTC))
    print("ready", flush=True)
    await index_consumer(rows).bind(rows).run()


@contextlib.asynccontextmanager
async def worker(where: dict[str, Any], told: int = asyncio.subprocess.DEVNULL):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, json.dumps(where)), stdin=told, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        assert await asyncio.wait_for(process.stdout.readline(), START_SECONDS) == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("engine", [EMBEDDED, pytest.param(LOCAL, marks=pytest.mark.soak)])
async def test_a_long_entry_is_indexed_whole_though_workers_are_killed(engine: str, tmp_path: Path):
    where = address(engine, tmp_path)
    opened = await opened_at(where)
    try:
        rows = Store(opened, lambda: datetime.now(UTC))
        await rows.create_tables(roll_model)
        now = datetime(2039, 1, 1, tzinfo=UTC)
        words = [f"w{number}" for number in range(3_000)]
        entry = Entry(
            entry_id=UUID(int=1),
            athlete_id=UUID(int=2),
            created_at=now,
            updated_at=now,
            sections=Sections(shared=" ".join(words[:1_500]), private=" ".join(words[1_500:])),
            session_metrics=SessionMetrics(duration_minutes=60, intensity=5, rounds=0, gi_or_no_gi="gi"),
            date=now,
        )
        meta = EntryMeta(entry_id=entry.entry_id, athlete_id=entry.athlete_id, created_at=now, date=now)
        first = keyword_writes(None, entry)[:WORDS_AT_ONCE]
        await rows.transact(put(meta, when=absent), put(entry, when=absent), *first)
        for batches in (2, 5):
            async with worker(where, told=asyncio.subprocess.PIPE) as process:
                for number in range(batches):
                    if number:
                        process.stdin.write(b"\n")
                    assert await asyncio.wait_for(process.stdout.readline(), START_SECONDS) == b"indexed\n"
                process.send_signal(signal.SIGKILL)
        assert len(await indexed(opened)) < 3_001
        async with worker(where), asyncio.timeout(PATIENCE_SECONDS):
            # Not more often: looking at all of it keeps the worker waiting.
            while await indexed(opened) != {*words, "gi"}:  # noqa: ASYNC110
                await asyncio.sleep(1)
    finally:
        await opened.close()


async def indexed(engine: Any) -> set[str]:
    return {sort.split("#")[1] for _, sort in await by_key(engine, roll_model) if sort.startswith("KW#")}


if __name__ == "__main__":
    asyncio.run(work(json.loads(sys.argv[1])))
