"""Plurality: the first choice of the most voters wins; everything else on the ballots is ignored."""

from collections.abc import Mapping, Sequence

from potluck.apps.polls.counting.ballots import Contest
from potluck.apps.polls.counting.piles import Piles, Transfers
from potluck.apps.polls.counting.record import Cause
from potluck.apps.polls.counting.ties import Chosen, Ties


def plurality(contest: Contest, seats: int, ties: Ties) -> tuple[Transfers, list[int], Chosen]:
    """First choices, the candidates in their order, and who is elected."""
    first = _first_choices(contest)
    return first, *by_votes(first.to, contest.declared, seats, ties)


def _first_choices(contest: Contest) -> Transfers:
    first = [0] * (contest.candidates + 1)
    exhausted: dict[Cause, int] = {}
    if contest.plain:
        # The first entry of each path is enough, which saves dealing half a million rankings into piles.
        for path, count in zip(contest.paths, contest.counts, strict=True):
            first[path[0]] += count
    else:
        dealt = Piles(contest).deal()
        exhausted = dealt.exhausted
        for candidate, votes in dealt.to.items():
            first[candidate] = votes
    return Transfers({candidate: votes for candidate, votes in enumerate(first) if candidate}, exhausted)


def by_votes(votes: Mapping[int, int], among: Sequence[int], seats: int, ties: Ties) -> tuple[list[int], Chosen]:
    """The candidates in order of these votes, and who is elected."""
    levels = sorted({votes[candidate] for candidate in among}, reverse=True)
    groups = [[candidate for candidate in among if votes[candidate] == level] for level in levels]
    order = [candidate for group in groups for candidate in ties.in_order(group)]
    return order, ties.first(seats, groups, levels)
