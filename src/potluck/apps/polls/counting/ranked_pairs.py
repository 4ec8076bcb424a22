"""Ranked Pairs (Tideman): majorities are locked in, strongest first, unless one contradicts those before it."""

from collections.abc import Sequence
from itertools import groupby

from potluck.apps.polls.counting.pairwise import Matrix
from potluck.apps.polls.counting.record import LockedPair, Tie
from potluck.apps.polls.counting.schulze import places
from potluck.apps.polls.counting.ties import Chosen, Ties


def locked_pairs(matrix: Matrix, among: Sequence[int], ties: Ties) -> tuple[list[LockedPair], tuple[Tie, ...]]:
    """Every majority in the order of strength, and whether it was locked; and the ties that only the lot order broke.

    A majority with more votes is stronger; if equal, the one with fewer votes against. Then the lot order decides:
    majorities against the candidates it favours come last, so they are the first to be left out.
    """
    majorities = [
        (a, b, matrix[a - 1][b - 1], matrix[b - 1][a - 1])
        for a in among
        for b in among
        if matrix[a - 1][b - 1] > matrix[b - 1][a - 1]
    ]
    majorities.sort(key=lambda majority: (-majority[2], majority[3], -ties.place(majority[1]), ties.place(majority[0])))
    # The candidates that each one is above so far, directly or through others, as bits.
    above = {candidate: 1 << candidate for candidate in among}
    pairs: list[LockedPair] = []
    broken = []
    for (votes, against), equals in groupby(majorities, key=lambda majority: (majority[2], majority[3])):
        equally_strong = list(equals)
        possible = {(a, b) for a, b, *_ in equally_strong if not above[b] >> a & 1}
        before = above.copy()
        refused = False
        for winner, loser, *_ in equally_strong:
            locked = not above[loser] >> winner & 1
            refused = refused or (not locked and (winner, loser) in possible)
            if locked and not above[winner] >> loser & 1:
                for candidate in among:
                    if above[candidate] >> winner & 1:
                        above[candidate] |= above[loser]
            pairs.append(LockedPair(winner, loser, votes, against, locked))
        if refused:
            # Each of these could have been locked, but not all of them: only their order decided which were.
            tied = sorted({candidate for pair in _contradicting(possible, before) for candidate in pair})
            broken.append(Tie(over="pairs", candidates=tuple(tied), chosen=tuple(ties.by_lot(tied)), by_lot=True))
    return pairs, tuple(broken)


def _contradicting(pairs: set[tuple[int, int]], above: dict[int, int]) -> list[tuple[int, int]]:
    """The pairs that would be part of a cycle if all of them were locked."""
    reach = above.copy()
    grown = True
    while grown:
        grown = False
        for winner, loser in pairs:
            more = reach[winner] | reach[loser]
            # Everyone above the winner is above the loser too.
            for candidate, below in reach.items():
                if below >> winner & 1 and below | more != below:
                    reach[candidate] = below | more
                    grown = True
    return [(winner, loser) for winner, loser in pairs if reach[loser] >> winner & 1]


def ranked_pairs(
    matrix: Matrix, among: Sequence[int], seats: int, ties: Ties
) -> tuple[list[LockedPair], list[int], Chosen]:
    """The pairs, the candidates in order, and who is elected."""
    pairs, broken = locked_pairs(matrix, among, ties)
    locked = {(pair.winner, pair.loser) for pair in pairs if pair.locked}
    groups = places(among, lambda a, b: (a, b) in locked)
    order = [candidate for group in groups for candidate in ties.in_order(group)]
    elected, tied = ties.first(seats, groups, [None] * len(groups))
    return pairs, order, (elected, broken + tied)
