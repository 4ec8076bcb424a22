"""Ballots in piles, one for each candidate, and their transfer to the next choices."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from potluck.apps.polls.counting.ballots import CAUSES, Contest
from potluck.apps.polls.counting.record import Cause

OUT, IN, SEVERAL, END = range(4)

Worth = Callable[[int], int]
"""A ballot's value after a transfer, from its value before."""


def as_before(value: int) -> int:
    return value


@dataclass(slots=True)
class Transfers:
    """Where ballots went, in amounts; zeros are left out."""

    to: dict[int, int]
    exhausted: dict[Cause, int]


class Piles:
    """Each pile consists of parcels of ballots of equal value, so that a transfer value is calculated once per parcel.

    A ballot here is a ranking: all votes that gave it move together.
    """

    def __init__(self, contest: Contest, value: int = 1) -> None:
        """`value` is each ballot's initial value, in units of amounts."""
        self._contest = contest
        self._value = value
        self._at = [-1] * len(contest.paths)
        # Indexed by path entry: causes of exhaustion are negative, and so index from the back.
        self._status = [OUT, *[IN] * contest.candidates, *[SEVERAL] * len(contest.several), *[END] * len(CAUSES)]
        # By candidate, then by the value of one ballot.
        self._piles: list[dict[int, list[int]]] = [{} for _ in range(contest.candidates + 1)]

    def deal(self) -> Transfers:
        """Give every ballot to its first choice."""
        return _summed([self._move(range(len(self._contest.paths)), self._value)])

    def close(self, candidates: Iterable[int]) -> None:
        """Transfers skip these candidates from now on."""
        for candidate in candidates:
            self._status[candidate] = OUT

    def pass_on(self, candidate: int, worth: Worth = as_before) -> Transfers:
        """Transfer a closed candidate's ballots to the next open choice, at the value that `worth` gives."""
        pile, self._piles[candidate] = self._piles[candidate], {}
        return _summed([self._move(parcel, worth(value)) for value, parcel in pile.items()])

    def give_up(self, candidate: int, worth: Worth = as_before) -> int:
        """Take a candidate's ballots out of the count; returns the amount they would have transferred."""
        pile, self._piles[candidate] = self._piles[candidate], {}
        return sum(worth(value) * self._votes(parcel) for value, parcel in pile.items())

    def _votes(self, ballots: Iterable[int]) -> int:
        return sum(map(self._contest.counts.__getitem__, ballots))

    def _move(self, ballots: Iterable[int], value: int) -> Transfers:
        paths, places, status, several = self._contest.paths, self._at, self._status, self._contest.several
        piles = len(self._piles)
        arrived: list[list[int]] = [[] for _ in range(piles)]
        lost: dict[Cause, list[int]] = {cause: [] for cause in CAUSES}
        for ballot in ballots:
            path = paths[ballot]
            at = places[ballot]
            try:
                while True:
                    at += 1
                    entry = path[at]
                    state = status[entry]
                    if state == OUT:
                        continue
                    if state == IN:
                        break
                    if state == END:
                        raise IndexError
                    still = [candidate for candidate in several[entry - piles] if status[candidate] == IN]
                    if len(still) == 1:
                        entry = still[0]
                        break
                    if still:
                        entry = -2
                        raise IndexError
            except IndexError:
                # Running out of choices is the most common end, and the only one that has no path entry.
                cause = CAUSES[0] if at >= len(path) else CAUSES[-entry - 1]
                lost[cause].append(ballot)
                continue
            places[ballot] = at
            arrived[entry].append(ballot)
        for candidate, parcel in enumerate(arrived):
            if parcel:
                self._piles[candidate].setdefault(value, []).extend(parcel)
        return Transfers(
            {candidate: value * self._votes(parcel) for candidate, parcel in enumerate(arrived) if parcel},
            {cause: value * self._votes(ended) for cause, ended in lost.items() if ended},
        )


def _summed(moved: list[Transfers]) -> Transfers:
    """The sum, with candidates and causes in their own order."""
    to: dict[int, int] = {}
    lost: dict[Cause, int] = {}
    for transfers in moved:
        for candidate, amount in transfers.to.items():
            to[candidate] = to.get(candidate, 0) + amount
        for cause, amount in transfers.exhausted.items():
            lost[cause] = lost.get(cause, 0) + amount
    return Transfers(
        {candidate: to[candidate] for candidate in sorted(to) if to[candidate]},
        {cause: lost[cause] for cause in CAUSES if lost.get(cause)},
    )
