"""The power goes at any moment; what was acknowledged is there afterwards, and nothing is half."""

import asyncio
from pathlib import Path

import pytest

from potluck.dynamo.database import Database
from tests.faults.audit import Audit, check_file
from tests.faults.power_cut_vfs import FaultyDisk
from tests.faults.workload import TABLE, Writer, prepare, run_writer

WRITERS = 16
CUTS_PER_STORE = 5
# Operations of the disk until the cut, as powers of ten: from opening the file to past several checkpoints.
LATEST_CUT = 4.2


async def write_until_the_cut(
    path: Path, disk: FaultyDisk, seed: int, names: list[str]
) -> tuple[bool, dict[str, int], dict[str, int]]:
    """Whether the table was acknowledged, and how many writes each writer had acknowledged and begun."""
    acknowledged = dict.fromkeys(names, 0)
    begun = dict.fromkeys(names, 0)
    prepared = False

    def note(writer: Writer) -> None:
        # An answer that arrives after the cut may or may not be on the disk.
        if not disk.is_cut.is_set():
            acknowledged[writer.name] = writer.number

    database = await Database.open(path, vfs=disk.vfs_name)
    try:
        await prepare(database)
        prepared = not disk.is_cut.is_set()
        writers = [Writer(seed, name) for name in names]
        await asyncio.gather(
            *(run_writer(database, writer, lambda: not disk.is_cut.is_set(), note) for writer in writers)
        )
        for writer in writers:
            begun[writer.name] = writer.number
    finally:
        await database.close()
    return prepared, acknowledged, begun


async def survive_cuts(tmp_path: Path, seed: int, cuts: int) -> None:
    """One store through several cuts, each on what the one before left."""
    audit = Audit(seed)
    before = tmp_path / "0"
    before.mkdir()
    was_prepared = False
    for cut in range(1, cuts + 1):
        after = tmp_path / str(cut)
        after.mkdir()
        names = [f"cut{cut}writer{number}" for number in range(WRITERS)]
        with FaultyDisk(seed * 1000 + cut) as disk:
            disk.cut_after(int(10 ** disk.random.uniform(0, LATEST_CUT)))
            prepared, acknowledged, begun = await write_until_the_cut(before / "store.db", disk, seed, names)
            disk.cut()
            disk.restore(after)
        was_prepared |= prepared
        database = await Database.open(after / "store.db")
        try:
            tables = (await database.call("ListTables", {}))["TableNames"]
            assert tables == [TABLE] or not was_prepared, "an acknowledged table is gone"
            # A cut between making the table and opening the accounts leaves an empty table: start over.
            if not was_prepared:
                for name in tables:
                    await database.call("DeleteTable", {"TableName": name})
            else:
                await audit.check(database, acknowledged, begun)
        finally:
            await database.close()
        check_file(str(after / "store.db"))
        before = after


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_acknowledged_is_lost_over_twenty_cuts(tmp_path, seed):
    await survive_cuts(tmp_path, seed, CUTS_PER_STORE)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
async def test_nothing_acknowledged_is_lost_over_two_hundred_cuts(tmp_path, seed):
    await survive_cuts(tmp_path, seed, CUTS_PER_STORE)
