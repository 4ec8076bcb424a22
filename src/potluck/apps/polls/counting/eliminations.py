"""Elimination round by round, as in RCTab's reports: tallies first, then what was decided on them."""

from collections.abc import Collection

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.piles import Piles
from potluck.apps.polls.counting.record import Cause, Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.ties import Ties


class Eliminations:
    """The candidates still in the count with their votes, and the rounds so far."""

    def __init__(
        self,
        contest: Contest,
        rules: Rules,
        ties: Ties,
        *,
        excluded: Collection[int] = (),
        seat: int = 1,
        unit: int = 1,
    ) -> None:
        """Ballots are counted as if the `excluded` were not on them; these rounds fill the `seat`; a vote is worth a
        `unit`."""
        self.contest, self.rules, self.ties = contest, rules, ties
        self.seat, self.unit = seat, unit
        self.candidates = [candidate for candidate in range(1, contest.candidates + 1) if candidate not in excluded]
        self.undeclared = contest.undeclared - set(excluded)
        self.piles = Piles(contest, unit)
        self.piles.close(excluded)
        dealt = self.piles.deal()
        self.empty = not dealt.to
        self.tallies = {candidate: dealt.to.get(candidate, 0) for candidate in self.candidates}
        self.exhausted: dict[Cause, int] = dealt.exhausted
        self.eliminated_so_far = 0
        self.history: list[dict[int, int]] = []
        self.rounds: list[Round] = []

    @property
    def active(self) -> int:
        return sum(self.tallies.values())

    @property
    def declared(self) -> list[int]:
        return [candidate for candidate in self.tallies if candidate not in self.undeclared]

    @property
    def write_ins(self) -> list[int]:
        """Undeclared candidates with votes, who are eliminated before anything else is decided."""
        return [candidate for candidate in sorted(self.undeclared) if self.tallies.get(candidate)]

    @property
    def stopped(self) -> bool:
        return self.rules.stop_after is not None and len(self.rounds) >= self.rules.stop_after

    def leaving(self, together: list[int], why: Reason) -> tuple[list[int], Reason, Tie | None]:
        """Who is eliminated in this round: write-ins, those below the minimum, those `together`, or the last one."""
        if write_ins := self.write_ins:
            return write_ins, "write-ins-leave", None
        if low := below_minimum(self.tallies, self.rules, self.unit):
            return low, "minimum", None
        if len(together) > 1:
            return together, why, None
        loser, tie = fewest(self.tallies, self.undeclared, self.ties, self.history)
        return [loser], "fewest", tie

    def close_round(
        self,
        reason: Reason,
        threshold: int | None,
        elected: Collection[int] = (),
        eliminated: Collection[int] = (),
        tie: Tie | None = None,
    ) -> None:
        """Record the round, and transfer the votes of those eliminated in it."""
        shown, before = self.tallies.copy(), self.exhausted
        self.piles.close(eliminated)
        for loser in eliminated:
            del self.tallies[loser]
        transfers = []
        for loser in eliminated:
            moved = self.piles.pass_on(loser)
            transfers.append(Transfer(source=loser, to=moved.to, exhausted=moved.exhausted))
            for candidate, amount in moved.to.items():
                self.tallies[candidate] += amount
            self.exhausted = added(self.exhausted, moved.exhausted)
        self.eliminated_so_far += len(eliminated)
        self.history.append(shown)
        self.rounds.append(
            Round(
                number=len(self.rounds) + 1,
                reason=reason,
                tallies=shown,
                threshold=threshold,
                elected=tuple(elected),
                eliminated=tuple(eliminated),
                exhausted=before,
                transfers=tuple(transfers),
                ties=() if tie is None else (tie,),
                seat=self.seat,
            )
        )


def added(amounts: dict[Cause, int], more: dict[Cause, int]) -> dict[Cause, int]:
    return {cause: amounts.get(cause, 0) + more.get(cause, 0) for cause in sorted({*amounts, *more})}


def below_minimum(tallies: dict[int, int], rules: Rules, unit: int) -> list[int]:
    """All who have fewer votes than the rules require; none, if that is every candidate."""
    low = [candidate for candidate in sorted(tallies) if tallies[candidate] < rules.minimum_votes * unit]
    return [] if len(low) == len(tallies) else low


def fewest(
    tallies: dict[int, int], undeclared: Collection[int], ties: Ties, history: list[dict[int, int]]
) -> tuple[int, Tie | None]:
    """The candidate with the fewest votes; among equals, an undeclared one."""
    least = min(tallies.values())
    for candidate in sorted(undeclared):
        if tallies.get(candidate) == least:
            return candidate, None
    return ties.fewest(tallies, tallies, history)
