"""The disk runs full: writes are refused, nothing is damaged, and writing goes on when there is room again."""

import asyncio
from pathlib import Path

import pytest

from potluck.dynamo.database import Database
from tests.faults.audit import Audit, check_file
from tests.faults.power_cut_vfs import FaultyDisk
from tests.faults.workload import TABLE, Writer, account_key, prepare, run_writer

WRITERS = 16
REFUSALS = 40
ENOUGH_WRITES = 400


class Round:
    """Writers on a disk that refuses, until they have been refused often enough and then written enough."""

    def __init__(self, database: Database, disk: FaultyDisk, seed: int, name: str) -> None:
        self.database = database
        self.disk = disk
        self.acknowledged = {f"{name}writer{number}": 0 for number in range(WRITERS)}
        self.seed = seed
        self.refusals: list[Exception] = []

    async def run(self) -> None:
        writers = [Writer(self.seed, name) for name in self.acknowledged]
        await asyncio.gather(
            *(run_writer(self.database, writer, self.going_on, self.note, self.refused) for writer in writers)
        )

    def note(self, writer: Writer) -> None:
        self.acknowledged[writer.name] = writer.number

    def going_on(self) -> bool:
        return len(self.refusals) < REFUSALS or sum(self.acknowledged.values()) < ENOUGH_WRITES

    async def refused(self, error: Exception) -> None:
        self.refusals.append(error)
        if len(self.refusals) >= REFUSALS:
            self.disk.room = self.disk.refuse_one_in = None
        await asyncio.sleep(0.001)


async def check_after(path: Path, audit: Audit, acknowledged: dict[str, int]) -> None:
    database = await Database.open(path)
    try:
        await audit.check(database, acknowledged, acknowledged)
    finally:
        await database.close()
    check_file(str(path))


async def test_a_full_disk_refuses_writes_and_loses_nothing(tmp_path):
    path = tmp_path / "store.db"
    audit = Audit(seed=5)
    with FaultyDisk(seed=5) as disk:
        database = await Database.open(path, vfs=disk.vfs_name)
        await prepare(database)
        disk.room = disk.used() + 100_000
        writing = Round(database, disk, audit.seed, "full")
        await writing.run()
        assert disk.refused_writes > 0
        await database.close()
    await check_after(path, audit, writing.acknowledged)


async def test_reads_go_on_while_the_disk_is_full(tmp_path):
    with FaultyDisk() as disk:
        database = await Database.open(tmp_path / "store.db", vfs=disk.vfs_name)
        await prepare(database)
        disk.room = 0
        filling = [{"pk": {"S": "filling"}, "sk": {"S": str(n)}, "text": {"S": "x" * 5000}} for n in range(200)]
        puts = (database.call("PutItem", {"TableName": TABLE, "Item": item}) for item in filling)
        answers = await asyncio.gather(*puts, return_exceptions=True)
        assert any(isinstance(answer, Exception) for answer in answers)
        answer = await database.call("GetItem", {"TableName": TABLE, "Key": account_key(3), "ConsistentRead": True})
        assert answer["Item"]["balance"] == {"N": "1000"}
        disk.room = None
        await database.call("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "room"}, "sk": {"S": "again"}}})
        await database.close()


@pytest.mark.parametrize("seed", range(3))
async def test_writes_refused_at_random_are_not_half_done(tmp_path, seed):
    path = tmp_path / "store.db"
    audit = Audit(seed)
    with FaultyDisk(seed) as disk:
        database = await Database.open(path, vfs=disk.vfs_name)
        await prepare(database)
        disk.refuse_one_in = 60
        writing = Round(database, disk, seed, "refused")
        await writing.run()
        await database.close()
    await check_after(path, audit, writing.acknowledged)
