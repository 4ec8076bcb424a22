"""Ties: earlier rounds decide, the latest first, then the tied head to head, then the published lot order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from potluck.apps.polls.counting.pairwise import Matrix, dominating
from potluck.apps.polls.counting.record import Tie, TieStep
from potluck.apps.polls.counting.rules import TieRule
from potluck.apps.polls.counting.seeded_draws import SeededDraws


class Ties:
    """The lot order starts with the most favoured: the first of the tied wins, the last of them is eliminated."""

    def __init__(
        self,
        lot_order: Sequence[int],
        rule: TieRule | None = "previous-rounds",
        seed: int | None = None,
        matrix: Matrix = (),
    ) -> None:
        """With a seed, every tie is drawn separately, among the tied in this order; `matrix` is for `head-to-head`."""
        self._place = {candidate: place for place, candidate in enumerate(lot_order)}
        self._looks_back = rule in ("previous-rounds", "head-to-head")
        self._matrix = matrix if rule == "head-to-head" else ()
        self._draws = None if seed is None else SeededDraws(seed)

    def by_lot(self, candidates: Iterable[int]) -> list[int]:
        """The most favoured first."""
        return sorted(candidates, key=self._place.__getitem__)

    def place(self, candidate: int) -> int:
        return self._place[candidate]

    def fewest(
        self, among: Iterable[int], tallies: Mapping[int, int], history: Sequence[Mapping[int, int]]
    ) -> tuple[int, Tie | None]:
        """Who has the fewest votes, and the tie that had to be broken for it."""
        return self._extreme(min, among, tallies, history, "elimination")

    def most(
        self,
        among: Iterable[int],
        tallies: Mapping[int, int],
        history: Sequence[Mapping[int, int]],
        over: Literal["election", "surplus"] = "election",
    ) -> tuple[int, Tie | None]:
        """Who has the most votes, and the tie that had to be broken for it."""
        return self._extreme(max, among, tallies, history, over)

    def surplus_by_one_order(
        self, among: Iterable[int], tallies: Mapping[int, int], history: Sequence[Mapping[int, int]]
    ) -> tuple[int, Tie | None]:
        """Whose surplus is transferred first under rules with one order for all ties: the one eliminated first."""
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
        votes = extreme(tallies[candidate] for candidate in among)
        tied = sorted(candidate for candidate in among if tallies[candidate] == votes)
        if len(tied) == 1:
            return tied[0], None
        left = tied
        steps = []
        if self._looks_back:
            for number in range(len(history), 0, -1):
                then = history[number - 1]
                best = extreme(then[candidate] for candidate in left)
                still = [candidate for candidate in left if then[candidate] == best]
                if len(still) < len(left):
                    left = still
                    steps.append(TieStep(number, tuple(left)))
                if len(left) == 1:
                    break
        pairs_left: tuple[int, ...] = ()
        if len(left) > 1 and self._matrix:
            still = dominating(self._matrix, left, beaten=extreme is min)
            if len(still) < len(left):
                left = still
                pairs_left = tuple(left)
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
            head_to_head=pairs_left,
            by_lot=len(left) > 1,
        )

    def in_order(self, group: Sequence[int]) -> list[int]:
        """Candidates with equal votes, in the order in which they are elected."""
        return [candidate for tier in self._tiers(group) for candidate in tier]

    def first(self, seats: int, groups: Sequence[Sequence[int]], votes: Sequence[int | None]) -> "Chosen":
        """The winners of the seats, out of groups of equals, best group first, and the tie within the last one."""
        chosen: list[int] = []
        for group, group_votes in zip(groups, votes, strict=True):
            room = seats - len(chosen)
            if room <= 0:
                break
            if len(group) <= room:
                chosen += self.in_order(group)
                continue
            above: list[int] = []
            for tier in self._tiers(group):
                above += tier
                if len(above) >= room:
                    break
            favoured = above[:room]
            tie = Tie(
                over="election",
                candidates=tuple(sorted(group)),
                chosen=tuple(favoured),
                votes=group_votes,
                head_to_head=tuple(sorted(above)) if len(above) < len(group) else (),
                by_lot=len(above) > room,
            )
            return (*chosen, *favoured), (tie,)
        return tuple(chosen), ()

    def _tiers(self, group: Sequence[int]) -> list[list[int]]:
        """Candidates with equal votes, by who beats all the others head to head, then by lot."""
        left = list(group)
        tiers = []
        while left:
            best = dominating(self._matrix, left) if self._matrix else left
            tiers.append(self.by_lot(best))
            left = [candidate for candidate in left if candidate not in best]
        return tiers


Chosen = tuple[tuple[int, ...], tuple[Tie, ...]]
