"""Equal votes: earlier rounds decide, the latest first, and then the lot order that was published beforehand."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from potluck.apps.polls.counting.record import Tie, TieStep
from potluck.apps.polls.counting.rules import TieRule
from potluck.apps.polls.counting.seeded_draws import SeededDraws

__all__ = ["Ties"]


class Ties:
    """The lot order names first who is favoured: the first of the tied wins, the last of them is eliminated."""

    def __init__(
        self, lot_order: Sequence[int], rule: TieRule | None = "previous-rounds", seed: int | None = None
    ) -> None:
        """With a seed, every tie is drawn for itself, among the tied in this order."""
        self._place = {candidate: place for place, candidate in enumerate(lot_order)}
        self._rule = rule
        self._draws = None if seed is None else SeededDraws(seed)

    def by_lot(self, candidates: Iterable[int]) -> list[int]:
        """The most favoured first."""
        return sorted(candidates, key=self._place.__getitem__)

    def place(self, candidate: int) -> int:
        return self._place[candidate]

    def fewest(
        self, among: Iterable[int], tallies: Mapping[int, int], history: Sequence[Mapping[int, int]]
    ) -> tuple[int, Tie | None]:
        """Who has the fewest votes, and the tie that had to be broken to say so."""
        return self._extreme(min, among, tallies, history, "elimination")

    def most(
        self,
        among: Iterable[int],
        tallies: Mapping[int, int],
        history: Sequence[Mapping[int, int]],
        over: Literal["election", "surplus"] = "election",
    ) -> tuple[int, Tie | None]:
        """Who has the most votes, and the tie that had to be broken to say so."""
        return self._extreme(max, among, tallies, history, over)

    def surplus_by_one_order(
        self, among: Iterable[int], tallies: Mapping[int, int], history: Sequence[Mapping[int, int]]
    ) -> tuple[int, Tie | None]:
        """Whose surplus is transferred first, under rules with one order for all ties: the first to be eliminated."""
        return self._extreme(max, among, tallies, history, "surplus", from_the_end=True)

    def _extreme(
        self,
        extreme: Callable[[Iterable[int]], int],
        among: Iterable[int],
        tallies: Mapping[int, int],
        history: Sequence[Mapping[int, int]],
        over: Literal["elimination", "election", "surplus"],
        *,
        from_the_end: bool = False,
    ) -> tuple[int, Tie | None]:
        among = list(among)
        votes = extreme(tallies[each] for each in among)
        tied = sorted(each for each in among if tallies[each] == votes)
        if len(tied) == 1:
            return tied[0], None
        left = tied
        steps = []
        if self._rule == "previous-rounds":
            for number in range(len(history), 0, -1):
                then = history[number - 1]
                best = extreme(then[each] for each in left)
                still = [each for each in left if then[each] == best]
                if len(still) < len(left):
                    left = still
                    steps.append(TieStep(number, tuple(left)))
                if len(left) == 1:
                    break
        lots = self.by_lot(left)
        if len(left) > 1 and self._draws is not None:
            chosen = lots[self._draws.below(len(lots))]
        else:
            chosen = lots[-1] if over == "elimination" or from_the_end else lots[0]
        return chosen, Tie(
            over=over,
            candidates=tuple(tied),
            chosen=(chosen,),
            votes=votes,
            steps=tuple(steps),
            by_lot=len(left) > 1,
        )

    def first(self, wanted: int, groups: Sequence[Sequence[int]], votes: Sequence[int | None]) -> "Chosen":
        """The first `wanted` out of groups of equals, best group first; the lot order decides within the last one."""
        chosen: list[int] = []
        for group, each in zip(groups, votes, strict=True):
            room = wanted - len(chosen)
            if room <= 0:
                break
            favoured = self.by_lot(group)
            chosen += favoured[:room]
            if len(group) > room:
                tie = Tie(
                    over="election",
                    candidates=tuple(sorted(group)),
                    chosen=tuple(favoured[:room]),
                    votes=each,
                    by_lot=True,
                )
                return tuple(chosen), (tie,)
        return tuple(chosen), ()


Chosen = tuple[tuple[int, ...], tuple[Tie, ...]]
