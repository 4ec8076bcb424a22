"""Small published counts by the rules that towns, parties and foundations use, round by round."""

from decimal import Decimal

import pytest

from potluck.apps.polls.counting import Rules, count, results
from potluck.apps.polls.counting.amounts import percent

TWINS = ["Castor", "Pollux", "Helen"]
FOUR_TWO = {(1, 2): 4, (3,): 2}
# Droop's own test elections name first, in their order of ties, who leaves first.
LOTS = [3, 2, 1]


def counted(votes, names=TWINS, lots=LOTS, **rules):
    return results(count(len(names), votes, Rules(**rules), lots), names)


def states(shown):
    return [
        (
            [str(Decimal(each.tallies[name])) for name in shown.pairwise],
            each.elected,
            each.eliminated,
            str(sum(map(Decimal, each.exhausted.values()))),
        )
        for each in shown.rounds
    ]


def test_meek_by_the_reference_rule():
    shown = counted(FOUR_TWO, method="meek", seats=2)
    assert states(shown) == [
        (["4", "0", "2"], [], [], "0"),
        (["4", "0", "2"], ["Castor"], [], "0"),
        (["2.000000004", "0", "2"], ["Helen"], ["Pollux"], "1.999999996"),
    ]
    assert {each.threshold for each in shown.rounds} == {"2.000000001"}
    assert shown.rounds[2].keep_factors == {"Castor": "0.500000001", "Helen": "1"}


@pytest.mark.parametrize(
    ("votes", "quota", "after"),
    [
        (FOUR_TWO, "2.0001", ["2.0001", "1.9996", "2"]),
        ({(1, 2): 5, (3,): 3, (2,): 1}, "3.0001", ["3.0001", "2.9995", "3"]),
    ],
)
def test_wigm_by_the_reference_rule(votes, quota, after):
    shown = counted(votes, method="wigm", seats=2)
    assert [each.threshold for each in shown.rounds] == [quota] * 3
    first, transferred, last = states(shown)
    assert first[1] == []
    assert (transferred[0], transferred[1]) == (after, ["Castor"])
    assert (last[1], last[2], last[3]) == (["Helen"], ["Pollux"], after[1])
    assert (
        "Castor (4) reaches the quota" in shown.rounds[1].sentence or "Castor (5) reaches" in shown.rounds[1].sentence
    )


def test_wigm_with_the_options_that_programs_have():
    # A whole quota, and sure losers at once: neither of the last two can catch up.
    shown = counted(
        {(1,): 10, (2,): 8, (3,): 2, (4,): 1},
        ["A", "B", "C", "D"],
        [1, 2, 3, 4],
        method="wigm",
        seats=2,
        fractional_quota=False,
        batch_elimination=True,
        decimals=2,
    )
    assert [each.threshold for each in shown.rounds] == ["8", "8"]
    assert shown.rounds[1].elected == ["A", "B"]


def test_minneapolis_by_its_ordinance():
    shown = counted(FOUR_TWO, method="minneapolis-stv", seats=2)
    assert states(shown) == [
        (["4", "0", "2"], [], [], "0"),
        (["4", "0", "2"], [], ["Pollux"], "0"),
        (["3", "0", "2"], ["Castor"], [], "1"),
        (["3", "0", "2"], ["Helen"], [], "1"),
    ]
    # Write-ins that nobody declared leave at the beginning of the second round, whatever they have.
    shown = counted({(1,): 5, (2, 3): 6, (3,): 4}, method="minneapolis-stv", seats=1, undeclared=(2,))
    # What they had makes a majority, and with it nobody else is left.
    assert shown.rounds[1].eliminated == ["Pollux", "Castor"]
    assert shown.winners == ["Helen"]


PARTIES = {(1,): 9, (2,): 5, (3, 1): 4, (4,): 2}


