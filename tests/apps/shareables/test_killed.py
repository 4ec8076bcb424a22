"""kill -9 while lists are laid out: what was told is there, none is half made, and no id is lost."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from potluck.apps.shareables.entities import POOL_PARTITIONS
from potluck.apps.shareables.short_ids import POOL_DEPTH
from potluck.engines import open_engine
from potluck.settings import Settings
from tests.apps.shareables.creation_process import ITEMS
from tests.patience import PATIENCE_SECONDS
from tests.stores import rows_in

ROOT = Path(__file__).resolve().parents[3]


async def killed_after(folder: Path, lists: int) -> set[str]:
    """The ids that a killed process had told."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.apps.shareables.creation_process", str(folder)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    told = set()
    try:
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS) == b"ready\n"
        for _ in range(lists):
            told.add((await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS)).decode().strip())
    finally:
        process.kill()
    *rest, _ = (await process.stdout.read()).decode().split("\n")
    assert await process.wait() == -signal.SIGKILL, "the process ended by itself"
    return told | set(rest)


@pytest.mark.parametrize("lists", [1, 7, 60])
async def test_no_id_is_lost_to_a_half_made_list(tmp_path, lists):
    told = await killed_after(tmp_path / "data", lists)
    engine = await open_engine("embedded", path=Settings(data=tmp_path / "data").file)
    try:
        pool = [row["id"]["S"].lower() for row in await rows_in(engine, "ShortIdPool")]
        found: dict[str, list[str]] = {}
        for row in await rows_in(engine, "Shareables"):
            found.setdefault(row["shortId"]["S"], []).append(row["pk"]["S"].partition("#")[0])
    finally:
        await engine.close()
    assert len(told) >= lists
    assert told <= set(found)
    whole = sorted(["shareable", "session", *["checklist_item"] * ITEMS])
    assert {tuple(sorted(kinds)) for kinds in found.values()} == {tuple(whole)}
    assert not set(pool) & set(found)
    assert len(pool) + len(found) == POOL_PARTITIONS * POOL_DEPTH
