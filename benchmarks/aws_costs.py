"""What Potluck costs on AWS in a month, from measured request units, a usage model and a price list.

Every call of `everyday.py` is made once on the embedded engine, whose units are those of the service, with everything
that a request does: authentication, the stored answer for its Idempotency-Key, copies in indexes. The consumers are
then given the day's records. What is assumed is in PRICES, USAGE and the constants below: change them and run it again.
"""

import asyncio
import json
import math
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.everyday import everyday
from potluck.acceleration import PLAIN
from potluck.apps.shareables import short_ids
from potluck.aws.functions import Background
from potluck.aws.template import NOT_CONSUMED
from potluck.commands.table_modules import suite_tables
from potluck.engines import Engine
from potluck.engines.recording import RecordedCalls, Recording
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import APPS, assembled

RESULTS = Path(__file__).parent / "results"

PRICES_AS_OF = "the published ones that we assumed for us-east-1, on demand, without free tiers; check them before use"
MILLION = 1_000_000
PRICES = {
    "a write request unit": 0.625 / MILLION,
    "a read request unit": 0.125 / MILLION,
    "a GB stored for a month": 0.25,
    "a GB with point-in-time recovery for a month": 0.20,
    "a read of a stream": 0.20 / MILLION,
    "a vCPU of Fargate for an hour": 0.04048,
    "a GB of Fargate for an hour": 0.004445,
    "a load balancer for an hour": 0.0225,
    "a capacity unit of it for an hour": 0.008,
    "a public address for an hour": 0.005,
    "a call of a function": 0.20 / MILLION,
    "a GB-second of a function": 0.0000166667,
    "a GB of Valkey for an hour": 0.084,
    "a processing unit of Valkey": 0.0023 / MILLION,
    "an alarm for a month": 0.10,
    "a secret for a month": 0.40,
    "a GB sent to people": 0.09,
}
HOURS = 730
SECONDS = HOURS * 3600

# How often a person who uses Potluck regularly does what in a month.
USAGE = {
    ("people", "sign in"): 2,
    ("people", "who am I"): 20,
    ("shopping", "look at the list"): 60,
    ("shopping", "add to the list"): 40,
    ("shopping", "add from the inventory"): 10,
    ("shopping", "check off"): 40,
    ("shopping", "clear what was purchased"): 6,
    ("shopping", "look at the inventory"): 8,
    ("shopping", "adjust the inventory"): 10,
    ("polls", "make a poll"): 0.2,
    ("polls", "look at a poll"): 3,
    ("polls", "vote"): 2,
    ("polls", "results, new votes"): 2,
    ("polls", "results, no new votes"): 2,
    ("library", "look at a library"): 6,
    ("library", "look at an item"): 6,
    ("library", "add a book"): 2,
    ("library", "lend"): 1,
    ("library", "give back"): 1,
    ("library", "search"): 4,
    ("journal", "write an entry"): 8,
    ("journal", "my entries"): 12,
    ("journal", "read an entry"): 12,
    ("journal", "comment"): 2,
    ("journal", "search"): 2,
    ("journal", "statistics"): 4,
    ("shareables", "make a checklist"): 0.5,
    ("shareables", "look at a checklist"): 8,
    ("shareables", "tick"): 15,
    ("shareables", "make a poll"): 0.2,
    ("shareables", "vote"): 1,
}
# Hours a month in which a person has a page open, with an event stream.
OPEN_HOURS = 8
# Stored by each person after some years, and sent to them for each call, page or data.
MB_STORED = 2.0
KB_SENT = 12.0
# How busy the busiest hour is, as a multiple of the mean. Tasks are enough for it; over the month, on average a third
# of them run.
PEAK = 6
TASKS_ON_AVERAGE = 1 / 3
# What a task of half a processor and 1 GB bears.
CALLS_A_SECOND = 80
STREAMS_A_TASK = 5_000
TASK_CPU, TASK_GB = 0.5, 1.0
# Without a fan-out each of two tasks looks at each stream up to 0.8 times a second; with one, one task looks 2.5 times.
FOLLOWED_TABLES = 7
LOOKS_ALONE, LOOKS_BY_FAN_OUT = 0.8, 2.5
# One shard of a stream takes the changes of one partition, which bears a thousand write units a second.
PARTITION_WRITES, PARTITION_READS = 1_000, 3_000
# Records of one batch of a function, which takes so long and has so much memory.
RECORDS_A_BATCH, BATCH_SECONDS, FUNCTION_GB = 5, 0.1, 1769 / 1024
SCHEDULED_CALLS, SCHEDULED_SECONDS, SCHEDULED_GB = HOURS * 60, 1.0, 0.5
ALARMS = 15


