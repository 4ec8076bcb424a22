"""Counting: rankings with their numbers of votes in, a complete record out. No clock, store, randomness or floats."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from potluck.apps.polls.counting.ballots import Contest, Ranking, prepare, tally
from potluck.apps.polls.counting.borda import borda
from potluck.apps.polls.counting.bottoms_up import PERCENT_DECIMALS, bottoms_up
from potluck.apps.polls.counting.irv import irv
from potluck.apps.polls.counting.meek import meek
from potluck.apps.polls.counting.minneapolis_stv import minneapolis_stv
from potluck.apps.polls.counting.pairwise import Matrix, condorcet_winner, pairwise
from potluck.apps.polls.counting.plurality import plurality
from potluck.apps.polls.counting.ranked_pairs import ranked_pairs
from potluck.apps.polls.counting.record import (
    Cause,
    CountOutcome,
    CountRecord,
    LockedPair,
    Reason,
    Round,
    Tie,
    TieOrder,
    Transfer,
    as_bytes,
    from_bytes,
)
from potluck.apps.polls.counting.results import CountResults, results
from potluck.apps.polls.counting.rules import METHODS, CannotCount, Method, Rules
from potluck.apps.polls.counting.schulze import schulze
from potluck.apps.polls.counting.scottish_stv import scottish_stv
from potluck.apps.polls.counting.sequential_irv import sequential_irv
from potluck.apps.polls.counting.stv import stv
from potluck.apps.polls.counting.ties import Chosen, Ties
from potluck.apps.polls.counting.wigm import wigm

__all__ = [
    "METHODS",
    "CannotCount",
    "CountRecord",
    "CountResults",
    "LockedPair",
    "Method",
    "Ranking",
    "Round",
    "Rules",
    "Tie",
    "TieOrder",
    "Transfer",
    "as_bytes",
    "count",
    "from_bytes",
    "results",
    "tally",
]

# For a single seat, both kinds of stv elect as irv does.
COMPARED_FOR_ONE_SEAT: tuple[Method, ...] = ("irv", "schulze", "ranked-pairs", "borda", "plurality")
COMPARED_FOR_SEVERAL: tuple[Method, ...] = ("stv", "scottish-stv", "schulze", "ranked-pairs", "borda", "plurality")


BY_STAGES = {"scottish-stv": scottish_stv, "minneapolis-stv": minneapolis_stv, "wigm": wigm, "meek": meek}


def count(
    candidates: int,
    ballots: Mapping[Ranking, int],
    rules: Rules | None = None,
    lot_order: Sequence[int] = (),
    *,
    tie_order: TieOrder = "lots",
    compare: bool = True,
) -> CountRecord:
    """Count the ballots of candidates numbered from 1; without a lot order, the order of the candidates breaks ties.

    `tie_order` says where the lot order comes from. With `compare`, the record also has the other methods' winners.
    """
    rules = (rules or Rules()).settled()
    contest = prepare(candidates, ballots, lot_order or range(1, candidates + 1), rules)
    matrix = pairwise(contest)
    # If all ballots are blank or spoilt, no candidate is elected.
    marked = any(map(any, matrix)) or (candidates == 1 and bool(contest.paths))
    outcome = _counted(contest, matrix, rules) if marked else CountOutcome()
    return CountRecord(
        method=rules.method,
        rules=rules,
        candidates=candidates,
        lot_order=contest.lot_order,
        tie_order="seed" if rules.seed is not None else tie_order if lot_order else "listed",
        votes=contest.votes,
        blank=contest.blank,
        decimals=outcome.decimals,
        winners=outcome.winners,
        rounds=outcome.rounds,
        tallies_after_transfers=outcome.tallies_after_transfers,
        pairwise=matrix,
        condorcet_winner=condorcet_winner(matrix, contest.declared) if marked else None,
        order=outcome.order,
        paths=outcome.paths,
        pairs=outcome.pairs,
        other_methods=_others(contest, matrix, rules) if marked and compare else {},
    )


def _others(contest: Contest, matrix: Matrix, rules: Rules) -> dict[Method, tuple[int, ...]]:
    compared = COMPARED_FOR_ONE_SEAT if rules.seats == 1 else COMPARED_FOR_SEVERAL
    plain = Rules(seats=rules.seats)
    return {
        method: _counted(contest, matrix, structs.replace(plain, method=method).settled()).winners
        for method in compared
        if method != rules.method
    }


def _counted(contest: Contest, matrix: Matrix, rules: Rules) -> CountOutcome:
    ties = Ties(contest.lot_order, rules.ties, rules.seed, matrix)
    declared, seats = contest.declared, rules.seats
    match rules.method:
        case "irv":
            winners, rounds = irv(contest, rules, ties)
            return CountOutcome(winners=winners, rounds=rounds)
        case "sequential-irv":
            winners, rounds = sequential_irv(contest, rules, ties)
            return CountOutcome(winners=winners, rounds=rounds)
        case "bottoms-up":
            winners, rounds = bottoms_up(contest, rules, ties)
            return CountOutcome(winners=winners, rounds=rounds, decimals=PERCENT_DECIMALS if rules.share_percent else 0)
        case "stv":
            winners, rounds = stv(contest, rules, ties)
            return CountOutcome(winners=winners, rounds=rounds, decimals=(rules.decimals or 0) if seats > 1 else 0)
        case "scottish-stv" | "minneapolis-stv" | "wigm" | "meek":
            winners, rounds = BY_STAGES[rules.method](contest, rules, ties)
            return CountOutcome(
                winners=winners, rounds=rounds, decimals=rules.decimals or 0, tallies_after_transfers=True
            )
        case "schulze":
            paths, order, chosen = schulze(matrix, declared, seats, ties)
            beaten = {a: sum(paths[a - 1][b - 1] > paths[b - 1][a - 1] for b in declared) for a in declared}
            return _in_one_round("paths", beaten, order, chosen, paths=paths)
        case "ranked-pairs":
            pairs, order, chosen = ranked_pairs(matrix, declared, seats, ties)
            beaten = {a: sum(pair.locked for pair in pairs if pair.winner == a) for a in declared}
            return _in_one_round("pairs", beaten, order, chosen, pairs=tuple(pairs))
        case "borda":
            points, order, chosen = borda(matrix, declared, seats, ties)
            return _in_one_round("points", points, order, chosen)
        case "plurality":
            first, order, chosen = plurality(contest, seats, ties)
            return _in_one_round("most-first-preferences", first.to, order, chosen, first.exhausted)


def _in_one_round(
    reason: Reason,
    tallies: dict[int, int],
    order: list[int],
    chosen: Chosen,
    exhausted: dict[Cause, int] | None = None,
    paths: Matrix = (),
    pairs: tuple[LockedPair, ...] = (),
) -> CountOutcome:
    winners, ties = chosen
    only = Round(number=1, reason=reason, tallies=tallies, elected=winners, exhausted=exhausted or {}, ties=ties)
    return CountOutcome(winners=winners, rounds=(only,), order=tuple(order), paths=paths, pairs=pairs)
