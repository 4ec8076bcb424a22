"""Examples of the literature come out as the literature says."""

import pytest

from potluck.apps.polls.counting import METHODS, Rules, count


def ballots(*lines):
    """(12, "ABC") is twelve voters who rank A, then B, then C."""
    return {tuple(ord(letter) - 64 for letter in ranking): many for many, ranking in lines}


def winner(votes, method, candidates=None, **rules):
    candidates = candidates or max(max(ranking) for ranking in votes)
    elected = count(candidates, votes, Rules(method=method, **rules)).winners
    return "".join(chr(64 + each) for each in elected)


TENNESSEE = ballots((42, "ABCD"), (26, "BCDA"), (15, "CDBA"), (17, "DCBA"))


@pytest.mark.parametrize(
    ("method", "city"), [("irv", "D"), ("schulze", "B"), ("ranked-pairs", "B"), ("borda", "B"), ("plurality", "A")]
)
def test_tennessee_chooses_its_capital(method, city):
    # Memphis, Nashville, Chattanooga, Knoxville
    assert winner(TENNESSEE, method) == city


def test_borda_points_of_tennessee():
    assert count(4, TENNESSEE, Rules(method="borda")).rounds[0].tallies == {1: 126, 2: 194, 3: 173, 4: 107}


SCHULZE_45 = ballots(
    (5, "ACBED"), (5, "ADECB"), (8, "BEDAC"), (3, "CABED"), (7, "CAEBD"), (2, "CBADE"), (7, "DCEBA"), (8, "EBADC")
)


def test_schulzes_own_example_with_its_strongest_paths():
    record = count(5, SCHULZE_45, Rules(method="schulze"))
    assert record.paths == (
        (0, 28, 28, 30, 24),
        (25, 0, 28, 33, 24),
        (25, 29, 0, 29, 24),
        (25, 28, 28, 0, 24),
        (25, 28, 28, 31, 0),
    )
    assert [chr(64 + each) for each in record.order] == ["E", "A", "C", "B", "D"]
    assert record.condorcet_winner is None


def test_more_votes_can_lose_under_irv():
    # Monotonicity: two voters move A up, and A loses.
    before = ballots((39, "ABC"), (35, "BCA"), (26, "CAB"))
    after = ballots((49, "ABC"), (25, "BCA"), (26, "CAB"))
    assert winner(before, "irv") == "A"
    assert winner(after, "irv") == "C"
    # The circle's weakest majority decides otherwise, and a gain does no harm.
    assert winner(before, "schulze") == winner(after, "schulze") == "A"


def test_clones_spoil_plurality_and_borda_but_not_the_others():
    alone = ballots((55, "AB"), (45, "BA"))
    cloned = ballots((30, "ACB"), (25, "CAB"), (45, "BAC"))
    assert winner(alone, "plurality") == "A"
    assert winner(cloned, "plurality") == "B"
    for method in ("irv", "schulze", "ranked-pairs"):
        assert winner(alone, method) == "A"
        assert winner(cloned, method) in {"A", "C"}
    # Teaming: with a clone that comes second to it, a loser wins.
    assert winner(ballots((55, "AB"), (45, "BA")), "borda") == "A"
    assert winner(ballots((55, "ABC"), (45, "BCA")), "borda") == "B"


def test_the_weakest_majority_of_a_circle_is_the_one_that_gives_way():
    # Condorcet's paradox, with his own sixty voters.
    circle = ballots((23, "ABC"), (2, "BAC"), (17, "BCA"), (10, "CAB"), (8, "CBA"))
    record = count(3, circle, Rules(method="ranked-pairs"))
    assert record.condorcet_winner is None
    majorities = [("".join(chr(64 + each) for each in (pair.winner, pair.loser)), pair.votes) for pair in record.pairs]
    assert majorities == [("BC", 42), ("CA", 35), ("AB", 33)]
    assert [pair.locked for pair in record.pairs] == [True, True, False]
    assert winner(circle, "ranked-pairs") == winner(circle, "schulze") == "B"


def test_the_centre_is_squeezed_out_by_irv_only():
    votes = ballots((40, "ABC"), (25, "BAC"), (35, "CBA"))
    assert winner(votes, "irv") == "A"
    for method in ("schulze", "ranked-pairs", "borda"):
        assert winner(votes, method) == "B"


def test_wikipedias_party_food_elects_oranges_chocolate_and_strawberries():
    # Oranges, Pears, Chocolate, Strawberries, Hamburgers; 20 guests, three dishes.
    votes = ballots((4, "A"), (2, "BA"), (8, "CD"), (4, "CE"), (1, "D"), (1, "E"))
    for method in ("stv", "scottish-stv"):
        assert sorted(winner(votes, method, seats=3)) == ["A", "C", "D"]
    record = count(5, votes, Rules(method="stv", seats=3))
    # The quota is 6, so 6 of the 12 for chocolate pass on: 4 to strawberries, 2 to hamburgers.
    assert record.rounds[0].threshold == 6 * 10**4
    assert record.rounds[1].tallies == {1: 40000, 2: 20000, 3: 60000, 4: 50000, 5: 30000}


@pytest.mark.parametrize("method", METHODS)
def test_without_a_vote_there_is_no_winner_and_no_round(method):
    for votes in ({}, {(): 3}, {((1, 2),): 2}):
        record = count(3, votes, Rules(method=method))
        assert (record.winners, record.rounds, record.condorcet_winner) == ((), (), None)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_vote_decides(method):
    assert winner(ballots((1, "BA")), method, candidates=3) == "B"
