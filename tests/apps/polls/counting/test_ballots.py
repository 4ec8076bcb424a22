"""How marks on a ballot are read under the rules for overvotes, skipped ranks and repeats."""

import pytest

from potluck.apps.polls.counting import CannotCount, Rules, count
from potluck.apps.polls.counting.ballots import UNNAMED_OVERVOTE, prepare

A, B, C, D = range(1, 5)


def ends(ranking, **rules):
    """Who has the ballot as all others leave one after the other, and how it ends."""
    contest = prepare(4, {ranking: 1}, range(1, 5), Rules(**rules))
    return contest.paths[0] if contest.paths else None


def test_a_ranking_that_names_each_once_is_read_as_it_is():
    assert ends((C, A)) == (C, A)


@pytest.mark.parametrize(("rule", "read"), [("exhaust", (A, -2)), ("skip", (A, D)), ("exhaust-if-several", (A, 5, D))])
def test_an_overvote_ends_the_ballot_or_is_passed_over_or_waits_for_the_count(rule, read):
    assert ends((A, (B, C), D), overvote=rule) == read


def test_skipped_ranks_end_a_ballot_only_before_another_mark():
    assert ends((A, (), B), skipped_ranks=0) == (A, -3)
    assert ends((A, (), B), skipped_ranks=1) == (A, B)
    assert ends((A, (), (), B), skipped_ranks=1) == (A, -3)
    assert ends((A, (), (), ()), skipped_ranks=0) == (A,)
    assert ends(((), A), skipped_ranks=0) == (-3,)
    assert ends((A, (), (), B)) == (A, B)


def test_an_overvoted_rank_is_not_a_skipped_one():
    assert ends((A, (B, C), D), overvote="skip", skipped_ranks=0) == (A, D)


def test_a_repeat_is_ignored_or_ends_the_ballot_where_it_is_reached():
    assert ends((A, A, B)) == (A, B)
    assert ends((A, A, B), repeats="exhaust") == (A, -4)


def test_somebody_named_in_an_overvote_that_is_passed_over_may_be_named_again():
    assert ends(((A, B), A), overvote="skip") == (A,)
    assert ends(((A, B), A), overvote="skip", repeats="exhaust") == (-4,)


def test_a_blank_ballot_is_counted_as_one_and_a_spoilt_one_as_exhausted():
    record = count(2, {(): 2, ((), ()): 1, ((A, B),): 4, (A,): 1}, Rules(overvote="skip"))
    assert (record.votes, record.blank) == (8, 3)
    assert record.rounds[0].exhausted == {"exhaustedChoices": 4}


def test_one_name_twice_at_one_rank_is_no_overvote():
    assert ends(((A, A), B)) == (A, B)


def test_an_overvote_of_unknown_names_cannot_be_decided_by_who_is_left():
    assert ends((A, UNNAMED_OVERVOTE), overvote="exhaust") == (A, -2)
    with pytest.raises(CannotCount, match="does not name its candidates"):
        ends((A, UNNAMED_OVERVOTE), overvote="exhaust-if-several")


@pytest.mark.parametrize(
    ("candidates", "votes", "rules", "lot_order", "why"),
    [
        (2, {(3,): 1}, {}, (), "names candidate 3; there are 2"),
        (2, {(1,): -1}, {}, (), "cannot have -1 votes"),
        (2, {}, {}, (1, 1), "lot order must name each"),
        (2, {}, {"seats": 2}, (), "irv elects one"),
        (2, {}, {"method": "stv", "seats": 0}, (), "at least one seat"),
        (2, {}, {"method": "schulze", "batch_elimination": True}, (), "several can be eliminated at once by irv"),
        (2, {}, {"method": "stv", "seats": 2, "continue_to_two": True}, (), "only a count for one seat"),
        (2, {}, {"decimals": 99}, (), "0 to 20 decimals"),
        (2, {}, {"undeclared": (1, 2)}, (), "must have been declared"),
        (0, {}, {}, (), "no candidate"),
    ],
)
def test_what_cannot_be_counted_is_refused_with_the_reason(candidates, votes, rules, lot_order, why):
    with pytest.raises(CannotCount, match=why):
        count(candidates, votes, Rules(**rules), lot_order)