@dataclass
class Measured:
    """What one call took."""

    app: str
    what: str
    requests: int
    reads: float
    writes: float
    hottest: str
    hottest_writes: float


class Cost(dict[str, float]):
    """Dollars by what they are for."""

    @property
    def total(self) -> float:
        return sum(self.values())


async def measured() -> tuple[list[Measured], float, float, int]:
    """Each call; the consumers' reads and writes for the whole day, and its records."""
    short_ids.REST_SECONDS = 0.0
    recordings: list[Recording] = []

    def recording(engine: Engine) -> Engine:
        recordings.append(Recording(engine))
        return recordings[0]

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), background="elsewhere", open_library=None, accelerations=PLAIN)
        async with assembled(settings, APPS, passwords=Passwords(), wrap=recording) as application:
            (engine,) = recordings
            core = application.state.core
            background = Background(core, [make(core) for make in APPS])
            await background.work({})
            transport = httpx.ASGITransport(app=application, client=("127.0.0.1", 40_000))
            async with httpx.AsyncClient(transport=transport, base_url="http://potluck") as client:
                calls = await _calls(engine, client)
            with engine.scope() as consumed:
                records = await _consume(engine, background)
            return calls, consumed.read_units, consumed.write_units, records


async def _calls(engine: Recording, client: httpx.AsyncClient) -> list[Measured]:
    found = []
    walk = everyday(client)
    while True:
        with engine.scope() as made:
            call = await anext(walk, None)
        if call is None:
            return found
        # A process that has just started also reads its streams, and asks what it will cache.
        priced = RecordedCalls(one for one in made if one.read_units or one.write_units)
        hottest, writes = _hottest(priced)
        found.append(Measured(call.app, call.what, len(priced), priced.read_units, priced.write_units, hottest, writes))


async def _consume(engine: Recording, background: Background) -> int:
    """Give the consumers all records of all streams, until they write none any more; returns how many there were."""
    seen: Counter[str] = Counter()
    count = 0
    while True:
        new = 0
        for table in suite_tables():
            described = (await engine.call("DescribeTable", {"TableName": table.name}))["Table"]
            if not table.stream or table.name in NOT_CONSUMED:
                continue
            arn = described["LatestStreamArn"]
            records = (await _records(engine, arn))[seen[arn] :]
            seen[arn] += len(records)
            new += len(records)
            for start in range(0, len(records), 100):
                batch = [record | {"eventSourceARN": arn} for record in records[start : start + 100]]
                assert await background.consume({"Records": batch}) == {"batchItemFailures": []}
        count += new
        if not new:
            return count
        # Long work, whose steps write further records.
        await background.work({})


