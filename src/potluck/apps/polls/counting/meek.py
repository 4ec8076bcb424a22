"""Meek's method by the reference rule of the Proportional Representation Foundation, after Hill, Wichmann and Woodall.

Each elected candidate keeps a part of every vote that reaches them and passes on the rest, including votes that come
from others elected before; the parts are recalculated until no candidate has more than the quota.
"""

from potluck.apps.polls.counting.ballots import CAUSES, Contest, Path
from potluck.apps.polls.counting.eliminations import added
from potluck.apps.polls.counting.record import Cause, Reason, Round, Tie
from potluck.apps.polls.counting.rules import CannotCount, Rules
from potluck.apps.polls.counting.ties import Ties


def meek(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winners in the order of their election, and the rounds, the first preferences before them.

    A round ends when a candidate is elected, or when so little is left to transfer that the last can be defeated. The
    rule has no undeclared candidates: they are withdrawn.
    """
    if contest.several:
        raise CannotCount("meek cannot tell by exhaust-if-several who has a vote; count overvotes by exhaust or skip")
    count = _MeekCount(contest, rules, ties)
    return count.run() if sum(count.tallies.values()) else ((), ())


class _MeekCount:
    def __init__(self, contest: Contest, rules: Rules, ties: Ties) -> None:
        self.contest, self.ties = contest, ties
        self.seats = rules.seats
        self.unit = 10 ** (rules.decimals or 0)
        # Without a part of a vote as small as that, only an equal surplus ends the passing on.
        self.omega = self.unit // 10 ** (rules.omega or 0)
        self.fractional_quota = rules.fractional_quota
        # [A] Keep factors by candidate number; those who are not in the count keep nothing.
        self.keep = [0] * (contest.candidates + 1)
        self.hopeful = set(contest.declared)
        for candidate in self.hopeful:
            self.keep[candidate] = self.unit
        self.winners: list[int] = []
        self.rounds: list[Round] = []
        self._gather()
        self._distribute()

    @property
    def unfilled(self) -> int:
        return self.seats - len(self.winners)

    @property
    def complete(self) -> bool:
        """[B.1]"""
        return self.unfilled <= 0 or len(self.hopeful) <= self.unfilled

    def run(self) -> tuple[tuple[int, ...], tuple[Round, ...]]:
        self._record("first-preferences", [], [])
        while not self.complete:
            elected, surplus = self._iterate()
            if elected:
                self._record("quota", elected, [])
                continue
            # [B.3] All within the remaining surplus of the lowest are tied with them.
            lowest = min(self.tallies[candidate] for candidate in self.hopeful)
            near = {candidate: lowest for candidate in self.hopeful if self.tallies[candidate] <= lowest + surplus}
            loser, tie = self.ties.fewest(near, near, [])
            self.hopeful.remove(loser)
            self.keep[loser] = 0
            self._record("converged", [], [loser], tie)
        return tuple(self.winners), tuple(self.rounds)

    def _iterate(self) -> tuple[list[int], int]:
        """[B.2] Who is elected, or else the surplus that is too small to continue with."""
        before: int | None = None
        self._gather()
        while True:
            self._distribute()
            elected = [candidate for candidate in self.hopeful if self.tallies[candidate] >= self.quota]
            if elected:
                elected.sort(key=lambda candidate: (-self.tallies[candidate], self.ties.place(candidate)))
                self.hopeful.difference_update(elected)
                self.winners += elected
                return elected, 0
            surplus = max(0, sum(self.tallies[candidate] - self.quota for candidate in self.winners))
            if surplus < self.omega or (before is not None and surplus >= before):
                return [], surplus
            before = surplus
            for winner in self.winners:
                # [B.2.f] Rounded up after the product, and again after the quotient.
                part = -(-self.keep[winner] * self.quota // self.unit)
                self.keep[winner] = -(-part * self.unit // self.tallies[winner])

    def _gather(self) -> None:
        """Group ballots that behave alike in this round: those that reach the same elected, then the same hopeful."""
        hopeful, winners = self.hopeful, set(self.winners)
        together: dict[Path, int] = {}
        for path, count in zip(self.contest.paths, self.contest.counts, strict=True):
            reached = []
            for entry in path:
                if entry in hopeful or entry < 0:
                    reached.append(entry)
                    break
                if entry in winners:
                    reached.append(entry)
            key = tuple(reached)
            together[key] = together.get(key, 0) + count
        self.together = together

    def _distribute(self) -> None:
        """[B.2.a, b] Distribute every ballot's vote by the keep factors, and set the quota from the votes held."""
        unit, keep = self.unit, self.keep
        tallies = [0] * len(keep)
        lost = dict.fromkeys(CAUSES, 0)
        for path, count in self.together.items():
            weight = unit
            cause: Cause = CAUSES[0]
            for entry in path:
                if entry < 0:
                    cause = CAUSES[-entry - 1]
                    break
                # Rounded up, so that a vote is never worth more than one.
                share = -(-weight * keep[entry] // unit)
                tallies[entry] += share * count
                weight -= share
            lost[cause] += weight * count
        self.tallies = {candidate: tallies[candidate] for candidate in self.contest.declared}
        self.exhausted: dict[Cause, int] = added({}, {cause: votes for cause, votes in lost.items() if votes})
        step = 1 if self.fractional_quota else unit
        self.quota = (sum(tallies) // ((self.seats + 1) * step) + 1) * step

    def _record(self, reason: Reason, elected: list[int], eliminated: list[int], tie: Tie | None = None) -> None:
        shown, exhausted = self.tallies.copy(), self.exhausted
        if self.complete:
            # [C] The rest are elected, or there is no seat left for them; those not elected keep no votes.
            rest = sorted(self.hopeful, key=lambda candidate: (-self.tallies[candidate], self.ties.place(candidate)))
            if self.unfilled > 0:
                elected = elected + rest
                self.winners += rest
            else:
                eliminated = eliminated + sorted(rest)
            self.hopeful.clear()
            given_up = sum(shown[candidate] for candidate in eliminated)
            shown |= dict.fromkeys(eliminated, 0)
            exhausted = added(exhausted, {"notElected": given_up} if given_up else {})
        self.rounds.append(
            Round(
                number=len(self.rounds) + 1,
                reason=reason,
                tallies=shown,
                threshold=self.quota,
                elected=tuple(elected),
                eliminated=tuple(eliminated),
                exhausted=exhausted,
                ties=() if tie is None else (tie,),
                keep={candidate: self.keep[candidate] for candidate in sorted(self.winners)},
            )
        )
