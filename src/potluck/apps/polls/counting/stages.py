"""Stages of a count with fractional votes, each with the tallies after its transfers."""

from collections.abc import Collection, Iterable

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.eliminations import added
from potluck.apps.polls.counting.piles import Piles, Worth, as_before
from potluck.apps.polls.counting.record import Cause, Reason, Round, Tie, Transfer


class Stages:
    """The tallies in units of the last decimal, the piles of ballots, and the rounds recorded so far."""

    def __init__(self, contest: Contest, units: int, withdrawn: Collection[int] = ()) -> None:
        """Ballots are counted as if the `withdrawn` were not on them."""
        self.piles = Piles(contest, units)
        self.piles.close(withdrawn)
        dealt = self.piles.deal()
        self.valid = sum(dealt.to.values())
        self.tallies = {
            candidate: dealt.to.get(candidate, 0)
            for candidate in range(1, contest.candidates + 1)
            if candidate not in withdrawn
        }
        self.exhausted: dict[Cause, int] = dealt.exhausted
        self.residual = 0
        self.history: list[dict[int, int]] = []
        self.rounds: list[Round] = []

    def pass_on(self, source: int, given_up: int, worth: Worth = as_before) -> Transfer:
        """Transfer a closed candidate's ballots, each at the value that `worth` gives."""
        moved = self.piles.pass_on(source, worth)
        self.tallies[source] -= given_up
        for candidate, amount in moved.to.items():
            self.tallies[candidate] += amount
        self.exhausted = added(self.exhausted, moved.exhausted)
        residual = given_up - sum(moved.to.values()) - sum(moved.exhausted.values())
        self.residual += residual
        return Transfer(source=source, to=moved.to, exhausted=moved.exhausted, residual=residual)

    def record(
        self,
        reason: Reason,
        quota: int,
        elected: Iterable[int],
        eliminated: Iterable[int],
        transfers: Iterable[Transfer] = (),
        tie: Tie | None = None,
    ) -> None:
        shown = self.tallies.copy()
        self.rounds.append(
            Round(
                number=len(self.rounds) + 1,
                reason=reason,
                tallies=shown,
                threshold=quota,
                elected=tuple(elected),
                eliminated=tuple(eliminated),
                exhausted=self.exhausted,
                residual=self.residual,
                transfers=tuple(transfers),
                ties=() if tie is None else (tie,),
            )
        )
        self.history.append(shown)
