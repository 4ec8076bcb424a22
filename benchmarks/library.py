"""How fast a collection's new name reaches ten thousand items while others write: `python -m benchmarks.library`.

One process, the embedded engine in a file, the consumers at work as the suite runs them. A client writes all the time,
one book after the other into another library of another person, and each write is timed.
"""

import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

from potluck.apps.library.app import LibraryApp
from potluck.apps.library.collections import (
    CollectionChange,
    NewCollection,
    add_collection,
    change_collection,
    delete_collection,
)
from potluck.apps.library.entities import Book, Collection, CollectionMember, Library, LibraryItem, media_library
from potluck.apps.library.fields import owner_of
from potluck.apps.library.items import NewBook, add_book
from potluck.apps.library.libraries import NewLibrary, create_library
from potluck.engines import open_engine
from potluck.people.authentication import Principal
from potluck.people.entities import Account, accounts
from potluck.people.idempotency import StoredAnswers
from potluck.settings import Settings
from potluck.store import Store
from potluck.streams.leases import cancelled
from potluck.table import absent, put, the, update
from potluck.web.app import App, Core
from potluck.web.count_limits import CountLimits
from potluck.web.direct_calls import Direct
from potluck.web.live import Live
from potluck.web.rate_limits import RateLimiter
from potluck.web.server.garbage_collection import tune_garbage_collector
from potluck.web.storage_quota import StorageQuota

RESULTS = Path(__file__).parent / "results"
ITEMS = 10_000
ROUNDS = 3
WRITES_EVERY = 0.01
READ_AT_ONCE = 100
FOLLOWED_TARGET, WAIT_TARGET = 5.0, 100.0


def clock() -> datetime:
    return datetime.now(UTC)


def core_on(store: Store) -> Core:
    people: Any = SimpleNamespace(answers=StoredAnswers(store, clock))
    nothing: Any = None
    return Core(
        settings=Settings(open_library=None), engine=store.engine, store=store, clock=clock, people=people,
        live=Live(store.engine, clock), cursors=nothing,
        rate_limiter=RateLimiter(clock), count_limits=CountLimits(store), storage_quota=StorageQuota(0),
    )  # fmt: skip


async def person(store: Store, name: str) -> Principal:
    account = Account(
        user_id=uuid4(), email=f"{name}@example.org", name=name, password_hash="-", created_at=clock(),
        updated_at=clock(),
    )  # fmt: skip
    await store.put(account, when=absent)
    return Principal(
        kind="session", user_id=account.user_id, name=name, hash="0" * 64, session_epoch=1, expires_at=None
    )


async def filled(store: Store, direct: Direct, owner: Principal) -> tuple[UUID, UUID]:
    """A library with a collection of this many books."""
    library_id = (await direct.do(create_library, owner, NewLibrary(library_name="Large"))).library_id
    made = await direct.do(add_collection, owner, NewCollection(name="Before"), library_id=library_id)
    owner_id, collection_id = owner_of(owner.user_id), made.collection_id
    for start in range(0, ITEMS, 45):
        writes: list[Any] = []
        for number in range(start, min(start + 45, ITEMS)):
            place = {"owner_id": owner_id, "library_id": library_id, "item_id": UUID(int=number + 1)}
            inside = {"collection_id": collection_id, "order": 1 + number % 1000}
            writes.append(put(CollectionMember(**place, **inside)))
            names = {"collection_name": "Before", "library_name": "Large", "owner_name": owner.name}
            book = Book(**place, **inside, **names, title=f"Volume {number:05}", authors=["Somebody Else"])
            writes.append(put(book, when=absent))
        await store.transact(*writes)
    await store.transact(
        update(Library.one(owner_id, library_id), the(Library.total_items).add(ITEMS)),
        update(Collection.one(owner_id, library_id, collection_id), the(Collection.item_count).add(ITEMS)),
    )
    return library_id, collection_id


def at_work(core: Core, app: App) -> asyncio.Task[None]:
    """The app's consumers with one reader of each log, as in the suite."""
    feed = core.live.feed(accounts, media_library)
    consumers = [consumer.bind(core.store, follow=feed) for consumer in app.consumers()]
    return asyncio.create_task(core.consumer_group("CONSUMERS").run(consumers))


async def round_of(direct: Direct, store: Store, change: Any, done: Any, writer: Principal, shelf: UUID) -> Any:
    """How long it takes to follow, and how long each write of the other client took meanwhile."""
    waits: list[float] = []
    over = asyncio.Event()

    async def write() -> None:
        number = 0
        while not over.is_set():
            start = time.perf_counter()
            await direct.do(add_book, writer, NewBook(title=f"Book {number}"), library_id=shelf)
            waits.append((time.perf_counter() - start) * 1000)
            number += 1
            await asyncio.sleep(WRITES_EVERY)

    writing = asyncio.create_task(write())
    start, processor = time.perf_counter(), time.process_time()
    await change()
    while not await done():  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    followed, processor = time.perf_counter() - start, time.process_time() - processor
    over.set()
    await writing
    return followed, processor, waits


