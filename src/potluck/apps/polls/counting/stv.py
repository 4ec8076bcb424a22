"""Single transferable vote by RCTab's multi-winner rules: weighted inclusive Gregory transfers, all who reach the quota
at once or one after the other."""

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.eliminations import added, below_minimum, fewest
from potluck.apps.polls.counting.irv import irv
from potluck.apps.polls.counting.piles import Piles
from potluck.apps.polls.counting.record import Cause, Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.ties import Ties


def stv(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their election, and the rounds as RCTab reports them.

    In a round either all who reach the quota are elected, or one is eliminated; what they give up is in the tallies of
    the next round. After the last election one more round shows what was beyond the quota.
    """
    if rules.seats == 1:
        return irv(contest, rules, ties)
    return _StvCount(contest, rules, ties).run()


class _StvCount:
    def __init__(self, contest: Contest, rules: Rules, ties: Ties) -> None:
        self.contest, self.rules, self.ties = contest, rules, ties
        self.units: int = 10 ** (rules.decimals or 0)
        self.piles = Piles(contest, self.units)
        self.winners: list[int] = []
        self.kept: dict[int, int] = {}
        self.exhausted: dict[Cause, int] = {}
        self.residual = 0
        self.history: list[dict[int, int]] = []
        self.rounds: list[Round] = []

    def run(self) -> tuple[tuple[int, ...], tuple[Round, ...]]:
        dealt = self.piles.deal()
        if not dealt.to:
            return (), ()
        self.tallies = {candidate: dealt.to.get(candidate, 0) for candidate in range(1, self.contest.candidates + 1)}
        self.exhausted = dealt.exhausted
        self.threshold = self._quota(sum(self.tallies.values()))
        while True:
            shown = {
                candidate: {**self.tallies, **self.kept}[candidate] for candidate in sorted({*self.tallies, *self.kept})
            }
            exhausted, residual = self.exhausted, self.residual
            eliminated: tuple[int, ...] = ()
            tie: Tie | None = None
            elected, reason, tie = self._elected()
            if elected:
                self.winners += elected
                left = self.tallies.keys() - self.contest.undeclared - set(elected)
                # With more seats than candidates there is nothing to show in a further round.
                more = bool(left) or len(self.winners) >= self.rules.seats
                transfers = self._pass_surpluses_on(elected) if more else []
            elif len(self.winners) < self.rules.seats:
                more = True
                eliminated, reason, tie = self._eliminated()
                transfers = self._pass_everything_on(eliminated)
            else:
                more, transfers = False, []
            self.rounds.append(
                Round(
                    number=len(self.rounds) + 1,
                    reason=reason,
                    tallies=shown,
                    threshold=self.threshold,
                    elected=tuple(elected),
                    eliminated=eliminated,
                    exhausted=exhausted,
                    residual=residual,
                    transfers=tuple(transfers),
                    ties=() if tie is None else (tie,),
                )
            )
            self.history.append(shown)
            if not more or len(self.rounds) == self.rules.stop_after:
                return tuple(self.winners), tuple(self.rounds)

    def _quota(self, active: int) -> int:
        """Droop: the least that no more candidates can have than there are seats. Hare: an equal part, rounded up."""
        step = 1 if self.rules.fractional_quota else self.units
        if self.rules.quota == "hare":
            return -(-active // (self.rules.seats * step)) * step
        return (active // ((self.rules.seats + 1) * step) + 1) * step

    def _elected(self) -> tuple[list[int], Reason, Tie | None]:
        unfilled = self.rules.seats - len(self.winners)
        if unfilled == 0:
            return [], "seats-filled", None
        if any(self.tallies.get(candidate) for candidate in self.contest.undeclared):
            return [], "fewest", None
        declared = [candidate for candidate in self.tallies if candidate not in self.contest.undeclared]
        reason: Reason
        if len(self.tallies) <= unfilled:
            elected, reason = declared, "seats-for-all"
        else:
            elected, reason = (
                [candidate for candidate in declared if self.tallies[candidate] >= self.threshold],
                "quota",
            )
        tie = None
        if self.rules.one_winner_per_round and len(elected) > 1:
            chosen, tie = self.ties.most(elected, self.tallies, self.history)
            elected = [chosen]
        elected.sort(key=lambda candidate: (-self.tallies[candidate], self.ties.place(candidate)))
        return elected, reason, tie

    def _eliminated(self) -> tuple[tuple[int, ...], Reason, Tie | None]:
        write_ins = tuple(candidate for candidate in sorted(self.contest.undeclared) if self.tallies.get(candidate))
        if write_ins:
            return write_ins, "write-ins-leave", None
        if low := below_minimum(self.tallies, self.rules, self.units):
            return tuple(low), "minimum", None
        loser, tie = fewest(self.tallies, self.contest.undeclared, self.ties, self.history)
        return (loser,), "fewest", tie

    def _pass_surpluses_on(self, elected: list[int]) -> list[Transfer]:
        self.piles.close(elected)
        had = {candidate: self.tallies.pop(candidate) for candidate in elected}
        return [self._pass_surplus_on(candidate, had[candidate]) for candidate in elected]

    def _pass_surplus_on(self, winner: int, votes: int) -> Transfer:
        surplus = max(votes - self.threshold, 0)
        self.kept[winner] = votes - surplus
        if not surplus:
            self.piles.give_up(winner)
            return Transfer(source=winner)
        # Both the part of each vote that passes on and what that makes of a ballot's value are cut off, never rounded
        # up, so that the winner cannot fall below the quota.
        part = surplus * self.units // votes

        def worth(value: int) -> int:
            return value * part // self.units

        if len(self.winners) == self.rules.seats:
            passed = self.piles.give_up(winner, worth)
            to: dict[int, int] = {}
            exhausted: dict[Cause, int] = {"finalRoundSurplus": passed} if passed else {}
        else:
            moved = self.piles.pass_on(winner, worth)
            to, exhausted = moved.to, moved.exhausted
        return self._moved(winner, to, exhausted, surplus)

    def _pass_everything_on(self, eliminated: tuple[int, ...]) -> list[Transfer]:
        self.piles.close(eliminated)
        had = {candidate: self.tallies.pop(candidate) for candidate in eliminated}
        transfers = []
        for candidate in eliminated:
            moved = self.piles.pass_on(candidate)
            transfers.append(self._moved(candidate, moved.to, moved.exhausted, had[candidate]))
        return transfers

    def _moved(self, source: int, to: dict[int, int], exhausted: dict[Cause, int], given_up: int) -> Transfer:
        for candidate, amount in to.items():
            self.tallies[candidate] += amount
        self.exhausted = added(self.exhausted, exhausted)
        residual = given_up - sum(to.values()) - sum(exhausted.values())
        self.residual += residual
        return Transfer(source=source, to=to, exhausted=exhausted, residual=residual)
