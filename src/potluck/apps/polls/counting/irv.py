"""Instant runoff: eliminates the candidate with the fewest votes until one has more than half of the active ballots."""

from collections.abc import Collection

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.eliminations import Eliminations
from potluck.apps.polls.counting.record import Reason, Round, Tie
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.ties import Ties


def irv(
    contest: Contest, rules: Rules, ties: Ties, excluded: Collection[int] = (), seat: int = 1
) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The winner among those not `excluded`, and the rounds; there is none if the count is stopped before that."""
    count = Eliminations(contest, rules, ties, excluded=excluded, seat=seat)
    if count.empty and not excluded:
        # There are no votes. A later seat for which no ballots are left is still filled, by lot.
        return (), ()
    winner: int | None = None
    threshold = 0
    while True:
        if not count.rounds or (winner is None and not rules.first_round_threshold):
            # After a candidate has won, the count continues only to show the last two.
            threshold = count.active // 2 + 1
        elected: int | None = None
        eliminated: list[int] = []
        tie: Tie | None = None
        reason: Reason = "last-two"
        if winner is None and not count.write_ins:
            elected, reason, tie = _elected(count, threshold)
        if elected is not None:
            winner = elected
        elif winner is None or (rules.continue_to_two and count.eliminated_so_far < len(count.candidates) - 2):
            together = _hopeless(count) if rules.batch_elimination else []
            eliminated, reason, tie = count.leaving(together, "batch")
        count.close_round(reason, threshold, () if elected is None else (elected,), eliminated, tie)
        if rules.continue_to_two:
            left = count.eliminated_so_far + (winner is not None) + 1
            more = left < len(count.candidates) or bool(eliminated)
        else:
            more = winner is None
        if not more or count.stopped:
            return () if winner is None else (winner,), tuple(count.rounds)


def _elected(count: Eliminations, threshold: int) -> tuple[int | None, Reason, Tie | None]:
    tallies, declared = count.tallies, count.declared
    for candidate in declared:
        if tallies[candidate] >= threshold:
            return candidate, "majority", None
    if len(declared) == 1:
        return declared[0], "only-one-left", None
    if len(tallies) == 2:
        # Neither reaches the threshold: they are tied, or it was set by the first round. One of them wins here, rather
        # than being alone in a further round.
        chosen, tie = count.ties.most(declared, tallies, count.history)
        return chosen, "most-of-two" if tie is None else "tied-at-the-end", tie
    return None, "fewest", None


def _hopeless(count: Eliminations) -> list[int]:
    """The largest group at the bottom whose votes together are fewer than those of the next candidate alone."""
    tallies = count.tallies
    hopeless: list[int] = []
    smaller: list[int] = []
    seen: list[int] = []
    together = 0
    for votes in sorted(set(tallies.values())):
        if together < votes and len(seen) > len(hopeless):
            smaller, hopeless = hopeless, seen.copy()
        same = [candidate for candidate in sorted(tallies) if tallies[candidate] == votes]
        together += votes * len(same)
        seen += same
    if count.rules.continue_to_two and len(hopeless) + count.eliminated_so_far == len(count.candidates) - 1:
        # That would leave only one, but the last round has to show two.
        return smaller
    return hopeless
