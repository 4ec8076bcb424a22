"""The rules of irv, stv and scottish-stv once more, ballot by ballot and without a thought for time.

Nothing is shared with the counting that is tested: every round reads every ballot from its first rank, in fractions.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import floor

from potluck.apps.polls.counting import Ranking, Rules

ENDED = {"overvotes", "skippedRankings", "repeatedRankings", "exhaustedChoices", "finalRoundSurplus", "blank"}


@dataclass
class Ballot:
    ranking: Ranking
    value: Fraction = Fraction(1)
    held_by: int | str | None = None


@dataclass
class NaiveRound:
    tallies: dict[int, Fraction]
    threshold: Fraction
    exhausted: dict[str, Fraction]
    elected: set[int] = field(default_factory=set)
    eliminated: set[int] = field(default_factory=set)


def cut(amount: Fraction, decimals: int) -> Fraction:
    return Fraction(floor(amount * 10**decimals), 10**decimals)


def next_holder(ranking: Ranking, open_to: set[int], rules: Rules) -> int | str:
    """Who has the ballot now, or why nobody has."""
    empty = 0
    named_before: set[int] = set()
    anything = False
    for mark in ranking:
        named = {mark} if isinstance(mark, int) else set(mark)
        if not named:
            empty += 1
            continue
        if rules.skipped_ranks is not None and empty > rules.skipped_ranks:
            return "skippedRankings"
        empty = 0
        anything = True
        if rules.repeats == "exhaust" and named & named_before:
            return "repeatedRankings"
        named_before |= named
        if len(named) > 1 and rules.overvote == "exhaust":
            return "overvotes"
        if len(named) > 1 and rules.overvote == "skip":
            continue
        still = named & open_to
        if len(still) > 1:
            return "overvotes"
        if still:
            return still.pop()
    # Ranks left empty at the end are no reason: the voter had no more to say.
    return "exhaustedChoices" if anything else "blank"


def prefers(ranking: Ranking, one: int, other: int) -> bool:
    return one in ranking and (other not in ranking or ranking.index(one) < ranking.index(other))


def beats(one: int, other: int, votes: Counter[Ranking]) -> bool:
    return (
        sum(count * (prefers(ranking, one, other) - prefers(ranking, other, one)) for ranking, count in votes.items())
        > 0
    )


def head_to_head(tied: set[int], votes: Counter[Ranking], *, lose: bool) -> set[int]:
    """The smallest set of the tied whose every member loses to, or beats, everyone else who is tied."""
    for size in range(1, len(tied)):
        for some in combinations(sorted(tied), size):
            pairs = [(each, other) for each in some for other in tied - set(some)]
            if all(beats(other, each, votes) if lose else beats(each, other, votes) for each, other in pairs):
                return set(some)
    return tied


def choose(
    tied: set[int],
    history: Sequence[dict[int, Fraction]],
    lot: Sequence[int],
    rules: Rules,
    votes: Counter[Ranking],
    *,
    lose: bool,
) -> int:
    left = set(tied)
    if rules.ties != "lot":
        for then in reversed(history):
            extreme = (min if lose else max)(then[each] for each in left)
            left = {each for each in left if then[each] == extreme}
    if rules.ties == "head-to-head":
        left = head_to_head(left, votes, lose=lose)
    in_lot_order = [each for each in lot if each in left]
    return in_lot_order[-1] if lose else in_lot_order[0]


def tallied(ballots: Sequence[Ballot], among: set[int]) -> dict[int, Fraction]:
    tallies = {each: Fraction(0) for each in among}
    for ballot in ballots:
        if ballot.held_by in among:
            tallies[ballot.held_by] += ballot.value  # type: ignore[index]
    return tallies


def ended(ballots: Sequence[Ballot]) -> dict[str, Fraction]:
    amounts: dict[str, Fraction] = {}
    for ballot in ballots:
        if isinstance(ballot.held_by, str) and ballot.held_by != "blank" and ballot.value:
            amounts[ballot.held_by] = amounts.get(ballot.held_by, Fraction(0)) + ballot.value
    return amounts


def hopeless(tallies: dict[int, Fraction]) -> list[set[int]]:
    """Every group at the bottom that together has fewer than whoever comes next, smallest first."""
    found = []
    for votes in sorted(set(tallies.values())):
        group = {each for each in tallies if tallies[each] < votes}
        if group and sum(tallies[each] for each in group) < votes:
            found.append(group)
    return found


def rctab(candidates: int, votes: Counter[Ranking], rules: Rules, lot: Sequence[int]) -> list[NaiveRound]:
    ballots = [Ballot(ranking) for ranking, count in votes.items() for _ in range(count)]
    open_to = set(range(1, candidates + 1))
    seats = rules.seats
    winners: list[int] = []
    kept: dict[int, Fraction] = {}
    eliminated: set[int] = set()
    history: list[dict[int, Fraction]] = []
    rounds: list[NaiveRound] = []
    threshold = Fraction(0)
    while True:
        for ballot in ballots:
            if not isinstance(ballot.held_by, str) and ballot.held_by not in open_to:
                filled = seats > 1 and len(winners) == seats
                ballot.held_by = "finalRoundSurplus" if filled else next_holder(ballot.ranking, open_to, rules)
        tallies = tallied(ballots, open_to)
        active = sum(tallies.values())
        if not rounds or (seats == 1 and not winners):
            places = rules.decimals if rules.fractional_quota and seats > 1 else 0
            threshold = cut(active / (seats + 1), places) + Fraction(1, 10**places)
        now = NaiveRound({**tallies, **kept}, threshold, ended(ballots))
        write_ins = {each for each in rules.undeclared if tallies.get(each)}
        unfilled = seats - len(winners)
        if unfilled and not write_ins:
            declared = open_to - set(rules.undeclared)
            if len(open_to) <= unfilled or (seats == 1 and len(declared) == 1):
                now.elected = declared
            else:
                now.elected = {each for each in declared if tallies[each] >= threshold}
            alone = seats == 1 and len(open_to) == 2 and not now.elected
            if alone or (rules.one_winner_per_round and len(now.elected) > 1):
                most = max(tallies[each] for each in now.elected or declared)
                tied = {each for each in now.elected or declared if tallies[each] == most}
                now.elected = {choose(tied, history, lot, rules, votes, lose=False)}
        if now.elected:
            winners += now.elected
            if seats > 1:
                for winner in now.elected:
                    surplus = max(tallies[winner] - threshold, Fraction(0))
                    part = cut(surplus / tallies[winner], rules.decimals) if surplus else Fraction(0)
                    for ballot in ballots:
                        if ballot.held_by == winner:
                            ballot.value = cut(ballot.value * part, rules.decimals)
                    kept[winner] = tallies[winner] - surplus
                open_to -= now.elected
        elif unfilled or (rules.continue_to_two and len(eliminated) < candidates - 2):
            groups = hopeless(tallies) if rules.batch_elimination else []
            if groups and rules.continue_to_two and len(groups[-1]) + len(eliminated) == candidates - 1:
                groups.pop()
            if write_ins:
                now.eliminated = write_ins
            elif groups and len(groups[-1]) > 1:
                now.eliminated = groups[-1]
            else:
                fewest = min(tallies.values())
                tied = {each for each in tallies if tallies[each] == fewest}
                strangers = sorted(tied & set(rules.undeclared))
                now.eliminated = {strangers[0] if strangers else choose(tied, history, lot, rules, votes, lose=True)}
            open_to -= now.eliminated
            eliminated |= now.eliminated
        rounds.append(now)
        history.append(now.tallies)
        if rules.continue_to_two:
            more = len(eliminated) + len(winners) + 1 < candidates or bool(now.eliminated)
        elif seats == 1:
            more = not winners
        else:
            everybody = not open_to - set(rules.undeclared)
            more = (len(winners) < seats and not everybody) or (bool(now.elected) and len(winners) == seats)
        if not more:
            return rounds


def scottish(candidates: int, votes: Counter[Ranking], rules: Rules, lot: Sequence[int]) -> list[NaiveRound]:
    ballots = [Ballot(ranking) for ranking, count in votes.items() for _ in range(count)]
    hopeful = set(range(1, candidates + 1))
    for ballot in ballots:
        ballot.held_by = next_holder(ballot.ranking, hopeful, rules)
    quota = Fraction(floor(sum(not isinstance(each.held_by, str) for each in ballots) / Fraction(rules.seats + 1)) + 1)
    kept: dict[int, Fraction] = {}
    pending: set[int] = set()
    winners: set[int] = set()
    history: list[dict[int, Fraction]] = []
    rounds: list[NaiveRound] = []
    excluded: set[int] = set()
    while True:
        everybody = set(range(1, candidates + 1))
        tallies = {**tallied(ballots, everybody), **kept}
        now = NaiveRound(tallies, quota, ended(ballots), eliminated=excluded)
        reached = {each for each in hopeful if tallies[each] >= quota}
        pending |= reached
        now.elected |= reached
        hopeful -= reached
        winners |= reached
        if len(hopeful) <= rules.seats - len(winners):
            now.elected |= hopeful
            winners |= hopeful
            hopeful = set()
        rounds.append(now)
        history.append(tallies)
        if len(winners) >= rules.seats or not hopeful:
            now.eliminated = now.eliminated | hopeful
            return rounds
        if pending:
            most = max(tallies[each] for each in pending)
            tied = {each for each in pending if tallies[each] == most}
            source = choose(tied, history, lot, rules, votes, lose=False)
            pending.remove(source)
            excluded = set()
            kept[source] = quota
        else:
            fewest = min(tallies[each] for each in hopeful)
            source = choose(
                {each for each in hopeful if tallies[each] == fewest}, history, lot, rules, votes, lose=True
            )
            hopeful.remove(source)
            excluded = {source}
        for ballot in ballots:
            if ballot.held_by == source:
                if source in kept:
                    ballot.value = cut(ballot.value * (tallies[source] - quota) / tallies[source], 5)
                ballot.held_by = next_holder(ballot.ranking, hopeful, rules)
