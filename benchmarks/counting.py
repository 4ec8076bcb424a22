"""How fast a million votes are read and counted, beside `csv.reader` and `Counter`, pyrankvote and a plain loop:
`python -m benchmarks.counting`, or `python -m benchmarks.counting reading` for the reading alone."""

import asyncio
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.measuring import Finding, Round, alternate, as_json, markdown, median_ratio, say
from potluck.apps.polls.counting import Ranking, Rules, count, tally

RESULTS = Path(__file__).parent / "results"

CANDIDATES = 10
VOTES = 1_000_000
DISTINCT = (20_000, 500_000)
ROUNDS = 5
SECONDS_TARGET = 0.5


def cast(distinct: int) -> dict[Ranking, int]:
    """A million votes: so many different rankings of three to ten candidates, close enough to need many rounds."""
    drawn = random.Random(2009)
    weights = [1 - place * 0.04 for place in range(CANDIDATES)]
    rankings: set[Ranking] = set()
    while len(rankings) < distinct:
        keys = [drawn.random() ** (1 / weight) for weight in weights]
        order = sorted(range(CANDIDATES), key=keys.__getitem__, reverse=True)
        rankings.add(tuple(each + 1 for each in order[: drawn.randint(3, CANDIDATES)]))
    each = sorted(rankings)
    votes = dict.fromkeys(each, 1)
    for ranking in drawn.choices(each, k=VOTES - distinct):
        votes[ranking] += 1
    return votes


def counter_loop(votes: Mapping[Ranking, int]) -> int:
    """What most people write: in each round look through every ranking for its first candidate still there."""
    left = set(range(1, CANDIDATES + 1))
    while True:
        tallies: Counter[int] = Counter(dict.fromkeys(left, 0))
        for ranking, many in votes.items():
            for candidate in ranking:
                if candidate in left:
                    tallies[candidate] += many  # type: ignore[index]
                    break
        (first, most), *_ = tallies.most_common(1)
        if most * 2 > sum(tallies.values()) or len(left) == 1:
            return first
        left.remove(min(tallies, key=lambda each: tallies[each]))


def once(work: Callable[[], Any]) -> Round:
    """A round that does the work once; processor time counts, since nothing here waits for anything but its turn."""

    async def one_round() -> float:
        start = time.process_time()
        work()
        return 1 / (time.process_time() - start)

    return one_round


def seconds(rates: list[float]) -> float:
    return 1 / statistics.median(rates)


def shown(name: str, rates: list[float]) -> str:
    return f"{name} {seconds(rates):,.3f} s"


def finding(
    subject: str, rates: dict[str, list[float]], side: str, against: str, target: float | None = None
) -> Finding:
    ratio = 1 / median_ratio(rates, side, against)
    say(f"  {subject}: {shown(side, rates[side])}, {ratio:.2f} of {against}")
    return Finding(
        subject,
        shown(side, rates[side]),
        shown(against, rates[against]),
        ratio,
        "" if target is None else f"≤ {target:g} s",
        None if target is None else seconds(rates[side]) <= target,
        median_ratio(rates, f"{side} again", side),
    )


