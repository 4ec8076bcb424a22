"""Alternating rounds, medians, and the table that is printed."""

import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Round = Callable[[], Awaitable[float]]  # operations a second

FSYNCS = 60


@dataclass
class Finding:
    """One line of the result: what was measured, beside what it is held to."""

    subject: str
    measured: str
    against: str
    ratio: float | None
    target: str
    met: bool | None  # None where there is no target
    control: float | None = None  # the same code against itself in the same rounds: 1.00 on a quiet machine
    sync_milliseconds: float | None = None


async def alternate(rounds: int, sides: dict[str, Round]) -> dict[str, list[float]]:
    """Measure every side once in each round, turning the order from round to round; the first round only warms up."""
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        names = list(sides) if number % 2 else list(sides)[::-1]
        for name in names:
            rate = await sides[name]()
            if number:
                rates[name].append(rate)
    return rates


def median_ratio(rates: dict[str, list[float]], side: str, *against: str) -> float:
    """The median over the rounds of one side's rate over the others' mean rate in the same round."""
    ratios = [rates[side][n] / statistics.fmean(rates[other][n] for other in against) for n in range(len(rates[side]))]
    return statistics.median(ratios)


def sync_milliseconds(folder: Path) -> float:
    """The median time of an fsync after appending a page in that folder."""
    path = folder / "sync-probe"
    times = []
    with path.open("wb", buffering=0) as file:
        for _ in range(FSYNCS):
            file.write(b"x" * 4096)
            start = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - start)
    path.unlink()
    return statistics.median(times) * 1000


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def say(text: str, end: str = "\n") -> None:
    """Tell how far the run is; the result itself goes to standard output."""
    print(text, file=sys.stderr, end=end, flush=True)


def markdown(findings: list[Finding]) -> str:
    lines = [
        "| what | measured | against | ratio | A/A | fsync ms | target | |",
        "|---|---|---|---:|---:|---:|---|---|",
    ]
    for finding in findings:
        numbers = [
            "" if number is None else f"{number:.2f}"
            for number in (finding.ratio, finding.control, finding.sync_milliseconds)
        ]
        verdict = {None: "", True: "pass", False: "**short**"}[finding.met]
        cells = [finding.subject, finding.measured, finding.against, *numbers, finding.target, verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def as_json(findings: list[Finding]) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in findings]
