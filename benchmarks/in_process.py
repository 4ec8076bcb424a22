"""The engine in process against plain apsw, on the same data in the same run."""

import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from benchmarks.measuring import Finding, Round, alternate, median_ratio, percentile, say, sync_milliseconds
from benchmarks.raw_baseline import RawStore
from benchmarks.sample_data import CREATE_TABLE, PARTITION_ITEMS, PLAIN_TABLE, TABLE, item, key
from potluck.dynamo.database import Database
from tests.faults.power_cut_vfs import SlowSyncDisk

CALLERS = 64
LOADED = 10_000
# Short rounds and many of them: a noisy neighbour then hits both sides alike.
READ_ROUNDS = 61
GETS = 400
PAGES = 10
WRITE_ROUNDS = 15
PUTS = CALLERS * 15
SLOW_PUTS = CALLERS * 12
ALONE = 60
SLOW_SYNC_SECONDS = 0.002
MILLION = 1_000_000

GET_TARGET = 0.6
QUERY_TARGET = 0.8
PUT_TARGET = 0.8
SLOW_PUT_TARGET = 10.0
UPDATE_TARGET = 4.0
READ_P99_TARGET_MS = 5.0
GROWTH_TARGET = 1.5


class Fresh:
    """Items that no one has put yet, made before the clock starts."""

    def __init__(self, first: int) -> None:
        self.numbers = itertools.count(first)

    def take(self, count: int) -> list[dict[str, Any]]:
        return [item(number) for number in itertools.islice(self.numbers, count)]


async def load(database: Database, count: int, owners: int = 10_000, progress: bool = False) -> None:
    """Fill the table with batches from many callers at once."""
    batches = iter(range(0, count, 25))
    done = 0

    async def one_caller() -> None:
        nonlocal done
        for first in batches:
            puts = [{"PutRequest": {"Item": item(number, owners)}} for number in range(first, first + 25)]
            await database.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})
            done += 25
            if progress and done % 10_000 == 0:
                say(f"\r  loading {done:>9,} of {count:,} {'#' * (done * 40 // count):<40}", end="")

    await asyncio.gather(*(one_caller() for _ in range(CALLERS)))
    if progress:
        say("")


async def from_callers(calls: list[Callable[[], Coroutine[Any, Any, Any]]]) -> float:
    """All the calls, made by 64 callers one after the other each; calls a second."""
    waiting = iter(calls)

    async def one_caller() -> None:
        for call in waiting:
            await call()

    start = time.perf_counter()
    await asyncio.gather(*(one_caller() for _ in range(CALLERS)))
    return len(calls) / (time.perf_counter() - start)


def put_calls(database: Database, items: list[dict[str, Any]]) -> list[Callable[[], Coroutine[Any, Any, Any]]]:
    requests = [{"TableName": TABLE, "Item": each} for each in items]
    return [lambda request=request: database.call("PutItem", request) for request in requests]


async def reads(database: Database, raw: RawStore) -> list[Finding]:
    keys = [key(number * 7919 % LOADED) for number in range(GETS)]
    get_requests = [{"TableName": TABLE, "Key": each} for each in keys]
    plain_keys = [(each["PK"]["S"], each["SK"]["S"]) for each in keys]
    partitions = [key(number * PARTITION_ITEMS)["PK"]["S"] for number in range(PAGES)]
    page_requests = [page_request(partition) for partition in partitions]
    assert raw.get(*plain_keys[0]) == (await database.call("GetItem", get_requests[0]))["Item"]
    assert raw.page(partitions[0]) == (await database.call("Query", page_requests[0]))["Items"]
    assert len(raw.page(partitions[0])) == 100

    async def raw_gets() -> float:
        start = time.perf_counter()
        for pk, sk in plain_keys:
            raw.get(pk, sk)
        return GETS / (time.perf_counter() - start)

    async def engine_gets() -> float:
        start = time.perf_counter()
        for request in get_requests:
            await database.call("GetItem", request)
        return GETS / (time.perf_counter() - start)

    async def raw_pages() -> float:
        start = time.perf_counter()
        for partition in partitions:
            raw.page(partition)
        return PAGES / (time.perf_counter() - start)

    async def engine_pages() -> float:
        start = time.perf_counter()
        for request in page_requests:
            await database.call("Query", request)
        return PAGES / (time.perf_counter() - start)

    return [
        compared("GetItem", "apsw + orjson", await three_sides(engine_gets, raw_gets, READ_ROUNDS), GET_TARGET),
        compared(
            "Query of 100", "apsw + orjson", await three_sides(engine_pages, raw_pages, READ_ROUNDS), QUERY_TARGET
        ),
    ]