async def measured(folder: Path) -> dict[str, Any]:
    rows = Store(await open_engine("embedded", path=folder / "store.db"), clock)
    await rows.create_tables(accounts, media_library)
    core = core_on(rows)
    app = LibraryApp(core)
    direct = Direct(core, LibraryApp.subjects, app.context)
    ada, bo = await person(rows, "Ada"), await person(rows, "Bo")
    library_id, collection_id = await filled(rows, direct, ada)
    shelf = (await direct.do(create_library, bo, NewLibrary(library_name="Other"))).library_id
    consumers = at_work(core, app)
    owner_id = owner_of(ada.user_id)
    at = {"library_id": library_id, "collection_id": collection_id}
    last = LibraryItem.one(owner_id, library_id, UUID(int=ITEMS))
    members = CollectionMember.of_collection(owner_id, library_id, collection_id)
    results: dict[str, Any] = {"renamed": [], "deleted": []}

    async def until(name: str | None) -> bool:
        # The members are gone through in the order of their places; only at the end are all of them read.
        found = await rows.get(last)
        if found is None or found.collection_name != name:
            return False
        # A little at a time, so that looking keeps nobody waiting.
        after = None
        while True:
            part = await rows.page(LibraryItem.stored_in(owner_id, library_id), READ_AT_ONCE, after)
            if any(each.collection_name != name for each in part.items):
                return False
            after = part.next
            if after is None:
                return True
            await asyncio.sleep(0)

    try:
        # The consumer first reads what is in the log: how the books came.
        await asyncio.sleep(3.0)
        tune_garbage_collector()
        for number in range(1, ROUNDS + 1):
            name = f"Name {number}"

            async def rename(name: str = name, version: int = number) -> None:
                change = CollectionChange(version=version, name=name)
                await direct.do(change_collection, ada, change, version=version, **at)

            async def renamed(name: str = name) -> bool:
                return await until(name)

            results["renamed"].append(await round_of(direct, rows, rename, renamed, bo, shelf))

        async def remove() -> None:
            await direct.do(delete_collection, ada, **at)

        async def removed() -> bool:
            return await rows.first(members) is None and await until(None)

        results["deleted"].append(await round_of(direct, rows, remove, removed, bo, shelf))
    finally:
        await cancelled(consumers)
        await core.live.stop()
        await rows.engine.close()
    return results


def summed_up(rounds: list[Any]) -> dict[str, float]:
    waits = [each for *_, some in rounds for each in some]
    return {
        "followed_seconds": statistics.median(followed for followed, *_ in rounds),
        "slowest_seconds": max(followed for followed, *_ in rounds),
        "processor_seconds": statistics.median(processor for _, processor, _ in rounds),
        "writes": len(waits),
        "median_ms": statistics.median(waits),
        "p99_ms": statistics.quantiles(waits, n=100)[-1],
        "longest_ms": max(waits),
    }


def markdown(found: dict[str, dict[str, float]]) -> str:
    lines = [
        "# Names that follow",
        "",
        f"`python -m benchmarks.library`, Python {platform.python_version()}, {os.cpu_count()} cores. A collection of"
        f" {ITEMS:,} items; meanwhile another client adds one book after the other, each a durable transaction."
        f" The load of the machine was {os.getloadavg()[0]:.1f}; processor time is that of the whole process, writes"
        " included.",
        "",
        "| | all items have followed in (slowest) | processor time | writes meanwhile | median | p99 | longest |",
        "|---|---|---|---|---|---|---|",
    ]
    for what, each in found.items():
        lines.append(
            f"| {what} | {each['followed_seconds']:.2f} s ({each['slowest_seconds']:.2f} s) |"
            f" {each['processor_seconds']:.2f} s | {each['writes']:.0f} |"
            f" {each['median_ms']:.1f} ms | {each['p99_ms']:.1f} ms | {each['longest_ms']:.1f} ms |"
        )
    renamed = found["renamed"]
    met = renamed["slowest_seconds"] <= FOLLOWED_TARGET and renamed["longest_ms"] <= WAIT_TARGET
    said = "met" if met else "NOT met"
    lines += ["", f"Held to: a rename within {FOLLOWED_TARGET:.0f} s, no write over {WAIT_TARGET:.0f} ms: {said}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rounds = asyncio.run(measured(Path(folder)))
    found = {what: summed_up(each) for what, each in rounds.items()}
    RESULTS.joinpath("library.json").write_text(json.dumps(found, indent=2) + "\n")
    RESULTS.joinpath("library.md").write_text(markdown(found))
    print(markdown(found))


if __name__ == "__main__":
    main()
