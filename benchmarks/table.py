"""How fast entities become requests and come back, as ratios measured in one run: `python -m benchmarks.table`."""

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from benchmarks.measuring import Finding, Round, alternate, as_json, markdown, median_ratio, say
from benchmarks.table_contenders import (
    Contender,
    ShoppingListItem,
    contenders,
    deserialized,
    inventory,
    shopping_list_item,
)
from potluck.engines import open_engine
from potluck.store import Store
from potluck.table import absent, put

RESULTS = Path(__file__).parent / "results"

# Rounds take equally long for every side: on a busy machine short ones escape interruptions, and would look faster.
ROUNDS = 61
ROUND_SECONDS = 0.01
PAGE_ITEMS = 100

ITEM_TARGET = 0.25
PAGE_TARGET = 0.4


def repeated(work: Callable[[], Any]) -> Round:
    async def times(count: int) -> None:
        for _ in range(count):
            work()

    return round_of(times)


def awaited(work: Callable[[], Awaitable[Any]]) -> Round:
    async def times(count: int) -> None:
        for _ in range(count):
            await work()

    return round_of(times)


def round_of(times: Callable[[int], Awaitable[None]]) -> Round:
    """A round that does the work as often as fits into it.

    Processor time is counted, of all threads: nothing here waits for anything but its turn.
    """
    count = 1

    async def one_round() -> float:
        nonlocal count
        while True:
            start = time.process_time()
            await times(count)
            taken = time.process_time() - start
            if taken >= ROUND_SECONDS / 2:
                return count / taken
            count *= 2

    return one_round


def cost(rates: dict[str, list[float]], side: str, against: str) -> float:
    """The time of one side as a part of the other's."""
    return 1 / median_ratio(rates, side, against, f"{against} again")


def finding(subject: str, rates: dict[str, list[float]], side: str, against: str, target: float | None) -> Finding:
    ratio = cost(rates, side, against)
    microseconds = {name: 1e6 / statistics.median(rates[name]) for name in (side, against)}
    say(f"  {subject}: {side} {ratio:.3f} of {against}")
    return Finding(
        subject,
        f"{side} {microseconds[side]:,.1f} µs",
        f"{against} {microseconds[against]:,.1f} µs",
        ratio,
        "" if target is None else f"≤ {target:g}",
        None if target is None else ratio <= target,
        median_ratio(rates, f"{against} again", against),
    )


def there_and_back(contender: Contender) -> Callable[[], Any]:
    return lambda: contender.decode(contender.encode(contender.item))


async def one_item() -> list[Finding]:
    ours, boto3, *others = contenders()
    row = ours.encode(ours.item)
    assert ours.decode(row) == ours.item
    assert boto3.encode(boto3.item) == row
    for each in others:
        assert each.decode(each.encode(each.item)).shopping_item_id == ours.item.shopping_item_id

    def with_its_request() -> Any:
        body = put(ours.item, when=absent).request(now=1_765_000_000).body
        return ours.decode(body["Item"])

    sides = {each.name: repeated(there_and_back(each)) for each in (ours, boto3, *others)}
    sides[f"{boto3.name} again"] = repeated(there_and_back(boto3))
    sides["put(…).request()"] = repeated(with_its_request)
    for way in ("encode", "decode"):
        for each in (ours, boto3):
            work = getattr(each, way)
            given = each.item if way == "encode" else row
            sides[f"{each.name} {way}"] = repeated(lambda work=work, given=given: work(given))
        sides[f"{boto3.name} {way} again"] = sides[f"{boto3.name} {way}"]
    rates = await alternate(ROUNDS, sides)
    return [
        finding("an item of 15 attributes, there and back", rates, ours.name, boto3.name, ITEM_TARGET),
        finding("— only to the wire form, values checked", rates, f"{ours.name} encode", f"{boto3.name} encode", None),
        finding(
            "— only from the wire form, values checked", rates, f"{ours.name} decode", f"{boto3.name} decode", None
        ),
        finding("— to a PutItem with its condition, and back", rates, "put(…).request()", boto3.name, None),
        *(finding("the same item, there and back", rates, each.name, boto3.name, None) for each in others),
    ]


def clock() -> datetime:
    return datetime(2025, 12, 10, tzinfo=UTC)


async def a_page(folder: Path) -> list[Finding]:
    engine = await open_engine(path=folder / "table.db")
    store = Store(engine, clock)
    await store.create_tables(inventory)
    items = [shopping_list_item(number) for number in range(PAGE_ITEMS)]
    await store.write_each([put(each, when=absent) for each in items])
    query = ShoppingListItem.on_the_list(items[0].family_id)
    request = query.request()
    answer = await engine.call(*request)
    wire = json.dumps(answer).encode()
    in_order = sorted(items, key=lambda each: str(each.shopping_item_id))
    assert await store.all(query) == in_order
    assert len(answer["Items"]) == PAGE_ITEMS

    def with_boto3() -> list[dict[str, Any]]:
        return [deserialized(row) for row in json.loads(wire)["Items"]]

    against = "json + TypeDeserializer"
    rates = await alternate(
        ROUNDS,
        {
            # One that has met none of the rows before.
            "Store": awaited(lambda: Store(engine, clock).all(query)),
            "Store again": awaited(lambda: store.all(query)),
            "the engine's part": awaited(lambda: engine.call(*request)),
            against: repeated(with_boto3),
            f"{against} again": repeated(with_boto3),
        },
    )
    await engine.close()
    return [
        finding(f"a page of {PAGE_ITEMS}, queried in the engine, to entities", rates, "Store", against, PAGE_TARGET),
        finding("— again, and nothing was written", rates, "Store again", against, None),
        finding("— before it is read as entities", rates, "the engine's part", against, None),
    ]


async def measure() -> list[Finding]:
    findings = await one_item()
    with tempfile.TemporaryDirectory() as folder:
        findings += await a_page(Path(folder))
    return findings


def main() -> None:
    start = time.perf_counter()
    findings = uvloop.run(measure())
    seconds = time.perf_counter() - start
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"msgspec {msgspec.__version__}; the run took {seconds:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "table.md").write_text(f"# Entities to requests and back, last measured\n\n{machine}\n\n{table}\n")
    (RESULTS / "table.json").write_text(
        json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