def page_request(partition: str) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
        "Limit": 100,
    }


async def three_sides(engine: Round, raw: Round, rounds: int) -> dict[str, list[float]]:
    return await alternate(rounds, {"raw": raw, "engine": engine, "raw again": raw})


def compared(
    subject: str,
    against: str,
    rates: dict[str, list[float]],
    target: float | None,
    sync: float | None = None,
) -> Finding:
    ratio = median_ratio(rates, "engine", "raw", "raw again")
    raw_rate = statistics.median(rates["raw"] + rates["raw again"])
    say(f"  {subject}: {ratio:.2f} of {against}")
    return Finding(
        subject,
        f"{statistics.median(rates['engine']):,.0f}/s",
        f"{against} {raw_rate:,.0f}/s",
        ratio,
        f"≥ {target:g}" if target else "",
        ratio >= target if target else None,
        median_ratio(rates, "raw again", "raw"),
        sync,
    )


async def writes(database: Database, raw: RawStore, folder: Path) -> list[Finding]:
    fresh = Fresh(10 * MILLION)

    async def raw_puts() -> float:
        items = fresh.take(PUTS)
        start = time.perf_counter()
        for first in range(0, PUTS, CALLERS):
            raw.put_together(items[first : first + CALLERS])
        return PUTS / (time.perf_counter() - start)

    async def engine_puts() -> float:
        return await from_callers(put_calls(database, fresh.take(PUTS)))

    async def raw_updates() -> float:
        keys = [key(number * 7919 % LOADED) for number in range(ALONE * 2)]
        start = time.perf_counter()
        for number, each in enumerate(keys):
            quantity = {"N": str(number)}
            assert raw.update_if(each["PK"]["S"], each["SK"]["S"], "quantity", {"S": "InventoryItem"}, quantity)
        return len(keys) / (time.perf_counter() - start)

    async def engine_updates() -> float:
        return await from_callers(update_calls(database, PUTS, LOADED))

    return [
        compared(
            f"PutItem, 2 indexes and stream, {CALLERS} callers",
            f"apsw committing {CALLERS} at a time",
            await three_sides(engine_puts, raw_puts, WRITE_ROUNDS),
            PUT_TARGET,
            sync_milliseconds(folder),
        ),
        compared(
            f"UpdateItem with a condition, {CALLERS} callers",
            "apsw, one commit each",
            await three_sides(engine_updates, raw_updates, WRITE_ROUNDS),
            UPDATE_TARGET,
            sync_milliseconds(folder),
        ),
    ]


def update_calls(database: Database, count: int, among: int) -> list[Callable[[], Coroutine[Any, Any, Any]]]:
    stamp = time.monotonic_ns()
    requests = [
        {
            "TableName": TABLE,
            "Key": key(number * 7919 % among),
            "UpdateExpression": "SET quantity = :quantity",
            "ConditionExpression": "#type = :type",
            "ExpressionAttributeNames": {"#type": "type"},
            "ExpressionAttributeValues": {":type": {"S": "InventoryItem"}, ":quantity": {"N": str(stamp + number)}},
        }
        for number in range(count)
    ]
    return [lambda request=request: database.call("UpdateItem", request) for request in requests]


