"""What a family's calls cost beside few and beside many other families: `python -m benchmarks.shopping`.

Everything of a family is in one partition, so what the others have must not be felt. Both tables are files of the
embedded engine, called in turns through the app's rules: what HTTP adds is the same on both sides, and left out.
"""

import asyncio
import itertools
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import uvloop

from benchmarks.measuring import Finding, Round, alternate, as_json, markdown, median_ratio, say, sync_milliseconds
from potluck.apps.shopping.app import ShoppingApp
from potluck.apps.shopping.entities import (
    Family,
    InventoryItem,
    Member,
    ShoppingListItem,
    StorageLocation,
    Store,
    inventory,
)
from potluck.apps.shopping.families import families
from potluck.apps.shopping.ordering import groups_of
from potluck.apps.shopping.shopping_list import (
    ListFilter,
    NewShoppingItem,
    StatusChange,
    add_to_list,
    check_off,
    items_on_list,
)
from potluck.apps.shopping.stores import NewStore, add_store
from potluck.engines import Engine, open_engine
from potluck.engines.recording import Recording
from potluck.people.authentication import Principal
from potluck.people.entities import Account
from potluck.people.entities import accounts as accounts_table
from potluck.people.services import open_people
from potluck.store import Store as Rows
from potluck.table import absent
from potluck.table.entity import Entity, plan_of
from potluck.web.app import Core
from potluck.web.count_limits import CountLimits
from potluck.web.direct_calls import Direct
from potluck.web.rate_limits import RateLimiter
from potluck.web.storage_quota import StorageQuota

RESULTS = Path(__file__).parent / "results"

FEW, MANY = 10, 10_000
LISTED = 200
STORES = 4
ROUNDS = 31
ROUND_SECONDS = 0.15
TARGET = 1.5

# What BatchWriteItem takes at once, and how many of those are under way: the engine commits what arrives together.
BATCH = 25
BATCHES_AT_ONCE = 32

# The engine deletes what has expired by its own clock, so ours is the same.
NOW = datetime.now(UTC).replace(microsecond=0)


# --- the others ------------------------------------------------------------------------------------------------------


def another_family() -> Iterator[Entity]:
    """Twenty rows: a family of two, its stores and its cellar, what it has and what it needs."""
    family_id, people = uuid4(), [uuid4(), uuid4()]
    made = {"family_id": family_id, "created_at": NOW, "updated_at": NOW}
    yield Family(name="Others", created_by=people[0], member_count=2, **made)
    for person in people:
        yield Member(member_id=person, name="Somebody", email=f"{person}@example.org", **made)
    stores = [uuid4(), uuid4()]
    for number, store_id in enumerate(stores):
        yield Store(store_id=store_id, name=f"Store {number}", **made)
    yield StorageLocation(location_id=uuid4(), name="Cellar", **made)
    for number in range(6):
        yield InventoryItem(item_id=uuid4(), name=f"Thing {number}", quantity=number, created_by=people[0], **made)
    for number in range(8):
        yield ShoppingListItem(
            shopping_item_id=uuid4(),
            name=f"Needed {number}",
            store_id=stores[number % 2],
            added_by=people[1],
            **made,
        )


async def load(engine: Engine, families: int) -> int:
    """Put so many other families into the table, straight through the engine; how many rows that were."""
    rows = (plan_of(type(each)).coding.encode(each) for _ in range(families) for each in another_family())
    batches = iter(lambda: list(itertools.islice(rows, BATCH)), [])
    loaded = 0

    async def write() -> None:
        nonlocal loaded
        for batch in batches:
            puts = [{"PutRequest": {"Item": row}} for row in batch]
            answer = await engine.call("BatchWriteItem", {"RequestItems": {inventory.name: puts}})
            assert not answer.get("UnprocessedItems")
            loaded += len(batch)
            if loaded % 5000 < BATCH:
                say(f"\r  {loaded:,} of {families * 20:,} rows of others", end="")

    await asyncio.gather(*(write() for _ in range(BATCHES_AT_ONCE)))
    say("")
    return loaded


# --- the family that is measured -------------------------------------------------------------------------------------


@dataclass
class Side:
    """One table, and a family in it with a list of 200."""

    direct: Direct
    recording: Recording
    caller: Principal
    family_id: UUID
    store_id: UUID
    elsewhere: UUID
    """Another family of the same person, where things are added: the list stays as long as it is."""
    ticked: UUID
    version: int = 1

    async def whole_list(self) -> None:
        found = await self.direct.list(items_on_list, self.caller, ListFilter(), family_id=self.family_id)
        assert len(found) == LISTED
        assert len(groups_of(found).groups) == STORES

    async def list_of_a_store(self) -> None:
        wanted = ListFilter(store_id=str(self.store_id))
        found = await self.direct.list(items_on_list, self.caller, wanted, family_id=self.family_id)
        assert len(found) == LISTED // STORES

    async def add(self) -> None:
        await self.direct.do(
            add_to_list, self.caller, NewShoppingItem(name="Milk", quantity=2), family_id=self.elsewhere
        )

    async def tick(self) -> None:
        """Check it off; the next time, back onto the list."""
        wanted = StatusChange(status="purchased" if self.version % 2 else "pending")
        changed = await self.direct.do(
            check_off,
            self.caller,
            wanted,
            version=self.version,
            family_id=self.elsewhere,
            shopping_item_id=self.ticked,
        )
        self.version = changed.version


