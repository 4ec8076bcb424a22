"""Ballots in piles, one for each candidate, and how they pass on when a pile is given up."""

from collections.abc import Iterable
from dataclasses import dataclass

from potluck.apps.polls.counting.ballots import CAUSES, Contest
from potluck.apps.polls.counting.record import Cause

__all__ = ["Moved", "Piles"]

OUT, IN, SEVERAL, END = range(4)


@dataclass(slots=True)
class Moved:
    """Where ballots went, in amounts; what is nothing is not listed."""

    to: dict[int, int]
    exhausted: dict[Cause, int]


class Piles:
    def __init__(self, contest: Contest, units: int = 1) -> None:
        self._contest = contest
        # What all ballots of one ranking are worth together.
        self.worth = [count * units for count in contest.counts] if units > 1 else contest.counts.copy()
        self._at = [-1] * len(contest.paths)
        # By path entry. The ends are negative numbers, and so are found at the back.
        self._status = [OUT, *[IN] * contest.candidates, *[SEVERAL] * len(contest.several), *[END] * len(CAUSES)]
        self.piles: list[list[int]] = [[] for _ in range(contest.candidates + 1)]

    def deal(self) -> Moved:
        """Give every ballot to its first choice."""
        return self._move(range(len(self._contest.paths)))

    def close(self, candidates: Iterable[int]) -> None:
        """From now on these are passed over."""
        for candidate in candidates:
            self._status[candidate] = OUT

    def pass_on(self, candidate: int) -> Moved:
        """Move a closed candidate's ballots to the next choice that is still open."""
        pile, self.piles[candidate] = self.piles[candidate], []
        return self._move(pile)

    def _move(self, ballots: Iterable[int]) -> Moved:
        paths, worth, places, status, piles = self._contest.paths, self.worth, self._at, self._status, self.piles
        to = [0] * len(piles)
        lost = dict.fromkeys(CAUSES, 0)
        for ballot in ballots:
            path = paths[ballot]
            at = places[ballot]
            try:
                while True:
                    at += 1
                    entry = path[at]
                    found = status[entry]
                    if found == OUT:
                        continue
                    if found == IN:
                        break
                    if found == END:
                        raise IndexError
                    still = [each for each in self._contest.several[entry - len(piles)] if status[each] == IN]
                    if len(still) == 1:
                        entry = still[0]
                        break
                    if still:
                        entry = -2
                        raise IndexError
            except IndexError:
                # Running out of choices is the commonest end and the only one that no entry stands for.
                cause = CAUSES[0] if at >= len(path) else CAUSES[-entry - 1]
                lost[cause] += worth[ballot]
                continue
            places[ballot] = at
            piles[entry].append(ballot)
            to[entry] += worth[ballot]
        return Moved(
            {candidate: amount for candidate, amount in enumerate(to) if amount},
            {cause: amount for cause, amount in lost.items() if amount},
        )