async def writes_on_a_slow_disk(folder: Path) -> list[Finding]:
    fresh = Fresh(20 * MILLION)
    with SlowSyncDisk(SLOW_SYNC_SECONDS) as disk:
        database = await Database.open(folder / "slow-engine.db", vfs=disk.vfs_name)
        await database.call("CreateTable", CREATE_TABLE)
        await load(database, LOADED // 10)
        raw = RawStore(folder / "slow-raw.db", disk.vfs_name)
        raw.put_together([item(number) for number in range(LOADED // 10)])

        async def raw_puts() -> float:
            items = fresh.take(ALONE)
            start = time.perf_counter()
            for each in items:
                raw.put_alone(each)
            return ALONE / (time.perf_counter() - start)

        async def engine_puts() -> float:
            return await from_callers(put_calls(database, fresh.take(SLOW_PUTS)))

        async def raw_updates() -> float:
            keys = [key(number) for number in range(ALONE)]
            start = time.perf_counter()
            for number, each in enumerate(keys):
                quantity = {"N": str(number)}
                assert raw.update_if(each["PK"]["S"], each["SK"]["S"], "quantity", {"S": "InventoryItem"}, quantity)
            return ALONE / (time.perf_counter() - start)

        async def engine_updates() -> float:
            return await from_callers(update_calls(database, SLOW_PUTS, LOADED // 10))

        sync = sync_milliseconds(folder) + SLOW_SYNC_SECONDS * 1000
        findings = [
            compared(
                "PutItem, 2 ms added to each fsync",
                "apsw, one commit each",
                await three_sides(engine_puts, raw_puts, rounds=5),
                SLOW_PUT_TARGET,
                sync,
            ),
            compared(
                "UpdateItem with a condition, 2 ms added to each fsync",
                "apsw, one commit each",
                await three_sides(engine_updates, raw_updates, rounds=5),
                UPDATE_TARGET,
                sync,
            ),
        ]
        await database.close()
        raw.close()
    return findings


async def reads_while_writing(database: Database, folder: Path) -> Finding:
    """What a caller waits for a GetItem, from asking the event loop to having the answer, while 64 callers write."""
    fresh = Fresh(30 * MILLION)
    writing = asyncio.create_task(from_callers(put_calls(database, fresh.take(PUTS * 20))))
    waits = []
    loop = asyncio.get_running_loop()
    for number in itertools.count():
        if writing.done():
            break
        start = time.perf_counter()
        await loop.create_task(database.call("GetItem", {"TableName": TABLE, "Key": key(number * 7919 % LOADED)}))
        waits.append(time.perf_counter() - start)
        await asyncio.sleep(0.0005)
    rate = await writing
    p99 = percentile(waits, 0.99) * 1000
    say(f"  reads while writing: p99 {p99:.2f} ms")
    return Finding(
        f"GetItem p99 while {CALLERS} callers write",
        f"{p99:.2f} ms (median {percentile(waits, 0.5) * 1000:.2f} ms, {len(waits):,} reads, {rate:,.0f} puts/s)",
        "",
        None,
        f"< {READ_P99_TARGET_MS:g} ms",
        p99 < READ_P99_TARGET_MS,
        sync_milliseconds=sync_milliseconds(folder),
    )


async def writes_on_a_saturated_loop(database: Database, folder: Path) -> Finding:
    fresh = Fresh(40 * MILLION)
    acknowledged = 0
    calls = iter(put_calls(database, fresh.take(20_000)))
    saturated = True

    async def one_caller() -> None:
        nonlocal acknowledged
        while saturated:
            await next(calls)()
            acknowledged += saturated

    callers = [asyncio.create_task(one_caller()) for _ in range(CALLERS)]
    start = time.perf_counter()
    while time.perf_counter() - start < 1:
        end = time.perf_counter() + 0.01
        while time.perf_counter() < end:
            sum(range(50))
        await asyncio.sleep(0)
    saturated = False
    await asyncio.gather(*callers)
    say(f"  saturated loop: {acknowledged} puts in a second")
    return Finding(
        "PutItem while the event loop is saturated",
        f"{acknowledged:,}/s",
        "8/s at Python's default switch interval",
        None,
        "goes on",
        acknowledged >= 200,
        sync_milliseconds=sync_milliseconds(folder),
    )


async def growth(folder: Path) -> list[Finding]:
    """A warm Get and a warm Query page with a thousand and with a million items, side by side."""
    stores = {}
    for name, count in (("thousand", 1_000), ("million", MILLION)):
        stores[name] = await Database.open(folder / f"{name}.db")
        await stores[name].call("CreateTable", PLAIN_TABLE)
        start = time.perf_counter()
        await load(stores[name], count, owners=count // 100, progress=count == MILLION)
        say(f"  loaded {count:,} items in {time.perf_counter() - start:.0f} s")
    counts = {"thousand": 1_000, "million": MILLION}

    def gets(name: str) -> Round:
        # A thousand different items each, so that both stay warm.
        keys = [key(number * (counts[name] // 1_000)) for number in range(1_000)]
        requests = [{"TableName": TABLE, "Key": each} for each in keys]

        async def measure() -> float:
            start = time.perf_counter()
            for request in requests:
                await stores[name].call("GetItem", request)
            return len(requests) / (time.perf_counter() - start)

        return measure

    def pages(name: str, index: bool) -> Round:
        spread = counts[name] // 1_000
        requests = []
        for number in range(10):
            request = page_request(key(number * PARTITION_ITEMS * spread)["PK"]["S"])
            if index:
                owner = item(number * PARTITION_ITEMS * spread, counts[name] // 100)["owner"]
                request |= {"IndexName": "by-owner", "KeyConditionExpression": "#owner = :pk"}
                request |= {
                    "ExpressionAttributeNames": {"#owner": "owner"},
                    "ExpressionAttributeValues": {":pk": owner},
                }
            requests.append(request)

        async def measure() -> float:
            found = 0
            start = time.perf_counter()
            for _ in range(6):
                for request in requests:
                    found += (await stores[name].call("Query", request))["Count"]
            return found / (time.perf_counter() - start)

        return measure

    findings = []
    for subject, sides in (
        ("GetItem", {name: gets(name) for name in stores}),
        ("Query page of 100", {name: pages(name, index=False) for name in stores}),
        ("Query page of an index, items", {name: pages(name, index=True) for name in stores}),
    ):
        rates = await alternate(READ_ROUNDS, sides)
        slower = median_ratio(rates, "thousand", "million")
        held = "index" not in subject
        findings.append(
            Finding(
                f"{subject} at a million items",
                f"{statistics.median(rates['million']):,.0f}/s",
                f"at a thousand {statistics.median(rates['thousand']):,.0f}/s",
                slower,
                f"≤ {GROWTH_TARGET}× the cost" if held else "",
                slower <= GROWTH_TARGET if held else None,
            )
        )
        say(f"  {subject}: a million costs {slower:.2f} of a thousand")
    for store in stores.values():
        await store.close()
    return findings


async def measure(quick: bool) -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="potluck-bench-") as name:
        folder = Path(name)
        say("in process")
        database = await Database.open(folder / "engine.db")
        await database.call("CreateTable", CREATE_TABLE)
        await load(database, LOADED)
        raw = RawStore(folder / "raw.db")
        for first in range(0, LOADED, 100):
            raw.put_together([item(number) for number in range(first, first + 100)])
        findings = await reads(database, raw)
        findings += await writes(database, raw, folder)
        findings.append(await reads_while_writing(database, folder))
        findings.append(await writes_on_a_saturated_loop(database, folder))
        await database.close()
        raw.close()
        findings += await writes_on_a_slow_disk(folder)
        if not quick:
            findings += await growth(folder)
    return findings