async def _records(engine: Recording, arn: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    stream = (await engine.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    for shard in stream["Shards"]:
        oldest = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = (await engine.call("GetShardIterator", oldest))["ShardIterator"]
        while iterator:
            answer = await engine.call("GetRecords", {"ShardIterator": iterator})
            found += answer["Records"]
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    return found


def _hottest(calls: RecordedCalls) -> tuple[str, float]:
    """The kind of partition that the call writes most to, and the write units of its items there, up to a KB each."""
    keys = {table.name: table.partition.name for table in suite_tables()}
    units: Counter[tuple[str, str]] = Counter()
    for call in calls:
        for item in call.request.get("TransactItems", ()):
            for action in item.values():
                key = action.get("Key") or action["Item"]
                units[action["TableName"], json.dumps(key[keys[action["TableName"]]])] += 2
    if not units:
        return "", 0.0
    (table, key), most = units.most_common(1)[0]
    value = next(iter(json.loads(key).values()))
    return f"{table} {value.partition('#')[0]}", float(most)


# --- the month --------------------------------------------------------------------------------------------------------


def month(people: int, calls: list[Measured], consumer_reads: float, consumer_writes: float, records: int) -> Cost:
    """What a month costs, by the number of people."""
    by_name = {(call.app, call.what): call for call in calls}
    reads = sum(by_name[name].reads * count for name, count in USAGE.items()) * people
    writes = sum(by_name[name].writes * count for name, count in USAGE.items()) * people
    requests = sum(USAGE.values()) * people
    # The consumers' share, for each write unit of the day that was measured.
    day_writes = sum(call.writes for call in calls)
    share = writes / day_writes
    reads, changed = reads + consumer_reads * share, records * share
    writes += consumer_writes * share
    open_streams = people * OPEN_HOURS / HOURS * PEAK
    peak = requests / SECONDS * PEAK
    tasks = max(2, math.ceil(peak / CALLS_A_SECOND), math.ceil(open_streams / STREAMS_A_TASK))
    average_tasks = max(2.0, tasks * TASKS_ON_AVERAGE)
    shards = max(1, math.ceil(writes / SECONDS * PEAK / PARTITION_WRITES / FOLLOWED_TABLES))
    looks = (LOOKS_ALONE * 2 if tasks <= 2 else LOOKS_BY_FAN_OUT) * FOLLOWED_TABLES * shards * SECONDS
    gigabytes = people * MB_STORED / 1000
    sent = requests * KB_SENT / MILLION
    batches = changed / RECORDS_A_BATCH
    seconds = batches * BATCH_SECONDS * FUNCTION_GB + SCHEDULED_CALLS * SCHEDULED_SECONDS * SCHEDULED_GB
    price = PRICES
    cost = Cost()
    cost["writes"] = writes * price["a write request unit"]
    cost["reads"] = reads * price["a read request unit"]
    cost["storage and recovery"] = gigabytes * (
        price["a GB stored for a month"] + price["a GB with point-in-time recovery for a month"]
    )
    cost["reading streams"] = looks * price["a read of a stream"]
    cost["functions"] = (batches + SCHEDULED_CALLS) * price["a call of a function"]
    cost["functions"] += seconds * price["a GB-second of a function"]
    hour = TASK_CPU * price["a vCPU of Fargate for an hour"] + TASK_GB * price["a GB of Fargate for an hour"]
    cost["web tasks"] = average_tasks * HOURS * (hour + price["a public address for an hour"])
    capacity = max(open_streams / 3_000, sent / HOURS * PEAK, peak / 25)
    cost["load balancer"] = HOURS * (
        price["a load balancer for an hour"]
        + 2 * price["a public address for an hour"]
        + capacity / PEAK * price["a capacity unit of it for an hour"]
    )
    if tasks > 2:
        units = changed * 2 * (1 + average_tasks)
        cost["fan-out"] = 0.1 * HOURS * price["a GB of Valkey for an hour"]
        cost["fan-out"] += units * price["a processing unit of Valkey"]
    else:
        cost["fan-out"] = 0.0
    cost["sent to people"] = sent * price["a GB sent to people"]
    cost["alarms and secret"] = ALARMS * price["an alarm for a month"] + price["a secret for a month"]
    return cost


def report(calls: list[Measured], consumer_reads: float, consumer_writes: float, records: int) -> str:
    sizes = (100, 10_000, 1_000_000)
    months = [month(people, calls, consumer_reads, consumer_writes, records) for people in sizes]
    lines = [
        "# What Potluck costs on AWS",
        "",
        f"`python -m benchmarks.aws_costs`. Prices: {PRICES_AS_OF}. Dollars for a month:",
        "",
        "| for | " + " | ".join(f"{people:,} people" for people in sizes) + " |",
        "| --- | " + " | ".join("---:" for _ in sizes) + " |",
    ]
    for name in months[0]:
        lines.append(f"| {name} | " + " | ".join(f"{cost[name]:,.2f}" for cost in months) + " |")
    lines.append("| **all** | " + " | ".join(f"**{cost.total:,.2f}**" for cost in months) + " |")
    each = " | ".join(f"{cost.total / people:,.4f}" for people, cost in zip(sizes, months, strict=True))
    lines += [f"| for each person | {each} |", "", "## What each call takes", ""]
    lines += [
        "Requests that take units, with authentication and the stored answer of a write. `times` is how often a person",
        "does it in a month. The last two columns are the partition that the call writes most to, by how its key",
        "begins, and the write units of its items there; indexes have partitions of their own.",
        "",
        "| app | call | requests | read units | write units | times | busiest partition | writes there |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: |",
    ]
    for call in calls:
        times = USAGE.get((call.app, call.what), 0)
        lines.append(
            f"| {call.app} | {call.what} | {call.requests} | {call.reads:g} | {call.writes:g} | {times:g} "
            f"| {call.hottest} | {call.hottest_writes:g} |"
        )
    lines += [
        "",
        f"The consumers took {consumer_reads:g} read units and {consumer_writes:g} write units for the {records} "
        "records of this day.",
        "",
        "## Prices",
        "",
        "| what | dollars |",
        "| --- | ---: |",
        *(f"| {name} | {price:.10f}".rstrip("0").rstrip(".") + " |" for name, price in PRICES.items()),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    calls, reads, writes, records = asyncio.run(measured())
    text = report(calls, reads, writes, records)
    (RESULTS / "aws_costs.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