def test_the_hare_quota_is_an_equal_part_rounded_up():
    shown = counted({(1, 2): 11, (2,): 5, (3,): 4}, method="stv", seats=3, quota="hare")
    assert shown.rounds[0].threshold == "7"
    assert counted({(1, 2): 11, (2,): 5, (3,): 4}, method="stv", seats=3).rounds[0].threshold == "6"
    exact = counted({(1, 2): 11, (2,): 5, (3,): 4}, method="stv", seats=3, quota="hare", fractional_quota=True)
    assert exact.rounds[0].threshold == "6.6667"


def test_bottoms_up_leaves_as_many_as_seats_or_all_who_have_a_share():
    names = ["A", "B", "C", "D"]
    shown = counted(PARTIES, names, [1, 2, 3, 4], method="bottoms-up", seats=2)
    assert ([each.eliminated for each in shown.rounds], shown.winners) == ([["D"], ["C"], []], ["A", "B"])
    assert shown.rounds[-1].tallies == {"A": "13", "B": "5"}
    share = counted(PARTIES, names, [1, 2, 3, 4], method="bottoms-up", share_percent=21)
    # Of 20, then of the 18 that are left, of which 4 are enough.
    assert [each.threshold for each in share.rounds] == ["4.2", "3.78"]
    assert share.winners == ["A", "B", "C"]
    fixed = counted(PARTIES, names, [1, 2, 3, 4], method="bottoms-up", share_percent=21, first_round_threshold=True)
    assert ([each.threshold for each in fixed.rounds], fixed.winners) == (["4.2"] * 3, ["A", "B"])
    at_once = counted(PARTIES, names, [1, 2, 3, 4], method="bottoms-up", share_percent=21, batch_elimination=True)
    assert [each.eliminated for each in at_once.rounds] == [["C", "D"], []]


def test_sequential_irv_fills_one_seat_after_the_other_without_who_was_elected():
    shown = counted({(1, 2): 5, (2, 3): 3, (3,): 4}, method="sequential-irv", seats=2)
    # Pollux leaves first, and Helen has 7 of 12; without her, Castor has 5 and Pollux 3.
    assert shown.winners == ["Helen", "Castor"]
    assert [each.seat for each in shown.rounds] == sorted(each.seat for each in shown.rounds)
    second = [each for each in shown.rounds if each.seat == 2]
    assert shown.winners[0] not in second[0].tallies


def test_a_threshold_of_the_first_round_elects_the_most_of_two_where_nobody_has_it():
    votes = {(3, 2): 6, (2,): 5, (1, 2): 4, (1,): 1}
    shown = counted(votes, ["Carmona", "Haadoow", "Vail"], [1, 2, 3], first_round_threshold=True)
    assert [each.threshold for each in shown.rounds] == ["9", "9"]
    early = counted({(1,): 4, (2,): 3, (3,): 2}, ["A", "B", "C"], [1, 2, 3], first_round_threshold=True)
    assert early.winners == ["A"]
    assert "the most of the last two" in early.rounds[-1].sentence


def test_a_minimum_a_last_round_and_ranks_that_are_not_read():
    names = ["A", "B", "C", "D"]
    shown = counted(PARTIES, names, [1, 2, 3, 4], minimum_votes=5)
    assert shown.rounds[0].eliminated == ["C", "D"]
    stopped = counted(PARTIES, names, [1, 2, 3, 4], stop_after=1)
    assert (len(stopped.rounds), stopped.winners) == (1, [])
    assert stopped.sentence == "No candidate is elected. The count was ended after round 1."
    votes = {(3, 1): 2, (1,): 3, (2,): 4}
    assert counted(votes).winners == ["Castor"]
    assert counted(votes, max_rankings=1).winners == ["Pollux"]


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (1, 1, "100%"),
        (99_999, 100_000, "just under 100%"),
        (1, 100_000, "just over 0%"),
        (0, 5, "0%"),
        (500_001, 1_000_000, "just over 50%"),
        (1, 2, "50%"),
        (2, 3, "66.7%"),
    ],
)
def test_all_half_and_nothing_are_said_of_nothing_else(part, whole, said):
    assert percent(part, whole) == said
