"""Borda's count: on each ballot, a candidate has one point for every candidate who is ranked lower or not at all."""

from collections.abc import Sequence

from potluck.apps.polls.counting.pairwise import Matrix
from potluck.apps.polls.counting.plurality import by_votes
from potluck.apps.polls.counting.ties import Chosen, Ties


def borda(matrix: Matrix, among: Sequence[int], seats: int, ties: Ties) -> tuple[dict[int, int], list[int], Chosen]:
    """Each candidate's points, the candidates in order, and who is elected.

    With n candidates, a first place is worth n - 1 points, the next n - 2, …, and no place none: a candidate's points
    are how often the candidate was preferred to another.
    """
    points = {candidate: sum(row) for candidate, row in enumerate(matrix, 1)}
    return points, *by_votes(points, among, seats, ties)