async def side(folder: Path, others: int) -> Side:
    engine = await open_engine(path=folder / f"{others}.db")
    recording = Recording(engine)
    rows = Rows(recording, lambda: NOW)
    await rows.create_tables(accounts_table, inventory)
    say(f"{others:,} other families")
    assert await load(engine, others) == others * 20
    account = Account(
        user_id=uuid4(), email="ada@example.org", name="Ada", password_hash="-", created_at=NOW, updated_at=NOW
    )
    await rows.put(account, when=absent)
    caller = Principal(
        kind="session", user_id=account.user_id, name="Ada", hash="0" * 64, session_epoch=1, expires_at=None
    )
    nothing: Any = None
    people = open_people(rows, rows.clock)
    core = Core(
        settings=nothing,
        engine=recording,
        store=rows,
        clock=rows.clock,
        people=people,
        live=nothing,
        cursors=nothing,
        rate_limiter=RateLimiter(rows.clock),
        count_limits=CountLimits(rows),
        storage_quota=StorageQuota(0),
    )
    direct = Direct(core, ShoppingApp.subjects)
    family, elsewhere = [
        (await direct.do(families.create, caller, families.new(name=name))).family_id for name in ("Listed", "Added to")
    ]
    stores = [
        (await direct.do(add_store, caller, NewStore(name=f"Store {number}"), family_id=family)).store_id
        for number in range(STORES)
    ]
    for number in range(LISTED):
        new = NewShoppingItem(name=f"Needed {number}", store_id=stores[number % STORES], quantity=1)
        await direct.do(add_to_list, caller, new, family_id=family)
    ticked = await direct.do(add_to_list, caller, NewShoppingItem(name="Ticked"), family_id=elsewhere)
    return Side(direct, recording, caller, family, stores[0], elsewhere, ticked.shopping_item_id)


def repeated(call: Callable[[], Awaitable[None]], by_processor: list[float]) -> Round:
    """A round by the clock on the wall; beside it, what the processor had to do, in all threads, is kept."""

    async def one_round() -> float:
        done = 0
        worked, start = time.process_time(), time.perf_counter()
        while (taken := time.perf_counter() - start) < ROUND_SECONDS:
            await call()
            done += 1
        by_processor.append(done / (time.process_time() - worked))
        return done / taken

    return one_round


async def charged(recording: Recording, call: Callable[[], Awaitable[None]]) -> str:
    """What one call asks of the table."""
    with recording.scope() as calls:
        await call()
    read, write = sum(each.read_units for each in calls), sum(each.write_units for each in calls)
    return f"{len(calls)} requests, {read:g} read and {write:g} write units"


def finding(subject: str, what: str, rates: dict[str, list[float]], synced: float | None) -> Finding:
    ratio = 1 / median_ratio(rates, "many", "few", "few again")
    control = median_ratio(rates, "few again", "few")
    middle = {each: 1000 / statistics.median(found) for each, found in rates.items()}
    say(f"  {subject}: {ratio:.2f} times the time, A/A {control:.2f}")
    return Finding(
        subject,
        f"{middle['many']:.2f} ms {what} beside {MANY:,}".replace("  ", " "),
        f"{middle['few']:.2f} ms beside {FEW}",
        ratio,
        f"≤ {TARGET}",
        ratio <= TARGET,
        control,
        synced,
    )


async def measure(folder: Path) -> list[Finding]:
    few, many = await side(folder, FEW), await side(folder, MANY)
    names = {
        f"the list of {LISTED}, by store": "whole_list",
        f"the {LISTED // STORES} of one store": "list_of_a_store",
        "add": "add",
        "tick": "tick",
    }
    findings = []
    for subject, name in names.items():
        say(f"{subject}: {ROUNDS} rounds")
        calls: dict[str, Any] = {"few": getattr(few, name), "many": getattr(many, name)}
        cost = await charged(few.recording, calls["few"])
        assert await charged(many.recording, calls["many"]) == cost, "others are felt in the units"
        calls["few again"] = calls["few"]
        worked: dict[str, list[float]] = {each: [] for each in calls}
        rates = await alternate(ROUNDS, {each: repeated(call, worked[each]) for each, call in calls.items()})
        # The first round only warms up.
        by_processor = {each: found[1:] for each, found in worked.items()}
        synced = sync_milliseconds(folder) if name in ("add", "tick") else None
        findings += [
            finding(f"{subject} ({cost})", "processor", by_processor, None),
            finding(f"— {subject}, on the wall", "", rates, synced),
        ]
    for each in (few, many):
        await each.recording.close()
    return findings


def main() -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        findings = uvloop.run(measure(Path(folder)))
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; each of the other families "
        f"has 20 rows; the run took {time.perf_counter() - start:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "shopping.md").write_text(
        f"# A family beside few and many others, last measured\n\n{machine}\n\n{table}\n"
    )
    (RESULTS / "shopping.json").write_text(
        json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