async def compared(distinct: int) -> list[Finding]:
    say(f"{VOTES:,} votes, {distinct:,} distinct")
    votes = cast(distinct)
    assert (len(votes), sum(votes.values())) == (distinct, VOTES)
    raw = list(Counter(votes).elements())
    random.Random(7).shuffle(raw)
    winner = counter_loop(votes)

    def full_record() -> None:
        assert count(CANDIDATES, votes).winners == (winner,)

    def irv_alone() -> None:
        assert count(CANDIDATES, votes, compare=False).winners == (winner,)

    def from_raw() -> None:
        assert count(CANDIDATES, tally(raw)).winners == (winner,)

    def loop_from_raw() -> None:
        assert counter_loop(Counter(raw)) == winner

    sides = {
        "full record": once(full_record),
        "full record again": once(full_record),
        "irv, pairwise": once(irv_alone),
        "irv, pairwise again": once(irv_alone),
        "from raw": once(from_raw),
        "from raw again": once(from_raw),
        "Counter loop": once(lambda: counter_loop(votes)),
        "Counter loop from raw": once(loop_from_raw),
        "stv": once(lambda: count(CANDIDATES, votes, Rules(method="stv", seats=3))),
        "stv again": once(lambda: count(CANDIDATES, votes, Rules(method="stv", seats=3))),
    }
    rates = await alternate(ROUNDS, sides)
    many = f"{distinct:,} distinct"
    target = SECONDS_TARGET if distinct == min(DISTINCT) else None
    return [
        finding(f"{many}: from counts to the full record", rates, "full record", "Counter loop", target),
        finding("— without what other methods say", rates, "irv, pairwise", "Counter loop"),
        finding("— stv, three seats, full record", rates, "stv", "Counter loop"),
        finding(f"{many}: from raw rankings to the full record", rates, "from raw", "Counter loop from raw"),
        *with_pyrankvote(many, raw, rates, winner),
    ]


def with_pyrankvote(many: str, raw: list[Ranking], rates: dict[str, list[float]], winner: int) -> list[Finding]:
    """Once only, for it takes its time; the ballots are made beforehand."""
    try:
        import pyrankvote
    except ImportError:
        say("  pyrankvote is not installed, and left out")
        return []
    people = [pyrankvote.Candidate(str(number)) for number in range(1, CANDIDATES + 1)]
    ballots = [pyrankvote.Ballot(ranked_candidates=[people[each - 1] for each in ranking]) for ranking in raw]
    start = time.process_time()
    elected = pyrankvote.instant_runoff_voting(people, ballots).get_winners()
    taken = time.process_time() - start
    assert [each.name for each in elected] == [str(winner)]
    ours = seconds(rates["from raw"])
    against = f"pyrankvote {pyrankvote_version()}"
    say(f"  {against}: {taken:.1f} s")
    return [
        Finding(
            f"{many}: from raw rankings, winner and rounds",
            shown("from raw", rates["from raw"]),
            f"{against} {taken:,.1f} s",
            ours / taken,
            "",
            None,
            median_ratio(rates, "from raw again", "from raw"),
        )
    ]


def pyrankvote_version() -> str:
    try:
        return version("pyrankvote")
    except PackageNotFoundError:
        return ""


# --- reading ----------------------------------------------------------------------------------------------------------

