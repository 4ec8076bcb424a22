"""Schulze's method: the winner's strongest path to every other candidate is at least as strong as the path back."""

from collections.abc import Callable, Sequence

from potluck.apps.polls.counting.pairwise import Matrix
from potluck.apps.polls.counting.ties import Chosen, Ties


def strongest_paths(matrix: Matrix, among: Sequence[int]) -> Matrix:
    """paths[a - 1][b - 1]: the strength of the strongest path from a to b, which is that of its weakest majority.

    A majority is as strong as the votes for it ("winning votes").
    """
    size = len(matrix)
    paths = [[0] * size for _ in range(size)]
    for a in among:
        for b in among:
            if a != b and matrix[a - 1][b - 1] > matrix[b - 1][a - 1]:
                paths[a - 1][b - 1] = matrix[a - 1][b - 1]
    for middle in among:
        onward = paths[middle - 1]
        for a in among:
            if a == middle:
                continue
            there = paths[a - 1][middle - 1]
            if not there:
                continue
            row = paths[a - 1]
            for b in among:
                if b != a and b != middle:
                    through = there if there < onward[b - 1] else onward[b - 1]
                    if through > row[b - 1]:
                        row[b - 1] = through
    return tuple(map(tuple, paths))


def places(among: Sequence[int], beats: Callable[[int, int], bool]) -> list[list[int]]:
    """Groups of equals, best first: those that no candidate beats, then those that none of the rest beats, …"""
    left = sorted(among)
    groups = []
    while left:
        unbeaten = [a for a in left if not any(beats(b, a) for b in left if b != a)]
        groups.append(unbeaten)
        left = [a for a in left if a not in unbeaten]
    return groups


def schulze(matrix: Matrix, among: Sequence[int], seats: int, ties: Ties) -> tuple[Matrix, list[int], Chosen]:
    """The strongest paths, the candidates in order, and who is elected."""
    paths = strongest_paths(matrix, among)
    groups = places(among, lambda a, b: paths[a - 1][b - 1] > paths[b - 1][a - 1])
    order = [candidate for group in groups for candidate in ties.in_order(group)]
    return paths, order, ties.first(seats, groups, [None] * len(groups))
