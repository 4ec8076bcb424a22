"""Ties are settled by the stated rule in every method, and said in words."""

import pytest

from potluck.apps.polls.counting import METHODS, Rules, count, results
from potluck.apps.polls.counting.sentences import IN_ROUNDS

NAMES = ["Ann", "Bob", "Cid", "Dot"]


def sentences(record):
    return [tie.sentence for each in results(record, NAMES[: record.candidates]).rounds for tie in each.ties]


def test_for_elimination_whoever_had_fewer_in_the_round_before_leaves():
    votes = {(1,): 5, (2,): 3, (3,): 2, (4, 3): 1}
    record = count(4, votes)
    assert record.rounds[1].eliminated == (3,)
    assert sentences(record) == [
        "Bob and Cid are tied to be eliminated, each with 3 votes. Cid had fewer votes in round 1."
    ]


def test_earlier_rounds_narrow_a_tie_of_three_one_after_the_other():
    # In the third round B, C and D have 4 each. Before that C and D had fewer than B, and before that D fewer than C.
    votes = {(1,): 9, (2,): 4, (3,): 3, (4,): 2, (5, 4): 1, (6, 3): 1, (6, 4): 1}
    record = count(6, votes, lot_order=[1, 2, 3, 4, 5, 6])
    tied = record.rounds[2]
    assert tied.eliminated == (4,)
    assert [(step.round, step.left) for step in tied.ties[0].steps] == [(2, (3, 4)), (1, (4,))]
    assert not tied.ties[0].by_lot


def test_when_no_round_tells_them_apart_the_last_in_the_lot_order_leaves():
    votes = {(1,): 3, (2,): 1, (3,): 1}
    assert count(3, votes, lot_order=[1, 2, 3]).rounds == count(3, votes, lot_order=[2, 1, 3]).rounds
    first = count(3, {(1,): 2, (2,): 1, (3,): 1}, lot_order=[1, 2, 3])
    other = count(3, {(1,): 2, (2,): 1, (3,): 1}, lot_order=[3, 2, 1])
    assert first.rounds[0].eliminated == (3,)
    assert other.rounds[0].eliminated == (2,)
    assert sentences(first) == [
        "Bob and Cid are tied to be eliminated, each with 1 vote. No earlier round tells them apart, so the lot order "
        "drawn beforehand decides: Cid comes last in it."
    ]


def test_by_lot_alone_earlier_rounds_are_not_asked():
    votes = {(1,): 5, (2,): 3, (3,): 2, (4, 3): 1}
    assert count(4, votes, Rules(ties="lot"), [1, 3, 2, 4]).rounds[1].eliminated == (2,)
    assert count(4, votes, Rules(), [1, 3, 2, 4]).rounds[1].eliminated == (3,)


def test_candidates_without_any_vote_leave_by_lot():
    record = count(4, {(1,): 2, (2,): 2}, lot_order=[4, 3, 2, 1])
    assert [each.eliminated for each in record.rounds] == [(3,), (4,), ()]
    assert "Cid has no votes and is eliminated." in results(record, NAMES).rounds[0].sentence


def test_for_the_win_more_votes_in_an_earlier_round_decide_and_then_the_lot():
    record = count(3, {(1,): 3, (2,): 2, (3, 2): 1}, lot_order=[3, 2, 1])
    assert record.winners == (1,)
    assert sentences(record) == [
        "Ann and Bob are tied to be elected, each with 3 votes. Ann had more votes in round 1."
    ]
    assert count(2, {(1,): 3, (2,): 3}, lot_order=[2, 1]).winners == (2,)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lot_order", [[1, 2, 3], [3, 2, 1], [2, 3, 1]])
def test_a_perfect_tie_is_decided_by_the_lot_order_and_said(method, lot_order):
    circle = {(1, 2, 3): 1, (2, 3, 1): 1, (3, 1, 2): 1}
    record = count(3, circle, Rules(method=method), lot_order)
    assert record == count(3, circle, Rules(method=method), lot_order)
    said = sentences(record)
    assert said
    assert "lot order" in " ".join(said)
    if method not in IN_ROUNDS:
        assert record.winners == (lot_order[0],)
    else:
        # The last in the order leaves, and then the circle is a majority.
        assert next(each.eliminated[0] for each in record.rounds if each.eliminated) == lot_order[-1]


@pytest.mark.parametrize("method", ["plurality", "borda", "schulze", "ranked-pairs"])
def test_a_tie_for_the_last_seat_names_all_who_were_tied(method):
    votes = {(1,): 2, (2,): 1, (3,): 1}
    record = count(3, votes, Rules(method=method, seats=2), [3, 2, 1])
    assert record.winners == (1, 3)
    (tie,) = record.rounds[0].ties
    assert (tie.candidates, tie.chosen, tie.by_lot) == ((2, 3), (3,), True)


def test_a_tie_that_decides_nothing_is_not_mentioned():
    assert count(3, {(1,): 2, (2,): 2, (3,): 1}, Rules(method="plurality", seats=2)).rounds[0].ties == ()


def test_equal_surpluses_pass_on_by_earlier_stages_and_then_by_lot():
    votes = {(1, 3): 6, (2, 4): 6, (3,): 1, (4,): 1}
    one = count(4, votes, Rules(method="scottish-stv", seats=3), [1, 2, 3, 4])
    other = count(4, votes, Rules(method="scottish-stv", seats=3), [2, 1, 3, 4])
    assert one.rounds[1].transfers[0].source == 1
    assert other.rounds[1].transfers[0].source == 2
    assert "tied to pass on first" in sentences(one)[0]
