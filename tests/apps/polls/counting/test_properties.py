"""What must hold of every count, whatever the votes."""

import random
from itertools import pairwise as steps
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.apps.polls.counting import METHODS, Rules, as_bytes, count, from_bytes, tally
from potluck.apps.polls.counting.ballots import prepare
from potluck.apps.polls.counting.pairwise import pairwise
from tests.apps.polls.counting.strategies import contests, marked_votes

methods = st.sampled_from(METHODS)


def rules_for(method, seats=1):
    return Rules(method=method, seats=1 if method == "irv" else seats)


@settings(max_examples=50)
@given(contests(marked_votes), methods, st.integers(1, 3), st.randoms(use_true_random=False))
def test_any_order_of_the_votes_gives_the_same_bytes(contest, method, seats, shuffled):
    candidates, votes, lot = contest
    cast = list(votes.elements())
    once = count(candidates, tally(cast), rules_for(method, seats), lot)
    shuffled.shuffle(cast)
    again = count(candidates, tally(cast), rules_for(method, seats), lot)
    assert as_bytes(once) == as_bytes(again)
    assert from_bytes(as_bytes(once)) == once


@settings(max_examples=50)
@given(contests(marked_votes), st.sampled_from(["irv", "stv", "scottish-stv"]), st.integers(1, 3))
def test_every_vote_is_somewhere_in_every_round(contest, method, seats):
    candidates, votes, lot = contest
    record = count(candidates, votes, rules_for(method, seats), lot)
    unit = 10**record.decimals
    assert record.votes == sum(votes.values())
    for each in record.rounds:
        assert sum(each.tallies.values()) + sum(each.exhausted.values()) + each.residual == (
            (record.votes - record.blank) * unit
        )


@settings(max_examples=50)
@given(
    contests(marked_votes, most=6), st.sampled_from(["irv", "stv", "scottish-stv"]), st.integers(1, 3), st.booleans()
)
def test_each_round_is_the_one_before_with_its_transfers(contest, method, seats, batch):
    candidates, votes, lot = contest
    rules = rules_for(method, seats)
    if method == "irv":
        rules = Rules(method="irv", batch_elimination=batch)
    record = count(candidates, votes, rules, lot)
    for before, after in zip(record.rounds, record.rounds[1:], strict=False):
        moved = after if record.tallies_after_transfers else before
        tallies, exhausted, residual = dict(before.tallies), dict(before.exhausted), before.residual
        for transfer in moved.transfers:
            tallies[transfer.source] -= transfer.total
            for to, amount in transfer.to.items():
                tallies[to] += amount
            for cause, amount in transfer.exhausted.items():
                exhausted[cause] = exhausted.get(cause, 0) + amount
            residual += transfer.residual
        assert {each: amount for each, amount in tallies.items() if amount} == {
            each: amount for each, amount in after.tallies.items() if amount
        }
        assert (exhausted, residual) == (after.exhausted, after.residual)


@settings(max_examples=50)
@given(contests(), methods, st.integers(1, 4))
def test_as_many_are_elected_as_there_are_seats_or_candidates(contest, method, seats):
    candidates, votes, lot = contest
    rules = rules_for(method, seats)
    record = count(candidates, votes, rules, lot)
    assert len(set(record.winners)) == len(record.winners) == min(rules.seats, candidates)


def brute_force_pairwise(candidates, votes, a, b):
    def place(ranking, each):
        return ranking.index(each) if each in ranking else candidates

    return sum(many for ranking, many in votes.items() if place(ranking, a) < place(ranking, b))


@settings(max_examples=50)
@given(contests())
def test_the_matrix_is_who_is_before_whom(contest):
    candidates, votes, lot = contest
    matrix = pairwise(prepare(candidates, votes, lot, Rules()))
    everybody = range(1, candidates + 1)
    assert matrix == tuple(
        tuple(0 if a == b else brute_force_pairwise(candidates, votes, a, b) for b in everybody) for a in everybody
    )


