"""A copy made while writing is a whole store of one moment."""

import asyncio

from potluck.dynamo.database import Database
from tests.faults.audit import Audit, check_file
from tests.faults.workload import Writer, prepare, run_writer

WRITERS = 16
WRITES_BEFORE = 500
BACKUPS = 3


async def test_a_backup_while_writing_is_a_consistent_snapshot(tmp_path):
    names = [f"writer{number}" for number in range(WRITERS)]
    database = await Database.open(tmp_path / "store.db")
    await prepare(database)
    writers = {name: Writer(9, name) for name in names}
    acknowledged = dict.fromkeys(names, 0)
    enough = asyncio.Event()
    stop = asyncio.Event()

    def note(writer: Writer) -> None:
        acknowledged[writer.name] = writer.number
        if sum(acknowledged.values()) >= WRITES_BEFORE:
            enough.set()

    writing = asyncio.gather(
        *(run_writer(database, writer, lambda: not stop.is_set(), note) for writer in writers.values())
    )
    await enough.wait()
    backups = []
    for number in range(BACKUPS):
        path = tmp_path / f"backup-{number}.db"
        at_least = dict(acknowledged)
        await database.backup(path)
        backups.append((path, at_least, {name: writer.number for name, writer in writers.items()}))
    stop.set()
    await writing
    await database.close()

    for path, at_least, at_most in backups:
        check_file(str(path))
        copy = await Database.open(path)
        await Audit(9).check(copy, at_least, at_most)
        await copy.call("PutItem", {"TableName": "Ledger", "Item": {"pk": {"S": "copy"}, "sk": {"S": "writable"}}})
        await copy.close()
    original = await Database.open(tmp_path / "store.db")
    await Audit(9).check(original, acknowledged, acknowledged)
    await original.close()
