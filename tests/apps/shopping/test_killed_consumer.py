"""kill -9 while the links to something deleted are loosened: another worker carries it to the end.

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

from potluck.apps.shopping.entities import Deletion, InventoryItem, ShoppingListItem, inventory
from potluck.apps.shopping.inventory import add_inventory_item, delete_inventory_item
from potluck.apps.shopping.shopping_list import items_on_list
from potluck.people.entities import accounts
from potluck.store import Store
from potluck.table import absent, put
from tests.apps.shopping.assembly import NOW, shop_on
from tests.engine_targets import EMBEDDED, LOCAL, address, opened_at
from tests.people.assembly import Clock

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60
# The lease of a worker that was killed is another's after three seconds; the machine may be busy.
TAKEOVER_SECONDS = 60


# --- the worker ------------------------------------------------------------------------------------------------------


class Telling:
    """An engine that says so when a batch of links is loosened, and stands still for good after so many of them."""

    def __init__(self, engine: Any, batches: int | None) -> None:
        self.engine = engine
        self.left = batches

    async def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer = await self.engine.call(operation, request)
        if operation == "TransactWriteItems" and "SHOPPING#" in json.dumps(request):
            print("loosened", flush=True)
            if self.left is not None:
                self.left -= 1
                if not self.left:
                    await asyncio.Event().wait()
        return answer

    async def changed(self, table: str, timeout: float) -> bool:
        return await self.engine.changed(table, timeout)


async def work(where: dict[str, Any], batches: int | None) -> None:
    engine = Telling(await opened_at(where), batches)
    store = Store(engine, lambda: datetime.now(UTC))
    deletions = shop_on(store, engine, store.clock).consumer("shopping-deletions")
    print("ready", flush=True)
    await deletions.run()


# --- the test --------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def worker(where: dict[str, Any], batches: int | None = None):
    """A worker that loosens all there is, or waits in the middle of it after so many batches."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, json.dumps(where), json.dumps(batches)),
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )
    try:
        assert await asyncio.wait_for(process.stdout.readline(), START_SECONDS) == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def killed_while_carrying(engine: str, folder: Path, links: int, batches: int) -> None:
    where = address(engine, folder)
    opened = await opened_at(where)
    try:
        clock = Clock()
        rows = Store(opened, clock)
        await rows.create_tables(accounts, inventory)
        shop = shop_on(rows, opened, clock)
        ada, family = await shop.family()
        milk = await shop.do(add_inventory_item, ada, family, name="Milk")
        made = [
            ShoppingListItem(
                shopping_item_id=UUID(int=number),
                family_id=family,
                item_id=milk.item_id,
                name="Milk",
                added_by=ada.user_id,
                created_at=NOW,
                updated_at=NOW,
            )
            for number in range(links)
        ]
        for start in range(0, links, 100):
            await rows.transact(*(put(each, when=absent) for each in made[start : start + 100]))

        async def still_linked() -> int:
            found = await rows.all(ShoppingListItem.all_of_family(family))
            assert len(found) == links
            assert {(each.item_id, each.version) for each in found} <= {(milk.item_id, 1), (None, 2)}
            shown = await shop.do(items_on_list, ada, family)
            assert {each.item_id for each in shown} == {None}, "a reader saw a link to what is gone"
            return sum(each.item_id is not None for each in found)

        async with worker(where, batches) as first:
            await shop.do(delete_inventory_item, ada, family, milk.item_id)
            for _ in range(batches):
                assert await asyncio.wait_for(first.stdout.readline(), START_SECONDS) == b"loosened\n"
            first.send_signal(signal.SIGKILL)
            assert await first.wait() == -signal.SIGKILL
        assert 0 < await still_linked() < links
        assert await rows.get(Deletion.by_id(family, "item", milk.item_id)) is not None
        async with worker(where) as second, asyncio.timeout(TAKEOVER_SECONDS):
            while await rows.get(Deletion.by_id(family, "item", milk.item_id)):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            assert second.returncode is None
        assert await still_linked() == 0
        assert await rows.get(InventoryItem.by_id(family, milk.item_id)) is None
        assert await shop.consumer("shopping-deletions").parked() == []
    finally:
        await opened.close()


async def test_a_deletion_is_carried_to_its_end_through_a_kill(tmp_path):
    await killed_while_carrying(EMBEDDED, tmp_path, links=400, batches=2)


@pytest.mark.soak
@pytest.mark.parametrize("engine", [EMBEDDED, LOCAL])
@pytest.mark.parametrize("batches", [1, 7, 15, 21])
async def test_a_deletion_of_two_thousand_links_is_carried_to_its_end_through_a_kill(tmp_path, engine, batches):
    await killed_while_carrying(engine, tmp_path, links=2000, batches=batches)


if __name__ == "__main__":
    asyncio.run(work(*map(json.loads, sys.argv[1:])))
