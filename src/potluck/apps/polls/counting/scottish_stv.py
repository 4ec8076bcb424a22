"""Single transferable vote as in the Scottish Local Government Elections Order 2007, rules 45 to 52."""

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.irv import added
from potluck.apps.polls.counting.piles import Piles, Worth, as_before
from potluck.apps.polls.counting.record import Cause, Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import SCOTTISH_DECIMALS, Rules
from potluck.apps.polls.counting.ties import Ties

__all__ = ["scottish_stv"]

UNITS = 10**SCOTTISH_DECIMALS


def scottish_stv(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their election, and the stages, each with the tallies after its transfer.

    The first stage has the first preferences. Each further one passes on one surplus, the largest first, or else the
    votes of whoever has the fewest. A surplus of nothing is a stage too, as in the published reference counts.
    """
    piles = Piles(contest, UNITS)
    dealt = piles.deal()
    if not dealt.to:
        return (), ()
    return _Count(contest, rules, ties, piles, dealt.to, dealt.exhausted).run()


class _Count:
    def __init__(
        self,
        contest: Contest,
        rules: Rules,
        ties: Ties,
        piles: Piles,
        first: dict[int, int],
        exhausted: dict[Cause, int],
    ) -> None:
        self.contest, self.ties, self.piles = contest, ties, piles
        self.seats = rules.seats
        self.tallies = {candidate: first.get(candidate, 0) for candidate in range(1, contest.candidates + 1)}
        self.exhausted = exhausted
        self.residual = 0
        # [46] of the valid papers, ignoring any decimal places, increased by one.
        self.quota = (sum(first.values()) // UNITS // (self.seats + 1) + 1) * UNITS
        self.hopeful = set(self.tallies)
        self.pending: list[int] = []
        self.winners: list[int] = []
        self.history: list[dict[int, int]] = []
        self.rounds: list[Round] = []

    def run(self) -> tuple[tuple[int, ...], tuple[Round, ...]]:
        self._stage("first-preferences")
        while not self._complete():
            if self.pending:
                # [49] The largest first; of equal ones whoever had more at the latest stage that tells them apart.
                chosen, tie = self.ties.most(self.pending, self.tallies, self.history[:-1], "surplus")
                self.pending.remove(chosen)
                self._stage("surplus", tie, transfer=self._surplus_of(chosen))
            else:
                write_ins = sorted(self.contest.undeclared & self.hopeful)
                tie = None
                if write_ins:
                    chosen = write_ins[0]
                else:
                    # [51] Of equal ones whoever had fewer at the latest stage that tells them apart.
                    chosen, tie = self.ties.fewest(self.hopeful, self.tallies, self.history[:-1])
                self.hopeful.remove(chosen)
                self._stage("exclusion", tie, transfer=self._everything_of(chosen), excluded=chosen)
        return tuple(self.winners), tuple(self.rounds)

    def _electable(self) -> list[int]:
        return [each for each in self.hopeful if each not in self.contest.undeclared]

    def _complete(self) -> bool:
        return len(self.winners) >= self.seats or not self._electable()

    def _stage(
        self, reason: Reason, tie: Tie | None = None, transfer: Transfer | None = None, excluded: int | None = None
    ) -> None:
        """Elect whom this stage gave the quota, and record it."""
        elected = [each for each in self._electable() if self.tallies[each] >= self.quota]
        self._elect(elected)
        eliminated = [] if excluded is None else [excluded]
        if len(self._electable()) <= self.seats - len(self.winners):
            # [52] As many are left as vacancies: they are elected, and nothing more is passed on.
            rest = self._electable()
            self._elect(rest)
            elected += rest
        if self._complete():
            # Nobody passes on their votes any more; they are just not elected.
            eliminated += sorted(self.hopeful)
            self.hopeful.clear()
        shown = self.tallies.copy()
        self.rounds.append(
            Round(
                number=len(self.rounds) + 1,
                reason=reason,
                tallies=shown,
                threshold=self.quota,
                elected=tuple(each for each in self.winners if each in elected),
                eliminated=tuple(eliminated),
                exhausted=self.exhausted,
                residual=self.residual,
                transfers=() if transfer is None else (transfer,),
                ties=() if tie is None else (tie,),
            )
        )
        self.history.append(shown)

    def _elect(self, elected: list[int]) -> None:
        elected.sort(key=lambda each: (-self.tallies[each], self.ties.place(each)))
        self.winners += elected
        self.hopeful.difference_update(elected)
        self.piles.close(elected)
        self.pending += [each for each in elected if self.tallies[each] >= self.quota]

    def _surplus_of(self, winner: int) -> Transfer:
        """[48] Each paper passes on at its value times the surplus by the votes, any remainder being ignored."""
        votes = self.tallies[winner]
        surplus = votes - self.quota
        return self._passed_on(winner, surplus, lambda value: value * surplus // votes)

    def _everything_of(self, loser: int) -> Transfer:
        """[50] Each paper passes on at the value it was received with."""
        self.piles.close([loser])
        return self._passed_on(loser, self.tallies[loser])

    def _passed_on(self, source: int, given_up: int, worth: Worth = as_before) -> Transfer:
        moved = self.piles.pass_on(source, worth)
        self.tallies[source] -= given_up
        for candidate, amount in moved.to.items():
            self.tallies[candidate] += amount
        self.exhausted = added(self.exhausted, moved.exhausted)
        residual = given_up - sum(moved.to.values()) - sum(moved.exhausted.values())
        self.residual += residual
        return Transfer(source=source, to=moved.to, exhausted=moved.exhausted, residual=residual)
