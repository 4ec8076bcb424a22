"""The counting agrees, round for round, with the rules written down once more without any regard for speed."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from potluck.apps.polls.counting import Rules, count
from tests.apps.polls.counting import naive
from tests.apps.polls.counting.strategies import ballot_rules, contests, marked_votes, plain_votes


def same(record, rounds):
    unit = 10**record.decimals

    def exact(units):
        return {key: Fraction(each, unit) for key, each in units.items()}

    assert len(record.rounds) == len(rounds)
    for ours, theirs in zip(record.rounds, rounds, strict=True):
        assert exact(ours.tallies) == theirs.tallies
        assert Fraction(ours.threshold, unit) == theirs.threshold
        assert exact(ours.exhausted) == theirs.exhausted
        assert set(ours.elected) == theirs.elected
        assert set(ours.eliminated) == theirs.eliminated
    assert set(record.winners) == set().union(*(each.elected for each in rounds))


def anything_counts(record):
    # Where every ballot is blank or spoilt nobody is elected; the rules written down do not speak of that.
    return bool(record.rounds)


@settings(max_examples=60)
@given(st.data())
def test_irv(data):
    candidates, votes, lot = data.draw(contests(marked_votes))
    rules = data.draw(
        ballot_rules(
            batch_elimination=data.draw(st.booleans()),
            continue_to_two=data.draw(st.booleans()),
            undeclared=(1,) if candidates > 2 and data.draw(st.booleans()) else (),
        )
    )
    record = count(candidates, votes, rules, lot)
    if anything_counts(record):
        same(record, naive.rctab(candidates, votes, rules, lot))


@settings(max_examples=60)
@given(st.data())
def test_stv(data):
    candidates, votes, lot = data.draw(contests(marked_votes, most=6))
    rules = data.draw(
        ballot_rules(
            method="stv",
            seats=data.draw(st.integers(1, 4)),
            decimals=data.draw(st.sampled_from([0, 1, 4, 10])),
            one_winner_per_round=data.draw(st.booleans()),
            fractional_quota=data.draw(st.booleans()),
            undeclared=(candidates,) if candidates > 2 and data.draw(st.booleans()) else (),
        )
    )
    record = count(candidates, votes, rules, lot)
    if anything_counts(record):
        same(record, naive.rctab(candidates, votes, rules, lot))


@settings(max_examples=60)
@given(st.data())
def test_scottish_stv(data):
    candidates, votes, lot = data.draw(contests(marked_votes, most=6))
    rules = data.draw(ballot_rules(method="scottish-stv", seats=data.draw(st.integers(1, 4))))
    record = count(candidates, votes, rules, lot)
    if anything_counts(record):
        same(record, naive.scottish(candidates, votes, rules, lot))


@settings(max_examples=120)
@given(contests(plain_votes, most=6))
def test_irv_breaks_ties_head_to_head_before_lot(contest):
    candidates, votes, lot = contest
    rules = Rules(ties="head-to-head")
    same(count(candidates, votes, rules, lot), naive.rctab(candidates, votes, rules, lot))


@settings(max_examples=60)
@given(contests(plain_votes, most=5), st.integers(2, 3))
def test_stv_breaks_ties_head_to_head_before_lot(contest, seats):
    candidates, votes, lot = contest
    rules = Rules(method="stv", seats=seats, ties="head-to-head", decimals=4)
    same(count(candidates, votes, rules, lot), naive.rctab(candidates, votes, rules, lot))
