"""Bottoms-up: eliminates the candidate with the fewest votes, until as many are left as seats, or all have a share."""

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.eliminations import Eliminations
from potluck.apps.polls.counting.record import Reason, Round, Tie
from potluck.apps.polls.counting.rules import Rules
from potluck.apps.polls.counting.ties import Ties

# A whole percentage of whole votes.
PERCENT_DECIMALS = 2


def bottoms_up(contest: Contest, rules: Rules, ties: Ties) -> tuple[tuple[int, ...], tuple[Round, ...]]:
    """The candidates left, most votes first, and the rounds; votes of those elected are not transferred."""
    percent = rules.share_percent
    count = Eliminations(contest, rules, ties, unit=1 if percent is None else 10**PERCENT_DECIMALS)
    if count.empty:
        return (), ()
    threshold = 0
    while True:
        first = not count.rounds
        if percent is None and first:
            # The quota of other methods; it elects no candidate here, but RCTab's reports show it.
            threshold = count.active // (rules.seats + 1) + 1
        elif percent is not None and (first or not rules.first_round_threshold):
            threshold = count.active * percent // 100
        low = [] if percent is None else [number for number in count.tallies if count.tallies[number] < threshold]
        elected: list[int] = []
        eliminated: list[int] = []
        reason: Reason = "seats-for-all" if percent is None else "share-for-all"
        tie: Tie | None = None
        if not count.write_ins and ((percent is None and len(count.tallies) <= rules.seats) or (percent and not low)):
            elected = sorted(count.declared, key=lambda candidate: (-count.tallies[candidate], ties.place(candidate)))
        else:
            together = sorted(low) if rules.batch_elimination else []
            eliminated, reason, tie = count.leaving(together, "below-share")
        count.close_round(reason, threshold, elected, eliminated, tie)
        if elected or not count.tallies or count.stopped:
            return tuple(elected), tuple(count.rounds)
