"""Pairwise comparisons: the matrix of pairs, the strongest paths, and the majorities that were locked in."""

from collections.abc import Sequence
from typing import NamedTuple

from potluck.apps.polls.pages.charts.chart_data import ChartData
from potluck.web import formats

# What fits on a phone, the best candidates first; all rows and columns are shown on request.
PAIRS_SHOWN = 5
LOCKED_SHOWN = 20
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Pair(NamedTuple):
    value: str
    win: bool
    same: bool


class PairLine(NamedTuple):
    letter: str
    name: str
    cells: list[Pair]


class Locked(NamedTuple):
    winner: str
    loser: str
    votes: str
    against: str
    locked: bool


def matrix_lines(data: ChartData, matrix: Sequence[Sequence[int]], order: Sequence[int]) -> list[PairLine]:
    """A row and a column for each of these candidates, labelled by letters."""
    return [
        PairLine(
            _letter(place, len(order)),
            data.name(number),
            [_pair(matrix, number, other) for other in order],
        )
        for place, number in enumerate(order)
    ]


def locked_pairs(data: ChartData, whole: bool) -> list[Locked]:
    """Majorities, strongest first; unless `whole`, only the first few."""
    pairs = data.record.pairs if whole else data.record.pairs[:LOCKED_SHOWN]
    return [
        Locked(
            data.name(pair.winner),
            data.name(pair.loser),
            formats.number_text(pair.votes),
            formats.number_text(pair.against),
            pair.locked,
        )
        for pair in pairs
    ]


def _pair(matrix: Sequence[Sequence[int]], number: int, other: int) -> Pair:
    if other == number:
        return Pair("", False, True)
    votes, against = matrix[number - 1][other - 1], matrix[other - 1][number - 1]
    return Pair(formats.number_text(votes), votes > against, False)


def _letter(place: int, of: int) -> str:
    return LETTERS[place] if of <= len(LETTERS) else str(place + 1)
