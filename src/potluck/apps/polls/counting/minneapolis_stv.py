"""Single transferable vote as in the Minneapolis Code of Ordinances, section 167.70."""

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.record import Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import FIXED_DECIMALS, Rules
from potluck.apps.polls.counting.stages import Stages
from potluck.apps.polls.counting.ties import Ties
from potluck.apps.polls.counting.wigm import sure_losers

UNITS = 10 ** FIXED_DECIMALS["minneapolis-stv"]


def minneapolis_stv(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their election, and the rounds, each with the tallies after its transfers.

    A candidate who reaches the threshold stays in the count, and receives votes, until their surplus is transferred.
    """
    stages = Stages(contest, UNITS)
    return _MinneapolisCount(contest, rules, ties, stages).run() if stages.valid else ((), ())


class _MinneapolisCount:
    def __init__(self, contest: Contest, rules: Rules, ties: Ties, stages: Stages) -> None:
        self.contest, self.ties, self.stages = contest, ties, stages
        self.seats = rules.seats
        self.tallies = stages.tallies
        # [167.20] Votes by one more than the seats, increased by one, fractions disregarded.
        self.threshold = (stages.valid // UNITS // (self.seats + 1) + 1) * UNITS
        self.continuing = set(self.tallies)
        self.winners: list[int] = []

    @property
    def unfilled(self) -> int:
        return self.seats - len(self.winners)

    @property
    def declared(self) -> list[int]:
        return [candidate for candidate in sorted(self.continuing) if candidate not in self.contest.undeclared]

    @property
    def at_threshold(self) -> list[int]:
        return [candidate for candidate in self.declared if self.tallies[candidate] >= self.threshold]

    @property
    def enough_at_threshold(self) -> bool:
        return len(self.at_threshold) >= self.unfilled

    def run(self) -> tuple[tuple[int, ...], tuple[Round, ...]]:
        self._record("first-preferences", [], [])
        while self.unfilled and self.declared:
            self._round()
        return tuple(self.winners), tuple(self.stages.rounds)

    def _round(self) -> None:
        # [c] Undeclared write-ins leave at the beginning of the second round.
        losers = self._certain_losers()
        if len(self.stages.rounds) == 1:
            losers = [*sorted(self.contest.undeclared & self.continuing), *losers]
        if losers:
            self._record("sure-losers", [], losers, self._everything_of(losers))
        elif self.at_threshold:
            # [d]
            elected, tie = self.ties.surplus_by_one_order(self.at_threshold, self.tallies, self.stages.history)
            self.continuing.remove(elected)
            self.winners.append(elected)
            self._record("surplus", [elected], [], [self._surplus_of(elected)], tie)
        elif len(self.declared) > self.unfilled:
            # [e] Votes of the last to be defeated stay with them.
            loser, tie = self.ties.fewest(self.continuing, self.tallies, self.stages.history)
            last = len(self.declared) - 1 <= self.unfilled
            self.continuing.remove(loser)
            transfers = [] if last else self._everything_of([loser])
            self._record("exclusion", [], [loser], transfers, tie, finish=last)
        else:
            self._record("left-over", [], [], finish=True)

    def _certain_losers(self) -> list[int]:
        """[167.20] Those who cannot be elected any more, even with all that others may yet pass on."""
        tallies = {candidate: self.tallies[candidate] for candidate in self.declared}
        to_come = sum(self.tallies[candidate] - self.threshold for candidate in self.at_threshold)
        to_come += sum(self.tallies[candidate] for candidate in self.contest.undeclared & self.continuing)
        return sure_losers(tallies, to_come, len(tallies) - self.unfilled)

    def _surplus_of(self, winner: int) -> Transfer:
        votes = self.tallies[winner]
        surplus = votes - self.threshold
        # [167.20] The surplus fraction, and then its product with a ballot's value, each to four decimals.
        fraction = surplus * UNITS // votes
        self.stages.piles.close([winner])
        return self.stages.pass_on(winner, surplus, lambda value: value * fraction // UNITS)

    def _everything_of(self, losers: list[int]) -> list[Transfer]:
        self.continuing.difference_update(losers)
        self.stages.piles.close(losers)
        return [self.stages.pass_on(loser, self.tallies[loser]) for loser in losers]

    def _record(
        self,
        reason: Reason,
        elected: list[int],
        eliminated: list[int],
        transfers: list[Transfer] | None = None,
        tie: Tie | None = None,
        *,
        finish: bool = False,
    ) -> None:
        """[a, f] The candidates who fill the last seats with this round's votes are elected in it; the others leave."""
        last = self.at_threshold if self.unfilled and self.enough_at_threshold else self.declared if finish else []
        if last or not self.unfilled:
            last = sorted(last, key=lambda candidate: (-self.tallies[candidate], self.ties.place(candidate)))
            self.winners += last
            elected = elected + last
            self.continuing.difference_update(last)
            eliminated = eliminated + sorted(self.continuing)
            self.continuing.clear()
        self.stages.record(reason, self.threshold, elected, eliminated, transfers or [], tie)
