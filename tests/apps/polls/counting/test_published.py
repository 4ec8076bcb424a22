"""Small public counts, written out as figures, so that they are checked wherever the tests run."""

from decimal import Decimal

from potluck.apps.polls.counting import Rules, count, results
from potluck.apps.polls.counting.ballots import Ranking

A, B, C, D, E, F = range(1, 7)


def rounds(record, names="ABCDEF"):
    """(tallies, elected, eliminated, exhausted) of each round, as a report has them."""
    shown = results(record, list(names[: record.candidates]))
    return [
        (
            {name: Decimal(votes) for name, votes in each.tallies.items()},
            "".join(sorted(each.elected)),
            "".join(sorted(each.eliminated)),
            {cause: Decimal(votes) for cause, votes in each.exhausted.items()},
        )
        for each in shown.rounds
    ]


def report(*lines):
    return [
        (
            {name: Decimal(votes) for name, votes in tallies.items()},
            elected,
            eliminated,
            {cause: Decimal(votes) for cause, votes in exhausted.items()},
        )
        for tallies, elected, eliminated, exhausted in lines
    ]


# RCTab's regression elections of thirty ballots and three seats; the empty ranks are as voters left them.
MINNEAPOLIS: dict[Ranking, int] = {
    (A, B, C, (), E, F): 2,
    (A, B, D, C, F, E): 2,
    (B, E, C, D): 2,
    (B, (), (), (), (), A): 2,
    (C, E, A, D, B, F): 2,
    (C, E, D): 2,
    (C, E, (), (), F, A): 2,
    (E, C, F, D, B, A): 2,
    (E, D, F, A, B, C): 2,
    (A, C, B, D): 1,
    (A, (), (), (), (), E): 1,
    (B, C, E, (), F, D): 1,
    (D, (), C, E, F, A): 1,
    (D, (), (), E, F, A): 1,
    (E, A, B, D, F, C): 1,
    (E, C, B, (), F, D): 1,
    (F, A, B, D, E, C): 1,
    (F, C, B, D): 1,
    (F, C, F, D, B, A): 1,
    ((), C, F, D, B, A): 1,
    ((), (), (), (), (), E): 1,
}


def test_rctab_minneapolis_multi_seat_threshold():
    rules = Rules(method="stv", seats=3, overvote="skip", skipped_ranks=1, ties="lot")
    skipped = {"skippedRankings": 2}
    assert rounds(count(6, MINNEAPOLIS, rules)) == report(
        ({"A": 6, "B": 5, "C": 7, "D": 2, "E": 6, "F": 3}, "", "D", {"skippedRankings": 1}),
        ({"A": 6, "B": 5, "C": 8, "E": 6, "F": 3}, "C", "", skipped),
        ({"A": 6, "B": 5, "C": 8, "E": 6, "F": 3}, "", "F", skipped),
        ({"A": 7, "B": 7, "C": 8, "E": 6}, "", "E", skipped),
        ({"A": 10, "B": 10, "C": 8}, "AB", "", skipped),
        ({"A": 8, "B": 8, "C": 8}, "", "", {**skipped, "finalRoundSurplus": 4}),
    )


def test_rctab_exhaust_if_multiple_continuing():
    votes: dict[Ranking, int] = {((A, D), B, C): 3, (B, C, D): 3, (C, (A, D), A): 2, (D,): 1}
    rules = Rules(overvote="exhaust-if-several", skipped_ranks=1, ties="lot")
    assert rounds(count(4, votes, rules)) == report(
        ({"A": 0, "B": 3, "C": 2, "D": 1}, "", "A", {"overvotes": 3}),
        ({"B": 3, "C": 2, "D": 1}, "", "D", {"overvotes": 3}),
        ({"B": 3, "C": 2}, "B", "", {"overvotes": 3, "exhaustedChoices": 1}),
    )


def test_a_later_overvote_counts_for_the_only_one_still_in_the_count_and_a_first_one_for_nobody():
    # Burlington 2009: the rule that its official count needs.
    votes: dict[Ranking, int] = {(B,): 3, (A,): 4, (C, (A, D)): 2, ((A, D), B): 1, (D,): 1}
    record = count(4, votes, Rules(overvote="exhaust-if-several"))
    assert rounds(record) == report(
        ({"A": 4, "B": 3, "C": 2, "D": 1}, "", "D", {"overvotes": 1}),
        ({"A": 4, "B": 3, "C": 2}, "", "C", {"overvotes": 1, "exhaustedChoices": 1}),
        ({"A": 6, "B": 3}, "A", "", {"overvotes": 1, "exhaustedChoices": 1}),
    )