@settings(max_examples=50)
@given(contests())
def test_a_condorcet_winner_is_always_found(contest):
    candidates, votes, lot = contest
    everybody = range(1, candidates + 1)
    beats_all = [
        a
        for a in everybody
        if all(
            brute_force_pairwise(candidates, votes, a, b) > brute_force_pairwise(candidates, votes, b, a)
            for b in everybody
            if b != a
        )
    ]
    record = count(candidates, votes, Rules(method="schulze"), lot)
    assert record.condorcet_winner == (beats_all[0] if beats_all else None)
    if beats_all:
        assert record.winners == tuple(beats_all)
        assert count(candidates, votes, Rules(method="ranked-pairs"), lot).winners == tuple(beats_all)


@settings(max_examples=50)
@given(contests(most=4))
def test_schulze_by_trying_every_path(contest):
    candidates, votes, lot = contest
    record = count(candidates, votes, Rules(method="schulze"), lot)
    everybody = range(1, candidates + 1)
    matrix = record.pairwise

    def link(a, b):
        return matrix[a - 1][b - 1] if matrix[a - 1][b - 1] > matrix[b - 1][a - 1] else 0

    def strongest(a, b):
        others = [each for each in everybody if each not in (a, b)]
        chains = [(a, *middle, b) for length in range(len(others) + 1) for middle in permutations(others, length)]
        return max(min(link(*step) for step in steps(chain)) for chain in chains)

    strength = {(a, b): strongest(a, b) for a in everybody for b in everybody if a != b}
    assert all(record.paths[a - 1][b - 1] == strength[a, b] for a, b in strength)
    unbeaten = [a for a in everybody if all(strength[a, b] >= strength[b, a] for b in everybody if a != b)]
    # Several are tied; the first of them in the lot order wins, and it is said.
    assert record.winners == (min(unbeaten, key=list(lot).index),)
    assert bool(record.rounds[0].ties) == (len(unbeaten) > 1)


@settings(max_examples=50)
@given(contests(most=4))
def test_ranked_pairs_by_trying_every_order(contest):
    """Of all orders of the candidates it is the one that goes against no majority it need not, strongest first."""
    candidates, votes, lot = contest
    record = count(candidates, votes, Rules(method="ranked-pairs"), lot)
    everybody = list(range(1, candidates + 1))
    matrix = record.pairwise
    place = {each: number for number, each in enumerate(lot)}
    majorities = sorted(
        ((a, b) for a in everybody for b in everybody if matrix[a - 1][b - 1] > matrix[b - 1][a - 1]),
        key=lambda pair: (
            -matrix[pair[0] - 1][pair[1] - 1],
            matrix[pair[1] - 1][pair[0] - 1],
            -place[pair[1]],
            place[pair[0]],
        ),
    )

    def kept(order):
        return [order.index(a) < order.index(b) for a, b in majorities]

    best = max(map(kept, permutations(everybody)))
    assert [pair.locked for pair in record.pairs] == best
    assert kept(record.order) == best
    tops = {order[0] for order in permutations(everybody) if kept(order) == best}
    assert record.winners[0] in tops
    assert record.winners[0] == min(tops, key=place.__getitem__)


def test_borda_is_the_sum_of_the_places():
    votes = {(1, 2, 3): 2, (3, 1): 1, (2,): 4}
    assert count(3, votes, Rules(method="borda")).rounds[0].tallies == {1: 2 * 2 + 1, 2: 2 * 1 + 4 * 2, 3: 1 * 2}


def test_a_hundred_candidates_are_counted():
    drawn = random.Random(5)
    votes = tally(drawn.sample(range(1, 101), drawn.randint(1, 100)) for _ in range(100))
    for method in METHODS:
        record = count(
            100, votes, Rules(method=method, seats=1 if method == "irv" else 5), range(100, 0, -1), compare=False
        )
        assert len(record.winners) == (1 if method == "irv" else 5)
