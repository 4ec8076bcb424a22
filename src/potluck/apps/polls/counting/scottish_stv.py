"""Single transferable vote as in the Scottish Local Government Elections Order 2007, rules 45 to 52."""

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.record import Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import FIXED_DECIMALS, Rules
from potluck.apps.polls.counting.stages import Stages
from potluck.apps.polls.counting.ties import Ties

UNITS = 10 ** FIXED_DECIMALS["scottish-stv"]


def scottish_stv(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their election, and the stages, each with the tallies after its transfer.

    The first stage has the first preferences. Each further one passes on one surplus, the largest first, or else the
    votes of the candidate with the fewest. A surplus of 0 is a stage too, as in the published reference counts.
    """
    stages = Stages(contest, UNITS)
    return _ScottishCount(contest, rules, ties, stages).run() if stages.valid else ((), ())


class _ScottishCount:
    def __init__(self, contest: Contest, rules: Rules, ties: Ties, stages: Stages) -> None:
        self.contest, self.ties, self.stages = contest, ties, stages
        self.seats = rules.seats
        self.tallies = stages.tallies
        # [46] of the valid papers, ignoring any decimal places, increased by one.
        self.quota = (stages.valid // UNITS // (self.seats + 1) + 1) * UNITS
        self.hopeful = set(self.tallies)
        self.pending: list[int] = []
        self.winners: list[int] = []

    def run(self) -> tuple[tuple[int, ...], tuple[Round, ...]]:
        self._stage("first-preferences")
        while not self._complete():
            if self.pending:
                # [49] The largest first; of equal ones, that of the candidate with more when they last differed.
                chosen, tie = self.ties.most(self.pending, self.tallies, self.stages.history[:-1], "surplus")
                self.pending.remove(chosen)
                self._stage("surplus", tie, transfer=self._surplus_of(chosen))
            else:
                write_ins = sorted(self.contest.undeclared & self.hopeful)
                tie = None
                if write_ins:
                    chosen = write_ins[0]
                else:
                    # [51] Of equal ones, the candidate with fewer when they last differed.
                    chosen, tie = self.ties.fewest(self.hopeful, self.tallies, self.stages.history[:-1])
                self.hopeful.remove(chosen)
                self._stage("exclusion", tie, transfer=self._everything_of(chosen), excluded=chosen)
        return tuple(self.winners), tuple(self.stages.rounds)

    def _electable(self) -> list[int]:
        return [candidate for candidate in self.hopeful if candidate not in self.contest.undeclared]

    def _complete(self) -> bool:
        return len(self.winners) >= self.seats or not self._electable()

    def _stage(
        self, reason: Reason, tie: Tie | None = None, transfer: Transfer | None = None, excluded: int | None = None
    ) -> None:
        """Elect the candidates who have the quota at this stage, and record it."""
        elected = [candidate for candidate in self._electable() if self.tallies[candidate] >= self.quota]
        self._elect(elected)
        eliminated = [] if excluded is None else [excluded]
        if len(self._electable()) <= self.seats - len(self.winners):
            # [52] As many are left as vacancies: they are elected, and nothing more is passed on.
            rest = self._electable()
            self._elect(rest)
            elected += rest
        if self._complete():
            # Their votes are not transferred any more; they are just not elected.
            eliminated += sorted(self.hopeful)
            self.hopeful.clear()
        in_order = [candidate for candidate in self.winners if candidate in elected]
        self.stages.record(reason, self.quota, in_order, eliminated, () if transfer is None else (transfer,), tie)

    def _elect(self, elected: list[int]) -> None:
        elected.sort(key=lambda candidate: (-self.tallies[candidate], self.ties.place(candidate)))
        self.winners += elected
        self.hopeful.difference_update(elected)
        self.stages.piles.close(elected)
        self.pending += [candidate for candidate in elected if self.tallies[candidate] >= self.quota]

    def _surplus_of(self, winner: int) -> Transfer:
        """[48] Each paper passes on at its value times the surplus by the votes, any remainder being ignored."""
        votes = self.tallies[winner]
        surplus = votes - self.quota
        return self.stages.pass_on(winner, surplus, lambda value: value * surplus // votes)

    def _everything_of(self, loser: int) -> Transfer:
        """[50] Each paper passes on at the value it was received with."""
        self.stages.piles.close([loser])
        return self.stages.pass_on(loser, self.tallies[loser])