NAMES = [f"Candidate {letter}" for letter in "ABCDEFGHIJ"]
READ_DISTINCT = (20_000, 860_000)
READ_ROUNDS = 3
# In a process of its own each time, so that its memory is its own.
READER = """
import csv, resource, sys, time
from collections import Counter
kind, path = sys.argv[1:]
if kind == "potluck":
    from potluck.apps.polls import ballot_files
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
if kind == "potluck":
    with open(path, "rb") as file:
        read = ballot_files.read(file).ballots
else:
    with open(path, newline="") as file:
        read = Counter(map(tuple, csv.reader(file)))
print(len(read), time.process_time() - start, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def written(folder: Path, raw: list[Ranking]) -> dict[str, Path]:
    """The same million ballots, a line each, in every format."""
    header = {"csv": ",".join(NAMES), "csv by rank": ",".join(f"rank {rank}" for rank in range(1, CANDIDATES + 1))}
    files = {kind: folder / f"{kind.replace(' ', '-')}.{kind.split()[0]}" for kind in (*header, "blt", "json")}
    with (
        files["csv"].open("w") as by_candidate,
        files["csv by rank"].open("w") as by_rank,
        files["blt"].open("w") as blt,
        files["json"].open("w") as as_json_file,
    ):
        print(header["csv"], file=by_candidate)
        print(header["csv by rank"], file=by_rank)
        print(f"{CANDIDATES} 1", file=blt)
        print(f'{{"candidates": {json.dumps(NAMES)}, "ballots": [', file=as_json_file)
        for place, ranking in enumerate(raw):
            numbers = [each for each in ranking if isinstance(each, int)]
            ranks = {number: str(rank) for rank, number in enumerate(numbers, 1)}
            named = [NAMES[number - 1] for number in numbers]
            print(",".join(ranks.get(number, "") for number in range(1, CANDIDATES + 1)), file=by_candidate)
            print(",".join([*named, *[""] * (CANDIDATES - len(named))]), file=by_rank)
            print("1", *numbers, "0", file=blt)
            end = "" if place == len(raw) - 1 else ","
            print(f'{{"ranking": {json.dumps(named)}, "count": 1}}{end}', file=as_json_file)
        print("0", *(f'"{name}"' for name in NAMES), sep="\n", file=blt)
        print("]}", file=as_json_file)
    return files


def read_once(kind: str, path: Path) -> tuple[int, float, float]:
    """How many differ, seconds of processor, and megabytes at the most."""
    done = subprocess.run([sys.executable, "-c", READER, kind, str(path)], check=True, capture_output=True, text=True)
    distinct, seconds_taken, megabytes = done.stdout.split()
    return int(distinct), float(seconds_taken), float(megabytes)


def reading() -> list[Finding]:
    findings = []
    for distinct in READ_DISTINCT:
        say(f"reading {VOTES:,} lines, {distinct:,} distinct")
        votes = cast(distinct)
        raw = list(Counter(votes).elements())
        random.Random(7).shuffle(raw)
        with tempfile.TemporaryDirectory() as folder:
            files = written(Path(folder), raw)
            runs: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
            for _ in range(READ_ROUNDS):
                for kind, path in files.items():
                    runs.setdefault(("potluck", kind), []).append(read_once("potluck", path))
                    if kind.startswith("csv"):
                        runs.setdefault(("Counter", kind), []).append(read_once("Counter", path))
        for kind in files:
            # A file that is no CSV is held against the CSV of the same names.
            against = kind if kind.startswith("csv") else "csv by rank"
            ours, theirs = runs["potluck", kind], runs["Counter", against]
            assert all(run[0] == distinct for run in ours)
            took, theirs_took = (statistics.median(run[1] for run in each) for each in (ours, theirs))
            room, theirs_room = (statistics.median(run[2] for run in each) for each in (ours, theirs))
            say(
                f"  {kind}: {took:.2f} s, {room:.0f} MB; csv.reader + Counter {theirs_took:.2f} s, {theirs_room:.0f} MB"
            )
            findings.append(
                Finding(
                    f"{distinct:,} distinct: reading {VOTES:,} lines of {kind}",
                    f"{took:.2f} s, {room:.0f} MB",
                    f"csv.reader + Counter of {against} {theirs_took:.2f} s, {theirs_room:.0f} MB",
                    took / theirs_took,
                    "≤ 2",
                    took <= 2 * theirs_took,
                    statistics.median(run[1] for run in ours) / ours[-1][1],
                )
            )
    return findings


async def measure() -> list[Finding]:
    return [each for distinct in DISTINCT for each in await compared(distinct)]


def main() -> None:
    start = time.perf_counter()
    findings = reading()
    if "reading" not in sys.argv[1:]:
        findings += asyncio.run(measure())
    taken = time.perf_counter() - start
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; {VOTES:,} votes over "
        f"{CANDIDATES} candidates, one core, processor time; the run took {taken:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    RESULTS.mkdir(exist_ok=True)
    name = "counting_reading" if "reading" in sys.argv[1:] else "counting"
    (RESULTS / f"{name}.md").write_text(f"# Counting votes, last measured\n\n{machine}\n\n{table}\n")
    (RESULTS / f"{name}.json").write_text(
        json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
