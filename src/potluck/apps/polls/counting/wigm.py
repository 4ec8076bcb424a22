"""Weighted inclusive Gregory by the reference rule of the Proportional Representation Foundation.

Every ballot of an elected candidate is transferred at the same fraction of its value; every product and every quotient
is truncated to the last decimal.
"""

from collections.abc import Iterable
from itertools import pairwise

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.record import Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.stages import Stages
from potluck.apps.polls.counting.ties import Ties


def wigm(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their election, and the rounds, the first preferences before them.

    As in the reference reports, a candidate who reaches the quota is elected in the following round, and the round that
    decides the count still makes its transfer. The rule has no undeclared candidates: they are withdrawn.
    """
    stages = Stages(contest, 10 ** (rules.decimals or 0), contest.undeclared)
    return _WigmCount(rules, ties, stages).run() if stages.valid else ((), ())


class _WigmCount:
    def __init__(self, rules: Rules, ties: Ties, stages: Stages) -> None:
        self.rules, self.ties, self.stages = rules, ties, stages
        self.units: int = 10 ** (rules.decimals or 0)
        self.tallies = stages.tallies
        # [A.1]
        step = 1 if rules.fractional_quota else self.units
        self.quota = (stages.valid // ((rules.seats + 1) * step) + 1) * step
        self.hopeful = set(self.tallies)
        self.pending: list[int] = []
        self.winners: list[int] = []

    @property
    def unfilled(self) -> int:
        return self.rules.seats - len(self.winners)

    @property
    def complete(self) -> bool:
        """[D.3]"""
        return self.unfilled <= 0 or len(self.hopeful) <= self.unfilled

    def run(self) -> tuple[tuple[int, ...], tuple[Round, ...]]:
        self._record("first-preferences", [], [])
        while not self.complete:
            elected = self._elect_those_with_the_quota()
            losers = self._sure_losers() if self.rules.batch_elimination else []
            if losers:
                self.hopeful.difference_update(losers)
                # [B.2] Votes of the last to be defeated stay with them.
                transfers = [] if self.complete else self._everything_of(losers)
                self._record("sure-losers", elected, losers, transfers)
            elif self.pending:
                # [B.3]
                chosen, tie = self.ties.surplus_by_one_order(self.pending, self.tallies, self.stages.history)
                self.pending.remove(chosen)
                self._record("surplus", elected, [], [self._surplus_of(chosen)], tie)
            else:
                # [B.4]
                chosen, tie = self.ties.fewest(self.hopeful, self.tallies, self.stages.history)
                self.hopeful.remove(chosen)
                self._record("exclusion", elected, [chosen], self._everything_of([chosen]), tie)
        return tuple(self.winners), tuple(self.stages.rounds)

    def _elect_those_with_the_quota(self) -> list[int]:
        """[B.1]"""
        elected = self._most_first(candidate for candidate in self.hopeful if self.tallies[candidate] >= self.quota)
        self.hopeful.difference_update(elected)
        self.stages.piles.close(elected)
        self.pending += elected
        self.winners += elected
        return elected

    def _most_first(self, candidates: Iterable[int]) -> list[int]:
        return sorted(candidates, key=lambda candidate: (-self.tallies[candidate], self.ties.place(candidate)))

    def _sure_losers(self) -> list[int]:
        surplus = sum(self.tallies[candidate] - self.quota for candidate in self.pending)
        return sure_losers(
            {candidate: self.tallies[candidate] for candidate in self.hopeful},
            surplus,
            len(self.hopeful) - self.unfilled,
        )

    def _surplus_of(self, winner: int) -> Transfer:
        votes = self.tallies[winner]
        surplus = votes - self.quota

        def worth(value: int) -> int:
            # [D.4] Cut off after the product, and again after the quotient.
            return value * surplus // self.units * self.units // votes

        return self.stages.pass_on(winner, surplus, worth)

    def _everything_of(self, losers: list[int]) -> list[Transfer]:
        self.stages.piles.close(losers)
        return [self.stages.pass_on(loser, self.tallies[loser]) for loser in losers]

    def _record(
        self,
        reason: Reason,
        elected: list[int],
        eliminated: list[int],
        transfers: list[Transfer] | None = None,
        tie: Tie | None = None,
    ) -> None:
        if self.complete:
            # [C] Those left are elected, or there is no seat left for them.
            rest = self._most_first(self.hopeful)
            if self.unfilled > 0:
                elected = elected + rest
                self.winners += rest
            else:
                eliminated = eliminated + sorted(rest)
            self.hopeful.clear()
        self.stages.record(reason, self.quota, elected, eliminated, transfers or [], tie)


def sure_losers(tallies: dict[int, int], surplus: int, most: int) -> list[int]:
    """The largest group at the bottom, of at most `most`, that even with every surplus has less than the next."""
    losers: list[int] = []
    together: list[int] = []
    votes = 0
    levels = sorted(set(tallies.values()))
    for level, following in pairwise(levels):
        same = sorted(candidate for candidate in tallies if tallies[candidate] == level)
        together = [*together, *same]
        if len(together) > most:
            break
        votes += level * len(same)
        if votes + surplus < following:
            losers = together
    return losers
