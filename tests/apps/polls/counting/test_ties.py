"""Ties are settled by the stated rule in every method, and said in words."""

import pytest

from potluck.apps.polls.counting import METHODS, Rules, count, results
from potluck.apps.polls.counting.rules import IN_ROUNDS

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
        "Bob and Cid are tied to be eliminated, each with 1 vote. No earlier round and no head-to-head comparison "
        "breaks the tie. The lot order drawn beforehand decides: Cid comes last."
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
    assert "tied to pass on votes first" in sentences(one)[0]


# --- head to head, before lot -----------------------------------------------------------------------------------------

FRIDAY = {(1, 2): 1, (2, 1, 3): 1, (3, 2): 1}


@pytest.mark.parametrize("lot_order", [[1, 2, 3], [3, 1, 2], [2, 3, 1]])
def test_a_head_to_head_winner_among_the_tied_is_not_eliminated_by_lot(lot_order):
    record = count(3, FRIDAY, lot_order=lot_order)
    assert record.rounds[0].eliminated == (3,)
    assert record.winners == (record.condorcet_winner,) == (2,)
    assert sentences(record) == [
        "Ann, Bob and Cid are tied to be eliminated, each with 1 vote. Head to head, Cid loses to Ann and Bob."
    ]
    shown = results(record, NAMES[:3])
    assert shown.decided_by == "head-to-head"
    assert shown.sentence == "Bob is elected. There was a tie in round 1. The head-to-head comparison decided."
    assert shown.rounds[0].ties[0].decided_by == "head-to-head"


def test_rules_that_name_lots_alone_or_earlier_rounds_are_followed():
    for ties in ("lot", "previous-rounds"):
        record = count(3, FRIDAY, Rules(ties=ties), [1, 3, 2])
        assert record.rounds[0].eliminated == (2,)
    assert Rules(method="scottish-stv").settled().ties == "previous-rounds"
    assert Rules(method="meek").settled().ties == "lot"
    assert Rules(seed=7).settled().ties == "lot"


def test_lots_decide_only_among_those_left_after_head_to_head():
    # Bob, Cid and Dot beat each other in a circle and all of them beat Ann, who leaves; nothing tells the three apart.
    votes = {(1, 2, 3, 4): 2, (2, 3, 4, 1): 2, (3, 4, 2, 1): 2, (4, 2, 3, 1): 2}
    record = count(4, votes, lot_order=[1, 4, 3, 2])
    assert record.rounds[0].eliminated == (1,)
    (tie,) = record.rounds[0].ties
    assert (tie.head_to_head, tie.by_lot) == ((1,), False)


@pytest.mark.parametrize("method", ["plurality", "borda", "schulze", "ranked-pairs"])
def test_methods_without_rounds_break_ties_head_to_head_too(method):
    votes = {(1, 2): 2, (2, 1): 2, (3, 1): 1}
    record = count(3, votes, Rules(method=method), [2, 1, 3])
    assert record.winners == (1,)
    if method == "plurality":
        assert sentences(record) == [
            "Ann and Bob are tied to be elected, each with 2 votes. Head to head, Ann beats Bob."
        ]


def test_a_final_tie_that_an_earlier_round_broke_is_named_with_the_winner():
    shown = results(count(3, {(1,): 4, (2,): 3, (3, 2): 1}), NAMES[:3])
    assert shown.decided_by == "previous-rounds"
    assert shown.winners_by_tie == ["Ann"]
    assert shown.sentence == ("Ann is elected. Ann and Bob were tied. Round 1 decided, in which Ann had more votes.")


def test_losers_who_cycle_equally_do_not_decide_ranked_pairs():
    circle = {(1, 2, 3, 4): 1, (1, 3, 4, 2): 1, (1, 4, 2, 3): 1}
    shown = results(count(4, circle, Rules(method="ranked-pairs")), NAMES)
    assert shown.condorcet_winner == "Ann"
    assert shown.decided_by == "votes"
    assert shown.sentence == "Ann is elected."


def test_a_head_to_head_winner_who_is_not_elected_is_named_beside_the_winner():
    centre_squeeze = {(1, 2, 3): 4, (3, 2, 1): 4, (2, 1, 3): 3}
    shown = results(count(3, centre_squeeze), NAMES[:3])
    assert shown.winners == ["Ann"]
    assert shown.sentence == (
        "Ann is elected. Head to head, Bob beats each of the others, but was eliminated in round 1 with too few votes."
    )


def test_while_a_poll_is_open_the_winner_leads_and_nobody_is_elected():
    votes = {(1, 2, 3): 4, (2, 1): 3, (3, 2): 2}
    for method in METHODS:
        seats = 1 if method in ("irv", "sequential-irv") else 2
        record = count(3, votes, Rules(method=method, seats=seats))
        live = results(record, NAMES[:3], status="live")
        texts = [live.sentence, *(each.sentence for each in live.rounds)]
        assert not [each for each in texts if "is elected" in each or "are elected" in each], method
        assert "lead" in live.sentence
        assert "elected" in results(record, NAMES[:3]).sentence
    assert results(count(2, {}), NAMES[:2], status="live").sentence == "No candidate leads yet. There are no votes."


def test_numbers_have_one_format():
    shown = results(count(2, {(1,): 600_001, (2,): 400_000}), NAMES[:2])
    assert "600,001 of the 1,000,001 votes" in shown.rounds[0].sentence
    # Amounts in the API are data.
    assert shown.rounds[0].tallies == {"Ann": "600001", "Bob": "400000"}
