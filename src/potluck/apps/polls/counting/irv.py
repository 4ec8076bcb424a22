"""Instant runoff: whoever has the fewest votes leaves, until somebody has more than half of those still active."""

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.piles import Piles
from potluck.apps.polls.counting.record import Cause, Reason, Round, Tie, Transfer
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.ties import Ties

__all__ = ["irv"]


def irv(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winner, and the rounds as RCTab reports them: tallies first, then what was decided on them."""
    piles = Piles(contest)
    dealt = piles.deal()
    if not dealt.to:
        return (), ()
    tallies = {candidate: dealt.to.get(candidate, 0) for candidate in range(1, contest.candidates + 1)}
    exhausted: dict[Cause, int] = dealt.exhausted
    eliminated_so_far = 0
    winner: int | None = None
    threshold = 0
    history: list[dict[int, int]] = []
    rounds: list[Round] = []
    while True:
        shown = tallies.copy()
        active = sum(shown.values())
        if winner is None:
            # Once somebody has won, the count goes on only to show the last two.
            threshold = active // 2 + 1
        elected: int | None = None
        eliminated: list[int] = []
        tie: Tie | None = None
        reason: Reason = "last-two"
        write_ins = [each for each in sorted(contest.undeclared) if shown.get(each)]
        if winner is None and not write_ins:
            elected, reason, tie = _elected(shown, threshold, contest, ties, history)
        if elected is not None:
            winner = elected
        elif winner is None or (rules.continue_to_two and eliminated_so_far < contest.candidates - 2):
            if write_ins:
                eliminated, reason = write_ins, "write-ins-leave"
            if not eliminated and rules.batch_elimination:
                eliminated, reason = _hopeless(shown, contest, rules, eliminated_so_far), "batch"
            if len(eliminated) < 2 and not write_ins:
                loser, tie = _fewest(shown, contest, ties, history)
                eliminated, reason = [loser], "fewest"
        piles.close(eliminated)
        for each in eliminated:
            del tallies[each]
        transfers = []
        before = exhausted
        for each in eliminated:
            moved = piles.pass_on(each)
            transfers.append(Transfer(source=each, to=moved.to, exhausted=moved.exhausted))
            for candidate, amount in moved.to.items():
                tallies[candidate] += amount
            exhausted = added(exhausted, moved.exhausted)
        rounds.append(
            Round(
                number=len(rounds) + 1,
                reason=reason,
                tallies=shown,
                threshold=threshold,
                elected=() if elected is None else (elected,),
                eliminated=tuple(eliminated),
                exhausted=before,
                transfers=tuple(transfers),
                ties=() if tie is None else (tie,),
            )
        )
        history.append(shown)
        eliminated_so_far += len(eliminated)
        if rules.continue_to_two:
            more = eliminated_so_far + (winner is not None) + 1 < contest.candidates or bool(eliminated)
        else:
            more = winner is None
        if not more:
            assert winner is not None
            return (winner,), tuple(rounds)


def added(amounts: dict[Cause, int], more: dict[Cause, int]) -> dict[Cause, int]:
    return {cause: amounts.get(cause, 0) + more.get(cause, 0) for cause in sorted({*amounts, *more})}


def _elected(
    tallies: dict[int, int], threshold: int, contest: Contest, ties: Ties, history: list[dict[int, int]]
) -> tuple[int | None, Reason, Tie | None]:
    declared = [each for each in tallies if each not in contest.undeclared]
    for each in declared:
        if tallies[each] >= threshold:
            return each, "majority", None
    if len(declared) == 1:
        return declared[0], "only-one-left", None
    if len(tallies) == 2:
        # Neither has more than half of what the two have: they are equal. One of them wins here, rather than being
        # alone in a further round.
        chosen, tie = ties.most(declared, tallies, history)
        return chosen, "tied-at-the-end", tie
    return None, "fewest", None


def _fewest(
    tallies: dict[int, int], contest: Contest, ties: Ties, history: list[dict[int, int]]
) -> tuple[int, Tie | None]:
    fewest = min(tallies.values())
    for each in sorted(contest.undeclared):
        if tallies.get(each) == fewest:
            return each, None
    return ties.fewest(tallies, tallies, history)


def _hopeless(tallies: dict[int, int], contest: Contest, rules: Rules, eliminated_so_far: int) -> list[int]:
    """The largest group at the bottom that has fewer votes together than whoever comes next has alone."""
    hopeless: list[int] = []
    smaller: list[int] = []
    seen: list[int] = []
    together = 0
    for votes in sorted(set(tallies.values())):
        if together < votes and len(seen) > len(hopeless):
            smaller, hopeless = hopeless, seen.copy()
        same = [each for each in sorted(tallies) if tallies[each] == votes]
        together += votes * len(same)
        seen += same
    if rules.continue_to_two and len(hopeless) + eliminated_so_far == contest.candidates - 1:
        # That would leave one alone; two are to be seen at the end.
        return smaller
    return hopeless