def test_rctab_continues_until_two_are_left_after_a_majority():
    votes: dict[Ranking, int] = {(A, C): 10, (B, C): 4, (C, A): 3, (B, A): 1}
    record = count(3, votes, Rules(continue_to_two=True, skipped_ranks=1))
    assert rounds(record) == report(
        ({"A": 10, "B": 5, "C": 3}, "A", "", {}),
        ({"A": 10, "B": 5, "C": 3}, "", "C", {}),
        ({"A": 13, "B": 5}, "", "", {}),
    )
    assert {each.threshold for each in record.rounds} == {10}


def test_rctab_more_winners_than_candidates():
    votes: dict[Ranking, int] = {(A,): 4, (B,): 3, (C, B): 1, (C,): 1, (D, C): 1}
    record = count(4, votes, Rules(method="stv", seats=5, skipped_ranks=1))
    assert rounds(record) == report(({"A": 4, "B": 3, "C": 2, "D": 1}, "ABCD", "", {}))


def test_alaska_2022():
    # After write-ins were dropped; the Condorcet winner leaves first.
    peltola, palin, begich = 1, 2, 3
    votes: dict[Ranking, int] = {
        (peltola, begich, palin): 47407,
        (peltola, palin, begich): 4645,
        (peltola,): 23747,
        (palin, begich, peltola): 34049,
        (palin, peltola, begich): 3652,
        (palin,): 21272,
        (begich, palin, peltola): 27053,
        (begich, peltola, palin): 15467,
        (begich,): 11290,
    }
    record = count(3, votes)
    assert [each.tallies for each in record.rounds] == [
        {peltola: 75799, palin: 58973, begich: 53810},
        {peltola: 91266, palin: 86026},
    ]
    assert record.rounds[1].exhausted == {"exhaustedChoices": 11290}
    assert record.winners == (peltola,)
    assert record.condorcet_winner == begich


def test_droop_scottish_reference_of_six_ballots():
    record = count(3, {(A, B): 4, (C,): 2}, Rules(method="scottish-stv", seats=2), [C, B, A])
    assert rounds(record) == report(
        ({"A": 4, "B": 0, "C": 2}, "A", "", {}),
        ({"A": 3, "B": 1, "C": 2}, "", "", {}),
        ({"A": 3, "B": 0, "C": 2}, "C", "B", {"exhaustedChoices": 1}),
    )


def test_scottish_tie_is_broken_by_the_latest_stage_that_tells_them_apart():
    votes: dict[Ranking, int] = {(E,): 5, (D,): 4, (C,): 3, (B,): 2, (A, B): 1}
    record = count(5, votes, Rules(method="scottish-stv", seats=2))
    assert rounds(record) == report(
        ({"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}, "", "", {}),
        ({"A": 0, "B": 3, "C": 3, "D": 4, "E": 5}, "", "A", {}),
        ({"A": 0, "B": 0, "C": 3, "D": 4, "E": 5}, "", "B", {"exhaustedChoices": 3}),
        ({"A": 0, "B": 0, "C": 0, "D": 4, "E": 5}, "DE", "C", {"exhaustedChoices": 6}),
    )


def test_undeclared_write_ins_leave_first_and_nobody_wins_before():
    votes: dict[Ranking, int] = {(D, B): 3, (A,): 6, (B,): 2}
    record = count(4, votes, Rules(undeclared=(D,)))
    assert rounds(record) == report(
        ({"A": 6, "B": 2, "C": 0, "D": 3}, "", "D", {}),
        ({"A": 6, "B": 5, "C": 0}, "A", "", {}),
    )


def test_undeclared_write_ins_cannot_win_by_any_method():
    votes: dict[Ranking, int] = {(C, A, B): 9, (A, B): 1}
    for method in ("irv", "stv", "scottish-stv", "schulze", "ranked-pairs", "borda", "plurality"):
        assert count(3, votes, Rules(method=method, undeclared=(C,))).winners == (A,)
    assert count(3, votes, Rules(undeclared=(C,))).condorcet_winner == A
