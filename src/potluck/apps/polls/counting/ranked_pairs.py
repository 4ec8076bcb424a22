"""Ranked Pairs (Tideman): majorities are locked in, the strongest first, unless one contradicts those before it."""

from collections.abc import Sequence
from itertools import groupby

from potluck.apps.polls.counting.pairwise import Matrix
from potluck.apps.polls.counting.record import LockedPair, Tie
from potluck.apps.polls.counting.schulze import places
from potluck.apps.polls.counting.ties import Chosen, Ties


def locked_pairs(matrix: Matrix, among: Sequence[int], ties: Ties) -> tuple[list[LockedPair], tuple[Tie, ...]]:
    """Every majority in the order of its strength and whether it was locked; and where only the lot order told.

    More votes for it are stronger; of those the one with fewer against. Equal ones go by the lot order: majorities
    against whoever it favours come last, and so are the first to give way.
    """
    majorities = [
        (a, b, matrix[a - 1][b - 1], matrix[b - 1][a - 1])
        for a in among
        for b in among
        if matrix[a - 1][b - 1] > matrix[b - 1][a - 1]
    ]
    majorities.sort(key=lambda each: (-each[2], each[3], -ties.place(each[1]), ties.place(each[0])))
    # Whom each candidate is above so far, directly or through others, as bits.
    above = {each: 1 << each for each in among}
    pairs: list[LockedPair] = []
    broken = []
    for (votes, against), equals in groupby(majorities, key=lambda each: (each[2], each[3])):
        equally_strong = list(equals)
        possible = {(a, b) for a, b, *_ in equally_strong if not above[b] >> a & 1}
        before = above.copy()
        refused = False
        for winner, loser, *_ in equally_strong:
            locked = not above[loser] >> winner & 1
            refused = refused or (not locked and (winner, loser) in possible)
            if locked and not above[winner] >> loser & 1:
                for each in among:
                    if above[each] >> winner & 1:
                        above[each] |= above[loser]
            pairs.append(LockedPair(winner, loser, votes, against, locked))
        if refused:
            # Each of these could have been locked, but not all of them: which were, only their order decided.
            tied = sorted({each for pair in _contradicting(possible, before) for each in pair})
            broken.append(Tie(over="pairs", candidates=tuple(tied), chosen=tuple(ties.by_lot(tied)), by_lot=True))
    return pairs, tuple(broken)


def _contradicting(pairs: set[tuple[int, int]], above: dict[int, int]) -> list[tuple[int, int]]:
    """The pairs that would be part of a circle if all of them were locked."""
    reach = above.copy()
    grown = True
    while grown:
        grown = False
        for winner, loser in pairs:
            more = reach[winner] | reach[loser]
            # Everyone above the winner is above the loser too.
            for each, below in reach.items():
                if below >> winner & 1 and below | more != below:
                    reach[each] = below | more
                    grown = True
    return [(winner, loser) for winner, loser in pairs if reach[loser] >> winner & 1]


def ranked_pairs(
    matrix: Matrix, among: Sequence[int], seats: int, ties: Ties
) -> tuple[list[LockedPair], list[int], Chosen]:
    """The pairs, everybody in order, and who is elected."""
    pairs, broken = locked_pairs(matrix, among, ties)
    locked = {(pair.winner, pair.loser) for pair in pairs if pair.locked}
    groups = places(among, lambda a, b: (a, b) in locked)
    order = [each for group in groups for each in ties.in_order(group)]
    elected, tied = ties.first(seats, groups, [None] * len(groups))
    return pairs, order, (elected, broken + tied)
