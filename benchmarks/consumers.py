"""Consumers: how long others wait while a large library is renamed, and how the processes share the work.

    python benchmarks/consumers.py waiting [--items 100000]       # run it in the tree before as well
    python benchmarks/consumers.py processes [--records 6000]

`waiting` renames a collection of many items, and then a small one of another person, again and again until the large
one is done: from the rename to the last item that has the new name. `processes` has 1, 2 and 3 processes handle what
is in the streams of six tables of one store, with transactions, as most consumers do.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from potluck.engines import open_engine

ROOT = Path(__file__).resolve().parents[1]
TABLES = [f"Source{number}" for number in range(6)]


def now() -> datetime:
    return datetime.now(UTC)


# --- waiting ----------------------------------------------------------------------------------------------------------


async def waiting(items: int) -> dict[str, Any]:
    from potluck.apps.library.app import LibraryApp
    from potluck.settings import Settings
    from potluck.suite import assembled

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder))
        async with assembled(settings, (LibraryApp,)) as application:
            store = application.state.core.store
            large = await filled(store, "A" * 32, items)
            small = await filled(store, "B" * 32, 20)
            await asyncio.sleep(2.0)
            began = time.perf_counter()
            await rename(store, *large, "after")
            waits: list[float] = []
            number = 0
            while not await followed(store, *large, "after", items):
                number += 1
                start = time.perf_counter()
                await rename(store, *small, f"name {number}")
                while not await all_follow(store, *small, f"name {number}"):  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
                waits.append(time.perf_counter() - start)
                await asyncio.sleep(0.2)
            return {
                "items": items,
                "large rename, s": round(time.perf_counter() - began, 1),
                "small renames": len(waits),
                "waited, median s": round(statistics.median(waits), 3),
                "waited, longest s": round(max(waits), 3),
            }


async def filled(store: Any, owner: str, count: int) -> tuple[str, UUID, UUID]:
    from potluck.apps.library.entities import Book, Collection, CollectionMember, Library
    from potluck.table import absent, put

    library, collection = UUID(int=hash(owner) % 2**100), UUID(int=1)
    await store.put(
        Library(owner_id=owner, library_id=library, library_name="Library", owner_name="Owner", updated_at=now()),
        when=absent,
    )
    await store.put(
        Collection(owner_id=owner, library_id=library, collection_id=collection, name="before"), when=absent
    )
    place = {"owner_id": owner, "library_id": library, "collection_id": collection}
    names = {"collection_name": "before", "library_name": "Library", "owner_name": "Owner"}
    for start in range(0, count, 45):
        writes: list[Any] = []
        for number in range(start, min(start + 45, count)):
            order, item = 1 + number % 1000, UUID(int=number + 1)
            writes.append(put(CollectionMember(**place, order=order, item_id=item)))
            writes.append(
                put(Book(**place, **names, order=order, item_id=item, title=f"Volume {number:06}"), when=absent)
            )
        await store.transact(*writes)
    return owner, library, collection


async def rename(store: Any, owner: str, library: UUID, collection: UUID, name: str) -> None:
    from potluck.apps.library.entities import Collection
    from potluck.table import the

    row = await store.one(Collection.one(owner, library, collection))
    await store.update(row, the(Collection.name).becomes(name), keep_version=True)


async def all_follow(store: Any, owner: str, library: UUID, collection: UUID, name: str) -> bool:
    from potluck.apps.library.entities import LibraryItem

    items = await store.all(LibraryItem.stored_in(owner, library))
    return all(item.collection_name == name for item in items)


async def followed(store: Any, owner: str, library: UUID, collection: UUID, name: str, count: int) -> bool:
    """Whether the last item has the name; they follow in the order of their numbers."""
    from potluck.apps.library.entities import CollectionMember, LibraryItem

    last = await store.first(CollectionMember.of_collection(owner, library, collection).reversed())
    item = await store.get(LibraryItem.one(owner, library, last.item_id))
    return bool(item.collection_name == name)


# --- processes --------------------------------------------------------------------------------------------------------


async def process(path: str) -> None:
    """One process of the group, until it is killed."""
    from potluck.streams import ConsumerGroup, RecordConsumer

    engine = await open_engine("embedded", path=path)

    def counting(name: str) -> Any:
        async def handle(record: Any) -> list[dict[str, Any]]:
            key = {"PK": {"S": name}, "SK": record.key["SK"]}
            return [{"Put": {"TableName": "Seen", "Item": key}}]

        return handle

    consumers = [RecordConsumer(engine, f"count-{name}", name, counting(name)) for name in TABLES]
    print("ready", flush=True)
    await ConsumerGroup(engine, "CONSUMERS").run(consumers)


async def processes(records: int) -> list[dict[str, Any]]:
    return [await shared_by(count, records) for count in (1, 2, 3)]


async def shared_by(count: int, records: int) -> dict[str, Any]:
    keys = [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]
    attributes = [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")]
    stream = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "store.db")
        engine = await open_engine("embedded", path=path)
        table = {"KeySchema": keys, "AttributeDefinitions": attributes, "BillingMode": "PAY_PER_REQUEST"}
        for name in TABLES:
            await engine.call("CreateTable", {"TableName": name, **table, **stream})
        await engine.call("CreateTable", {"TableName": "Seen", **table})
        command = [sys.executable, __file__, "process", path]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)  # noqa: ASYNC220
            for _ in range(count)
        ]
        try:
            for one in started:
                assert one.stdout is not None
                await asyncio.to_thread(one.stdout.readline)
            # They share the tables between them first.
            await asyncio.sleep(6.0)
            each = records // len(TABLES)
            begun = time.perf_counter()
            await asyncio.gather(*(written(engine, name, each) for name in TABLES))
            wrote = time.perf_counter() - begun
            while await counted(engine) < each * len(TABLES):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            seconds = time.perf_counter() - begun
        finally:
            for one in started:
                one.kill()
                one.wait()
            await engine.close()
    total = each * len(TABLES)
    return {"processes": count, "records": total, "written in, s": round(wrote, 2), "records/s": round(total / seconds)}


async def written(engine: Any, table: str, count: int) -> None:
    for start in range(0, count, 100):
        puts = [
            {"Put": {"TableName": table, "Item": {"PK": {"S": f"p{number % 7}"}, "SK": {"S": f"{number:06}"}}}}
            for number in range(start, min(start + 100, count))
        ]
        await engine.call("TransactWriteItems", {"TransactItems": puts})


async def counted(engine: Any) -> int:
    total = 0
    for name in TABLES:
        request = {
            "TableName": "Seen",
            "Select": "COUNT",
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": {"S": name}},
        }
        total += (await engine.call("Query", request))["Count"]
    return total


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("what", choices=["waiting", "processes", "process"])
    arguments.add_argument("path", nargs="?", default="")
    arguments.add_argument("--items", type=int, default=100_000)
    arguments.add_argument("--records", type=int, default=6_000)
    asked = arguments.parse_args()
    if asked.what == "process":
        asyncio.run(process(asked.path))
    elif asked.what == "waiting":
        print(json.dumps(asyncio.run(waiting(asked.items))))
    else:
        for result in asyncio.run(processes(asked.records)):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
