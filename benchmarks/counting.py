"""How fast a million votes are counted, beside pyrankvote and a plain loop: `python -m benchmarks.counting`."""

import asyncio
import json
import os
import platform
import random
import statistics
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


async def measure() -> list[Finding]:
    return [each for distinct in DISTINCT for each in await compared(distinct)]


def main() -> None:
    start = time.perf_counter()
    findings = asyncio.run(measure())
    taken = time.perf_counter() - start
    machine = (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; {VOTES:,} votes over "
        f"{CANDIDATES} candidates, one core, processor time; the run took {taken:.0f} s."
    )
    table = markdown(findings)
    print(f"\n{machine}\n\n{table}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "counting.md").write_text(f"# Counting votes, last measured\n\n{machine}\n\n{table}\n")
    (RESULTS / "counting.json").write_text(
        json.dumps({"machine": machine, "findings": as_json(findings)}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
