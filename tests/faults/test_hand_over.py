"""A process that dies between a commit and its hand-over: whoever comes next tells the change, and does it once.

Run as a program, this file is such a process.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from potluck.dynamo.database import Database
from potluck.store import Store
from potluck.streams import Action, ConsumerGroup, LeaseTerms, Record, RecordConsumer, WorkTable
from potluck.web.live import Live
from tests.patience import PATIENCE_SECONDS, stopped
from tests.web.live.boards import KEY, Board, Card, boards, clock, of_board

WORK = WorkTable("Work")
ROOT = Path(__file__).resolve().parents[2]
A_FEW, MANY = 4, 200


# --- the process -----------------------------------------------------------------------------------------------------


class Dying(Database):
    """Kills its process after so many commits to the boards, before anybody here is told of the last."""

    left = -1

    def _note_commit(self, stored: Any) -> Any:
        if stored is not None and any(each.table.name == boards.name for each in stored):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return super()._note_commit(stored)


async def once(change: Record) -> list[Action]:
    """Counts the board in a row of its own, which doing it twice would spoil."""
    assert change.new is not None
    update = {
        "TableName": WORK.table,
        "Key": WORK.key("DONE", change.new["board"]["S"]),
        "UpdateExpression": "ADD #times :one",
        "ExpressionAttributeNames": {"#times": "times"},
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    return [{"Update": update}]


async def work(path: str, number: int, since: str | None, commits: int) -> None:
    """Tell what changed since the last one died, then write until this one dies too, or for a last time."""
    database = await Dying.open(path)
    store, live = Store(database, clock), Live(database, clock, key=KEY)
    await store.create_tables(boards)
    live.start(boards)
    group = ConsumerGroup(database, "once", WORK, LeaseTerms(0.4, renew_every=0.1, look_every=0.05))
    feed = live.feed(boards)
    consumer = RecordConsumer(
        database, "once", boards.name, once, concerns=of_board, work_table=WORK, group=group, follow=feed
    )
    consuming = asyncio.create_task(consumer.run())
    of = Card.on_board("b")
    told: list[str] = []
    position = since or await live.position(of)
    while since:
        answer = await live.changes(position, of=of, see=lambda card: card)
        assert not answer.reset
        told += [each.item.card for each in answer.changes]
        position = answer.position
        if not answer.more:
            break
    print(json.dumps({"told": told, "position": position}), flush=True)
    await store.put(Board(board=f"warm{number}", title="t"))
    await until_done(database, f"warm{number}")
    if commits:
        database.left = commits
        for each in range(commits):
            kind = Board(board=f"{number}-{each}", title="t") if each % 2 else Card(board="b", card=f"{number}-{each}")
            await store.put(kind)
        raise AssertionError("it should have died")
    await stopped(consuming)
    await live.stop()
    await database.close()


async def until_done(engine: Any, board: str) -> None:
    request = {"TableName": WORK.table, "Key": WORK.key("DONE", board), "ConsistentRead": True}
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "Item" not in await engine.call("GetItem", request):  # noqa: ASYNC110 - it happens in the consumer
            await asyncio.sleep(0.01)


# --- the test --------------------------------------------------------------------------------------------------------


def run(path: Path, number: int, since: str | None, commits: int) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, __file__, str(path), str(number), since or "", str(commits)]
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, timeout=2 * PATIENCE_SECONDS, check=False, text=True
    )
    assert done.returncode == (-signal.SIGKILL if commits else 0)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return answer


@pytest.mark.parametrize("rounds", [A_FEW, pytest.param(MANY, marks=pytest.mark.soak)])
async def test_what_was_committed_and_not_handed_over_is_told_and_done_once(rounds: int, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    position: str | None = None
    told: list[str] = []
    cards: list[str] = []
    expected: set[str] = set()
    for number in range(rounds + 1):
        # The last one only looks what is left.
        commits = 1 + number % 6 if number < rounds else 0
        answer = await asyncio.to_thread(run, path, number, position, commits)
        position = answer["position"]
        told += answer["told"]
        cards += [f"{number}-{each}" for each in range(0, commits, 2)]
        expected |= {f"warm{number}", *(f"{number}-{each}" for each in range(1, commits, 2))}
    assert told == cards
    database = await Database.open(path)
    try:
        found = (await database.call("Scan", {"TableName": WORK.table, "ConsistentRead": True}))["Items"]
    finally:
        await database.close()
    done = {row["SK"]["S"]: row["times"]["N"] for row in found if row["PK"]["S"] == "DONE"}
    assert done == dict.fromkeys(expected, "1")


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], int(sys.argv[2]), sys.argv[3] or None, int(sys.argv[4])))
