"""A process that writes under load until it is killed, and tells of each write that was acknowledged.

    python -m tests.faults.writing_process FILE SEED NAME...

One line a write on standard output: the writer's name. A pipe keeps what was written to it when the writer dies.
"""

import asyncio
import os
import sys

from potluck.dynamo.database import Database
from tests.faults.workload import Writer, prepare, run_writer


async def write_until_killed(path: str, seed: int, names: list[str]) -> None:
    database = await Database.open(path)
    await prepare(database)
    os.write(1, b"ready\n")

    def tell(writer: Writer) -> None:
        os.write(1, writer.name.encode() + b"\n")

    writers = [Writer(seed, name) for name in names]
    await asyncio.gather(*(run_writer(database, writer, lambda: True, tell) for writer in writers))


if __name__ == "__main__":
    asyncio.run(write_until_killed(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
