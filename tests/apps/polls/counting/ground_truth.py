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
from tests.needs import LEFT_OUT

FOLDER = Path(
    os.environ.get("POTLUCK_GROUND_TRUTH") or Path(__file__).resolve().parents[4].parent / "shared" / "ground-truth"
)
# By their own names for them.
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


def exact() -> list[Any]:
    """Every election whose method the project has and whose rounds are known to be reproducible."""
    index = FOLDER / "index.json"
    if not index.is_file():
        reason = f"{LEFT_OUT}ground truth: there is no {index} (POTLUCK_GROUND_TRUTH may name another folder)"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="ground truth")]
    listed = json.loads(index.read_text())
    chosen = [each for each in listed if each["status"] == "exact" and each["method"] in {"irv", "stv"}]
    return [pytest.param(each, id=each["id"]) for each in chosen]


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
        in_config = [file.candidates.index(name) + 1 for name in expected["candidate_order"] if name in file.candidates]
        return Rules(
            method=expected["method"],
            seats=seats,
            continue_to_two=bool(own.get("continueUntilTwoCandidatesRemain")),
            batch_elimination=bool(own.get("batchElimination")),
            overvote=OVERVOTE_RULES[own["overvoteRule"]],  # type: ignore[arg-type]
            skipped_ranks=None if own["maxSkippedRanksAllowed"] == "unlimited" else int(own["maxSkippedRanksAllowed"]),
            repeats="exhaust" if own.get("exhaustOnDuplicateCandidate") else "ignore",
            undeclared=tuple(file.undeclared),
            ties="previous-rounds" if own["tiebreakMode"].startswith("previousRound") else "lot",
            decimals=int(own["decimalPlacesForVoteArithmetic"]),
            fractional_quota=bool(own.get("nonIntegerWinningThreshold")) and seats > 1,
            one_winner_per_round=own["winnerElectionMode"] == "multiWinnerAllowOnlyOneWinnerPerRound",
        ), [*in_config, *(each for each in everybody if each not in in_config)]
    if expected.get("variant") == "scottish_wigm":
        # Droop's order of ties names first who leaves first.
        return Rules(method="scottish-stv", seats=seats), everybody[::-1]
    return Rules(
        batch_elimination=bool(own.get("batch_elimination")) or "batch" in expected["expected_kind"],
        continue_to_two="two candidates" in own.get("stop", ""),
        overvote="exhaust-if-several" if own.get("overvote", "").startswith("stateful") else "exhaust",
        skipped_ranks=1 if "two consecutive skips" in own.get("skipped_ranks", "") else None,
    ), everybody


def amounts(published: dict[str, Any]) -> dict[str, Decimal]:
    return {name: Decimal(str(votes)) for name, votes in published.items()}


def transfers(published: list[dict[str, Any]]) -> dict[str, dict[str, Decimal]]:
    return {each["from"]: amounts(each["to"]) for each in published if each["to"]}
