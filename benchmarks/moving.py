"""How fast a store moves, and in how much memory: `python -m benchmarks.moving`, `--quick` without the larger store.

Both commands are run as people run them, each in a process of its own, with all they do: an export copies the store,
reads it, and reads its files back; an import writes the rows, and reads them all again to compare them. The rows are
those of `sample_data.py`, in a table with indexes.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring import Finding, as_json, markdown, say
from benchmarks.sample_data import item
from potluck.apps.shopping.entities import inventory
from potluck.settings import Settings
from potluck.suite import opened
from tests.references import REGION, dynamodb_local

RESULTS = Path(__file__).parent / "results"
FEW, MANY, FAR = 100_000, 300_000, 5_000
FLAT = 1.25
SECRET = "the secret of the benchmarks, on every machine"
AT_ONCE = 400
LOOK_SECONDS = 0.02


@dataclass(frozen=True)
class Moved:
    """What one command took for this many rows."""

    rows: int
    seconds: float
    processor_seconds: float
    megabytes: float

    @property
    def told(self) -> str:
        return (
            f"{self.rows / self.seconds:,.0f} rows/s; {1e6 * self.processor_seconds / self.rows:.0f} µs of processor a "
            f"row; {self.megabytes:.0f} MB"
        )


def move(rows: int, *arguments: object, **environment: str) -> Moved:
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "potluck", *map(str, arguments)],
        env=os.environ | {"POTLUCK_SECRET": SECRET} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    most = 0.0
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        most = max(most, _own_megabytes(process.pid))
        time.sleep(LOOK_SECONDS)
    _, status, used = ended
    assert status == 0, arguments
    return Moved(rows, time.monotonic() - start, used.ru_utime + used.ru_stime, most)


def _own_megabytes(process: int) -> float:
    """The memory that is its own: not what it has mapped of the store's file, which the system takes back at will."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return 0.0
    found = re.search(r"^RssAnon:\s+(\d+) kB$", status, re.M)
    return int(found[1]) / 1024 if found else 0.0


async def fill(data: Path, rows: int) -> None:
    async with opened(Settings(data=data, secret=SECRET)) as (core, _):
        for start in range(0, rows, AT_ONCE):
            batches = [range(first, min(first + 25, rows)) for first in range(start, min(start + AT_ONCE, rows), 25)]
            await asyncio.gather(*(core.engine.call("BatchWriteItem", _puts(batch)) for batch in batches))


def _puts(numbers: range) -> dict[str, Any]:
    return {"RequestItems": {inventory.name: [{"PutRequest": {"Item": item(number)}} for number in numbers]}}


def embedded(folder: Path, rows: int) -> tuple[Moved, Moved]:
    say(f"{rows:,} rows, embedded")
    asyncio.run(fill(folder / "here", rows))
    away = move(rows, "export", folder / "out", "--data", folder / "here")
    back = move(rows, "import", folder / "out", "--data", folder / "there")
    return away, back


def to_local(folder: Path, rows: int) -> tuple[Moved, Moved]:
    say(f"{rows:,} rows, to DynamoDB Local and back")
    asyncio.run(fill(folder / "here", rows))
    move(rows, "export", folder / "out", "--data", folder / "here")
    with dynamodb_local() as local:
        there = {
            "POTLUCK_ENGINE": "aws",
            "POTLUCK_REGION": REGION,
            "POTLUCK_ENDPOINT": local.endpoint,
            "AWS_ACCESS_KEY_ID": "benchmarks",
            "AWS_SECRET_ACCESS_KEY": "benchmarks",
        }
        away = move(rows, "import", folder / "out", **there)
        return away, move(rows, "export", folder / "home", **there)


def run(quick: bool) -> list[Finding]:
    findings = []
    sizes = [FEW] if quick else [FEW, MANY]
    taken = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            taken.append(embedded(Path(folder), rows))
    for place, what in enumerate(("export of the embedded store", "import into the embedded store")):
        few, many = taken[0][place], taken[-1][place]
        growth = many.megabytes / few.megabytes
        findings.append(Finding(f"{what}, {few.rows:,} rows", few.told, "", None, "", None))
        if not quick:
            target = f"memory at most {FLAT}x"
            findings.append(Finding(f"{what}, {many.rows:,} rows", many.told, "", growth, target, growth <= FLAT))
    with tempfile.TemporaryDirectory() as folder:
        into, out_of = to_local(Path(folder), FAR)
    findings.append(Finding(f"import into DynamoDB Local, {FAR:,} rows", into.told, "", None, "", None))
    findings.append(Finding(f"export of DynamoDB Local, {FAR:,} rows", out_of.told, "", None, "", None))
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the larger store; leaves the results as they are")
    quick = parser.parse_args().quick
    start = time.monotonic()
    found = run(quick)
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"the run took {time.monotonic() - start:.0f} s."
    )
    text = f"# Moving a store, last measured\n\n{machine}\n\n{markdown(found)}\n"
    if not quick:
        (RESULTS / "moving.md").write_text(text)
        content = {"machine": machine, "findings": as_json(found)}
        (RESULTS / "moving.json").write_text(json.dumps(content, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
