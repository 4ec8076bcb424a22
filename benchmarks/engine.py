"""How fast the engine is, as ratios measured in one run: `python -m benchmarks.engine [--quick]`."""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import apsw
import uvloop

from benchmarks import in_process, over_http
from benchmarks.measuring import Finding, as_json, markdown, say

RESULTS = Path(__file__).parent / "results"


async def measure(quick: bool, parts: list[str]) -> list[Finding]:
    findings: list[Finding] = []
    if "process" in parts:
        findings += await in_process.measure(quick)
    if "http" in parts:
        findings += await over_http.measure()
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the million items")
    parser.add_argument("--only", choices=["process", "http"], help="measure one half and keep the last results")
    chosen = parser.parse_args()
    start = time.perf_counter()
    findings = uvloop.run(measure(chosen.quick, [chosen.only] if chosen.only else ["process", "http"]))
    seconds = time.perf_counter() - start
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"SQLite {apsw.sqlite_lib_version()}; the run took {seconds:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    if chosen.only:
        say("only a part was measured: the results in benchmarks/results stay as they were")
        return
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "engine.md").write_text(f"# The engine, last measured\n\n{machine}\n\n{table}\n")
    (RESULTS / "engine.json").write_text(
        json.dumps({"machine": machine, "quick": chosen.quick, "findings": as_json(findings)}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
