"""Elections whose every round is published, read from a folder that is not part of the project."""

import json
import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from potluck.apps.polls import ballot_files
from potluck.apps.polls.ballot_files import BallotFile
from potluck.apps.polls.counting import Rules
from potluck.apps.polls.counting.seeded_draws import SeededDraws
from tests.needs import LEFT_OUT

FOLDER = Path(
    os.environ.get("GROUND_TRUTH_FOLDER") or Path(__file__).resolve().parents[4].parent / "shared" / "ground-truth"
)
# By their own names for them.
METHODS = {
    "irv": "irv",
    "stv": "stv",
    "bottoms_up": "bottoms-up",
    "bottoms_up_threshold": "bottoms-up",
    "sequential_irv": "sequential-irv",
}
VARIANTS = {
    "scottish_wigm": "scottish-stv",
    "meek_prf": "meek",
    "wigm_prf": "wigm",
    "minneapolis": "minneapolis-stv",
}
OVERVOTE_RULES = {
    "exhaustImmediately": "exhaust",
    "alwaysSkipToNextRank": "skip",
    "exhaustIfMultipleContinuing": "exhaust-if-several",
}


@dataclass
class Election:
    id: str
    file: BallotFile
    rules: Rules
    lot_order: list[int]
    expected: dict[str, Any]
    raw: bool


def every() -> list[Any]:
    """Every election, those too of which only a reference program's own output is known."""
    indexes = [FOLDER / "index.json", FOLDER / "index-more-rules.json"]
    missing = [str(each) for each in indexes if not each.is_file()]
    if missing:
        reason = f"{LEFT_OUT}ground truth: there is no {missing[0]} (GROUND_TRUTH_FOLDER may name another folder)"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="ground truth")]
    return [pytest.param(each, id=each["id"]) for index in indexes for each in json.loads(index.read_text())]


def election(listed: dict[str, Any]) -> Election:
    base = FOLDER / listed["set"] / listed["id"]
    expected = json.loads(Path(f"{base}.expected.json").read_text())
    raw = Path(f"{base}.raw_ballots.json")
    found = raw if raw.is_file() else Path(f"{base}.ballots.json")
    file = ballot_files.read(found.read_bytes(), "json")
    rules, lot_order = _rules(listed, expected, file)
    return Election(listed["id"], file, rules, lot_order, expected, found == raw)


def _rules(listed: dict[str, Any], expected: dict[str, Any], file: BallotFile) -> tuple[Rules, list[int]]:
    own = expected["rules"]
    everybody = list(range(1, len(file.candidates) + 1))
    seats = expected["seats"]
    if listed["set"] == "rctab":
        mode = own["tiebreakMode"]
        order = _order(mode, own.get("randomSeed"), expected["candidate_order"], file.candidates)
        return Rules(
            method=METHODS[expected["method"]],  # type: ignore[arg-type]
            # None are counted where whoever has a share of the votes is elected.
            seats=seats or 1,
            continue_to_two=bool(own.get("continueUntilTwoCandidatesRemain")),
            batch_elimination=bool(own.get("batchElimination")),
            overvote=OVERVOTE_RULES[own["overvoteRule"]],  # type: ignore[arg-type]
            skipped_ranks=None if own["maxSkippedRanksAllowed"] == "unlimited" else int(own["maxSkippedRanksAllowed"]),
            repeats="exhaust" if own.get("exhaustOnDuplicateCandidate") else "ignore",
            undeclared=tuple(file.undeclared),
            ties="previous-rounds" if mode.startswith("previousRound") else "lot",
            # After earlier rounds RCTab draws from the tied in no order that its documentation tells.
            seed=int(own["randomSeed"]) if mode == "random" else None,
            decimals=int(own["decimalPlacesForVoteArithmetic"]),
            fractional_quota=bool(own.get("nonIntegerWinningThreshold")) and seats > 1,
            one_winner_per_round=own["winnerElectionMode"] == "multiWinnerAllowOnlyOneWinnerPerRound",
            quota="hare" if own.get("hareQuota") else "droop",
            first_round_threshold=bool(own.get("doesFirstRoundDetermineThreshold")),
            minimum_votes=int(own.get("minimumVoteThreshold") or 0),
            max_rankings=None if own["maxRankingsAllowed"] == "max" else int(own["maxRankingsAllowed"]),
            share_percent=int(own.get("multiSeatBottomsUpPercentageThreshold") or 0) or None,
            stop_after=int(own.get("stopTabulationEarlyAfterRound") or 0) or None,
        ), order
    if expected.get("variant") in VARIANTS:
        # Droop's order of ties names first who leaves first.
        return Rules(method=VARIANTS[expected["variant"]], seats=seats), everybody[::-1]  # type: ignore[arg-type]
    return Rules(
        batch_elimination=bool(own.get("batch_elimination")) or "batch" in expected["expected_kind"],
        continue_to_two="two candidates" in own.get("stop", ""),
        overvote="exhaust-if-several" if own.get("overvote", "").startswith("stateful") else "exhaust",
        skipped_ranks=1 if "two consecutive skips" in own.get("skipped_ranks", "") else None,
    ), everybody


def _order(mode: str, seed: str | None, in_config: list[str], names: list[str]) -> list[int]:
    """Who is favoured, or before a draw the order by name."""
    if mode == "random":
        in_config = sorted(names)
    elif mode == "generatePermutation":
        in_config = SeededDraws(int(seed or 0)).shuffled(sorted(in_config))
    order = [names.index(name) + 1 for name in in_config if name in names]
    return [*order, *(each for each in range(1, len(names) + 1) if each not in order)]


def amounts(published: dict[str, Any]) -> dict[str, Decimal]:
    return {name: Decimal(str(votes)) for name, votes in published.items()}


def transfers(published: list[dict[str, Any]]) -> dict[str, dict[str, Decimal]]:
    return {each["from"]: amounts(each["to"]) for each in published if each["to"]}
